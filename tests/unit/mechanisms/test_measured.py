"""Top-k by amounts in one release: what is chosen, what is paid, what the receipt says."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.support.measures import AmountsTable

from podium.errors import InvalidArgument
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.amounts import Amounts
from podium.mechanisms.measures.clip_choice import ClipChoice
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.privacy import GaussianNoise, LimitedDomainCall, Selection, actual_cost, worst_case
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

TABLE = [{"a": 20, "b": 9, "c": 3}] * 900 + [{"b": 6, "d": 1}] * 300 + [{"e": 1000}]
"""Sums 18,000, 9,900, 2,700, 300 and 1,000, of which the last is of one user."""


def run(mechanism: MeasuredTopK, table: Any = TABLE, seed: int = 1) -> Any:
    bits = ReplayableBits(seed)
    reader = AmountsTable(table, bits=bits)
    return reader, mechanism.release(reader, bits=bits)


def test_a_stated_clip_costs_nothing_and_serves_for_both_steps() -> None:
    reader, release = run(MeasuredTopK(2, 4, 1, "1e-6", clip=16, sigma=2))
    assert reader.asked == [(16, 0), (16, 0)]
    assert release.items == ("a", "b")
    noise = CorrelatedCounts.within(2, Fraction(2, 4), clip=16)
    assert release.paid.events == (LimitedDomainCall("1e-6"), Selection(1), Selection(1), noise.event)
    assert release.parameters["selecting_clip"] == release.parameters["measuring_clip"] == "16"
    assert CorrelatedCounts.from_parameters(release.parameters) == noise
    # 900 users with 16 of their 20, and 900 with 9 and 300 with 6.
    for value, true in zip(release.values, (14_400, 9_900), strict=True):
        assert value != true
        assert abs(value - true) < 10 * float(noise.variance) ** 0.5


def test_a_clip_that_is_chosen_is_paid_for_and_said() -> None:
    mechanism = MeasuredTopK(2, 4, 1, "1e-6", rho_clip="0.05", sigma=2)
    reader, release = run(mechanism)
    (selecting, measuring) = (clip for clip, _ in reader.asked)
    assert release.parameters["selecting_clip"] == str(selecting)
    assert release.parameters["measuring_clip"] == str(measuring)
    assert 4 <= selecting <= measuring <= 32
    assert release.paid.events[0] == ClipChoice("0.05").event
    assert release.items == ("a", "b")
    paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
    assert paid.rho <= most.rho
    assert paid.delta == most.delta


def test_without_values_nothing_is_paid_for_them() -> None:
    reader, release = run(MeasuredTopK(2, 4, 1, "1e-6", clip=16))
    assert reader.asked == [(16, 0)]
    assert (release.values, release.value_kind) == (None, None)
    assert "measuring_clip" not in release.parameters
    assert len(release.paid.events) == 3


def test_an_amount_of_one_user_is_no_reason_to_name_an_item() -> None:
    """Without its clip the largest sum but two; at any clip one user's."""
    for seed in range(20):
        _, release = run(MeasuredTopK(3, 4, 1, "1e-6", clip=16), seed=seed)
        assert "e" not in release.items


@pytest.mark.parametrize("chosen", [{"clip": 4}, {"rho_clip": "0.05"}])
def test_an_empty_table_is_an_ordinary_release(chosen: dict[str, Any]) -> None:
    mechanism = MeasuredTopK(2, 4, 1, "1e-6", sigma=2, **chosen)
    _, release = run(mechanism, [])
    assert release.outcome == (BOTTOM,)
    assert release.values == ()
    assert release.guarantee == mechanism.guarantee


def test_signed_amounts_have_the_span_and_independent_noise() -> None:
    table = [{"a": 30, "b": -5}] * 400 + [{"a": -40, "b": 8}] * 100
    mechanism = MeasuredTopK(1, 2, 1, "1e-6", clip=10, floor=20, sigma=3)
    assert mechanism.selection(10).clip == 30
    reader, release = run(mechanism, table)
    assert reader.asked == [(10, 20), (10, 20)]
    assert release.items == ("a",)
    # 400 users with 10 and 100 with -20, noise in units of the larger direction.
    assert release.paid.events[-1] == GaussianNoise(60, sensitivity_squared=400, discrete=True)
    assert release.paid.events[-1].rho == Fraction(1, 18)
    assert abs(release.values[0] - 2000) < 600
    assert release.parameters["floor"] == release.parameters["count_falls_by"] == "20"
    assert release.parameters["count_scale"] == "60"


@pytest.mark.parametrize(("sigma", "floor"), [(None, 0), (3, 0), (3, 7)])
def test_what_is_reserved_is_the_same_for_every_clip(sigma: int | None, floor: int) -> None:
    costs = {
        (cost.rho, cost.delta)
        for clip in (1, 5, 2**40)
        for cost in [worst_case(MeasuredTopK(3, 9, "0.5", "1e-6", clip=clip, sigma=sigma, floor=floor).worst_case)]
    }
    values = 0 if sigma is None else Fraction(3, 2 * sigma**2)
    assert costs == {(3 * Selection("0.5").rho + values, LimitedDomainCall("1e-6").delta)}


def test_a_list_never_pays_more_than_was_reserved() -> None:
    for k, sigma, chosen, seed in itertools.product((1, 3), (None, 2), ({"clip": 8}, {"rho_clip": "0.01"}), range(5)):
        mechanism = MeasuredTopK(k, 4, "0.7", "1e-3", sigma=sigma, **chosen)  # type: ignore[arg-type]
        _, release = run(mechanism, seed=seed)
        paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
        assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)


def test_the_clip_for_measuring_is_its_own() -> None:
    amounts = Amounts((400.0, 900.0, 1500.0, 1200.0, 600.0, 200.0), (300.0, 700.0, 1500.0, 1500.0, 700.0, 120.0))
    selecting, measuring = MeasuredTopK(20, 100, "0.5", "1e-6", rho_clip="0.01", sigma=2).clips_for(amounts)
    assert selecting == 4
    assert measuring > selecting
    assert MeasuredTopK(20, 100, "0.5", "1e-6", rho_clip="0.01").clips_for(amounts) == (4, 4)


def test_every_clip_keeps_the_law_of_the_selection() -> None:
    mechanism = MeasuredTopK(2, 4, 1, "1e-6", max_items_per_user=2, rho_clip=1)
    assert mechanism.selection(8) == LimitedDomain(2, 4, 1, "1e-6", max_items_per_user=2, clip=8)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "clip=None is not valid. Allowed: either a clip, or rho_clip to choose one. A stated clip costs nothing."),
        ({"clip": 4, "rho_clip": 1}, "clip=4 is not valid."),
        ({"clip": 0}, "clip=0 is not valid."),
        ({"rho_clip": 0}, "rho_clip=0 is not valid."),
        ({"clip": 4, "sigma": 0}, "sigma=0 is not valid."),
        ({"clip": 4, "floor": -1}, "floor=-1 is not valid."),
        ({"rho_clip": 1, "floor": 3}, "clip=None is not valid. Allowed: an integer where amounts may be negative."),
        ({"clip": 4, "k_bar": 1}, "k_bar=1 is not valid."),
    ],
)
def test_what_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        MeasuredTopK(**{"k": 2, "k_bar": 4, "epsilon_per_item": 1, "delta": "1e-6", **changes})
    assert str(caught.value).startswith(text)
