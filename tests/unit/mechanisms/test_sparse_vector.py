"""Sparse vector: its public numbers, its session, its errors, and its distribution against a second derivation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats
from tests.support.refusals import UNKNOWN_DOMAIN, refusal

from podium.errors import BudgetExceeded, InvalidArgument
from podium.exact import ball_precision, rational_bounds
from podium.histogram import Histogram, Scores
from podium.mechanisms.sparse_vector.scales import SparseNoise, noise_mean, noise_variance
from podium.mechanisms.sparse_vector.technique import Answer, Found, SparseVector
from podium.mechanisms.sparse_vector.threshold_budget import optimal_theta
from podium.privacy.events import PureMechanism
from podium.randomness.replay import ReplayableBits
from podium.release import Release

Floats: TypeAlias = NDArray[np.float64]

HISTOGRAM = Histogram({"a": 3, "b": 1, "c": 4, "d": 2})


def test_default_is_adaptive_with_exponential_noise() -> None:
    mechanism = SparseVector(5, 3, "0.7")
    assert (mechanism.branches, mechanism.adaptive, mechanism.noise, mechanism.monotone) == (
        2,
        True,
        "exponential",
        True,
    )
    assert SparseVector(5, 3, "0.7", adaptive=False).branches == 1
    assert mechanism.guarantee.cost.epsilon == Fraction(7, 10)
    assert mechanism.worst_case == (PureMechanism(Fraction(7, 10)),)


@pytest.mark.parametrize("k", [1, 2, 7, 8, 1000])
def test_theta_is_the_optimum_rounded_up(k: int) -> None:
    for monotone in (True, False):
        theta = optimal_theta(k, monotone=monotone)
        best = 1 / (1 + (k if monotone else 2 * k) ** (2 / 3))
        assert best - 1e-12 <= theta < best + 2.0**-20
        assert (theta * 2**20).denominator == 1
    assert optimal_theta(1, monotone=True) == Fraction(1, 2)
    assert optimal_theta(8, monotone=True) == optimal_theta(4, monotone=False) == Fraction(math.ceil(2**20 / 5), 2**20)


def test_theta_minimises_the_variance_of_a_gap() -> None:
    def variance(theta: Fraction, monotone: bool) -> Any:
        plan = SparseVector(0, 5, 1, theta=theta, monotone=monotone, adaptive=False).plan()
        return plan.gap_variance(1)

    for monotone in (True, False):
        best = optimal_theta(5, monotone=monotone)
        assert variance(best, monotone) < variance(best * Fraction(101, 100), monotone)
        assert variance(best, monotone) < variance(best * Fraction(99, 100), monotone)


def test_scales_prices_and_margins() -> None:
    plan = SparseVector(5, 2, 1, theta="0.2", branches=3).plan()
    assert plan.threshold_price == Fraction(1, 5)
    assert plan.threshold_scale == plan.threshold_center == 5
    assert [branch.number for branch in plan.branches] == [3, 2, 1]
    assert [branch.price for branch in plan.branches] == [Fraction(1, 10), Fraction(1, 5), Fraction(2, 5)]
    assert [branch.scale for branch in plan.branches] == [10, 5, Fraction(5, 2)]
    assert [branch.margin for branch in plan.branches] == [20, 10, 0]
    assert all(branch.center == branch.scale for branch in plan.branches)
    assert plan.price == plan.branch(1).price


def test_general_scores_double_the_query_noise_only() -> None:
    monotone, general = (SparseVector(5, 2, 1, theta="0.2", monotone=flag).plan() for flag in (True, False))
    assert general.threshold_scale == monotone.threshold_scale
    assert [b.scale for b in general.branches] == [2 * b.scale for b in monotone.branches]
    asymmetric = SparseVector(5, 2, 1, theta="0.2").plan(rises_by=2, falls_by="0.5")
    assert asymmetric.threshold_scale == 2 * monotone.threshold_scale
    assert [b.scale for b in asymmetric.branches] == [Fraction(5, 2) * b.scale for b in monotone.branches]


@pytest.mark.parametrize("noise", ["laplace", "geometric"])
def test_margins_are_two_standard_deviations_rounded_up(noise: SparseNoise) -> None:
    for epsilon in ("0.01", 1, 7):
        for branch in SparseVector(5, 2, epsilon, noise=noise, branches=4).plan().branches[:-1]:
            with ball_precision(200):
                exact = 2 * noise_variance(noise, branch.scale).sqrt()
                low, high = rational_bounds(exact)
            grid = 1 if noise == "geometric" else Fraction(1, 1 << 20)
            assert low <= branch.margin <= high + grid
            assert (branch.margin / grid).denominator == 1


def test_geometric_centers_are_integers_and_leave_less_than_one() -> None:
    for theta in ("0.05", "0.5", "0.9"):
        plan = SparseVector(5, 2, 1, noise="geometric", branches=3, theta=theta).plan()
        for branch in plan.branches:
            assert branch.center.denominator == 1
            bias = float(plan.gap_bias(branch.number).mid())
            assert -1 < bias <= 0
            means = [1 / math.expm1(1 / float(scale)) for scale in (branch.scale, plan.threshold_scale)]
            assert bias == pytest.approx(means[0] - means[1] - float(branch.center), abs=1e-9)
    assert SparseVector(5, 1, 1, noise="geometric", adaptive=False).plan().branch(1).center == 0


def test_exponential_gaps_have_mean_zero_only_with_the_right_b1() -> None:
    """Ding et al. 5.2 prints b1 = 1/eps: then every gap of the second test is off by 1/eps1 - 1/eps on average."""
    mechanism = SparseVector(5, 4, 1)
    plan = mechanism.plan()
    with ball_precision(100):
        for branch in plan.branches:
            off = noise_mean("exponential", branch.scale) - branch.center.numerator / branch.center.denominator
            assert abs(float(off.mid())) < 1e-12
    assert plan.branch(1).center - 1 / mechanism.epsilon > 4


def test_items_are_asked_in_their_own_order() -> None:
    for counts in ({"z": 50, "b": 40, "a": 30}, {"a": 30, "z": 50, "b": 40}):
        release = SparseVector(5, 2, 200, adaptive=False).release(Histogram(counts))
        assert release.outcome == (Found("a", 1), Found("b", 1))
        assert release.complete
    release = SparseVector(5, 2, 200).release(Histogram({7: 30, 3: 20}, domain_size=10))
    assert [pair[0] for pair in release.items] == [3, 7]  # type: ignore[index]


def test_far_queries_cost_half_and_more_of_them_are_found() -> None:
    counts = {f"item {i:02}": 10**6 for i in range(20)}
    for branches, most in ((1, 3), (2, 5), (3, 9)):
        mechanism = SparseVector(5, 3, 1, branches=branches)
        release = mechanism.release(Histogram(counts), bits=ReplayableBits(1))
        assert len(release.items) == most
        assert {pair[1] for pair in release.items} == {branches}  # type: ignore[index]
        assert release.paid.epsilon == mechanism.cost(release.outcome)  # type: ignore[arg-type]
        assert mechanism.epsilon - release.paid.epsilon < mechanism.plan().price


def test_nothing_found_costs_the_threshold_only() -> None:
    mechanism = SparseVector(10**6, 3, 1)
    release = mechanism.release(HISTOGRAM, bits=ReplayableBits(1))
    assert (release.outcome, release.values, release.complete) == ((), (), False)
    assert release.paid.events == (PureMechanism(mechanism.theta, reserved=1),)
    assert mechanism.release(Histogram({})).outcome == ()
    assert mechanism.distribution(Histogram({})) == {(): 1.0}


@pytest.mark.parametrize("noise", ["laplace", "exponential", "geometric"])
def test_release_survives_json(noise: SparseNoise) -> None:
    release = SparseVector(2, 2, 3, noise=noise).release(Histogram({"a": 99, "b": 99}), bits=ReplayableBits(2))
    assert len(release.items) == 2
    assert Release.from_json(release.to_json()) == release
    assert release.values is not None
    grid = 1 if noise == "geometric" else 1 << 20
    assert all((value * grid).denominator == 1 and value >= 0 for value in release.values)


def test_session_answers_until_less_than_a_full_answer_is_left() -> None:
    mechanism = SparseVector(5, 2, 1, adaptive=False)
    session = mechanism.open(bits=ReplayableBits(3))
    assert session.remaining == 1 - mechanism.theta
    assert session.ask(-(10**6)) == Answer(0, None)
    assert session.remaining == 1 - mechanism.theta
    answer = session.ask(10**6)
    assert answer.above
    assert answer.gap is not None
    assert abs(answer.gap - (10**6 - 5)) < 1000
    session.ask(10**6, name="second")
    assert session.remaining == 0
    assert not session.is_open
    assert session.asked == 3
    assert session.paid.epsilon == 1
    assert session.release().outcome == (Found(1, 1), Found("second", 1))
    with pytest.raises(BudgetExceeded) as caught:
        session.ask(0)
    price = float((1 - mechanism.theta) / 2)
    assert str(caught.value) == (
        f"this release may cost epsilon={price:.6g} but this sparse vector has epsilon=0 left (short by {price:.3g}). "
        "Open a new one with a budget of its own."
    )


def test_stream_stops_by_itself() -> None:
    drawn = []

    def queries() -> Any:
        for value in range(100):
            drawn.append(value)
            yield 10**6

    answers = list(SparseVector(5, 3, 1, adaptive=False).answers(queries(), bits=ReplayableBits(4)))
    assert [answer.branch for answer in answers] == [1, 1, 1]
    assert len(drawn) == 3


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.parametrize("branches", [1, 2])
def test_distribution_against_numerical_integration(noise: SparseNoise, branches: int) -> None:
    """A second derivation: SciPy's distributions and quadrature over the threshold."""
    mechanism = SparseVector(2, 2, 2, noise=noise, branches=branches)
    family, plan = (stats.laplace if noise == "laplace" else stats.expon), mechanism.plan()
    counts = {"a": 3, "b": 1, "c": 2}

    def answer(count: int, found: int, x: Floats) -> Floats:
        chance = np.ones_like(x)
        for branch in plan.branches:
            fails = family.cdf((x + float(branch.margin + branch.center) - count) / float(branch.scale))
            if branch.number == found:
                return chance * (1 - fails)
            chance = chance * fails
        return chance

    distribution = mechanism.distribution(Histogram(counts))
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-13)
    cut = 2 - float(plan.threshold_center)
    low = cut - 200 if noise == "laplace" else cut
    kinks = [float(count - b.center - b.margin) for count in counts.values() for b in plan.branches]
    x, weights = panels(np.unique([*np.linspace(low, cut + 400, 601), cut, *(kink for kink in kinks if kink > low)]))
    density = family.pdf((x - cut) / float(plan.threshold_scale)) / float(plan.threshold_scale)
    for outcome, expected in distribution.items():
        numbers: dict[Any, int] = dict(outcome)  # type: ignore[arg-type]
        stopped = mechanism.epsilon - mechanism.cost(outcome) < plan.price  # type: ignore[arg-type]
        asked = {item: count for item, count in counts.items() if not stopped or item <= max(numbers)}
        chances = [answer(count, numbers.get(item, 0), x) for item, count in asked.items()]
        found = float(np.sum(weights * density * np.prod(chances, axis=0)))
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-13)


