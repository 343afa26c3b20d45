"""Which pairs can be compared: stated by the caller, never read from the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.histogram import Item, item_order

__all__ = ["MAX_PAIRS", "ComparisonGraph"]

MAX_PAIRS = 100_000
"""Pairs of items that one question may compare: all pairs of 447 items."""


@dataclass(frozen=True)
class ComparisonGraph:
    """The items, and the pairs of them that count, as places (first < second) in ``items``.

    Comparisons of other pairs are dropped silently. The graph must be connected: scores of items that no chain of
    comparisons links cannot be held against each other. All of this is checked on public facts, before any row is read.
    """

    items: tuple[Item, ...]
    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if len(set(self.items)) != len(self.items):
            raise InvalidArgument("items", "a list with repeated items", allowed="distinct items")
        if len(self.items) < 2:
            raise InvalidArgument("items", f"{len(self.items)} items", allowed="at least 2 items to compare")
        if len(self.edges) > MAX_PAIRS:
            raise InvalidArgument(
                "pairs",
                f"{len(self.edges)} pairs",
                allowed=f"at most {MAX_PAIRS:,} pairs",
                hint="Compare fewer items, or give only the pairs that matter (pairs=...).",
            )
        parts, labels = self._parts()
        if parts > 1:
            apart = self.items[int(np.flatnonzero(labels != labels[0])[0])]
            raise InvalidArgument(
                "pairs",
                f"pairs in {parts} parts that are not compared with each other",
                allowed="a connected graph of comparisons",
                hint=f"No chain of pairs leads from {self.items[0]!r} to {apart!r}: add pairs, or rank each part.",
            )

    @classmethod
    def complete(cls, items: Iterable[Item]) -> ComparisonGraph:
        """Every pair of the items."""
        listed = tuple(items)
        size = len(listed)
        if size * (size - 1) // 2 > MAX_PAIRS:
            raise InvalidArgument(
                "items",
                f"{size} items",
                allowed=f"at most {MAX_PAIRS:,} pairs of items",
                hint="Compare fewer items, or give only the pairs that matter (pairs=...).",
            )
        return cls(listed, tuple((i, j) for i in range(size) for j in range(i + 1, size)))

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[Item, Item]]) -> ComparisonGraph:
        """These pairs, in either order; the items are those that occur in them, in their own order."""
        listed = [_pair(pair) for pair in pairs]
        items = tuple(sorted({item for pair in listed for item in pair}, key=item_order))
        place = {item: i for i, item in enumerate(items)}
        edges = {tuple(sorted((place[first], place[second]))) for first, second in listed}
        return cls(items, tuple(sorted((first, second) for first, second in edges)))

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """With how many others each item can be compared."""
        ends = np.array(self.edges, dtype=np.int64).reshape(-1)
        counted: NDArray[np.int64] = np.bincount(ends, minlength=len(self.items))
        return counted

    @property
    def largest_degree(self) -> int:
        """The most others with which one item can be compared."""
        return int(self.degrees.max())

    @property
    def smallest_degree(self) -> int:
        """The fewest others with which one item can be compared."""
        return int(self.degrees.min())

    @cached_property
    def directed(self) -> NDArray[np.int64]:
        """(winner, loser) of every comparison that counts, as places: both orders of every pair."""
        pairs = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        return np.concatenate([pairs, pairs[:, ::-1]])

    @cached_property
    def comparisons(self) -> tuple[tuple[Item, Item], ...]:
        """(winner, loser) of every comparison that counts, in the order of ``directed``."""
        items = self.items
        return tuple((items[winner], items[loser]) for winner, loser in self.directed.tolist())

    def _parts(self) -> tuple[int, NDArray[np.int32]]:
        """How many parts without a link between them there are, and which one each item is in."""
        # SciPy is slow to import, and only rankings need a graph.
        from scipy.sparse import coo_array  # noqa: PLC0415
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        ends = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        size = len(self.items)
        links = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(size, size))
        parts, labels = connected_components(links, directed=False)
        return int(parts), labels


def _pair(pair: object) -> tuple[Item, Item]:
    if isinstance(pair, (str, bytes)) or not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidArgument("pairs", pair, allowed="pairs of items, such as ('a', 'b')")
    first, second = pair
    if first == second:
        raise InvalidArgument("pairs", tuple(pair), allowed="pairs of two different items")
    return first, second
