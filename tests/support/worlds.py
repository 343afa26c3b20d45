"""Exhaustive small worlds for tests: ``podium.audit``'s certified comparisons, as assertions.

A check takes exact distributions (outcome -> ball) and a claim, and raises an AssertionError that shows the worst pair
and by how much the claim fails. What "accepted" and "rejected" mean is said in ``podium.audit.exact.claims``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

from podium.audit.exact.claims import Comparison, Finding, Kind, comparison
from podium.audit.exact.divergence import PRECISION, SLACK, ExactDistribution, hockey_stick, renyi
from podium.audit.exact.exhaustive import DistributionOf, cache_distribution, worst_pair
from podium.audit.exact.worlds import SmallHistogram, World, neighbours, world
from podium.errors import InvalidArgument
from podium.exact import Number
from podium.histogram import Histogram, Scores
from podium.mechanisms.base import Mechanism
from podium.privacy.guarantee import Guarantee

__all__ = [
    "PRECISION",
    "SLACK",
    "DistributionOf",
    "Finding",
    "SmallDistribution",
    "SmallHistogram",
    "cached",
    "check_bounded_range",
    "check_moves_both_ways",
    "check_pair",
    "check_pure",
    "check_uneven_steps",
    "check_world",
    "distribution_of",
    "hockey_stick",
    "lifted",
    "neighbours",
    "renyi",
    "top_items",
    "world",
]

SmallDistribution = ExactDistribution


def check_pair(p: SmallDistribution, q: SmallDistribution, guarantee: Guarantee) -> None:
    """Both directions keep the guarantee: its (epsilon, delta) curve, and its zCDP bound where delta is 0."""
    _raise_if_violated(comparison(guarantee, "guarantee")(p, q))


def check_pure(p: SmallDistribution, q: SmallDistribution, epsilon: Number) -> None:
    """Every log ratio is at most epsilon in size; outcomes of only one distribution are an infinite ratio."""
    _raise_if_violated(comparison(epsilon, "pure")(p, q))


def check_bounded_range(p: SmallDistribution, q: SmallDistribution, epsilon: Number) -> None:
    """All log ratios lie in an interval of length epsilon."""
    _raise_if_violated(comparison(epsilon, "bounded_range")(p, q))


def cached(distribution: DistributionOf) -> DistributionOf:
    """The same distribution, computed once per histogram; and checked to be one: its probabilities sum to 1."""
    lookup = cache_distribution(distribution)

    def asserted(counts: SmallHistogram) -> SmallDistribution:
        try:
            return lookup(counts)
        except InvalidArgument as error:
            raise AssertionError(f"{counts}: {error}") from error

    return asserted


def distribution_of(mechanism: Mechanism, *, known: bool = True) -> DistributionOf:
    """The exact distribution of a mechanism on a small histogram; ``known=False``: nobody stated the domain."""
    return lambda counts: mechanism.distribution(Histogram(counts, known=known), exact=True)


def top_items(counts: Mapping[str, int], k_bar: int) -> tuple[str, ...]:
    """The items among which a limited domain chooses."""
    return tuple(str(item) for item in Histogram(counts, known=False).top(k_bar).items)


def lifted(distribution: DistributionOf, by: Mapping[str, int]) -> DistributionOf:
    """The distribution with these counts added before: a small world around a histogram with large counts."""
    return lambda counts: distribution({item: count + by.get(item, 0) for item, count in counts.items()})


def check_world(
    distribution: DistributionOf,
    guarantee: Guarantee | Number,
    *,
    items: Sequence[str] = ("a", "b", "c"),
    largest: int = 3,
    max_items: int | None = None,
    kind: Kind = "guarantee",
) -> Finding:
    """All histograms of a small world against all their neighbours, added and removed; the worst pair raises.

    Returns the finding of the worst pair, so that a test can also ask how tight a claim is.
    """
    compare: Comparison = comparison(guarantee, kind)
    worst = worst_pair(cached(distribution), compare, World(items, largest, max_items_per_user=max_items))
    text = f"{worst.finding.text}\n  p: {worst.left}\n  q: {worst.right} (one user more)"
    found = Finding(worst.finding.excess, worst.finding.violated, text)
    _raise_if_violated(found)
    return found


def _raise_if_violated(finding: Finding) -> None:
    if finding.violated:
        raise AssertionError(finding.text)


def check_moves_both_ways(distribution: DistributionOf, largest: int) -> None:
    """At epsilon = 1, histograms of three items against those in which each count moved by at most one, either way."""
    of = cached(distribution)
    for counts in itertools.product(range(largest + 1), repeat=3):
        for moves in itertools.product((-1, 0, 1), repeat=3):
            moved = [count + move for count, move in zip(counts, moves, strict=True)]
            if min(moved) >= 0:
                first, second = (dict(zip("abc", values, strict=True)) for values in (counts, moved))
                check_bounded_range(of(first), of(second), 1)


def check_uneven_steps(mechanism: Mechanism) -> None:
    """At epsilon = 1, three scores that one user raises by at most 1/2 and lowers by at most 1/3."""

    @functools.cache
    def distribution(scores: tuple[Fraction, ...]) -> SmallDistribution:
        stated = Scores(dict(zip("abc", scores, strict=True)), rises_by="1/2", falls_by="1/3")
        return mechanism.distribution(stated, exact=True)

    grid = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(5, 4)]
    for scores in itertools.product(grid, repeat=3):
        for moves in itertools.product((Fraction(-1, 3), Fraction(0), Fraction(1, 2)), repeat=3):
            moved = tuple(score + move for score, move in zip(scores, moves, strict=True))
            check_bounded_range(distribution(scores), distribution(moved), 1)
