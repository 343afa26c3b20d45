"""Which cost where: each event against its definition, quadrature or the papers' constants."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import mpmath
import pytest

from podium.errors import InvalidArgument
from podium.privacy import (
    ApproximateMechanism,
    BottomEvent,
    Cost,
    Event,
    GaussianNoise,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
    actual_cost,
    limited_domain_delta,
    limited_domain_events,
    worst_case,
)

ALL: list[Event] = [
    Selection("0.5"),
    BottomEvent("0.5"),
    SetSelection("0.5"),
    PureMechanism("0.3", reserved="0.5"),
    LaplaceNoise("0.5"),
    LaplaceNoise("0.5", discrete=True),
    GaussianNoise(4),
    ApproximateMechanism("0.5", "1e-6"),
    LimitedDomainCall("1e-6"),
]


def test_bottom_costs_as_much_as_a_selection() -> None:
    for order in (2, "7.5"):
        assert BottomEvent("0.3").renyi(order) == Selection("0.3").renyi(order)
    assert (BottomEvent("0.3").epsilon, BottomEvent("0.3").rho) == (Selection("0.3").epsilon, Selection("0.3").rho)
    assert BottomEvent("0.3").rho > 0


def test_a_set_costs_one_selection_whatever_its_size() -> None:
    assert SetSelection(1).rho == Selection(1).rho


def test_a_pure_mechanism_costs_four_times_a_selection() -> None:
    """e^2/2 against at most e^2/8: charging a gap release as a selection would be four times too little."""
    assert PureMechanism("0.1").rho == Fraction(1, 200)
    assert PureMechanism("0.1").rho >= 4 * Selection("0.1").rho


def test_outcome_cost_is_pure_only() -> None:
    event = PureMechanism("0.1", reserved="0.4")
    assert event.epsilon == Fraction(1, 10)
    assert event.rho == Fraction(8, 100)
    assert event.renyi(3) == PureMechanism("0.4").renyi(3)
    assert actual_cost([event]) == Cost(epsilon="0.1", rho="0.08")
    assert worst_case([event]) == Cost(epsilon="0.4", rho="0.08")


def test_an_outcome_may_be_free_but_never_above_its_reserve() -> None:
    assert PureMechanism(0, reserved=1).epsilon == 0
    with pytest.raises(InvalidArgument, match="reserved"):
        PureMechanism(2, reserved=1)
    with pytest.raises(InvalidArgument, match="epsilon="):
        PureMechanism(0)
    with pytest.raises(InvalidArgument, match="epsilon="):
        PureMechanism(-1, reserved=1)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("order", ["1.5", "2", "8"])
def test_laplace_curve_is_the_integral(epsilon: str, order: str) -> None:
    with mpmath.workdps(30):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)

        def density(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-a * abs(x) - (1 - a) * abs(x - e)) / 2

        exact = mpmath.log(mpmath.quad(density, [-mpmath.inf, 0, e, mpmath.inf])) / (a - 1)
        found = LaplaceNoise(epsilon).renyi(order)
        assert float(found) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "4"])
def test_laplace_rho_is_the_mean_loss_and_covers_every_order(epsilon: str) -> None:
    event = LaplaceNoise(epsilon)
    with mpmath.workdps(30):
        e = mpmath.mpf(epsilon)
        mean = mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2 * (abs(x - e) - abs(x)), [-mpmath.inf, 0, e, mpmath.inf])
    assert float(event.rho) == pytest.approx(float(mean), rel=1e-12)
    for order in (Fraction(1001, 1000), Fraction(3, 2), Fraction(4), Fraction(64)):
        assert event.renyi(order) <= order * event.rho


def test_discrete_laplace_costs_more_than_continuous() -> None:
    """Its two-point loss has the mean e tanh(e/2), which the continuous constant does not cover."""
    continuous, discrete = LaplaceNoise(1), LaplaceNoise(1, discrete=True)
    mean = float(mpmath.tanh(0.5))
    assert float(continuous.rho) < mean <= float(discrete.rho) == 0.5
    assert float(discrete.renyi("1.000001")) == pytest.approx(mean, rel=1e-5)


def test_pure_curve_is_randomised_response() -> None:
    with mpmath.workdps(30):
        p = mpmath.exp(1) / (1 + mpmath.exp(1))
        exact = mpmath.log(p**3 * (1 - p) ** -2 + (1 - p) ** 3 * p**-2) / 2
    assert float(PureMechanism(1).renyi(3)) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("discrete", [False, True])
def test_gaussian(*, discrete: bool) -> None:
    event = GaussianNoise(3, sensitivity_squared=2, discrete=discrete)
    assert event.rho == Fraction(1, 9)
    assert event.epsilon is None
    assert event.renyi(4) >= Fraction(4, 9)
    assert event.renyi(4) - Fraction(4, 9) < Fraction(1, 2**63)


def test_discrete_gaussian_curve_is_below_its_rho() -> None:
    """The sum over the integers, for a shift by one."""
    event = GaussianNoise(2, discrete=True)
    weights = [
        (mpmath.exp(-(mpmath.mpf(x) ** 2) / 8), mpmath.exp(-(mpmath.mpf(x - 1) ** 2) / 8)) for x in range(-80, 81)
    ]
    size = sum(first for first, _ in weights)
    for order in (2, 5):
        exact = mpmath.log(sum(p**order * q ** (1 - order) for p, q in weights) / size) / (order - 1)
        assert float(exact) <= float(event.renyi(order)) * (1 + 1e-12)


def test_gaussian_refuses_what_it_does_not_protect() -> None:
    with pytest.raises(InvalidArgument, match="sensitivity_squared="):
        GaussianNoise(1, sensitivity_squared="0.5", discrete=True)
    with pytest.raises(InvalidArgument, match="sigma="):
        GaussianNoise(0)
    with pytest.raises(InvalidArgument, match="discrete="):
        GaussianNoise(1, discrete=1)  # type: ignore[arg-type]


def test_approximate_mechanism_keeps_its_full_delta() -> None:
    event = ApproximateMechanism("0.2", "1e-6")
    assert (event.epsilon, event.rho, event.delta) == (Fraction(1, 5), Fraction(1, 50), Fraction(1, 10**6))


def test_limited_domain_call_costs_its_delta_once() -> None:
    receipt = limited_domain_events("0.5", "0.01", items=2, bottom=True)
    assert receipt == (LimitedDomainCall("0.01"), Selection("0.5"), Selection("0.5"), BottomEvent("0.5"))
    cost = actual_cost(receipt)
    assert cost.delta == Fraction(1, 101)
    assert cost.rho == 3 * Selection("0.5").rho
    assert cost.epsilon == Fraction(3, 2)
    # Added up over calls the deltas stay above the exact joint failure probability, and below l * delta.
    calls = actual_cost([LimitedDomainCall("0.01")] * 5).delta
    assert limited_domain_delta("0.01", 5) <= calls < 5 * Fraction(1, 100)


def test_an_empty_answer_still_pays_for_bottom() -> None:
    assert actual_cost(limited_domain_events(1, "0.01", items=0, bottom=True)).rho == Selection(1).rho
    with pytest.raises(InvalidArgument, match="items="):
        limited_domain_events(1, "0.01", items=0, bottom=False)


@pytest.mark.parametrize("event", ALL, ids=lambda event: event.kind)
def test_events_are_frozen_and_equal_by_value(event: Event) -> None:
    twin = dataclasses.replace(event)
    assert twin == event
    assert hash(twin) == hash(event)
    name = dataclasses.fields(event)[0].name
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        setattr(event, name, Fraction(1))


@pytest.mark.parametrize("event", ALL, ids=lambda event: event.kind)
def test_costs_are_exact_and_the_curve_keeps_rho(event: Event) -> None:
    assert isinstance(event.rho, Fraction)
    assert isinstance(event.delta, Fraction)
    for order in (Fraction(101, 100), Fraction(2), Fraction(30)):
        assert event.renyi(order) <= order * event.rho + Fraction(1, 2**64)
        if event.epsilon is not None and not isinstance(event, PureMechanism):
            assert event.renyi(order) <= event.epsilon


def test_selection_and_bottom_are_different_records() -> None:
    records: set[Event] = {Selection(1), BottomEvent(1), SetSelection(1)}
    assert len(records) == 3
