"""ExponentialTopK and ExponentialWithGap in small worlds, and what looks like them but is not private."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import pytest
from tests.support.gaps import LINE, check_gaps, gaps_in
from tests.support.symmetry import joint_density, symmetric
from tests.support.worlds import DistributionOf, check_bounded_range, check_world

from podium.exact import ball
from podium.histogram import Histogram
from podium.mechanisms.base import certified_ball
from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap

ITEMS = ("a", "b", "c", "d")


def distribution_of(mechanism: ExponentialTopK | ExponentialWithGap) -> DistributionOf:
    return symmetric(lambda counts: mechanism.distribution(Histogram(counts), exact=True))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_pair_keeps_the_promise(k: int) -> None:
    mechanism = ExponentialTopK(k, "0.7")
    check_world(distribution_of(mechanism), mechanism.guarantee, items=ITEMS, largest=3, kind="pure")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_pair_keeps_the_whole_guarantee(k: int) -> None:
    """The curve of (epsilon, delta) pairs and the Renyi divergences of k * rho(epsilon)."""
    mechanism = ExponentialTopK(k, "0.7")
    check_world(distribution_of(mechanism), mechanism.guarantee, largest=3)


def test_one_selection_is_of_bounded_range() -> None:
    finding = check_world(distribution_of(ExponentialTopK(1, 1)), 1, items=ITEMS, largest=3, kind="bounded_range")
    assert finding.excess > -1e-9, "the range is used up: adding a user to one of two items"


def test_k_selections_are_not_one_of_bounded_range() -> None:
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_world(distribution_of(ExponentialTopK(2, 1)), 1, items=ITEMS, largest=3, kind="bounded_range")


def test_twice_the_weight_is_rejected() -> None:
    """Counts that move both ways at the rate of counts that do not; here the same error as weight 2 epsilon."""
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_world(distribution_of(ExponentialTopK(1, 2)), 1, items=ITEMS, largest=3, kind="pure")


def gap_density_of(mechanism: ExponentialWithGap) -> Callable[..., flint.arb]:
    def density(winners: tuple[int, ...], losers: tuple[int, ...], gaps: tuple[Fraction, ...]) -> flint.arb:
        return mechanism.density(Histogram(dict(enumerate((*winners, *losers)))), (0,), gaps, exact=True)

    return joint_density(density)


@pytest.mark.parametrize(("items", "largest"), [(ITEMS[:2], 4), (ITEMS[:3], 3), (ITEMS, 3)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_item_and_gap_together_keep_the_promise(items: tuple[str, ...], largest: int, epsilon: Fraction) -> None:
    distribution = gaps_in(gap_density_of(ExponentialWithGap(epsilon)), 1, LINE)
    check_gaps(distribution, epsilon, items=items, largest=largest)


def test_the_gap_charged_as_bounded_range_is_rejected() -> None:
    distribution = gaps_in(gap_density_of(ExponentialWithGap(1)), 1, LINE)
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_gaps(distribution, 1, check=check_bounded_range)


def test_the_range_with_the_gap_comes_close_to_twice_epsilon() -> None:
    distribution = gaps_in(gap_density_of(ExponentialWithGap(1)), 1, (*LINE, Fraction(30)))
    p, q = distribution({"a": 20, "b": 0}), distribution({"a": 21, "b": 0})
    check_bounded_range(p, q, 2)
    with pytest.raises(AssertionError, match=r"above the claimed epsilon=1\.99 by"):
        check_bounded_range(p, q, Fraction(199, 100))


def test_the_location_without_epsilon_is_rejected() -> None:
    """Ding et al., Algorithm 8 as printed: the item by epsilon, its gap by a logistic that does not know epsilon."""

    def printed(winners: tuple[int, ...], losers: tuple[int, ...], gaps: tuple[Fraction, ...]) -> flint.arb:
        def value() -> flint.arb:
            chosen = ball(Fraction(winners[0]) / 2).exp()
            chance = chosen / (chosen + sum((ball(Fraction(loser) / 2).exp() for loser in losers), flint.arb(0)))
            odds = ball(Fraction(winners[0])).exp() / sum((ball(Fraction(c)).exp() for c in losers), flint.arb(0))
            share = odds * ball(-gaps[0]).exp()
            # Logistic density given that it is not negative, which has probability odds/(1 + odds).
            return chance * share / (1 + share) ** 2 * (1 + odds) / odds

        return certified_ball(value)

    with pytest.raises(AssertionError, match=r"above the claimed epsilon=0\.5 by"):
        check_gaps(gaps_in(joint_density(printed), 1, LINE), Fraction(1, 2))
