"""Exhaustive small worlds for tests: ``podium.audit``'s certified comparisons, as assertions.

A check takes exact distributions (outcome -> ball) and a claim, and raises an AssertionError that shows the worst pair
and by how much the claim fails. What "accepted" and "rejected" mean is said in ``podium.audit.exact.claims``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from podium.audit.exact.claims import Comparison, Finding, Kind, comparison
from podium.audit.exact.divergence import PRECISION, SLACK, ExactDistribution, hockey_stick, renyi
from podium.audit.exact.exhaustive import DistributionOf, cache_distribution, worst_pair
from podium.audit.exact.worlds import SmallHistogram, World, neighbours, world
from podium.errors import InvalidArgument
from podium.exact import Number
from podium.histogram import Histogram
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
    "check_pair",
    "check_pure",
    "check_world",
    "distribution_of",
    "hockey_stick",
    "lifted",
    "neighbours",
    "renyi",
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
