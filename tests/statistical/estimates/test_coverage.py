"""After selection, intervals from fresh noise keep their confidence; bounds from gaps do not. And BLUE pays off."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy import stats
from tests.support.distributions import FALSE_ALARM

from podium.estimates import MeasureCounts, blue, blue_error_ratio, gap_noise_ratio, lower_bounds, selected_items
from podium.histogram import Histogram
from podium.mechanisms.sparse_vector.technique import SparseVector
from podium.present.user_shares import share_interval
from podium.randomness import discrete_laplace, noisy_values
from podium.randomness.replay import ReplayableBits

RUNS = 400


def test_fresh_intervals_are_honest_and_bounds_from_gaps_are_not() -> None:
    """Flat data below the threshold: whatever is found had lucky noise."""
    true = 50
    histogram = Histogram(dict.fromkeys((f"{i:02}" for i in range(12)), true))
    mechanism, step = SparseVector(55, 2, 1, noise="laplace", adaptive=False), MeasureCounts(epsilon_per_item="0.2")
    bits = ReplayableBits(1)
    found = bounds = intervals = 0
    for _ in range(RUNS):
        release = mechanism.release(histogram, bits=bits)
        items = selected_items(release)
        if not items:
            continue
        found += len(items)
        bounds += sum(low <= true for low in lower_bounds(mechanism, release, confidence="0.95"))
        measured = step.intervals(step.release(histogram, items, bits=bits), confidence="0.95")
        intervals += sum(low <= true <= high for low, high in measured)
    assert found > RUNS
    assert stats.binom.cdf(intervals, found, 0.95) > FALSE_ALARM
    assert bounds / found < 0.8


def test_blue_has_the_promised_error() -> None:
    """Without selection (fixed items, far apart) the mean squared error falls by exactly the promised ratio."""
    k, runs, scale = 5, 3000, Fraction(10)
    counts = np.array([500, 400, 300, 200, 100])
    step = MeasureCounts(epsilon_per_item=1 / scale)
    ratio = gap_noise_ratio("exponential", scale, variance=step.variance)
    bits = ReplayableBits(2)
    measured = counts + discrete_laplace(scale=scale, size=k * runs, bits=bits).reshape(runs, k)
    noise = noisy_values([0] * (k * runs), scale=scale, noise="exponential", bits=bits)
    noisy = counts + np.array([float(value) for value in noise]).reshape(runs, k)
    errors = []
    for alpha, query in zip(measured.tolist(), noisy.tolist(), strict=True):
        gaps = [Fraction(a) - Fraction(b) for a, b in itertools.pairwise(query)]
        beta = blue(alpha, gaps, ratio=ratio)
        errors.append([float(b) - c for b, c in zip(beta, counts.tolist(), strict=True)])
    found = float(np.mean(np.square(errors))) / float(step.variance)
    promised = float(blue_error_ratio(k, ratio))
    assert abs(found / promised - 1) < 0.06
    assert abs(float(np.mean(errors))) < 0.4


def test_shares_are_covered_unless_the_total_is_taken_as_exact() -> None:
    """docs/proofs/others.md, section 2: both counts are noisy, and both intervals are used."""
    runs, part, whole, step = 2000, 500, 600, MeasureCounts(sigma=60)
    names = tuple(f"{i:04}" for i in range(runs))
    parts = step.release(Histogram(dict.fromkeys(names, part)), names, bits=ReplayableBits(5)).values or ()
    wholes = step.release(Histogram(dict.fromkeys(names, whole)), names, bits=ReplayableBits(6)).values or ()
    wide, narrow, true = step.margin("0.975"), step.margin("0.95"), Fraction(part, whole)
    covered = exact = 0
    for a, b in zip(parts, wholes, strict=True):
        box = share_interval(a, Fraction(wide), b, Fraction(wide))
        covered += box.low <= true <= box.high
        wrong = share_interval(a, Fraction(narrow), b, Fraction(0))
        exact += wrong.low <= true <= wrong.high
    assert stats.binom.cdf(covered, runs, 0.95) > FALSE_ALARM
    assert stats.binom.cdf(exact, runs, 0.95) < FALSE_ALARM
