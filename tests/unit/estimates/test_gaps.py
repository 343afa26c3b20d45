"""Estimates and lower bounds from gaps: the formulas against closed-form integrals, and what selection does to them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import pytest

from podium.errors import InvalidArgument
from podium.estimates import Estimate, gap_confidence, gap_estimates, gap_margin, lower_bounds
from podium.exact import ball, ball_precision, rational_bounds
from podium.histogram import Histogram
from podium.mechanisms.sparse_vector.distribution import noise_calculus
from podium.mechanisms.sparse_vector.hybrid import HybridTopK
from podium.mechanisms.sparse_vector.scales import SparseNoise, noise_mean
from podium.mechanisms.sparse_vector.technique import Found, SparseVector
from podium.privacy.events import PureMechanism
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM, Outcome, Receipt, Release

NOISES: tuple[SparseNoise, ...] = ("laplace", "exponential", "geometric")
SCALES = [(Fraction(2), Fraction(5)), (Fraction(5), Fraction(2)), (Fraction(3), Fraction(3))]


def made(mechanism: SparseVector | HybridTopK, outcome: Outcome, gaps: list[Fraction]) -> Release:
    paid = PureMechanism(mechanism.epsilon)
    return Release(
        mechanism=type(mechanism).__name__,
        outcome=outcome,
        k=mechanism.k,
        paid=Receipt((paid,)),
        guarantee=mechanism.guarantee,
        theorem=mechanism.theorem,
        values=tuple(gaps),
        value_kind="gaps",
    )


def by_integration(noise: SparseNoise, query: Fraction, threshold: Fraction, distance: Fraction) -> flint.arb:
    """P(query noise - threshold noise - its mean <= distance), as one integral (or sum) over the threshold noise."""
    calculus = noise_calculus(noise)
    means = noise_mean(noise, query) - noise_mean(noise, threshold) if query != threshold else flint.arb(0)
    if noise == "geometric":
        # At most floor(...) means below floor(...) + 1, on the integers.
        shift = Fraction(math.floor(rational_bounds(ball(distance) + means)[0]) + 1)
    else:
        shift = distance + (query - threshold if noise == "exponential" else 0)
    return calculus.total(calculus.density(Fraction(0), threshold) * calculus.cdf(-shift, query))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("query", "threshold"), SCALES)
def test_confidence_against_closed_form_integrals(noise: SparseNoise, query: Fraction, threshold: Fraction) -> None:
    with ball_precision(200):
        for distance in (Fraction(-7), Fraction(-1, 3), Fraction(0), Fraction(1, 2), Fraction(4), Fraction(31)):
            found = gap_confidence(distance, noise=noise, query_scale=query, threshold_scale=threshold)
            expected = by_integration(noise, query, threshold, distance)
            assert abs(float((found - expected).mid())) < 1e-40
            assert found.overlaps(expected)


def test_lemma_3_as_written() -> None:
    for eps0, eps1 in ((0.3, 0.2), (0.1, 0.7)):
        for t in (0.0, 1.0, 9.5):
            printed = 1 - (eps0**2 * math.exp(-eps1 * t) - eps1**2 * math.exp(-eps0 * t)) / (2 * (eps0**2 - eps1**2))
            query, threshold = 1 / Fraction(str(eps1)), 1 / Fraction(str(eps0))
            found = gap_confidence(t, noise="laplace", query_scale=query, threshold_scale=threshold)
            assert float(found.mid()) == pytest.approx(printed, abs=1e-12)
    equal = gap_confidence(3, noise="laplace", query_scale=2, threshold_scale=2)
    assert float(equal.mid()) == pytest.approx(1 - (2 + 1.5) / 4 * math.exp(-1.5), abs=1e-15)


def test_lemma_3_with_eps_star_is_rejected_for_general_scores() -> None:
    """There the query noise has scale 2/eps_*: the printed formula promises .95 and covers less."""
    mechanism = SparseVector(0, 2, 1, noise="laplace", monotone=False)
    plan = mechanism.plan()
    for number in (1, 2):
        branch = plan.branch(number)
        assert branch.scale == 2 / branch.price
        printed = gap_margin(
            "0.95", noise="laplace", query_scale=1 / branch.price, threshold_scale=1 / plan.threshold_price
        )
        right = gap_margin("0.95", noise="laplace", query_scale=branch.scale, threshold_scale=plan.threshold_scale)
        with ball_precision(128):
            covered = by_integration("laplace", branch.scale, plan.threshold_scale, printed)
            assert covered < ball(Fraction(9, 10))
            assert by_integration("laplace", branch.scale, plan.threshold_scale, right) >= ball(Fraction(95, 100))
        assert right > printed * Fraction(5, 4)


@pytest.mark.parametrize("noise", NOISES)
def test_margin_is_the_smallest_that_reaches(noise: SparseNoise) -> None:
    for confidence in ("0.5", "0.95", "0.999999"):
        arguments: dict[str, Any] = {"noise": noise, "query_scale": 7, "threshold_scale": 2}
        margin = gap_margin(confidence, **arguments)
        level = ball(Fraction(confidence))
        assert gap_confidence(margin, **arguments) >= level
        assert margin == 0 or not gap_confidence(margin - Fraction(1, 1 << 20), **arguments) >= level


def test_sparse_vector_estimates() -> None:
    mechanism = SparseVector(100, 2, 1, theta="0.2")
    release = made(mechanism, (Found("a", 2), Found("c", 1)), [Fraction(50), Fraction(7)])
    first, second = gap_estimates(mechanism, release)
    assert first == Estimate(Fraction(150), Fraction(25 + 25))
    assert second == Estimate(Fraction(107), 25 + Fraction(25, 4))
    low = lower_bounds(mechanism, release, confidence="0.9")
    assert low[0] == 150 - gap_margin("0.9", noise="exponential", query_scale=5, threshold_scale=5)
    assert low[1] == 107 - gap_margin("0.9", noise="exponential", query_scale="2.5", threshold_scale=5)
    general = gap_estimates(mechanism, release, rises_by=1, falls_by=1)
    assert general[0].variance == 25 + 100


def test_what_geometric_noise_could_not_take_off_is_taken_off() -> None:
    mechanism = SparseVector(100, 2, 1, noise="geometric", theta="0.2")
    plan = mechanism.plan()
    release = made(mechanism, (Found("a", 2), Found("c", 1)), [Fraction(50), Fraction(7)])
    for estimate, gap, number in zip(gap_estimates(mechanism, release), (50, 7), (2, 1), strict=True):
        assert float(estimate.value) == pytest.approx(100 + gap - float(plan.gap_bias(number).mid()), abs=2e-6)
        assert float(estimate.variance) == pytest.approx(float(plan.gap_variance(number).mid()), rel=1e-9)
        assert 0 <= estimate.value - 100 - gap < 1


def test_hybrid_estimates() -> None:
    estimates = HybridTopK(100, 3, 1, first="estimates", theta="0.25")
    release = made(estimates, ("a", "b", BOTTOM), [Fraction(9), Fraction(4)])
    assert [e.value for e in gap_estimates(estimates, release)] == [109, 104]
    assert {e.variance for e in gap_estimates(estimates, release)} == {16 + 16}
    identities = HybridTopK(100, 3, 1)
    release = made(identities, ("a", "b", BOTTOM), [Fraction(9), Fraction(4)])
    assert [e.value for e in gap_estimates(identities, release)] == [113, 104]
    assert {e.variance for e in gap_estimates(identities, release)} == {9 + 9}
    assert lower_bounds(identities, release)[0] < 113


def test_selection_lowers_the_coverage() -> None:
    """Given that a query was found, its bound fails more often: the lower the query, the more its noise had to help."""
    arguments: dict[str, Any] = {"noise": "laplace", "query_scale": 5, "threshold_scale": 5}
    margin = gap_margin("0.95", **arguments)
    covered = []
    for below in (-40, 0, 5, 8):
        missed = gap_confidence(below, **arguments)
        # Found means noise >= below; covered means noise <= margin.
        covered.append(float(((gap_confidence(margin, **arguments) - missed) / (1 - missed)).mid()))
    assert covered[0] == pytest.approx(0.95, abs=1e-3)
    assert covered[1] == pytest.approx(0.9, abs=1e-6)
    assert covered == sorted(covered, reverse=True)
    assert covered[-1] < 0.75


def test_releases_run_through() -> None:
    histogram = Histogram({"a": 500, "b": 400, "c": 1})
    for mechanism in (
        SparseVector(100, 2, 2),
        SparseVector(100, 2, 2, noise="geometric"),
        SparseVector(100, 2, 2, noise="laplace", branches=3),
        HybridTopK(100, 3, 2),
        HybridTopK(100, 3, 2, first="estimates"),
    ):
        release = mechanism.release(histogram, bits=ReplayableBits(1))
        estimates = gap_estimates(mechanism, Release.from_json(release.to_json()))
        for estimate, low, true in zip(estimates, lower_bounds(mechanism, release), (500, 400), strict=True):
            assert abs(estimate.value - true) < 60
            assert low < estimate.value


def test_bad_input() -> None:
    mechanism, identities = SparseVector(5, 2, 1), HybridTopK(5, 1, 1)
    release = made(identities, ("a",), [Fraction(1)])
    cases: list[tuple[Any, str]] = [
        (
            lambda: gap_estimates(mechanism, release),
            "release='a release of HybridTopK' is not valid. Allowed: a release of SparseVector with gaps.",
        ),
        (
            lambda: gap_estimates(identities, release),
            (
                "release='k items that did not reach the threshold' is not valid. Allowed: a release that ends with "
                "BOTTOM where first='identities'. Use first='estimates', or measure the selected counts."
            ),
        ),
        (
            lambda: gap_margin(1, noise="laplace", query_scale=1, threshold_scale=1),
            "confidence=1 is not valid. Allowed: a number with 0 < value < 1.",
        ),
    ]
    for act, text in cases:
        with pytest.raises(InvalidArgument) as caught:
            act()
        assert str(caught.value) == text
