"""Which step each event is, and which events a Gaussian filter refuses."""

from __future__ import annotations

from typing import Any

import pytest

from podium.errors import BudgetMismatch, InvalidArgument
from podium.privacy import (
    ApproximateMechanism,
    BottomEvent,
    CorrelatedNoise,
    Event,
    GaussianNoise,
    HiddenItems,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
    limited_domain_events,
)
from podium.privacy.encoding import REGISTRY
from podium.privacy.gaussian import Step, steps_of

CORRELATED = CorrelatedNoise(4, 3, 2, 1)

STEPS = {
    Selection("0.1"): Step.bounded_range("0.1"),
    BottomEvent("0.1"): Step.bounded_range("0.1"),
    SetSelection("0.1"): Step.bounded_range("0.1"),
    PureMechanism("0.1", reserved="0.4"): Step.pure("0.4"),
    LaplaceNoise("0.1"): Step.pure("0.1"),
    LaplaceNoise("0.1", discrete=True): Step.pure("0.1"),
    ApproximateMechanism("0.1", "1e-7"): Step.pure("0.1"),
    GaussianNoise(2, sensitivity_squared=3): Step.gaussian("0.75"),
    CORRELATED: Step.gaussian(2 * CORRELATED.rho),
    LimitedDomainCall("1e-7"): None,
    HiddenItems("1e-7"): None,
}


@pytest.mark.parametrize("event", STEPS, ids=str)
def test_each_event_is_one_step_or_only_a_delta(event: Any) -> None:
    step = STEPS[event]
    assert steps_of([event]) == (() if step is None else (step,))


def test_every_kind_of_event_is_priced_or_refused() -> None:
    assert {type(event) for event in STEPS} == set(REGISTRY.values())


def test_discrete_gaussian_noise_is_refused() -> None:
    with pytest.raises(BudgetMismatch, match=r"discrete Gaussian noise cannot be charged.*MeasureTogether"):
        steps_of([Selection("0.1"), GaussianNoise(2, discrete=True)])


def test_runs_of_equal_steps_are_one() -> None:
    receipt = limited_domain_events("0.1", "1e-7", items=3, bottom=True)
    assert steps_of(receipt) == (Step.bounded_range("0.1", count=4),)
    mixed: list[Event] = [Selection("0.1"), HiddenItems("1e-7"), BottomEvent("0.1"), GaussianNoise(1), Selection("0.1")]
    assert steps_of(mixed) == (Step.bounded_range("0.1", count=2), Step.gaussian(1), Step.bounded_range("0.1"))


def test_a_step_is_written_and_read() -> None:
    for step in (Step.pure("1/3", count=7), Step.bounded_range("0.1"), Step.gaussian(2)):
        assert Step.from_list(step.to_list()) == step
    for wrong in (["laplace", "1", 1], ["pure", "0", 1], ["pure", "1", 0], ["pure", "1"], "pure"):
        with pytest.raises(InvalidArgument):
            Step.from_list(wrong)
