"""The tables of the regimes: synthetic ones, and subsamples of the data sets by user. Seeded, so always the same."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bench.utility.data import load, missing, shuffled_places
from bench.utility.regimes.cells import TableKey
from podium.planning.memory_table import PairsReader
from podium.planning.simulation import zipf_pairs

__all__ = ["Floats", "Integers", "Mask", "Table", "available", "even_pairs", "make_table"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_BATCH = 500
"""Users that draw their items at the same time."""


@dataclass(slots=True)
class Table:
    """Distinct pairs, sorted by user, both as numbers from 0."""

    users: Integers
    items: Integers
    counts: Integers
    sizes: Integers
    _kept: dict[int, Mask] = field(default_factory=dict)
    _sums: dict[tuple[int, float], Floats] = field(default_factory=dict)
    _order: Integers | None = None

    def reader(self) -> PairsReader:
        """The table as a mechanism in rounds asks it."""
        return PairsReader(self.users, self.items)

    @property
    def order(self) -> Integers:
        """Items by their true count, largest first."""
        if self._order is None:
            self._order = np.argsort(-self.counts, kind="stable")
        return self._order

    def last_counts(self, ks: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """For each k the places of the list that can be filled, and the count of the last of them."""
        present = int(np.count_nonzero(self.counts))
        return {k: (min(k, present), int(self.counts[self.order[min(k, present) - 1]])) for k in ks}

    def recall(self, found: Integers, k: int) -> float:
        """The share of the places that the first k items fill which have at least the count of the last."""
        places, last = self.last_counts((k,))[k]
        return float(np.count_nonzero(self.counts[found[:k]] >= last)) / places

    def kept(self, bound: int) -> Mask:
        """Which pairs remain if users are cut to a number of items, chosen by a fixed shuffle."""
        if bound not in self._kept:
            if bound >= self.sizes.max(initial=0):
                self._kept[bound] = np.ones(len(self.users), dtype=bool)
            else:
                self._kept[bound] = shuffled_places(self.users, self.sizes, np.random.default_rng(11)) < bound
        return self._kept[bound]

    def spread(self, cap: int, power: float) -> Floats:
        """Counts in which a user with t items adds t^-power to each, after a cut to ``cap``; the result is kept."""
        if (cap, power) not in self._sums:
            self._sums[cap, power] = self.spread_over(self.kept(cap), power)
        return self._sums[cap, power]

    def spread_over(self, pairs: Mask, power: float) -> Floats:
        """The same over these pairs alone."""
        users = self.users[pairs]
        weights = np.maximum(np.bincount(users, minlength=len(self.sizes)), 1) ** -power
        sums = np.bincount(self.items[pairs], weights[users], minlength=len(self.counts))
        return sums.astype(np.float64)


def available(key: TableKey) -> bool:
    """Whether the data set of a table is there."""
    return key.data in ("zipf", "even") or not missing(key.data)


@lru_cache(maxsize=2)
def make_table(key: TableKey) -> Table:
    """The table of a cell."""
    seed = zlib.crc32(key.name.encode())
    if key.data == "even":
        each, rng = key.items_per_user, np.random.default_rng(seed)
        return _numbered(*even_pairs(key.users, each, key.items, key.exponent, rng))
    if key.data != "zipf":
        pairs = load(key.data)
        rng = np.random.default_rng(seed)
        people = rng.permutation(len(pairs.sizes))[: round(key.share * len(pairs.sizes))]
        wanted = np.zeros(len(pairs.sizes), dtype=bool)
        wanted[people] = True
        among = wanted[pairs.users]
        return _numbered(pairs.users[among], pairs.items[among])
    if key.items_per_user == 1:
        rng = np.random.default_rng(seed)
        edges = np.cumsum(np.arange(1, key.items + 1, dtype=np.float64) ** -key.exponent)
        items = np.searchsorted(edges, rng.random(key.users) * edges[-1], side="right")
        return _numbered(np.arange(key.users), items)
    return _numbered(
        *zipf_pairs(
            users=key.users,
            items=key.items,
            items_per_user=key.items_per_user,
            exponent=key.exponent,
            skew=1.0,
            seed=seed,
        )
    )


def even_pairs(
    users: int, each: int, items: int, exponent: float, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Every user draws so many different items in turn, by popularity: the largest of log weight + Gumbel."""
    weights = -exponent * np.log(np.arange(1, items + 1))
    drawn = []
    for start in range(0, users, _BATCH):
        keys = weights + rng.gumbel(size=(min(_BATCH, users - start), items))
        drawn.append(np.argpartition(-keys, each - 1, axis=1)[:, :each])
    return np.repeat(np.arange(users), each), np.concatenate(drawn).ravel()


def _numbered(users: Integers, items: Integers) -> Table:
    _, people = np.unique(users, return_inverse=True)
    _, things = np.unique(items, return_inverse=True)
    return Table(people, things, np.bincount(things), np.bincount(people))
