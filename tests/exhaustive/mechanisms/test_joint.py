"""JointTopK in small worlds: the exact divergence of every pair of neighbours is within the claim."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.support.symmetry import symmetric
from tests.support.worlds import (
    SmallDistribution,
    SmallHistogram,
    check_bounded_range,
    check_moves_both_ways,
    check_pure,
    check_uneven_steps,
    check_world,
    distribution_of,
)

from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms import JointTopK

_FOUR = ("a", "b", "c", "d")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_four_items_are_bounded_range(k: int) -> None:
    found = check_world(symmetric(distribution_of(JointTopK(k, 1))), 1, items=_FOUR, largest=3, kind="bounded_range")
    # One place alone: h_(1) is the same for all sequences, only h_(s_1) moves, and half the range is never used.
    assert found.excess == pytest.approx(-0.5 if k == 1 else 0.0, abs=1e-9)


def test_all_places() -> None:
    check_world(symmetric(distribution_of(JointTopK(4, 2))), 2, items=_FOUR, largest=2, kind="bounded_range")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_whole_guarantee(k: int) -> None:
    mechanism = JointTopK(k, 1)
    assert mechanism.guarantee.rho is not None
    assert mechanism.guarantee.rho < Fraction(1, 8)
    check_world(distribution_of(mechanism), mechanism.guarantee, largest=2)


def test_five_items_with_two_places() -> None:
    distribution = symmetric(distribution_of(JointTopK(2, "1/2")))
    check_world(distribution, "1/2", items=("a", "b", "c", "d", "e"), largest=2, kind="bounded_range")


@pytest.mark.parametrize("k", [1, 2])
def test_counts_that_move_both_ways(k: int) -> None:
    check_moves_both_ways(distribution_of(JointTopK(k, 1, monotone=False)), 3)


def test_the_monotone_rate_is_refused_for_counts_that_move_both_ways() -> None:
    with pytest.raises(AssertionError, match="range of the log ratios"):
        check_moves_both_ways(distribution_of(JointTopK(2, 1)), 3)


def test_scores_with_different_steps_up_and_down() -> None:
    check_uneven_steps(JointTopK(2, 1))


def _whole_epsilon(counts: SmallHistogram) -> SmallDistribution:
    """The misreading: weight epsilon instead of epsilon/2, because counts are monotone. Here at epsilon = 1."""
    return JointTopK(2, 2).distribution(Histogram(counts), exact=True)


def test_weight_epsilon_is_not_private_even_for_counts() -> None:
    with pytest.raises(AssertionError, match="log ratio"):
        check_world(symmetric(_whole_epsilon), 1, items=_FOUR, largest=2, kind="pure")


def test_weight_epsilon_on_the_pair_of_the_formulas() -> None:
    before, after = (dict(zip("abcde", counts, strict=True)) for counts in ((2, 1, 1, 1, 0), (2, 2, 2, 2, 0)))
    p, q = _whole_epsilon(before), _whole_epsilon(after)
    with ball_precision(128):
        worst = max(abs(float((p[outcome] / q[outcome]).log().mid())) for outcome in p)
    assert worst == pytest.approx(1.45, abs=0.005)
    with pytest.raises(AssertionError, match="log ratio"):
        check_pure(p, q, 1)
    ours = distribution_of(JointTopK(2, 1))
    check_bounded_range(ours(before), ours(after), 1)


def test_charging_it_like_a_monotone_selection_is_rejected() -> None:
    """One place costs what an exponential mechanism of epsilon/2 does, but two places cost all of epsilon."""
    check_world(distribution_of(JointTopK(1, 1)), "1/2", kind="bounded_range")
    with pytest.raises(AssertionError, match="range of the log ratios"):
        check_world(distribution_of(JointTopK(2, 1)), "1/2", kind="bounded_range")
