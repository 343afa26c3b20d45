"""Histograms with noise cut off at the threshold: cutoffs, cost, closed forms and the mistakes that users make."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from scipy import integrate, stats
from tests.support.refusals import refusal

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import (
    GaussianSparseHistogram,
    TruncatedGaussianHistogram,
    TruncatedLaplaceHistogram,
    Weights,
)
from podium.mechanisms.truncated.cutoffs import gaussian_cutoff, laplace_cutoff
from podium.privacy import (
    GaussianNoise,
    HiddenItems,
    LaplaceNoise,
    calibrate_gaussian,
    calibrate_sigma,
    split_delta,
)
from podium.randomness.replay import ReplayableBits
from podium.release import Release

DELTA = "1e-6"
COUNTS = {"a": 9, "b": 7, "c": 5, "d": 0}
WORLD = Histogram(COUNTS, known=False)
SHARES = Histogram({item: count << 20 for item, count in COUNTS.items()}, known=False)
STEP = Fraction(1, 2**64)


def bounded(k: int | None = None, sigma: object = 2, delta: object = "0.05") -> TruncatedGaussianHistogram:
    return TruncatedGaussianHistogram(sigma=sigma, delta=delta, max_items_per_user=2, k=k)  # type: ignore[arg-type]


def shared(k: int | None = None, epsilon: object = "0.5", delta: object = "0.05") -> TruncatedLaplaceHistogram:
    return TruncatedLaplaceHistogram(epsilon=epsilon, delta=delta, k=k)  # type: ignore[arg-type]


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def escapes(weights: Weights, sigma: Fraction, cutoff: Fraction) -> mpmath.mpf:
    """The largest 1 - (1 - m(w(t)))^t, over all t one by one."""
    tail = mpmath.ncdf
    a, s = real(cutoff), real(sigma)

    def chance(t: int) -> mpmath.mpf:
        w = mpmath.mpf(weights.weight(t)) / weights.unit
        m = (tail((w - a) / s) - tail(-a / s)) / (1 - 2 * tail(-a / s))
        return 1 - (1 - m) ** t

    return max(chance(t) for t in range(1, weights.cap + 1))


@pytest.mark.parametrize("weights", [Weights.bounded(3), Weights.spread(40), Weights.floored(5, 150)], ids=str)
@pytest.mark.parametrize("sigma", ["1/10", "1", "9/2", "300"])
def test_the_gaussian_cutoff_is_the_smallest_that_hides_everybody(weights: Weights, sigma: str) -> None:
    scale, delta = Fraction(sigma), Fraction(DELTA)
    cutoff = gaussian_cutoff(weights, scale, delta)
    assert cutoff.denominator.bit_count() == 1
    with mpmath.workdps(80):
        assert escapes(weights, scale, cutoff) <= real(delta)
        assert escapes(weights, scale, cutoff - STEP) > real(delta)


def test_cutoffs_are_at_least_the_weight_of_one_item() -> None:
    for sigma in (Fraction(1, 1000), Fraction(1), Fraction(10**9)):
        assert gaussian_cutoff(Weights.bounded(1), sigma, Fraction(9, 10)) == 1
    assert gaussian_cutoff(Weights.floored(4, 9), Fraction(1, 10**6), Fraction(1, 2)) >= Fraction(1, 2)
    assert laplace_cutoff(Fraction(1), Fraction(9, 10)) == 1


def test_what_balls_cannot_decide_is_rounded_up() -> None:
    """At A = w, m is exactly 1/2, which no ball can tell from a number just above it."""
    assert gaussian_cutoff(Weights.bounded(1), Fraction(1), Fraction(1, 2)) == 1 + STEP


def test_the_laplace_cutoff_rounds_up() -> None:
    with mpmath.workdps(60):
        for epsilon, delta in (("1", DELTA), ("1/10", DELTA), ("1e-9", "1e-30"), ("40", "1/3")):
            exact = mpmath.log1p(mpmath.expm1(real(Fraction(epsilon))) / (2 * real(Fraction(delta))))
            exact /= real(Fraction(epsilon))
            excess = real(laplace_cutoff(Fraction(epsilon), Fraction(delta))) - exact
            assert 0 <= excess <= real(STEP)


@pytest.mark.parametrize(
    ("epsilon", "laplace", "gaussian", "thirds"), [("1", "13.7", "24.4", "27.5"), ("0.1", "108.7", "196.1", "237.9")]
)
def test_bars_at_usual_budgets(epsilon: str, laplace: str, gaussian: str, thirds: str) -> None:
    """The bars that a user with one item meets, in users; ``thirds`` is that of unbounded noise for a third of it."""
    whole = Fraction(DELTA)
    mu = calibrate_gaussian(epsilon, split_delta(whole, whole / 2))
    weights = Weights.spread(1000)
    sigma = calibrate_sigma(mu**2 / 2, sensitivity_squared=weights.sensitivity_squared)
    cut_off = TruncatedGaussianHistogram(sigma=sigma, delta=whole / 2, weights=weights)
    unbounded = GaussianSparseHistogram(sigma=sigma, delta=whole / 6, weights=weights)
    assert float(shared(epsilon=epsilon, delta=DELTA).count_threshold) == pytest.approx(float(laplace), abs=0.06)
    assert float(cut_off.count_threshold) == pytest.approx(float(gaussian), abs=0.06)
    assert float(unbounded.count_threshold) == pytest.approx(float(thirds), abs=0.06)


def test_a_cutoff_is_below_the_threshold_of_unbounded_noise() -> None:
    for sigma in ("1/3", "1", "5", "100"):
        for weights in (Weights.bounded(4), Weights.spread(30)):
            threshold = weights.threshold(sigma, "1/20")
            assert gaussian_cutoff(weights, Fraction(sigma), Fraction(1, 20)) <= threshold


def test_parameters_and_cost() -> None:
    gaussian = TruncatedGaussianHistogram(sigma=10, delta=DELTA, max_items_per_user=8, k=5)
    assert gaussian.worst_case == (GaussianNoise(10, sensitivity_squared=8), HiddenItems(DELTA))
    assert gaussian.guarantee.gaussian
    assert gaussian.noise_bound == gaussian.count_threshold == gaussian.threshold
    assert gaussian != GaussianSparseHistogram(sigma=10, delta=DELTA, max_items_per_user=8, k=5)
    laplace = TruncatedLaplaceHistogram(epsilon="1/2", delta=DELTA, max_items_per_user=30)
    assert laplace.worst_case == (LaplaceNoise("1/2"), HiddenItems(DELTA))
    assert laplace.weights == Weights.shared(30)
    assert (laplace.guarantee.epsilon(), laplace.guarantee.cost.delta) == (Fraction(1, 2), Fraction(DELTA))
    assert float(laplace.guarantee.rho or 0) == pytest.approx(0.5 + math.exp(-0.5) - 1)
    assert laplace.first_weights is laplace.weights


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_release_keeps_order_values_and_receipt(kind: str) -> None:
    mechanism, world = (bounded(k=2), WORLD) if kind == "gaussian" else (shared(k=2), SHARES)
    release = mechanism.release(world, bits=ReplayableBits(3))
    assert set(release.items) <= {"a", "b", "c"}
    assert len(release.items) == 2
    assert release.complete
    assert release.value_kind == "counts"
    assert release.values is not None
    assert release.values[0] >= release.values[1] > mechanism.count_threshold - 1
    assert all(value * 2**20 % 1 == 0 for value in release.values)
    assert release.paid.events == mechanism.worst_case
    assert Release.from_json(release.to_json()) == release
    assert mechanism.release(Histogram({}, known=False)).outcome == ()


def test_a_large_table_is_no_work_and_only_what_somebody_has_passes() -> None:
    for mechanism in (
        TruncatedGaussianHistogram(sigma=1, delta="1e-12", max_items_per_user=1),
        TruncatedLaplaceHistogram(epsilon=1, delta="1e-12", max_items_per_user=1),
    ):
        unit = mechanism.weights.unit
        histogram = Histogram.from_counts_of_counts(
            {60 * unit: 3, unit: 10**12, 0: 5}, lambda count, rank: (count, rank), known=False
        )
        release = mechanism.release(histogram)
        assert {item for item in release.items if item[0] == 60 * unit} == {(60 * unit, rank) for rank in range(3)}  # type: ignore[index]
        # 10^12 items of one user each pass with probability delta each: one in the mean.
        assert len(release.items) < 40


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_inclusion_is_the_conditional_tail(kind: str) -> None:
    mechanism, world = (bounded(), WORLD) if kind == "gaussian" else (shared(), SHARES)
    noise = stats.norm(scale=2) if kind == "gaussian" else stats.laplace(scale=2)
    level = float(mechanism.threshold)
    for item, count in (("a", 9), ("b", 7), ("c", 5)):
        inside = noise.cdf(level) - noise.cdf(-level)
        expected = 1.0 if count >= 2 * level else (noise.cdf(level) - noise.cdf(level - count)) / inside
        assert mechanism.inclusion(world)[item] == pytest.approx(expected, rel=1e-12)
    assert "d" not in mechanism.inclusion(world)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_the_density_integrates_to_the_distribution(kind: str) -> None:
    one, world = (bounded(k=1), WORLD) if kind == "gaussian" else (shared(k=1), SHARES)
    level = float(one.threshold)
    distribution = one.distribution(world)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)
    assert one.density(world, (), []) == pytest.approx(distribution.get((), 0.0), rel=1e-13)
    for item in "abc":
        breaks = sorted(
            {at for c in COUNTS.values() for at in (c - level, c, c + level) if level < at < COUNTS[item] + level}
        )
        found, _ = integrate.quad(
            lambda v, item=item: one.density(world, (item,), [v]),
            level, COUNTS[item] + level, points=breaks, epsrel=1e-7, limit=60,
        )  # fmt: skip
        assert found == pytest.approx(distribution[(item,)], rel=1e-6)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_the_distribution_of_two_places_against_quadrature(kind: str) -> None:
    two, world = (bounded(k=2), WORLD) if kind == "gaussian" else (shared(k=2), SHARES)
    noise = stats.norm(scale=2) if kind == "gaussian" else stats.laplace(scale=2)
    level = float(two.threshold)
    inside = noise.cdf(level) - noise.cdf(-level)
    distribution = two.distribution(world)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)

    def below(x: float) -> float:
        return float(min(max((noise.cdf(x) - noise.cdf(-level)) / inside, 0.0), 1.0))

    def ahead(t: float) -> float:
        density = noise.pdf(t - 7) / inside if abs(t - 7) <= level else 0.0
        return float((1 - below(t - 9)) * density * below(t - 5))

    breaks = sorted({at for c in (9, 7, 5) for at in (c - level, c, c + level) if level < at < 7 + level})
    found, _ = integrate.quad(ahead, level, 7 + level, points=breaks, epsrel=1e-10, limit=200)
    assert distribution["a", "b"] == pytest.approx(found, rel=1e-8)
    pair = Histogram({item: count * two.weights.unit for item, count in (("a", 4), ("b", 3))}, known=False)
    both = sum(chance for outcome, chance in two.distribution(pair).items() if len(outcome) == 2)
    assert both == pytest.approx(math.prod(two.inclusion(pair).values()), rel=1e-13)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_impossible_outcomes_have_density_0(kind: str) -> None:
    two, world = (bounded(k=2), WORLD) if kind == "gaussian" else (shared(k=2), SHARES)
    assert two.density(world, ("a", "b"), [9, 8]) > 0
    for outcome, values in (
        (("a", "b"), [8, 9]), (("a", "a"), [9, 8]), (("a", "d"), [9, 8]), (("a", "z"), [9, 8]),
        (("a",), [4]), (("a", "b", "c"), [9, 8, 7]), (("a", "b"), [20, 8]),
    ):  # fmt: skip
        assert two.density(world, outcome, values) == 0


def test_certain_items_leave_no_empty_list() -> None:
    """A count of at least twice the cutoff always passes, and impossible outcomes are not listed."""
    certain = Histogram({"a": 40}, known=False)
    assert bounded(k=1).distribution(certain) == {("a",): 1.0}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"epsilon": 1, "delta": 0},
         ("delta=0 is not valid. Allowed: a number with 0 < value < 1. "
          "An unknown domain cannot be private with delta=0.")),
        ({"epsilon": 0, "delta": DELTA}, "epsilon=0 is not valid. Allowed: a number above 0."),
        ({"epsilon": 1, "delta": DELTA, "k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
        ({"epsilon": 1, "delta": DELTA, "max_items_per_user": 2**20 + 1},
         ("max_items_per_user=1048577 is not valid. Allowed: an integer from 1 to 1048576. "
          "Shares of one vote among more items would round to nothing.")),
    ],
)  # fmt: skip
def test_mistakes_are_named(arguments: dict[str, object], text: str) -> None:
    assert refusal(lambda: TruncatedLaplaceHistogram(**arguments)) == text  # type: ignore[arg-type]


def test_inputs_that_it_cannot_take() -> None:
    with pytest.raises(InvalidArgument, match=r"^k=None is not valid\. Allowed: at most 2 for the exact distribution"):
        shared().distribution(SHARES)
    with pytest.raises(InvalidArgument, match=r"^values=\(9,\) is not valid"):
        shared().density(SHARES, ("a", "b"), [9])
