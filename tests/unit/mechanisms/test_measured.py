"""Top-k by amounts in one release: what is chosen, what is paid, what the receipt says."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.support.measures import AmountsTable

from podium.errors import InvalidArgument
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.amounts import Amounts
from podium.mechanisms.measures.clip_choice import ClipChoice
from podium.mechanisms.measures.length_choice import NormChoice
from podium.mechanisms.measures.measured_topk import MeasuredTopK
from podium.mechanisms.measures.normed_topk import NormedTopK
from podium.privacy import LimitedDomainCall, Selection, actual_cost, worst_case
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

TABLE = [{"a": 20, "b": 9, "c": 3}] * 900 + [{"b": 6, "d": 1}] * 300 + [{"e": 1000}]
"""Sums 18,000, 9,900, 2,700, 300 and 1,000, of which the last is of one user."""


def run(mechanism: MeasuredTopK, table: Any = TABLE, seed: int = 1) -> Any:
    bits = ReplayableBits(seed)
    reader = AmountsTable(table, falls_by=-mechanism.floor, bits=bits)
    return reader, mechanism.release(reader, bits=bits)  # type: ignore[arg-type] # clips first, as it is asked to


def limited(k: int, **parts: Any) -> MeasuredTopK:
    return MeasuredTopK(k, **{"k_bar": 4, "epsilon_per_item": 1, "delta": "1e-6", **parts})


def test_a_stated_clip_costs_nothing_and_serves_for_both_steps() -> None:
    reader, release = run(limited(2, clip=16, mu_squared_for_values="0.5"))
    assert reader.asked == [16, 16]
    assert release.items == ("a", "b")
    noise = CorrelatedCounts.within(2, Fraction(1, 2), clip=16)
    assert release.paid.events == (LimitedDomainCall("1e-6"), Selection(1), Selection(1), noise.event)
    assert release.parameters["clip"] == release.parameters["value_clip"] == "16"
    assert CorrelatedCounts.from_parameters(release.parameters) == noise
    # 900 users with 16 of their 20, and 900 with 9 and 300 with 6.
    for value, true in zip(release.values, (14_400, 9_900), strict=True):
        assert value != true
        assert abs(value - true) < 10 * float(noise.variance) ** 0.5


@pytest.mark.parametrize("parts", [{}, {"epsilon_per_item": None, "mu_squared": 2, "k_bar": None}])
def test_a_clip_that_is_chosen_is_paid_for_and_said(parts: dict[str, Any]) -> None:
    mechanism = limited(2, rho_clip="0.05", mu_squared_for_values="0.5", **parts)
    reader, release = run(mechanism)
    said = "length" if mechanism.normed else "clip"
    selecting, measuring = (int(release.parameters[name]) for name in (said, "value_clip"))
    assert ("clip" not in release.parameters) == mechanism.normed
    assert reader.asked == [selecting, measuring]
    assert 4 <= selecting <= 32
    assert 4 <= measuring <= 32
    choice = NormChoice("0.05", values=True) if mechanism.normed else ClipChoice("0.05")
    assert release.paid.events[0] == choice.event
    assert release.items == ("a", "b")
    paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
    assert paid.rho <= most.rho
    # Discoveries that were not run are not paid for.
    assert paid.delta == (most.delta if mechanism.mu_squared is None else most.delta / 5)


def test_without_values_nothing_is_paid_for_them() -> None:
    reader, release = run(limited(2, clip=16))
    assert reader.asked == [16]
    assert (release.values, release.value_kind) == (None, None)
    assert "value_clip" not in release.parameters
    assert len(release.paid.events) == 3


def test_an_amount_of_one_user_is_no_reason_to_name_an_item() -> None:
    """Without its clip the largest sum but two; at any clip one user's."""
    rounds = MeasuredTopK(3, clip=16, mu_squared=2, delta="1e-6")
    for mechanism in (limited(3, clip=16), rounds):
        for seed in range(10):
            _, release = run(mechanism, seed=seed)
            assert "e" not in release.items


@pytest.mark.parametrize("chosen", [{"clip": 4}, {"rho_clip": "0.05"}])
def test_an_empty_table_is_an_ordinary_release(chosen: dict[str, Any]) -> None:
    mechanism = limited(2, mu_squared_for_values="0.5", **chosen)
    _, release = run(mechanism, [])
    assert release.outcome == (BOTTOM,)
    assert release.values == ()
    assert release.guarantee == mechanism.guarantee
    rounds = MeasuredTopK(3, mu_squared=1, delta="1e-6", mu_squared_for_values=1, **chosen)
    assert run(rounds, [])[1].outcome == ()


