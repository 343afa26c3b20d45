"""A table of amounts in arrays, read as a source is read: the mechanisms are those of podium, the engine is not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.measures.worlds import Amounts
from podium.histogram import Histogram, Item, Scores
from podium.mechanisms.measures.clipped_sums import grid_bits_of
from podium.mechanisms.measures.norm_weights import NormWeights
from podium.release import Release

__all__ = ["ArrayReader"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ArrayReader:
    """Nobody is cut: no user of these tables has more items than the usual bound."""

    table: Amounts
    clip: int | None = None
    _users: int = field(init=False)
    amounts: Numbers = field(init=False)
    """The clipped amounts."""
    _parts_at: dict[tuple[int, int], Numbers] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "_users", int(self.table.users.max()) + 1)
        put(self, "amounts", self.table.amounts if self.clip is None else np.minimum(self.table.amounts, self.clip))

    def at_clip(self, clip: int) -> ArrayReader:
        """The same table with a clip."""
        return replace(self, clip=clip)

    def clip_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Pairs by size, each user's shared out, and users by number of pairs."""
        sizes = np.bincount(self.table.users, minlength=self._users)
        place = self.table.users * buckets + _buckets(self.amounts, buckets)
        parts = np.bincount(place, minlength=self._users * buckets).reshape(self._users, buckets)
        shares = parts[sizes > 0] * (resolution // sizes[sizes > 0][:, None])
        users = np.bincount(_buckets(sizes[sizes > 0], buckets), minlength=buckets)
        return tuple(shares.sum(axis=0).tolist()), tuple(users.tolist())

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by length and by sum."""
        squares = np.bincount(self.table.users, weights=self.amounts.astype(float) ** 2)
        sums = np.bincount(self.table.users, weights=self.amounts)
        lengths = np.ceil(np.sqrt(squares[squares > 0])).astype(np.int64)
        found = (np.bincount(_buckets(each, buckets), minlength=buckets) for each in (lengths, sums[sums > 0]))
        first, second = (tuple(each.tolist()) for each in found)
        return first, second

    def discover(self, stage: Any, without: tuple[Item, ...]) -> Release:
        """Run the stage on weighted parts."""
        keep = ~self._among(without)
        sums = self._weighted(stage.weights, keep)
        some = np.flatnonzero(sums)
        counts = dict(zip(some.tolist(), sums[some].tolist(), strict=True))
        return stage.release(Histogram(counts, known=False))  # type: ignore[no-any-return]

    def norm_sizes(self, items: tuple[Item, ...], weights: NormWeights, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have which square among the items."""
        keep = self._among(items)
        squares = self._squares(weights, keep, self._parts(weights))
        places = np.searchsorted(np.array(edges), squares[squares > 0], side="right") - 1
        return tuple(np.bincount(places[places >= 0], minlength=len(edges)).tolist())

    def norm_sums(self, items: tuple[Item, ...], weights: NormWeights) -> tuple[int, ...]:
        """The sums of what users add to the items in weighted parts."""
        sums = self._weighted(weights, self._among(items))
        return tuple(int(sums[item]) for item in items)  # type: ignore[call-overload] # items are places

    def sums_of(self, items: tuple[Item, ...]) -> tuple[int, ...]:
        """The plain sums."""
        sums = np.bincount(self.table.items, weights=self.amounts, minlength=self.table.names)
        return tuple(int(sums[item]) for item in items)  # type: ignore[call-overload]

    def select_known(self, mechanism: Any) -> Release:
        """Run the mechanism on the rounded sums of all items."""
        bits = grid_bits_of(mechanism.epsilon_per_item)
        sums = np.bincount(self.table.items, weights=self.amounts, minlength=self.table.names).astype(np.int64)
        rounded = {item: (int(total) << bits) // (self.clip or 1) for item, total in enumerate(sums.tolist())}
        return mechanism.release(Scores(rounded, rises_by=1 << bits))  # type: ignore[no-any-return]

    def _among(self, items: tuple[Item, ...]) -> NDArray[np.bool_]:
        named = np.zeros(self.table.names, dtype=np.bool_)
        named[np.array(items, dtype=np.int64)] = True
        found: NDArray[np.bool_] = named[self.table.items]
        return found

    def _parts(self, weights: NormWeights) -> Numbers:
        scale = weights.clip, weights.headroom
        if scale not in self._parts_at:
            large = self.amounts >= weights.clip << weights.headroom
            parts = (np.minimum(self.amounts, 2**40) << weights.bits) // weights.clip
            self._parts_at[scale] = np.where(large, weights.most, parts)
        return self._parts_at[scale]

    def _squares(self, weights: NormWeights, keep: NDArray[np.bool_], parts: Numbers) -> Numbers:
        users, kept = self.table.users[keep], parts[keep]
        squares = _sums(users, kept * kept, self._users)
        if not weights.named:
            return squares
        largest = np.zeros(self._users, np.int64)
        np.maximum.at(largest, users, kept)
        spread = weights.items * squares - _sums(users, kept, self._users) ** 2
        larger: Numbers = np.maximum(spread, weights.items * largest * largest // 2)
        return larger

    def _weighted(self, weights: NormWeights, keep: NDArray[np.bool_]) -> Numbers:
        parts = self._parts(weights)
        ends, steps = (np.array(column) for column in zip(*weights.steps, strict=True))
        own = steps[np.searchsorted(ends, self._squares(weights, keep, parts))]
        return _sums(self.table.items[keep], own[self.table.users[keep]] * parts[keep], self.table.names)


def _sums(places: Numbers, values: Numbers, size: int) -> Numbers:
    """Exact sums by place: those of floats are not."""
    found = np.zeros(size, np.int64)
    np.add.at(found, places, values)
    return found


def _buckets(values: Any, buckets: int) -> Numbers:
    exponents = np.ceil(np.log2(np.maximum(values, 1))).astype(np.int64)
    found: Numbers = np.minimum(exponents, buckets - 1)
    return found
