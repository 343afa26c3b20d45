"""Draws of Gaussian sparse histograms and set unions against their exact distributions; wrong scales are noticed."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

import numpy as np
from scipy import stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value, whole_steps

from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms import GaussianSparseHistogram, SetUnionThenTopK, TwoReadings, Weights
from podium.mechanisms.gaussian.level_distribution import LevelRace, NormalNoise
from podium.randomness import noisy_values
from podium.randomness.replay import ReplayableBits

DRAWS = 2500
UNIT = 2**20


def test_gaussian_noise_follows_the_normal_distribution() -> None:
    drawn = noisy_values([10] * 12_000, scale=3, noise="gaussian", grid_bits=0, bits=ReplayableBits(16))

    def distribution(scale: Fraction) -> dict[Hashable, float]:
        ends = stats.norm.cdf(np.arange(-2, 24), 10, float(scale))
        cells: dict[Hashable, float] = {Fraction(-3): float(ends[0])}
        return cells | {Fraction(i - 2): float(p) for i, p in enumerate(np.append(ends[1:], 1.0) - ends)}

    assert_three_way([min(max(x, Fraction(-3)), Fraction(23)) for x in drawn], distribution, scale=Fraction(3))


def test_short_lists_follow_their_exact_distribution() -> None:
    histogram = Histogram({"a": 9, "b": 7, "c": 7, "d": 5}, known=False)
    mechanism = GaussianSparseHistogram(sigma=3, delta="0.05", max_items_per_user=2, k=2)
    level = mechanism.threshold
    bits = ReplayableBits(1)
    drawn = [mechanism.release(histogram, bits=bits).outcome for _ in range(DRAWS)]

    def distribution(sigma: Fraction) -> dict[Hashable, float]:
        # The threshold stays that of the mechanism: only the noise is another.
        rows = histogram.top(9)
        with ball_precision(128):
            scores = [Fraction(n) for n in rows.counts.tolist()]
            race = LevelRace(rows.items, scores, level, sigma, 2, noise=NormalNoise())
            return {outcome: float(chance.mid()) for outcome, chance in race.distribution().items()}

    assert_three_way(drawn, distribution, scale=Fraction(3))


def test_values_and_groups_follow_the_truncated_normal_distribution() -> None:
    """300 items of one count, as one group: each passes independently, with a normal value above the threshold."""
    weights = Weights.floored(4, 64)
    mechanism = GaussianSparseHistogram(sigma=1, delta="0.01", weights=weights)
    count, sigma = 5, mechanism.count_sigma
    sums = Histogram.from_counts_of_counts({count * weights.weight(1): 300}, lambda _sum, rank: rank, known=False)
    bits = ReplayableBits(2)
    level = float(mechanism.count_threshold)
    drawn = whole_steps((mechanism.release(sums, bits=bits) for _ in range(30)), level, 300)

    def distribution(scale: Fraction) -> dict[Hashable, float]:
        ends = stats.norm.cdf(level + np.arange(0, 12), count, float(scale))
        cells: dict[Hashable, float] = {-1: float(ends[0])}
        return cells | {i: float(p) for i, p in enumerate(np.append(ends[1:], 1.0) - ends)}

    assert_three_way([min(cell, 11) for cell in drawn], distribution, scale=sigma)


def test_members_of_a_group_are_alike() -> None:
    sums = Histogram.from_counts_of_counts({9: 8}, lambda _sum, rank: rank, known=False)
    mechanism = GaussianSparseHistogram(sigma=2, delta="0.01", max_items_per_user=1, k=1)
    bits = ReplayableBits(3)
    drawn = [item for _ in range(1500) for item in mechanism.release(sums, bits=bits).items]
    assert p_value(drawn, dict.fromkeys(range(8), 1 / 8)) > FALSE_ALARM


def test_set_unions_follow_their_exact_distribution() -> None:
    union = SetUnionThenTopK(2, "0.5", "0.02", 4, sigma=1)
    readings = TwoReadings(
        Histogram({"a": 4 * UNIT, "b": 3 * UNIT, "c": 5 * UNIT // 2}, known=False),
        Histogram({"a": 6, "b": 4, "c": 3}, known=False),
    )
    bits = ReplayableBits(4)
    drawn = [union.release(readings, bits=bits).outcome for _ in range(DRAWS)]

    def distribution(mechanism: SetUnionThenTopK) -> dict[Hashable, float]:
        return {outcome: chance for outcome, chance in mechanism.distribution(readings).items()}  # noqa: C416 - keys widen

    assert p_value(drawn, distribution(union)) > FALSE_ALARM
    for wrong in (SetUnionThenTopK(2, "0.1", "0.02", 4, sigma=1), SetUnionThenTopK(2, "0.5", "0.1", 4, sigma=1)):
        assert p_value(drawn, distribution(wrong)) < FALSE_ALARM
