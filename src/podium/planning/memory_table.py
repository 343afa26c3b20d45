"""A table in memory that answers a mechanism's queries as an engine would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.errors import InvalidArgument
from podium.histogram import Histogram, Item
from podium.mechanisms.by_sizes.clear_gap import gap_after
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.noisy import NoisyTopK
from podium.mechanisms.reader import Discovery
from podium.mechanisms.rising import RisingTopK
from podium.mechanisms.weights import Weights
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["PairsReader"]

Integers = npt.NDArray[np.int64]


class PairsReader:
    """Pairs (user, item) as arrays of equal length; repeated pairs count once, and items are numbers.

    A user with more items than the weights allow keeps those whose hash with the user and ``salt`` is smallest. A known
    domain has the items from 0 up to ``domain_size``.
    """

    def __init__(
        self, users: Sequence[int] | Integers, items: Sequence[int] | Integers, *, salt: int = 0,
        bits: BitSource | None = None, domain_size: int | None = None,
    ) -> None:  # fmt: skip
        columns = [np.asarray(users, dtype=np.int64), np.asarray(items, dtype=np.int64)]
        if columns[0].shape != columns[1].shape:
            raise InvalidArgument("items", "another number of items than users", allowed="one item for each user")
        if columns[1].size and columns[1].min() < 0:
            raise InvalidArgument("items", "negative numbers", allowed="numbers from 0")
        pairs = np.unique(np.stack(columns), axis=1)
        self._names, self._users = np.unique(pairs[0], return_inverse=True)
        self._items = pairs[1]
        self._number = int(self._users.max(initial=-1)) + 1
        self._size = int(self._items.max(initial=-1)) + 1
        self._domain_size = max(self._size, domain_size or 0)
        self._salt = salt
        self._bits = bits

    @property
    def counts(self) -> Integers:
        """How many users have each item."""
        return np.bincount(self._items, minlength=self._size)

    def histogram(self, domain_size: int | None, max_items_per_user: int | None) -> Histogram:
        """The count of every item of a known domain, or of every item that somebody has."""
        counts = self.counts
        if max_items_per_user is not None:
            counts = self._sums(np.ones(len(self._items), dtype=bool), Weights.bounded(max_items_per_user))
        if domain_size is None:
            present = np.flatnonzero(counts)
            return Histogram.from_arrays([int(item) for item in present], counts[present], known=False)
        whole = np.zeros(domain_size, dtype=np.int64)
        whole[: len(counts)] = counts[:domain_size]
        return Histogram.from_arrays(range(domain_size), whole)

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        """Run the stage on the weighted counts of all items except ``without``."""
        sums = self._sums(~self._among(without), stage.weights)
        present = np.flatnonzero(sums)
        names = [int(item) for item in present]
        return stage.release(Histogram.from_arrays(names, sums[present], known=False), bits=self._bits)

    def rank_known(self, stage: Discovery) -> Release:
        """Run the stage on the weighted counts of all items from 0 on; those that nobody has are not listed."""
        return stage.release(self._whole_domain(stage.weights), bits=self._bits)

    def choose_known(self, mechanism: NoisyTopK | RisingTopK, max_items_per_user: int | None) -> Release:
        """Run the mechanism on the plain counts of all items from 0 on."""
        return mechanism.release(self._known_counts(max_items_per_user), bits=self._bits)

    def known_gap(self, k: int, max_items_per_user: int | None) -> int:
        """By how many users the k-th item from 0 on is ahead of the next."""
        return gap_after(self._known_counts(max_items_per_user), k)

    def _known_counts(self, max_items_per_user: int | None) -> Histogram:
        return self._whole_domain(Weights.bounded(max_items_per_user or self._size + 1))

    def _whole_domain(self, weights: Weights) -> Histogram:
        sums = self._sums(np.ones(len(self._items), dtype=bool), weights)
        seen = np.flatnonzero(sums)
        members: dict[int, list[int]] = {}
        for item in seen:
            members.setdefault(int(sums[item]), []).append(int(item))
        sizes = {count: len(items) for count, items in members.items()}
        unseen = self._domain_size - len(seen)
        if unseen:
            sizes[0] = unseen
        # The i-th seen item has as many unseen ones before it as its number exceeds i.
        before = seen - np.arange(len(seen))

        def name(count: int, rank: int) -> Item:
            return members[count][rank] if count else rank + int(np.searchsorted(before, rank, side="right"))

        return Histogram.from_counts_of_counts(sizes, name)

    def lead(self, mechanism: LimitedDomain) -> int:
        """By how many users the k-th item is ahead of the one after the top rows of the mechanism."""
        return gap_after(self.histogram(None, mechanism.max_items_per_user), mechanism.k, mechanism.max_rows)

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the plain counts."""
        return mechanism.release(self.histogram(None, mechanism.max_items_per_user), bits=self._bits)

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] items."""
        return self._users_between(np.bincount(self._users, minlength=self._number), edges)

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] of the items."""
        sizes = np.bincount(self._users[self._among(items)], minlength=self._number)
        return self._users_between(sizes, edges)

    @staticmethod
    def _users_between(sizes: Integers, edges: tuple[int, ...]) -> tuple[int, ...]:
        places = np.searchsorted(np.asarray(edges), sizes[sizes > 0], side="right")
        return tuple(int(n) for n in np.bincount(places, minlength=len(edges) + 1)[1:])

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted count of each of the items."""
        sums = self._sums(self._among(items), weights)
        return tuple(int(sums[number]) if number < self._size else 0 for number in _numbers(items))

    def _among(self, items: tuple[Item, ...]) -> npt.NDArray[np.bool_]:
        """Which pairs have one of the items."""
        wanted = np.zeros(self._size, dtype=bool)
        wanted[[number for number in _numbers(items) if number < self._size]] = True
        among: npt.NDArray[np.bool_] = wanted[self._items]
        return among

    def _sums(self, pairs: npt.NDArray[np.bool_], weights: Weights) -> Integers:
        users, items = self._users[pairs], self._items[pairs]
        sizes = np.bincount(users, minlength=self._number)
        if sizes.max(initial=0) > weights.cap:
            users, items = self._cut(users, items, sizes, weights.cap)
            sizes = np.minimum(sizes, weights.cap)
        ends, values = (np.asarray(column, dtype=np.int64) for column in zip(*weights.steps, strict=True))
        per_user = values[np.searchsorted(ends, np.maximum(sizes, 1))]
        sums = np.zeros(self._size, dtype=np.int64)
        np.add.at(sums, items, per_user[users])
        return sums

    def _cut(self, users: Integers, items: Integers, sizes: Integers, cap: int) -> tuple[Integers, Integers]:
        """At most ``cap`` items of each user, by a hash that does not depend on other users."""
        # Without the user in the hash everyone would keep the same items, and the others would vanish.
        own = _mix(self._names.astype(np.uint64) + np.uint64(self._salt))
        order = np.lexsort((_mix(own[users] + items.astype(np.uint64)), users))
        users, items = users[order], items[order]
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        kept = np.arange(len(users)) - starts[users] < cap
        return users[kept], items[kept]


def _mix(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    product = numbers * np.uint64(0x9E3779B97F4A7C15)
    return product ^ (product >> np.uint64(29))


def _numbers(items: tuple[Item, ...]) -> list[int]:
    return [int(item) for item in items]  # type: ignore[call-overload]
