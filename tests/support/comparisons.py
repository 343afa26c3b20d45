"""Small worlds of comparisons for tests: every tally, every neighbour, and the exact stationary distribution."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from podium.histogram import Scores
from podium.ranking import ComparisonGraph, RankingMethod, Spectral

__all__ = ["Tally", "added", "changed", "exact_shares", "scored", "tallies"]

Tally = tuple[int, ...]


def tallies(graph: ComparisonGraph, largest: int) -> list[Tally]:
    """Every way in which 0 to ``largest`` users prefer each item of each pair to the other."""
    return list(itertools.product(range(largest + 1), repeat=len(graph.comparisons)))


def added(tally: Tally, most: int | None) -> Iterator[Tally]:
    """The tally with one user more, who has 1 to ``most`` different comparisons."""
    places = range(len(tally))
    for size in range(1, min(most or len(tally), len(tally)) + 1):
        for chosen in itertools.combinations(places, size):
            yield tuple(count + (place in chosen) for place, count in enumerate(tally))


def changed(tally: Tally) -> Iterator[Tally]:
    """The tally with one comparison replaced by another."""
    for gone, came in itertools.permutations(range(len(tally)), 2):
        if tally[gone]:
            yield tuple(count - (place == gone) + (place == came) for place, count in enumerate(tally))


def exact_shares(method: Spectral, tally: Sequence[int]) -> list[Fraction]:
    """The stationary distribution in exact rationals, by elimination: a derivation of its own."""
    size, full = len(method.graph.items), int(method.normalisation or 1) * method.comparisons_per_pair
    c = Fraction(method.mixing)
    walk = [[Fraction(0)] * size for _ in range(size)]
    for (winner, loser), count in zip(method.graph.directed.tolist(), tally, strict=True):
        walk[loser][winner] = Fraction(min(count, method.comparisons_per_pair), full)
    for place in range(size):
        walk[place][place] = 1 - sum(walk[place], Fraction(0))
    # x = c/m + (1-c) x P, one row per item, with the right side as the last column.
    rows = [
        [*((Fraction(i == j) - (1 - c) * walk[i][j]) for i in range(size)), c / size]  # column j of I - (1-c)P
        for j in range(size)
    ]
    for pivot in range(size):
        swap = next(row for row in range(pivot, size) if rows[row][pivot])
        rows[pivot], rows[swap] = rows[swap], rows[pivot]
        rows[pivot] = [entry / rows[pivot][pivot] for entry in rows[pivot]]
        for row in range(size):
            if row != pivot:
                factor = rows[row][pivot]
                rows[row] = [entry - factor * over for entry, over in zip(rows[row], rows[pivot], strict=True)]
    return [row[-1] for row in rows]


def scored(method: RankingMethod, tally: Tally, *, factor: Fraction = Fraction(1)) -> Scores:
    """The scores, with the method's sensitivity or a part of it."""
    values = dict(zip(method.graph.items, method.values(np.array(tally, dtype=np.int64)), strict=True))
    return Scores(values, rises_by=factor * method.rises_by, falls_by=factor * method.falls_by)
