"""Draws of histograms with cut-off noise against their exact distributions; wrong scales are noticed."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value, whole_steps

from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms import TruncatedGaussianHistogram, TruncatedLaplaceHistogram
from podium.mechanisms.gaussian.level_distribution import LevelRace
from podium.mechanisms.truncated.cutoff_noise import CutOffNoise
from podium.randomness.replay import ReplayableBits

DRAWS = 800
COUNTS = {"a": 20, "b": 17, "c": 13}


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_short_lists_follow_their_exact_distribution(kind: str) -> None:
    mechanism = (
        TruncatedGaussianHistogram(sigma=4, delta="0.001", max_items_per_user=2, k=2)
        if kind == "gaussian"
        else TruncatedLaplaceHistogram(epsilon="1/4", delta="0.004", max_items_per_user=2, k=2)
    )
    unit, level, bits = mechanism.weights.unit, mechanism.threshold, ReplayableBits(1)
    histogram = Histogram({item: count * unit for item, count in COUNTS.items()}, known=False)
    drawn = [mechanism.release(histogram, bits=bits).outcome for _ in range(DRAWS)]

    def distribution(scale: Fraction) -> dict[Hashable, float]:
        # The cutoff stays that of the mechanism: only the noise is another.
        make = CutOffNoise.gaussian if kind == "gaussian" else CutOffNoise.laplace
        scores = [Fraction(count) for count in COUNTS.values()]
        with ball_precision(128):
            race = LevelRace(tuple(COUNTS), scores, level, scale, 2, noise=make(level / scale))
            return {outcome: float(chance.mid()) for outcome, chance in race.distribution().items()}

    assert p_value(drawn, distribution(Fraction(4))) > FALSE_ALARM
    for wrong in (Fraction(2), Fraction(8)):
        assert p_value(drawn, distribution(wrong)) < FALSE_ALARM


@pytest.mark.parametrize(("kind", "scale"), [("gaussian", 2), ("laplace", 2)])
def test_values_and_groups_follow_the_conditional_distribution(kind: str, scale: int) -> None:
    """300 items of one count, as one group: each passes independently, with a value as the bounded noise makes it."""
    mechanism = (
        TruncatedGaussianHistogram(sigma=scale, delta="0.01", max_items_per_user=1)
        if kind == "gaussian"
        else TruncatedLaplaceHistogram(epsilon=Fraction(1, scale), delta="0.01", max_items_per_user=1)
    )
    count, level = 5, float(mechanism.threshold)
    sums = Histogram.from_counts_of_counts({count * mechanism.weights.unit: 300}, lambda _sum, rank: rank, known=False)
    bits = ReplayableBits(2)
    drawn = whole_steps((mechanism.release(sums, bits=bits) for _ in range(30)), level, 300)

    def distribution(width: Fraction) -> dict[Hashable, float]:
        noise = (stats.norm if kind == "gaussian" else stats.laplace)(scale=float(width))
        ends = noise.cdf(np.clip(level + np.arange(0, 6) - count, -level, level))
        shares = (np.append(ends, noise.cdf(level)) - noise.cdf(-level)) / (noise.cdf(level) - noise.cdf(-level))
        cells: dict[Hashable, float] = {-1: float(shares[0])}
        return cells | {i: float(p) for i, p in enumerate(np.diff(shares))}

    assert all(-1 <= cell < count for cell in drawn)
    # A look is one release, whose values are in order.
    assert_three_way(drawn, distribution, scale=Fraction(scale), look=300)
