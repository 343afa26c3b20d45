"""Draws of the unknown-domain mechanisms against their exact distributions, and against those at other scales."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest
from scipy import integrate
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value

from podium.histogram import Histogram
from podium.mechanisms.base import Mechanism
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.limited_domain.pay_what_you_get import PayWhatYouGet
from podium.mechanisms.limited_domain.private_k_bar import choose_k_bar
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

DRAWS = 2_000
ONE = Fraction(1)

HISTOGRAMS: dict[str, dict[str, int]] = {
    "several": {"a": 8, "b": 7, "c": 6, "d": 2, "e": 1},
    "ties at the cut": {"a": 6, "b": 6, "c": 6, "d": 6, "e": 6},
    "ties above the cut": {"a": 9, "b": 9, "c": 9, "d": 1},
    "fewer than k_bar": {"a": 6, "b": 5},
    "fewer than k": {"a": 6},
    "all zero": {"a": 0, "b": 0},
    "empty": {},
}

VARIANTS: dict[str, Callable[[Fraction], Mechanism]] = {
    "gumbel": lambda rate: LimitedDomain(2, 3, rate, "0.05"),
    "gumbel, one item per user": lambda rate: LimitedDomain(2, 3, rate, "0.05", max_items_per_user=1),
    "strict": lambda rate: LimitedDomain(2, 3, rate, "0.05", strict=True),
    "minimum": lambda rate: LimitedDomain(2, 3, rate, "0.05", at_least="15/2"),
    "private k_bar": lambda rate: LimitedDomain(2, PrivateKBar(6), rate, "0.05"),
    "laplace": lambda rate: LimitedDomain(2, 3, rate, "0.05", max_items_per_user=1, noise="laplace"),
    "fixed threshold": lambda rate: FixedThreshold(3, rate, "0.05"),
}


def draw(mechanism: Mechanism, counts: Mapping[str, int], seed: int, draws: int = DRAWS) -> Iterator[Hashable]:
    bits, histogram = ReplayableBits(seed), Histogram(counts, known=False)
    return (mechanism.release(histogram, bits=bits).outcome for _ in range(draws))


def floats(mechanism: Mechanism, counts: Mapping[str, int]) -> dict[Any, float]:
    return mechanism.distribution(Histogram(counts, known=False))


@pytest.mark.parametrize("name", VARIANTS)
def test_draws_follow_the_distribution_and_no_other_scale(name: str) -> None:
    counts = HISTOGRAMS["several"]
    drawn = draw(VARIANTS[name](ONE), counts, seed=len(name), draws=2 * DRAWS)
    assert_three_way(drawn, lambda scale: floats(VARIANTS[name](1 / scale), counts), scale=ONE)


@pytest.mark.parametrize("k_bar", [3, PrivateKBar(6)])
def test_draws_of_sums_follow_the_distribution_and_no_other_scale(k_bar: int | PrivateKBar) -> None:
    """Amounts with a clip of 7 that counts in its units would not have."""

    def mechanism(scale: Fraction) -> LimitedDomain:
        return LimitedDomain(2, k_bar, 1 / scale, "0.05", clip=7)

    sums = {"a": 55, "b": 50, "c": 41, "d": 12, "e": 5}
    drawn = draw(mechanism(ONE), sums, seed=7, draws=2 * DRAWS)
    assert_three_way(drawn, lambda scale: floats(mechanism(scale), sums), scale=ONE)


@pytest.mark.parametrize("which", [name for name in HISTOGRAMS if name != "several"])
@pytest.mark.parametrize("name", VARIANTS)
def test_draws_follow_the_distribution_on_awkward_histograms(name: str, which: str) -> None:
    mechanism, counts = VARIANTS[name](ONE), HISTOGRAMS[which]
    draws = 50 if not any(counts.values()) else 700
    assert (
        p_value(draw(mechanism, counts, seed=len(name + which), draws=draws), floats(mechanism, counts)) > FALSE_ALARM
    )


@pytest.mark.parametrize(("k", "limit"), [(1, 1), (1, 40), (3, 9), (5, 1000)])
def test_the_chosen_k_bar_follows_its_distribution(k: int, limit: int) -> None:
    """Runs of equal counts, ends of runs inside powers of two, and a tail of zeros beyond the last item."""
    counts = {f"{i:02}": count for i, count in enumerate([9, 9, 9, 8, 5, 5, 5, 5, 5, 4, 4, 3, 1, 1, 1, 1, 1, 1])}
    histogram, bits, rate = Histogram(counts, known=False), ReplayableBits(limit), Fraction(1, 4)
    rows = histogram.top(limit)
    drawn = [choose_k_bar(rows, k, limit, rate, bits) for _ in range(3 * DRAWS if limit == 40 else DRAWS)]

    def distribution(scale: Fraction) -> dict[Any, float]:
        return LimitedDomain(k, PrivateKBar(limit), 1 / scale, "0.05").k_bar_distribution(histogram)

    assert p_value(drawn, distribution(1 / rate)) > FALSE_ALARM
    if limit == 40:
        assert_three_way(drawn, distribution, scale=1 / rate)


def test_noisy_counts_follow_their_density() -> None:
    """(outcome, whole part of the count) for k=1, by quadrature of the density."""
    counts = {"a": 7, "b": 5, "c": 1}
    histogram, bits = Histogram(counts, known=False), ReplayableBits(11)

    def mechanism(rate: Fraction) -> LimitedDomain:
        return LimitedDomain(1, 2, rate, "0.1", max_items_per_user=1, noise="laplace")

    def draw() -> Hashable:
        release = mechanism(ONE).release(histogram, bits=bits)
        assert release.values is not None
        return release.outcome, *(min(max(math.floor(value), 0), 12) for value in release.values)

    def distribution(scale: Fraction) -> dict[Hashable, float]:
        made = mechanism(1 / scale)
        cells: dict[Hashable, float] = {((BOTTOM,),): made.density(histogram, (BOTTOM,), ())}
        for item in ("a", "b"):
            ends = [-40.0, *range(1, 13), 80.0]
            for cell, (low, high) in enumerate(itertools.pairwise(ends)):
                cells[(item,), cell] = cell_probability(made, histogram, item, low, high)
        return cells

    assert sum(distribution(ONE).values()) == pytest.approx(1, abs=1e-6)
    assert_three_way((draw() for _ in range(2 * DRAWS)), distribution, scale=ONE)


def cell_probability(made: LimitedDomain, histogram: Histogram, item: str, low: float, high: float) -> float:
    def density(x: float) -> float:
        return made.density(histogram, (item,), (Fraction(x),))

    # The last cells hold the threshold, where the density has a kink.
    return float(integrate.quad(density, low, high, epsabs=1e-9, limit=60)[0])


def test_a_session_draws_from_the_same_distribution() -> None:
    counts = HISTOGRAMS["several"]
    plan, bits = PayWhatYouGet(2 * DRAWS, DRAWS, ONE, "0.05"), ReplayableBits(5)
    histogram = Histogram(counts, known=False)
    drawn = [plan.top(histogram, k=2, k_bar=3, bits=bits).outcome for _ in range(DRAWS)]
    assert p_value(drawn, floats(LimitedDomain(2, 3, ONE, "0.05"), counts)) > FALSE_ALARM
    assert plan.remaining == (2 * DRAWS - sum(map(len, drawn)), 0)