def test_signed_amounts_have_the_span_and_independent_noise() -> None:
    table = [{"a": 30, "b": -5}] * 400 + [{"a": -40, "b": 8}] * 100
    mechanism = limited(1, k_bar=2, clip=10, floor=-20, mu_squared_for_values="1/9")
    assert mechanism.finder(10) == LimitedDomain(1, 2, 1, "1e-6", clip=30)
    reader, release = run(mechanism, table)
    assert reader.asked == [10, 10]
    assert release.items == ("a",)
    noise = CorrelatedCounts.from_parameters(release.parameters)
    assert noise.shared_sigma == 0
    assert noise.clip == 20
    assert release.paid.events[-1].rho <= Fraction(1, 18)
    # 400 users with 10 and 100 with -20, noise in units of the larger direction: a deviation of 60.
    assert abs(release.values[0] - 2000) < 600


def test_known_items_are_all_ranked() -> None:
    mechanism = MeasuredTopK(5, epsilon_per_item=2, known=True, clip=16)
    _, release = run(mechanism)
    assert release.items[:3] == ("a", "b", "c")
    assert len(release.items) == 5
    assert release.paid.events == (Selection(2),) * 5


@pytest.mark.parametrize(("values", "floor"), [(None, 0), ("1/3", 0), ("1/3", -7)])
def test_what_is_reserved_is_the_same_for_every_clip(values: str | None, floor: int) -> None:
    costs = {
        (cost.rho, cost.delta)
        for clip in (1, 5, 2**40)
        for cost in [worst_case(limited(3, clip=clip, floor=floor, mu_squared_for_values=values).worst_case)]
    }
    measured = Fraction(0) if values is None else Fraction(values) / 2
    assert costs == {(3 * Selection(1).rho + measured, LimitedDomainCall("1e-6").delta)}


def test_a_list_never_pays_more_than_was_reserved() -> None:
    ways: list[dict[str, Any]] = [{"epsilon_per_item": "0.7", "k_bar": 4}, {"mu_squared": "0.3"}]
    chosen: list[dict[str, Any]] = [{"clip": 8}, {"rho_clip": "0.01"}]
    for k, values, way, clip, seed in itertools.product((1, 3), (None, "0.5"), ways, chosen, range(3)):
        mechanism = MeasuredTopK(k, delta="1e-3", mu_squared_for_values=values, **way, **clip)
        _, release = run(mechanism, seed=seed)
        paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
        assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)


def test_the_clip_for_measuring_is_its_own() -> None:
    amounts = Amounts((400.0, 900.0, 1500.0, 1200.0, 600.0, 200.0), (300.0, 700.0, 1500.0, 1500.0, 700.0, 120.0))
    parts: dict[str, Any] = {"k_bar": 100, "epsilon_per_item": "0.5", "rho_clip": "0.01"}
    selecting, measuring = limited(20, mu_squared_for_values=5, **parts).clips_for(amounts)
    assert selecting == 8
    assert measuring > selecting
    assert limited(20, **parts).clips_for(amounts) == (8, 8)


def test_every_clip_keeps_the_law_of_the_selection() -> None:
    mechanism = limited(2, max_items_per_user=2, rho_clip=1)
    assert mechanism.finder(8) == LimitedDomain(2, 4, 1, "1e-6", max_items_per_user=2, clip=8)
    rounds = MeasuredTopK(2, rho_clip=1, mu_squared=2, delta="1e-6")
    assert rounds.finder(8) == NormedTopK(2, 2, "1e-6", clip=8)
    # So many squares would not fit: weights by number of items, as for counts.
    many = MeasuredTopK(2, rho_clip=1, mu_squared=2, delta="1e-6", max_items_per_user=2**20 + 1)
    assert many.finder(8) == AdaptiveTopK(2, 2, "1e-6", max_items_per_user=2**20 + 1, clip=8)
    assert many.choice == ClipChoice(1)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "rho_clip=None is not valid. Allowed: a number where no clip is stated, and only then."),
        ({"clip": 4, "rho_clip": 1}, "rho_clip=1 is not valid."),
        ({"clip": 0}, "clip=0 is not valid."),
        ({"rho_clip": 0}, "rho_clip=0 is not valid."),
        ({"clip": 4, "mu_squared_for_values": 0}, "mu_squared_for_values=0 is not valid."),
        ({"clip": 4, "mu_squared": 1}, "mu_squared="),
        ({"clip": 4, "floor": 1}, "floor=1 is not valid."),
        ({"rho_clip": 1, "floor": -3}, "floor=-3 is not valid."),
        ({"clip": 4, "floor": -3, "known": True}, "floor=-3 is not valid."),
        ({"clip": 4, "k_bar": 1}, "k_bar=1 is not valid."),
    ],
)
def test_what_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        limited(2, **changes)
    assert str(caught.value).startswith(text)
