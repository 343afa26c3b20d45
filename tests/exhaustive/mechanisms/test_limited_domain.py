"""Every small world: the limited domain keeps its promise, strict or not, with and without a bound on the items."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import SmallDistribution, check_pair, check_world, distribution_of, lifted, top_items

from podium.audit.exact.divergence import PRECISION
from podium.audit.exact.worlds import SmallHistogram, neighbours, world
from podium.exact import ball, ball_precision, dyadic_below, rational_bounds
from podium.histogram import Histogram
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.peeling import peeling_distribution
from podium.privacy.guarantee import Guarantee

ITEMS = ("a", "b", "c", "d")
HALF = Fraction(1, 2)


@pytest.mark.parametrize("max_items", [None, 1, 2, 3])
@pytest.mark.parametrize(("k", "k_bar"), [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (2, 5)])
def test_the_limited_domain_keeps_its_promise_and_needs_all_of_its_delta(
    k: int, k_bar: int, max_items: int | None
) -> None:
    mechanism = LimitedDomain(k, k_bar, HALF, "0.05", max_items_per_user=max_items)
    distribution = distribution_of(mechanism, known=False)
    worst = check_world(distribution, mechanism.guarantee, items=ITEMS, largest=3, max_items=max_items)
    if (max_items or k_bar) <= len(ITEMS):
        assert worst.excess == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("max_items", [None, 1])
@pytest.mark.parametrize(("k", "k_bar"), [(1, 1), (2, 2), (2, 3)])
def test_the_strict_variant_keeps_its_promise_and_needs_all_of_its_delta(
    k: int, k_bar: int, max_items: int | None
) -> None:
    """Its delta is used up even if users have one item each: a bound on them would not help."""
    mechanism = LimitedDomain(k, k_bar, HALF, "0.05", max_items_per_user=max_items, strict=True)
    distribution = distribution_of(mechanism, known=False)
    worst = check_world(distribution, mechanism.guarantee, items=ITEMS, largest=3, max_items=max_items)
    assert worst.excess == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("lift", [{"a": 20}, {"a": 20, "b": 20}, {"a": 20, "b": 18, "c": 18, "d": 18}])
@pytest.mark.parametrize(("k", "k_bar", "max_items"), [(1, 1, None), (2, 2, 1), (2, 3, None)])
def test_also_where_items_do_come_out(k: int, k_bar: int, max_items: int | None, lift: Mapping[str, int]) -> None:
    mechanism = LimitedDomain(k, k_bar, HALF, "1e-4", max_items_per_user=max_items)
    check_world(
        lifted(distribution_of(mechanism, known=False), lift),
        mechanism.guarantee,
        items=ITEMS,
        largest=1,
        max_items=max_items,
    )


# The repaired proof, pair by pair (docs/proofs/limited-domain.md).


@pytest.mark.parametrize(("k", "k_bar", "max_items"), [(2, 2, 1), (2, 3, None), (3, 3, 2)])
def test_the_distribution_contains_peeling_on_the_common_domain(k: int, k_bar: int, max_items: int | None) -> None:
    """M >= P/(1+delta), where P peels the common domain with bottom's weight times 1+delta; the two P are zCDP."""
    mechanism = LimitedDomain(k, k_bar, HALF, "0.05", max_items_per_user=max_items)
    distribution = distribution_of(mechanism, known=False)
    peeling_claim = Guarantee.zcdp(mechanism.guarantee.cost.rho)
    for counts in world(ITEMS[:3], 2):
        for more in neighbours(counts, max_items):
            common = [item for item in top_items(counts, k_bar) if item in top_items(more, k_bar)]
            fewer_part, more_part = (padded_peeling(mechanism, side, common) for side in (counts, more))
            assert_part(fewer_part, distribution(counts), mechanism.delta)
            assert_part(more_part, distribution(more), mechanism.delta)
            check_pair(fewer_part, more_part, peeling_claim)


def padded_peeling(mechanism: LimitedDomain, counts: SmallHistogram, common: list[str]) -> SmallDistribution:
    with ball_precision(PRECISION):
        bottom = Histogram(counts, known=False).top(mechanism.max_rows).next_count + mechanism.margin
        # ln(1+delta)/eps as a rational far closer than the checker's slack.
        shift = (1 + ball(mechanism.delta)).log() / ball(mechanism.epsilon_per_item)
        exact = bottom + dyadic_below(rational_bounds(shift)[0], 100)
        return peeling_distribution(common, [counts[item] for item in common], HALF, mechanism.k, bottom=exact)


def assert_part(part: SmallDistribution, whole: SmallDistribution, delta: Fraction) -> None:
    with ball_precision(PRECISION):
        slack = flint.arb(1) - flint.arb(2) ** -40
        for outcome, chance in part.items():
            assert slack * chance / ball(1 + delta) <= whole.get(outcome, flint.arb(0)), outcome
