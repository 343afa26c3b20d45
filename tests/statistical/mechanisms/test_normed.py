"""Draws of discoveries by vectors of one length against their exact distribution; wrong scales are noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.measures import normed

from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms.gaussian.level_distribution import LevelRace
from podium.mechanisms.measures.norm_weights import NormWeights
from podium.mechanisms.measures.normed_histogram import NormedHistogram
from podium.mechanisms.truncated.cutoff_noise import CutOffNoise
from podium.randomness.replay import ReplayableBits

DRAWS = 2000
WEIGHTS = NormWeights(5, 3)
SIGMA = Fraction(2)
USERS: list[dict[Any, int]] = [{"a": 9, "b": 4, "c": 1}] * 7 + [{"a": 3, "b": 5}] * 4 + [{"c": 20}] * 8 + [{"b": 2}] * 3
"""Some are longer than 5 and scaled down, others are not."""


def sums() -> Counter[Any]:
    found: Counter[Any] = Counter()
    for user in USERS:
        found.update(normed(user, WEIGHTS))
    return found


def test_short_lists_follow_their_exact_distribution() -> None:
    mechanism = NormedHistogram(sigma=SIGMA, delta="0.001", weights=WEIGHTS, k=2)
    level, bits, added = mechanism.threshold, ReplayableBits(5), sums()
    histogram = Histogram(added, known=False)
    drawn = [mechanism.release(histogram, bits=bits).outcome for _ in range(DRAWS)]
    # In lengths, of which a user has one at most: nothing of the mechanism's own units.
    lengths = [Fraction(total, WEIGHTS.one) for total in added.values()]
    assert 6 < min(lengths) < max(lengths) < 20

    def distribution(scale: Fraction) -> dict[Hashable, float]:
        with ball_precision(128):
            race = LevelRace(tuple(added), lengths, level, scale, 2, noise=CutOffNoise.gaussian(level / scale))
            return {outcome: float(chance.mid()) for outcome, chance in race.distribution().items()}

    assert p_value(drawn, distribution(SIGMA)) > FALSE_ALARM
    for wrong in (SIGMA / 2, 2 * SIGMA):
        assert p_value(drawn, distribution(wrong)) < FALSE_ALARM


def test_values_follow_the_conditional_distribution() -> None:
    """300 items of one sum: each passes by itself, with a value in units of amounts as the bounded noise makes it."""
    mechanism = NormedHistogram(sigma=SIGMA, delta="0.01", weights=WEIGHTS)
    total, bits = 11 * WEIGHTS.one // 2, ReplayableBits(6)
    histogram = Histogram.from_counts_of_counts({total: 300}, lambda _sum, rank: rank, known=False)
    level, length, clip = float(mechanism.threshold), total / WEIGHTS.one, WEIGHTS.clip

    def draws() -> Iterator[Hashable]:
        for _ in range(60):
            release = mechanism.release(histogram, bits=bits)
            yield from (int((float(value) / clip - level) // 1) for value in release.values or ())
            yield from [-1] * (300 - len(release.items))

    def distribution(width: Fraction) -> dict[Hashable, float]:
        noise = stats.norm(scale=float(width))
        ends = noise.cdf(np.clip(level + np.arange(7) - length, -level, level))
        shares = np.diff(ends, prepend=noise.cdf(-level)) / (noise.cdf(level) - noise.cdf(-level))
        return dict(enumerate(map(float, shares), start=-1))

    # A look is one release, whose values are in order.
    assert_three_way(draws(), distribution, scale=SIGMA, look=300)