def panels(cuts: Floats) -> tuple[Floats, Floats]:
    """Points and weights of Gauss-Legendre quadrature on each panel."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_densities_integrate_to_the_distribution(noise: SparseNoise) -> None:
    mechanism, histogram = SparseVector(2, 1, 2, noise=noise), Histogram({"a": 3, "b": 1})
    distribution = mechanism.distribution(histogram)
    for outcome in [(Found("b", 1),), (Found("a", 2),)]:
        margin = float(mechanism.plan().branch(outcome[0].branch).margin)
        points = [margin, margin + 1, margin + 2, margin + 4, margin + 8, margin + 16, margin + 80]
        total = sum(
            integrate.quad(lambda gap, outcome=outcome: mechanism.density(histogram, outcome, [gap]), a, b)[0]
            for a, b in itertools.pairwise(points)
        )
        assert total == pytest.approx(distribution[outcome], rel=1e-4)


def test_integer_gaps_sum_to_the_distribution() -> None:
    mechanism, histogram = SparseVector(2, 2, 3, noise="geometric"), Histogram({"a": 3, "b": 1})
    distribution = mechanism.distribution(histogram)
    for outcome in [(Found("b", 1),), (Found("a", 2),), (Found("a", 2), Found("b", 1))]:
        total = 0.0
        for gaps in np.ndindex(*(90 if len(outcome) == 1 else 40,) * len(outcome)):
            total += mechanism.density(histogram, outcome, [int(gap) for gap in gaps])
        assert total == pytest.approx(distribution[outcome], rel=1e-6 if len(outcome) == 1 else 1e-2)


def test_impossible_outcomes_have_density_zero() -> None:
    mechanism = SparseVector(2, 1, 2)
    assert mechanism.density(HISTOGRAM, [Found("a", 2)], ["0.5"]) == 0.0
    assert mechanism.density(HISTOGRAM, [Found("c", 1), Found("a", 1)], [1, 1]) == 0.0
    assert mechanism.density(HISTOGRAM, [Found("a", 1), Found("b", 1)], [1, 1]) == 0.0
    assert mechanism.density(HISTOGRAM, [Found("nobody", 1)], [1]) == 0.0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
    ({"epsilon": 0}, "epsilon=0 is not valid. Allowed: a number above 0."),
    ({"epsilon": "-1"}, "epsilon='-1' is not valid. Allowed: a number above 0."),
    ({"theta": 1}, "theta=1 is not valid. Allowed: a number with 0 < value < 1."),
    ({"noise": "gumbel"}, "noise='gumbel' is not valid. Allowed: one of laplace, exponential, geometric."),
    ({"branches": 0}, "branches=0 is not valid. Allowed: an integer, 1 or more."),
    ({"branches": 17}, "branches=17 is not valid. Allowed: an integer from 1 to 16."),
    (
        {"branches": 2, "adaptive": False},
        "branches=2 is not valid. Allowed: 1, or None, where adaptive=False.",
    ),
    ({"adaptive": 1}, "adaptive=1 is not valid. Allowed: True or False."),
    ({"monotone": "yes"}, "monotone='yes' is not valid. Allowed: True or False."),
    ({"threshold": 2**63}, "threshold=9223372036854775808 is not valid. Allowed: a number from -2^62 to 2^62."),
    (
        {"threshold": "2.5", "noise": "geometric"},
        (
            "threshold='2.5' is not valid. Allowed: an integer where the noise is geometric. "
            "Counts are integers, so rounding the threshold up changes nothing."
        ),
    ),
]


@pytest.mark.parametrize(("change", "text"), BAD, ids=[str(change) for change, _ in BAD])
def test_bad_parameters(change: dict[str, Any], text: str) -> None:
    assert refusal(lambda: SparseVector(**{"threshold": 5, "k": 2, "epsilon": 1, **change})) == text


def test_bad_data() -> None:
    mechanism, integers = SparseVector(5, 2, 1), SparseVector(5, 2, 1, noise="geometric")
    cases: list[tuple[Any, str]] = [
        (
            lambda: mechanism.release(Histogram({"a": 1}, known=False)),
            UNKNOWN_DOMAIN,
        ),
        (
            lambda: mechanism.release(Histogram({}, domain_size=10**9)),
            (
                "histogram='a domain of 1000000000 items' is not valid. Allowed: at most 4194304 items, because they "
                "are asked one by one. Use HybridTopK, which treats items that nobody has together."
            ),
        ),
        (
            lambda: integers.release(Scores({"a": 1}, sensitivity=1)),
            (
                "histogram='scores' is not valid. Allowed: a histogram of counts where the noise is geometric. "
                "Use noise='exponential' for scores."
            ),
        ),
        (
            lambda: integers.open().ask("1.5"),
            (
                "value='a query value of the wrong kind' is not valid. "
                "Allowed: an integer, because the noise is geometric."
            ),
        ),
        (
            lambda: mechanism.open().ask("secret"),
            "value='a query value of the wrong kind' is not valid. Allowed: an exact number.",
        ),
        (
            lambda: mechanism.open(rises_by=-1),
            "rises_by=-1 is not valid. Allowed: 0 or more, and more than 0 together with falls_by.",
        ),
        (
            lambda: integers.open(rises_by="0.5"),
            "rises_by=1/2 is not valid. Allowed: integers, falls_by too, where the noise is geometric.",
        ),
        (
            lambda: mechanism.density(HISTOGRAM, [Found("a", 1)], []),
            "values=[] is not valid. Allowed: one gap for each of 1 items found.",
        ),
        (
            lambda: mechanism.density(HISTOGRAM, [Found("a", 3)], [1]),
            "outcome=[Found(item='a', branch=3)] is not valid. Allowed: pairs of an item and a branch from 1 to 2.",
        ),
    ]
    for act, text in cases:
        with pytest.raises(InvalidArgument) as caught:
            act()
        assert str(caught.value) == text
