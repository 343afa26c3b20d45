"""After selection, intervals from fresh noise keep their confidence; bounds from gaps do not. And BLUE pays off."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy import stats
from tests.support.distributions import FALSE_ALARM

from podium.estimates import MeasureCounts, blue, blue_error_ratio, gap_noise_ratio, lower_bounds, selected_items
from podium.histogram import Histogram
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.sparse_vector.technique import SparseVector
from podium.present.amount_shares import AmountNoise, additive_share, fieller
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


def drawn_lists(
    noise: CorrelatedCounts, true: list[int], others: int, sigma: int, runs: int
) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """Values of a list and of what is beside it, as they are released."""
    bits, rest = ReplayableBits(8), CorrelatedCounts(1, max_items=1, sigma=sigma, shared_sigma=0)
    return [(noise.measure(true, bits=bits), rest.measure((others,), bits=bits)[0]) for _ in range(runs)]


def test_shares_of_a_total_that_adds_up_are_covered() -> None:
    """docs/proofs/others.md, section 4: the pivot knows that the part is in the total, and which noise they share."""
    runs, true, others, sigma = 800, [300, 200, 150, 100, 60, 40], 150, 150
    listed = CorrelatedCounts(6, sigma=25, shared_sigma=25)
    noise = AmountNoise(listed, len(true), Fraction(sigma), True, 1)
    level, share = Fraction(95, 100), Fraction(true[0], sum(true) + others)
    covered = exact = boxed = 0
    width = wide = 0.0
    for values, rest in drawn_lists(listed, true, others, sigma, runs):
        part, total = values[0], sum(values) + rest
        low, high = additive_share(part, total - part, noise, level)
        covered += low <= share <= high
        width += float(high - low)
        # The box, where the noise is not all Gaussian.
        box = additive_share(part, total - part, AmountNoise(listed, len(true), Fraction(sigma), False, 1), level)
        boxed += box[0] <= share <= box[1]
        wide += float(box[1] - box[0])
        # Negative control: the total taken as exact.
        low, high = fieller(part, total, listed.variance, Fraction(0), Fraction(0), quantile=Fraction(196, 100))
        exact += low <= share <= high
    assert stats.binom.cdf(covered, runs, 0.95) > FALSE_ALARM
    # Nor is it wider than it must be.
    assert stats.binom.sf(covered, runs, 0.97) > FALSE_ALARM
    assert stats.binom.cdf(boxed, runs, 0.95) > FALSE_ALARM
    assert width < 0.9 * wide
    assert stats.binom.cdf(exact, runs, 0.95) < FALSE_ALARM


def test_the_total_of_many_values_has_the_noise_that_they_share() -> None:
    """Adding up variances as if nothing were shared covers .46 of the true totals of a hundred values."""
    runs, number = 400, 100
    listed = CorrelatedCounts.within(number, 1)
    noise = AmountNoise(listed, number, Fraction(5), True, 1)
    width = noise.total_width(Fraction(95, 100))
    alone = 1.96 * float(number * listed.variance + 25) ** 0.5
    drawn = [float(sum(values) + rest) for values, rest in drawn_lists(listed, [0] * number, 0, 5, runs)]
    covered, wrong = sum(abs(value) <= width for value in drawn), sum(abs(value) <= alone for value in drawn)
    assert stats.binom.cdf(covered, runs, 0.95) > FALSE_ALARM
    assert stats.binom.cdf(wrong, runs, 0.95) < FALSE_ALARM
    assert stats.binom.cdf(wrong, runs, 0.46) > FALSE_ALARM
    assert stats.binom.sf(wrong, runs, 0.46) > FALSE_ALARM


def test_shares_at_the_ends_are_clamped_and_not_cut() -> None:
    """A true share of 0: cutting the interval to [0, 1] would leave it empty in one run of forty."""
    runs, sigma = 1000, Fraction(30)
    bits, empty, covered = ReplayableBits(9), 0, 0
    pair = CorrelatedCounts(2, max_items=2, sigma=sigma, shared_sigma=0)
    for _ in range(runs):
        part, rest = pair.measure((0, 900), bits=bits)
        total = part + rest
        root = fieller(part, total, sigma**2, sigma**2, 2 * sigma**2, quantile=Fraction(196, 100))
        covered += root[0] <= 0 <= root[1]
        empty += not root[1]
    assert stats.binom.cdf(covered, runs, 0.95) > FALSE_ALARM
    assert stats.binom.cdf(empty, runs, 0.025) > FALSE_ALARM
    assert empty > 0


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
