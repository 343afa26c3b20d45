"""Gaps in small worlds: joint densities of (outcome, gaps) on a grid with points in every smooth cell.

The density of gaps is smooth except where a sum of neighbouring gaps equals a difference of counts, that is, a whole
number, and beyond the largest difference its log ratio is constant. The points lie between integers,
alone and in sums of two.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
from tests.support.worlds import DistributionOf, SmallDistribution, SmallHistogram, check_pure, neighbours, world

from podium.audit.exact.rough import OutcomeTable

LINE = tuple(Fraction(n, 60) for n in (0, 17, 52, 77, 112, 137, 172, 197, 232, 500))
SPARSE = (*LINE[1:9:2], LINE[-1])


def gaps_in(density: Callable[..., flint.arb], k: int, points: tuple[Fraction, ...]) -> DistributionOf:
    """(order, gaps) -> density, for all orders and all gaps of a grid.

    ``density`` is asked for the counts of the winners in order, the counts of the others, and the gaps.
    """

    def lookup(counts: SmallHistogram) -> dict[Any, flint.arb]:
        found = {}
        for order in itertools.permutations(counts, k):
            losers = tuple(count for item, count in counts.items() if item not in order)
            for gaps in itertools.product(points, repeat=k if losers else k - 1):
                found[order, gaps] = density(tuple(counts[item] for item in order), losers, gaps)
        return found

    return lookup


def check_gaps(
    distribution: DistributionOf,
    epsilon: int | Fraction,
    *,
    items: tuple[str, ...] = ("a", "b", "c"),
    largest: int = 2,
    check: Callable[[SmallDistribution, SmallDistribution, Any], None] = check_pure,
) -> None:
    """All histograms of a small world against all their neighbours."""
    known: dict[tuple[int, ...], SmallDistribution] = {}
    table = OutcomeTable()

    def lookup(counts: SmallHistogram) -> SmallDistribution:
        key = tuple(counts.values())
        if key not in known:
            known[key] = table.tabulate(distribution(counts))
        return known[key]

    for counts in world(items, largest):
        for more in neighbours(counts):
            check(lookup(counts), lookup(more), epsilon)
