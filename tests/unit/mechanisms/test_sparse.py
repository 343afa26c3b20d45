"""Gaussian sparse histograms: parameters, cost, closed forms and the mistakes that users make."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy import integrate, stats
from tests.support.refusals import refusal

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import GaussianSparseHistogram, Weights
from podium.privacy import GaussianNoise, HiddenItems, calibrate_gaussian, calibrate_sigma, split_delta
from podium.randomness.replay import ReplayableBits
from podium.release import Release

DELTA = "1e-6"
WORLD = Histogram({"a": 9, "b": 7, "c": 5, "d": 0}, known=False)


def bounded(k: int | None = None, sigma: object = 2, delta: object = "0.05") -> GaussianSparseHistogram:
    return GaussianSparseHistogram(sigma=sigma, delta=delta, max_items_per_user=2, k=k)  # type: ignore[arg-type]


def test_parameters_and_cost() -> None:
    mechanism = GaussianSparseHistogram(sigma=10, delta=DELTA, max_items_per_user=8, k=5)
    assert mechanism.worst_case == (GaussianNoise(10, sensitivity_squared=8), HiddenItems(DELTA))
    assert mechanism.guarantee.rho == Fraction(8, 200)
    assert mechanism.guarantee.gaussian
    quantile = stats.norm.ppf((1 - 1e-6) ** (1 / 8))
    assert float(mechanism.threshold) == pytest.approx(1 + 10 * quantile, rel=1e-9)
    assert mechanism.count_threshold == mechanism.threshold
    assert mechanism == GaussianSparseHistogram(sigma=10, delta=DELTA, weights=Weights.bounded(8), k=5)


def test_rho_stands_for_the_smallest_sigma_that_it_buys() -> None:
    by_rho = GaussianSparseHistogram(rho="0.02", delta=DELTA, weights=Weights.floored(20, 1000))
    assert by_rho.sigma == 5
    assert by_rho.guarantee.rho == Fraction(1, 50)
    assert float(by_rho.count_sigma) == pytest.approx(5 * math.sqrt(20), rel=1e-5)
    assert by_rho.count_threshold == by_rho.threshold * Fraction(2**20, by_rho.weights.weight(1))


def test_a_calibrated_one_keeps_epsilon_and_delta_exactly() -> None:
    share = Fraction(DELTA) / 2
    mu = calibrate_gaussian(1, split_delta(Fraction(DELTA), share))
    weights = Weights.floored(10, 500)
    sigma = calibrate_sigma(mu**2 / 2, sensitivity_squared=weights.sensitivity_squared)
    mechanism = GaussianSparseHistogram(sigma=sigma, delta=share, weights=weights)
    assert Fraction(99999, 100000) < mechanism.guarantee.epsilon(delta=DELTA) <= 1


def test_release_keeps_order_values_and_receipt() -> None:
    release = bounded(k=2).release(WORLD, bits=ReplayableBits(3))
    assert set(release.items) <= {"a", "b", "c"}
    assert len(release.items) == 2
    assert release.complete
    assert release.value_kind == "counts"
    assert release.values is not None
    assert release.values[0] >= release.values[1] > bounded().count_threshold - 1
    assert all(value * 2**20 % 1 == 0 for value in release.values)
    assert release.paid.events == bounded().worst_case
    assert release.parameters == {"k": "2", "sigma": "2", "delta": "1/20", "weights": "bounded(2)"}
    assert Release.from_json(release.to_json()) == release


def test_fewer_than_k_is_a_normal_outcome() -> None:
    low = Histogram({"a": 1, "b": 1}, known=False)
    release = bounded(k=2, delta="1e-9").release(low, bits=ReplayableBits(3))
    assert (release.outcome, release.values, release.complete) == ((), (), False)
    everything = bounded().release(low, bits=ReplayableBits(4))
    assert everything.complete
    assert everything.k == len(everything.items)
    assert bounded().release(Histogram({}, known=False)).outcome == ()


def test_counts_of_counts_are_groups_of_the_same_kind() -> None:
    histogram = Histogram.from_counts_of_counts(
        {50: 3, 1: 10**12, 0: 5}, lambda count, rank: (count, rank), known=False
    )
    release = GaussianSparseHistogram(sigma=1, delta="1e-12", max_items_per_user=1).release(histogram)
    assert {item for item in release.items if item[0] == 50} == {(50, 0), (50, 1), (50, 2)}  # type: ignore[index]
    # 10^12 items of one user each: one in ten passes at this delta, in the mean.
    assert len(release.items) < 30


def test_weighted_values_estimate_counts() -> None:
    weights = Weights.floored(4, 64)
    users = 10_000
    histogram = Histogram({"x": users * weights.weight(3), "y": users * weights.weight(64)}, known=False)
    release = GaussianSparseHistogram(sigma=1, delta=DELTA, weights=weights).release(histogram)
    assert release.values is not None
    estimates = dict(zip(release.items, map(float, release.values), strict=True))
    assert estimates["x"] == pytest.approx(users, abs=30)
    assert estimates["y"] == pytest.approx(users * math.sqrt(4 / 64), abs=30)  # low: its users have 64 items each


def test_inclusion_is_the_normal_tail() -> None:
    mechanism = bounded()
    for item, count in (("a", 9), ("b", 7), ("c", 5)):
        expected = stats.norm.sf((float(mechanism.threshold) - count) / 2)
        assert mechanism.inclusion(WORLD)[item] == pytest.approx(expected, rel=1e-12)
    assert "d" not in mechanism.inclusion(WORLD)


def test_the_density_integrates_to_the_distribution() -> None:
    one, level = bounded(k=1), float(bounded().threshold)
    distribution = one.distribution(WORLD)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-14)
    assert one.density(WORLD, (), []) == pytest.approx(distribution[()], rel=1e-13)
    for item in "abc":
        found, _ = integrate.quad(lambda v, item=item: one.density(WORLD, (item,), [v]), level, level + 25, epsrel=1e-9)
        assert found == pytest.approx(distribution[(item,)], rel=1e-8)


def test_the_distribution_of_two_places_against_quadrature() -> None:
    two, level = bounded(k=2), float(bounded().threshold)
    distribution = two.distribution(WORLD)
    assert set(distribution) == {(), *((x,) for x in "abc"), *((x, y) for x in "abc" for y in "abc" if x != y)}

    def ahead(t: float) -> float:
        return float(stats.norm.sf(t, 9, 2) * stats.norm.pdf(t, 7, 2) * stats.norm.cdf(t, 5, 2))

    assert distribution["a", "b"] == pytest.approx(integrate.quad(ahead, level, 40, epsrel=1e-10)[0], rel=1e-9)
    pair = Histogram({"a": 9, "b": 7}, known=False)
    both = sum(chance for outcome, chance in bounded().distribution(pair).items() if len(outcome) == 2)
    assert both == pytest.approx(math.prod(bounded().inclusion(pair).values()), rel=1e-13)


def test_impossible_outcomes_have_density_0() -> None:
    two = bounded(k=2)
    assert two.density(WORLD, ("a", "b"), [9, 8]) > 0
    for outcome, values in (
        (("a", "b"), [8, 9]), (("a", "a"), [9, 8]), (("a", "d"), [9, 8]), (("a", "z"), [9, 8]),
        (("a",), [4]), (("a", "b", "c"), [9, 8, 7]),
    ):  # fmt: skip
        assert two.density(WORLD, outcome, values) == 0
    assert bounded().density(WORLD, ("a", "b", "c"), [9, 8, 7]) > 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"sigma": 1, "delta": 0, "max_items_per_user": 1},
         ("delta=0 is not valid. Allowed: a number with 0 < value < 1. "
          "An unknown domain cannot be private with delta=0.")),
        ({"delta": DELTA, "max_items_per_user": 1},
         "sigma=None is not valid. Allowed: either sigma or rho. rho=0.01 buys sigma = s / sqrt(0.02)."),
        ({"sigma": 1, "rho": 1, "delta": DELTA, "max_items_per_user": 1},
         "sigma=1 is not valid. Allowed: either sigma or rho. rho=0.01 buys sigma = s / sqrt(0.02)."),
        ({"sigma": 1, "delta": DELTA},
         ("weights=None is not valid. Allowed: either weights or max_items_per_user. "
          "Unless users are bounded, one of them can make any number of items appear.")),
        ({"sigma": 1, "delta": DELTA, "weights": 3},
         "weights=3 is not valid. Allowed: a Weights, such as Weights.floored(20, 1000)."),
        ({"sigma": 0, "delta": DELTA, "max_items_per_user": 1}, "sigma=0 is not valid. Allowed: a number above 0."),
        ({"sigma": 1, "delta": DELTA, "max_items_per_user": 1, "k": 0},
         "k=0 is not valid. Allowed: an integer, 1 or more."),
    ],
)  # fmt: skip
def test_mistakes_are_named(arguments: dict[str, object], text: str) -> None:
    assert refusal(lambda: GaussianSparseHistogram(**arguments)) == text  # type: ignore[arg-type]


def test_inputs_that_it_cannot_take() -> None:
    with pytest.raises(InvalidArgument) as caught:
        bounded().release(Histogram.top_rows(["a"], [5], next_count=0))
    assert str(caught.value) == (
        "histogram='the top rows of a histogram' is not valid. Allowed: a histogram of every item that somebody has. "
        "Read all counts, or how many items have each count (from_counts_of_counts)."
    )
    with pytest.raises(
        InvalidArgument, match=r"^k=None is not valid\. Allowed: at most 2 for the exact distribution of the order"
    ):
        bounded().distribution(WORLD)
    with pytest.raises(InvalidArgument, match=r"^values=\(9,\) is not valid"):
        bounded().density(WORLD, ("a", "b"), [9])
