"""Draws of lists for each group, screened or not, against their exact distribution, and against other scales."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.groups import shown

from podium.histogram import Histogram
from podium.mechanisms.groups.grouped_topk import GroupedTopK
from podium.mechanisms.groups.screening import Screen
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

ONE = Fraction(1)
GROUPS = {"X": {"a": 7, "b": 6, "c": 6, "d": 2}, "Y": {"a": 3}}


def histograms() -> dict[str, Histogram]:
    return {group: Histogram(counts, known=False) for group, counts in GROUPS.items()}


def mechanism(scale: Fraction, known: int | None) -> GroupedTopK:
    return GroupedTopK.selections(2, 3, 1 / scale, Fraction(1, 20), known=known)


@pytest.mark.parametrize("known", [None, 2])
def test_draws_follow_the_distribution_and_no_other_scale(known: int | None) -> None:
    bits, right = ReplayableBits(5), mechanism(ONE, known)
    drawn = (shown(right.release(histograms(), bits=bits)) for _ in range(6_000))
    assert_three_way(drawn, lambda scale: right_floats(scale, known), scale=ONE)


def floats(alone: LimitedDomain, histogram: Histogram) -> dict[Any, float]:
    return alone.distribution(histogram)


def right_floats(scale: Fraction, known: int | None) -> dict[Any, float]:
    return mechanism(scale, known).distribution(histograms())


@pytest.mark.parametrize(
    "counts",
    [
        {"a": 8, "b": 7, "c": 6, "d": 2, "e": 1},
        {"a": 6, "b": 6, "c": 6, "d": 6},
        {"a": 6, "b": 0},
        {"a": 8},
        {"a": 40, "b": 39},
        {"a": 6, "b": 6, "c": 5},
    ],
)
@pytest.mark.parametrize("k", [1, 2])
def test_a_screened_group_has_the_distribution_of_the_whole_mechanism(k: int, counts: dict[str, int]) -> None:
    inner, histogram = LimitedDomain(k, 3, 1, "0.05"), Histogram(counts, known=False)
    screen = Screen(inner, ReplayableBits(k))
    draws = [(BOTTOM,) if screen.hides(histogram) else screen.release(histogram).outcome for _ in range(1_500)]
    assert p_value(draws, floats(inner, histogram)) > FALSE_ALARM
    if 0 < counts["a"] - histogram.top(3).next_count < 40:
        wrong = floats(LimitedDomain(k, 3, "0.7", "0.05"), histogram)
        assert p_value(draws, wrong) < FALSE_ALARM
