"""JointTopK in small worlds: the exact divergence of every pair of neighbours is within the claim."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import pytest
from tests.support.symmetry import symmetric
from tests.support.worlds import (
    SmallDistribution,
    SmallHistogram,
    cached,
    check_bounded_range,
    check_pure,
    check_world,
    distribution_of,
)

from podium.exact import ball_precision
from podium.histogram import Histogram, Scores
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


def _check_replaced(mechanism: JointTopK) -> None:
    """All histograms of three items, against those in which every count moved by at most one, in any direction."""
    distribution = cached(distribution_of(mechanism))
    for counts in itertools.product(range(4), repeat=3):
        for moves in itertools.product((-1, 0, 1), repeat=3):
            moved = [count + move for count, move in zip(counts, moves, strict=True)]
            if min(moved) >= 0:
                first, second = (dict(zip("abc", values, strict=True)) for values in (counts, moved))
                check_bounded_range(distribution(first), distribution(second), 1)


@pytest.mark.parametrize("k", [1, 2])
def test_counts_that_move_both_ways(k: int) -> None:
    _check_replaced(JointTopK(k, 1, monotone=False))


def test_the_monotone_rate_is_refused_for_counts_that_move_both_ways() -> None:
    with pytest.raises(AssertionError, match="range of the log ratios"):
        _check_replaced(JointTopK(2, 1))


def test_scores_with_different_steps_up_and_down() -> None:
    mechanism = JointTopK(2, 1)

    @functools.cache
    def distribution(scores: tuple[Fraction, ...]) -> SmallDistribution:
        stated = Scores(dict(zip("abc", scores, strict=True)), rises_by="1/2", falls_by="1/3")
        return mechanism.distribution(stated, exact=True)

    grid = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(5, 4)]
    for scores in itertools.product(grid, repeat=3):
        for moves in itertools.product((Fraction(-1, 3), Fraction(0), Fraction(1, 2)), repeat=3):
            moved = tuple(score + move for score, move in zip(scores, moves, strict=True))
            check_bounded_range(distribution(scores), distribution(moved), 1)


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
