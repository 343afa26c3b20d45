"""FixedThreshold: the example of the formulas, its two guarantees, refusals word for word."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from tests.support.refusals import refusal

from podium.histogram import Histogram
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.privacy.costs import Cost
from podium.privacy.events import ApproximateMechanism
from podium.privacy.theorems.best_bound import best_bound
from podium.privacy.theorems.composition import advanced
from podium.randomness.replay import ReplayableBits
from podium.release import Release

HALF = Fraction(1, 2)
EXAMPLE = Histogram({"a": 20, "b": 16, "c": 3, "d": 3}, known=False)


def test_the_example_of_the_formulas() -> None:
    mechanism = FixedThreshold(2, 1, "1e-6")
    chances = mechanism.inclusion(EXAMPLE)
    assert chances == pytest.approx({"a": 0.971866206320185, "b": 0.162754791419004}, abs=1e-14)
    distribution = mechanism.distribution(EXAMPLE)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)
    assert distribution[frozenset({"a", "b"})] == pytest.approx(chances["a"] * chances["b"], rel=1e-12)


def test_the_example_of_rational_scores() -> None:
    """It ranks counts only; its margin is that of scores of any size, 20 and 33/2 above a next score of 3."""
    margin = FixedThreshold(2, 1, "1e-6").margin
    leads = [score - 3 - margin for score in (Fraction(20), Fraction(33, 2))]
    assert 1 - math.exp(-leads[0]) / 2 == pytest.approx(0.9718662063201852, rel=1e-14)
    assert math.exp(leads[1]) / 2 == pytest.approx(0.2683372865208745, rel=1e-14)


def test_only_what_is_above_the_next_count_takes_part() -> None:
    assert FixedThreshold(3, 1, "0.01").inclusion(EXAMPLE).keys() == {"a", "b"}
    assert FixedThreshold(9, 1, "0.01").inclusion(EXAMPLE).keys() == {"a", "b", "c", "d"}
    assert FixedThreshold(2, 1, "0.01").distribution(Histogram({}, known=False)) == {frozenset(): 1.0}


def test_a_new_item_passes_with_exactly_delta() -> None:
    for delta in (Fraction(1, 100), HALF, Fraction(3, 4)):
        (chance,) = FixedThreshold(1, 1, delta).inclusion(Histogram({"a": 1})).values()
        expected = delta if delta <= HALF else 1 - 1 / (4 * delta)
        assert chance == pytest.approx(float(expected), rel=1e-12)
        assert Fraction(chance) <= delta + Fraction(1, 10**15)


def test_both_guarantees() -> None:
    mechanism = FixedThreshold(100, "0.1", "1e-8")
    cost = mechanism.guarantee.cost
    assert cost == Cost(epsilon=10, rho=HALF, delta="1e-6")
    at = cost.delta + Fraction(1, 10**6)
    papers = advanced([Fraction(1, 10)] * 100, Fraction(1, 10**6))
    assert mechanism.guarantee.epsilon(delta=at) < papers < 10
    large = FixedThreshold(1000, 1, "1e-8")
    assert best_bound(large.worst_case, "2e-5").epsilon <= advanced([Fraction(1)] * 1000, Fraction(1, 10**5))


def test_a_release_is_a_set_and_pays_for_all_k() -> None:
    mechanism = FixedThreshold(2, 1, "1e-6")
    release = mechanism.release(Histogram({"a": 900, "b": 600, "c": 3}, known=False), bits=ReplayableBits(1))
    assert release.outcome == frozenset({"a", "b"})
    assert release.items == ("a", "b")
    assert not release.ordered
    assert release.paid.events == (ApproximateMechanism(1, "1e-6"),) * 2
    assert Release.from_json(release.to_json()) == release
    empty = mechanism.release(Histogram({}, known=False), bits=ReplayableBits(1))
    assert empty.outcome == frozenset()
    assert empty.paid == release.paid


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, "0.01"), "k=0 is not valid. Allowed: an integer, 1 or more."),
        ((1, 0, "0.01"), "epsilon_per_item=0 is not valid. Allowed: a number above 0."),
        (
            (1, 1, 0),
            (
                "delta=0 is not valid. Allowed: a number with 0 < value < 1. "
                "An unknown domain cannot be private with delta=0."
            ),
        ),
    ],
)
def test_what_is_refused(arguments: Any, text: str) -> None:
    assert refusal(lambda: FixedThreshold(*arguments)) == text
