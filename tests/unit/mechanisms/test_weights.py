"""Weights: steps, sensitivities and thresholds against their definitions, one number of items at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.refusals import refusal

from podium.errors import InvalidArgument
from podium.mechanisms import Weights

UNIT = 2**20


def by_definition(weights: Weights, sigma: float, delta: str) -> mpmath.mpf:
    with mpmath.workdps(50):
        d = mpmath.mpf(delta)
        return max(
            mpmath.mpf(weights.weight(t)) / weights.unit
            + sigma * mpmath.sqrt(2) * mpmath.erfinv(2 * (1 - d) ** (mpmath.mpf(1) / t) - 1)
            for t in range(1, weights.cap + 1)
        )


def test_bounded_weights_are_plain_counts() -> None:
    weights = Weights.bounded(32)
    assert (weights.steps, weights.unit, weights.cap) == (((32, 1),), 1, 32)
    assert weights.squared_sensitivity == 32
    assert weights.sensitivity_squared == 32
    assert str(weights) == "bounded(32)"


def test_spread_weights_are_inverse_roots() -> None:
    weights = Weights.spread(90)
    assert [weights.weight(t) for t in (1, 2, 4, 90)] == [UNIT, 741455, UNIT // 2, math.isqrt(UNIT**2 // 90)]
    assert [end for end, _ in weights.steps] == list(range(1, 91))
    assert weights.sensitivity_squared == 1
    assert str(weights) == "spread(90)"


def test_floored_weights_treat_light_users_alike() -> None:
    weights = Weights.floored(20, 1000)
    assert weights.steps[0] == (20, math.isqrt(UNIT**2 // 20))
    assert weights.weight(1) == weights.weight(20) > weights.weight(21)
    assert weights.cap == 1000
    assert len(weights.steps) <= 100
    assert str(Weights.floored(2, 9, unit=64)) == "floored(2, 9) in units of 1/64"
    assert Weights.floored(1, 50) == Weights.spread(50)


def test_shared_weights_are_inverses() -> None:
    weights = Weights.shared(90)
    assert [weights.weight(t) for t in (1, 2, 3, 90)] == [UNIT, UNIT // 2, UNIT // 3, UNIT // 90]
    assert weights.total_sensitivity == 1
    assert str(weights) == "shared(90)"
    assert str(Weights.shared(9, unit=64)) == "shared(9) in units of 1/64"
    assert Weights.bounded(7).total_sensitivity == 7


@settings(max_examples=60)
@given(cap=st.integers(1, 10**6))
def test_nobody_adds_more_than_1_in_all(cap: int) -> None:
    weights = Weights.shared(cap)
    assert weights.cap == cap
    assert len(weights.steps) <= 100
    assert weights.total_sensitivity == 1
    starts = [1, *(end + 1 for end, _ in weights.steps[:-1])]
    for start, (end, weight) in zip(starts, weights.steps, strict=True):
        assert weight * end <= UNIT
        assert Fraction(weight + 1, UNIT) * start >= Fraction(7, 10)


@settings(max_examples=60)
@given(m=st.integers(1, 300), cap=st.integers(1, 10**6))
def test_no_user_is_longer_than_1_and_few_lose_much(m: int, cap: int) -> None:
    weights = Weights.floored(min(m, cap), cap)
    assert len(weights.steps) <= 100
    assert weights.cap == cap
    assert weights.sensitivity_squared <= 1
    starts = [1, *(end + 1 for end, _ in weights.steps[:-1])]
    for start, (end, weight) in zip(starts, weights.steps, strict=True):
        root = max(min(m, cap), start)
        # Never more than 1/sqrt(max(m, t)), and at the coarse end at most a sixth less.
        assert weight**2 * max(m if cap > m else cap, end) <= UNIT**2
        assert Fraction(weight + 1, UNIT) ** 2 * root >= Fraction(7, 10)


@pytest.mark.parametrize("weights", [Weights.bounded(3), Weights.spread(40), Weights.floored(5, 300)], ids=str)
def test_the_sensitivity_is_the_largest_over_all_users(weights: Weights) -> None:
    assert weights.squared_sensitivity == max(t * weights.weight(t) ** 2 for t in range(1, weights.cap + 1))


@pytest.mark.parametrize("weights", [Weights.bounded(3), Weights.spread(40), Weights.floored(5, 150)], ids=str)
@pytest.mark.parametrize("sigma", ["0.1", "1", "4.5"])
def test_only_the_ends_of_steps_matter_for_the_threshold(weights: Weights, sigma: str) -> None:
    found = weights.threshold(sigma, "1e-6")
    exact = by_definition(weights, float(sigma), "1e-6")
    with mpmath.workdps(50):
        excess = mpmath.mpf(found.numerator) / found.denominator - exact
        # float(sigma) stands for a nearby number, so this is not the place to ask for the last digits.
        assert abs(excess) < 1e-12
    assert found.denominator.bit_count() == 1


def test_thresholds_round_up_and_grow_as_they_should() -> None:
    weights = Weights.bounded(1)
    with mpmath.workdps(60):
        exact = 1 + 2 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf("1e-9"))
        found = weights.threshold(2, "1e-9")
        assert 0 <= mpmath.mpf(found.numerator) / found.denominator - exact <= mpmath.mpf(2) ** -64
    assert weights.threshold(2, "1e-12") > found
    assert Weights.bounded(2).threshold(2, "1e-9") > found


def test_large_deltas_and_small_ones() -> None:
    # Exactly 1, which no ball can tell from a number just above it: rounded up.
    assert Weights.bounded(1).threshold(1, "1/2") == 1 + Fraction(1, 2**64)
    assert Weights.bounded(1).threshold(1, "0.9") < 1
    assert 21 < Weights.spread(1000).threshold(1, "1e-100") < 23


def test_own_steps() -> None:
    weights = Weights([(2, 10), (5, 10), (9, 3)], unit=10)
    assert [weights.weight(t) for t in (1, 2, 3, 5, 6, 9)] == [10, 10, 10, 10, 3, 3]
    assert weights.squared_sensitivity == 500
    assert str(weights) == "((2, 10), (5, 10), (9, 3)) in units of 1/10"
    with pytest.raises(InvalidArgument, match=r"^items=10 is not valid\. Allowed: an integer from 1 to cap=9\.$"):
        weights.weight(10)


@pytest.mark.parametrize("steps", [[], [(2, 1), (2, 1)], [(3, 1), (2, 1)], [(1, 1), (2, 2)]])
def test_steps_that_are_no_steps(steps: list[tuple[int, int]]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Weights(steps)
    assert str(caught.value).endswith(
        "is not valid. Allowed: pairs (up_to, weight) with rising up_to and weights that do not rise. "
        "Weights.bounded, Weights.spread, Weights.floored and Weights.shared make the usual ones."
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Weights.bounded(0), "max_items_per_user=0 is not valid. Allowed: an integer, 1 or more."),
        (lambda: Weights.spread(0), "cap=0 is not valid. Allowed: an integer, 1 or more."),
        (lambda: Weights.floored(5, 4), "m=5 is not valid. Allowed: an integer from 1 to cap=4."),
        (lambda: Weights.spread(26, unit=5), "unit=5 is not valid. Allowed: an integer of at least sqrt(cap=26)."),
        (lambda: Weights.spread(2**40 + 1),
         "cap=1099511627777 is not valid. Allowed: an integer from 1 to 1099511627776."),
        (lambda: Weights.shared(26, unit=5), "unit=5 is not valid. Allowed: an integer of at least cap=26."),
        (lambda: Weights.shared(0), "cap=0 is not valid. Allowed: an integer, 1 or more."),
        (lambda: Weights([(1, 0)]), "steps=0 is not valid. Allowed: an integer, 1 or more."),
    ],
)  # fmt: skip
def test_mistakes_are_named(make: Callable[[], object], text: str) -> None:
    assert refusal(make) == text


def test_the_largest_caps_still_take_few_steps() -> None:
    assert len(Weights.spread(1_000_000).steps) <= 100
    assert len(Weights.spread(2**40).steps) <= 100
    assert Weights.spread(2**40).sensitivity_squared <= 1
