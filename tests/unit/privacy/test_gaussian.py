"""Exact Gaussian accounting: the profile, its inverses, and where the theorem is used and refused."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from podium.errors import InvalidArgument
from podium.privacy import (
    Event,
    Filter,
    GaussianNoise,
    Guarantee,
    HiddenItems,
    LimitedDomainCall,
    Selection,
    Theorem,
    best_bound,
    calibrate_gaussian,
    decode_event,
    encode_event,
    events_from_json,
    events_to_json,
    gaussian_delta,
    gaussian_epsilon,
    split_delta,
    total,
    zcdp_epsilon,
)

DELTA = "1e-6"
positive = st.fractions(min_value=Fraction(1, 50), max_value=9, max_denominator=1000)
deltas = st.integers(1, 40).map(lambda tens: Fraction(1, 2 * 10**tens))


@pytest.mark.parametrize("mu", ["0.05", "0.5", "1", "3"])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "2", "9"])
def test_the_profile_is_the_hockey_stick_divergence_of_two_normals(mu: str, epsilon: str) -> None:
    shift, loss = float(mu), float(epsilon)
    # N(mu, 1) is above e^epsilon N(0, 1) beyond this point.
    start = loss / shift + shift / 2
    found, _ = integrate.quad(
        lambda x: stats.norm.pdf(x - shift) - math.exp(loss) * stats.norm.pdf(x), start, start + 40, epsabs=0, limit=200
    )
    assert float(gaussian_delta(Fraction(mu) ** 2, epsilon)) == pytest.approx(found, rel=1e-7)


def test_tiny_deltas_keep_their_digits_and_round_up() -> None:
    with mpmath.workdps(900):
        for mu, epsilon in (("0.1", "5"), ("1", "40"), ("0.01", "0.4")):
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
            found = gaussian_delta(Fraction(mu) ** 2, epsilon)
            ratio = mpmath.mpf(found.numerator) / found.denominator / exact
            assert 1 <= ratio < 1 + mpmath.mpf(2) ** -60


@settings(max_examples=25, deadline=None)
@given(mu=positive, delta=deltas)
def test_epsilon_is_the_smallest_on_its_grid(mu: Fraction, delta: Fraction) -> None:
    epsilon = gaussian_epsilon(mu**2, delta)
    assert gaussian_delta(mu**2, epsilon) <= delta
    if epsilon:
        assert gaussian_delta(mu**2, epsilon - Fraction(1, 2**64)) > delta
    assert epsilon <= zcdp_epsilon(mu**2 / 2, delta)


@settings(max_examples=25, deadline=None)
@given(epsilon=positive, delta=deltas)
def test_calibrated_mu_is_the_largest_of_64_bits(epsilon: Fraction, delta: Fraction) -> None:
    mu = calibrate_gaussian(epsilon, delta)
    assert gaussian_delta(mu**2, epsilon) <= delta
    assert gaussian_epsilon((mu * (1 + Fraction(1, 2**55))) ** 2, delta) > epsilon
    assert mu.numerator.bit_length() <= 64
    assert gaussian_epsilon(mu**2, delta) <= epsilon


def test_known_numbers() -> None:
    """sigma = 4.2247 at (1, 1e-6): the analytic Gaussian mechanism (Balle & Wang 2018), against 4.5309 by zCDP."""
    assert float(1 / calibrate_gaussian(1, DELTA)) == pytest.approx(4.224678, abs=1e-6)
    assert float(calibrate_gaussian(1, "1e-5")) == pytest.approx(1 / 3.730632, rel=1e-6)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"^mu_squared=0 is not valid"):
        gaussian_delta(0, 1)
    with pytest.raises(InvalidArgument, match=r"^epsilon=-1 is not valid"):
        gaussian_delta(1, -1)
    with pytest.raises(InvalidArgument, match=r"^delta=0 is not valid"):
        gaussian_epsilon(1, 0)
    with pytest.raises(InvalidArgument, match=r"^epsilon=0 is not valid"):
        calibrate_gaussian(0, DELTA)
    with pytest.raises(InvalidArgument, match=r"^delta=1 is not valid"):
        calibrate_gaussian(1, 1)


def test_a_schedule_of_gaussians_is_one_gaussian() -> None:
    """3-4-5: mu = 3/10 and 4/10 together are mu = 1/2."""
    events: list[Event] = [GaussianNoise(10, sensitivity_squared=9), GaussianNoise("2.5")]
    bound = best_bound(events, DELTA)
    assert bound.theorem is Theorem.GAUSSIAN
    assert bound.epsilon == gaussian_epsilon(Fraction(1, 4), DELTA)
    assert all(bound.epsilon <= other.epsilon for other in bound.considered if other.epsilon is not None)
    assert bound.epsilon < zcdp_epsilon(Fraction(1, 8), DELTA)


def test_thresholds_take_their_delta_first() -> None:
    bound = best_bound([GaussianNoise(2), HiddenItems("1e-7"), LimitedDomainCall("1e-7")], DELTA)
    used = Fraction(1, 10**7) + Fraction(1, 10**7) / (1 + Fraction(1, 10**7))
    assert bound.epsilon == gaussian_epsilon(Fraction(1, 4), split_delta(Fraction(DELTA), used))
    assert best_bound([HiddenItems("1e-7")], DELTA).epsilon == 0
    with pytest.raises(InvalidArgument, match="delta="):
        best_bound([GaussianNoise(2), HiddenItems("1e-6")], DELTA)


@pytest.mark.parametrize(
    ("events", "fixed", "reason"),
    [
        ([GaussianNoise(2)], False, "the epsilons were chosen adaptively; only a filter's sums are sound"),
        ([GaussianNoise(2), Selection("0.1")], True, "Selection is not Gaussian noise"),
        ([GaussianNoise(2), GaussianNoise(2, discrete=True)], True, "discrete Gaussian noise has no exact theorem"),
    ],
)
def test_refusals_say_why(events: list[Event], fixed: bool, reason: str) -> None:
    bound = best_bound(events, DELTA, fixed_in_advance=fixed)
    (candidate,) = (candidate for candidate in bound.considered if candidate.theorem is Theorem.GAUSSIAN)
    assert (candidate.epsilon, candidate.refused) == (None, reason)
    assert bound.theorem in (Theorem.ZCDP, Theorem.RENYI)


def test_totals_know_that_they_are_gaussian() -> None:
    both = total([GaussianNoise(10, sensitivity_squared=9), HiddenItems("1e-7"), GaussianNoise("2.5")])
    assert both.gaussian
    rest = split_delta(Fraction(DELTA), Fraction(1, 10**7))
    assert both.epsilon(delta=DELTA) == gaussian_epsilon(Fraction(1, 4), rest)
    tenth = Fraction(1, 10**7)
    assert both.delta(epsilon=2) == tenth + (1 - tenth) * gaussian_delta(Fraction(1, 4), 2)
    assert both.epsilon(delta=DELTA) < Guarantee(both.cost).epsilon(delta=DELTA)
    assert both == total([GaussianNoise(10, sensitivity_squared=9)]) + total(
        [GaussianNoise("2.5"), HiddenItems("1e-7")]
    )
    assert both.rho == Fraction(1, 8)
    assert str(both) == "1e-7-approximately 0.5-Gaussian DP for any one user, added or removed"
    assert str(total([GaussianNoise(3), GaussianNoise(4)])).startswith("0.4167-Gaussian DP for any")
    assert str(total([GaussianNoise(1), GaussianNoise(1)])).startswith("1.415-Gaussian DP for any")


def test_one_other_loss_ends_it() -> None:
    for other in (Selection("0.1"), GaussianNoise(3, discrete=True)):
        mixed = total([GaussianNoise(2), other])
        assert not mixed.gaussian
        assert mixed == total([GaussianNoise(2)]) + total([other])
        assert "zCDP" in str(mixed)
    assert not total([]).gaussian
    assert not total([HiddenItems("1e-7")]).gaussian
    assert (total([HiddenItems("1e-7")]) + total([GaussianNoise(2)])).gaussian
    assert not (total([GaussianNoise(2)]) + Guarantee.profile([(1, "1e-9")])).gaussian


def test_a_gaussian_promise_is_more_than_its_rho() -> None:
    exact = total([GaussianNoise(2)])
    loose = Guarantee.zcdp(Fraction(1, 8))
    assert exact < loose
    assert not loose <= exact
    assert total([GaussianNoise(3)]) < exact


def test_json_round_trips() -> None:
    exact, loose = total([GaussianNoise(2), HiddenItems("1e-7")]), Guarantee.zcdp(Fraction(1, 8))
    assert Guarantee.from_dict(exact.to_dict()) == exact
    assert exact.to_dict()["version"] == 2
    assert loose.to_dict()["version"] == 1
    assert "gaussian" not in loose.to_dict()
    for wrong in (
        {**exact.to_dict(), "version": 1},
        {**exact.to_dict(), "gaussian": 1},
        {**loose.to_dict(), "version": 2},
    ):
        with pytest.raises(InvalidArgument, match="guarantee="):
            Guarantee.from_dict(wrong)
    event = HiddenItems("1e-7")
    assert encode_event(event) == {"kind": "hidden_items", "version": 1, "delta": "1/10000000"}
    assert decode_event(encode_event(event)) == event
    assert events_from_json(events_to_json([event, event])) == (event, event)


def test_a_filter_keeps_the_sums_of_rho_and_delta() -> None:
    budget = Filter(Guarantee.approximate_zcdp(Fraction(1, 4), "2e-7"))
    budget.spend([GaussianNoise(2), HiddenItems("1e-7")])
    assert budget.spent.rho == Fraction(1, 8)
    assert budget.can_afford([GaussianNoise(2), HiddenItems("1e-7")])
    assert not budget.can_afford([GaussianNoise(2), HiddenItems("1.1e-7")])


def test_hidden_items_cost_only_their_delta() -> None:
    event = HiddenItems("1e-7")
    assert event.delta == Fraction(1, 10**7)
    assert event.epsilon == event.rho == event.renyi(2) == 0
    with pytest.raises(InvalidArgument, match="delta="):
        HiddenItems(0)
