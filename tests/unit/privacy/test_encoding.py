"""Receipts as JSON: closed registry, exact numbers, refusals."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import get_args

import pytest

from podium.errors import InvalidArgument, PodiumError, UnknownEvent
from podium.privacy import BottomEvent, Event, GaussianNoise, LimitedDomainCall, PureMechanism, Selection
from podium.privacy.encoding import REGISTRY, decode_event, encode_event, events_from_json, events_to_json


def test_format_is_fixed() -> None:
    """These texts are in ledgers: a change needs a new version of the event."""
    assert encode_event(Selection("0.1")) == {"kind": "selection", "version": 1, "epsilon": "1/10"}
    assert encode_event(PureMechanism("0.1", reserved=1)) == {
        "kind": "pure_mechanism",
        "version": 1,
        "epsilon": "1/10",
        "reserved": "1",
    }
    assert encode_event(GaussianNoise("2.5")) == {
        "kind": "gaussian_noise",
        "version": 1,
        "sigma": "5/2",
        "sensitivity_squared": "1",
        "discrete": False,
    }


def test_registry_is_closed_and_complete() -> None:
    assert set(REGISTRY.values()) == set(get_args(Event))
    with pytest.raises(TypeError):
        REGISTRY["mine", 1] = Selection  # type: ignore[index]


def test_runs_are_counted() -> None:
    receipt: list[Event] = [LimitedDomainCall("0.01"), *[Selection("0.1")] * 1000, BottomEvent("0.1")]
    text = events_to_json(receipt)
    assert [run["count"] for run in json.loads(text)] == [1, 1000, 1]
    assert events_from_json(text) == tuple(receipt)


def test_json_numbers_mean_the_decimal_they_show() -> None:
    (event,) = events_from_json('[{"kind": "selection", "version": 1, "epsilon": 0.1}]')
    assert event == Selection(Fraction(1, 10))


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kind": "selection"},
        {"kind": "selection", "version": 2, "epsilon": "1"},
        {"kind": "selection", "version": "1", "epsilon": "1"},
        {"kind": "selection", "version": True, "epsilon": "1"},
        {"kind": "podium.privacy.events.Selection", "version": 1, "epsilon": "1"},
        {"kind": ["selection"], "version": 1, "epsilon": "1"},
    ],
)
def test_unknown_events_are_refused(document: dict[str, object]) -> None:
    with pytest.raises(UnknownEvent):
        decode_event(document)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "selection", "version": 1},
        {"kind": "selection", "version": 1, "epsilon": "1", "rho": "0"},
        {"kind": "selection", "version": 1, "epsilon": "-1"},
        {"kind": "selection", "version": 1, "epsilon": float("nan")},
        {"kind": "gaussian_noise", "version": 1, "sigma": "1", "sensitivity_squared": "1", "discrete": "no"},
    ],
)
def test_wrong_fields_are_refused(document: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        decode_event(document)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", "null", '[{"kind":"selection","version":1,"epsilon":"1","count":0}]', "[{}]",
     '[{"kind":"selection","version":1,"epsilon":"1","count":100000000000}]',
     '[{"kind":"selection","version":1,"epsilon":NaN}]'],
)  # fmt: skip
def test_bad_text_is_a_typed_error(text: str) -> None:
    with pytest.raises(PodiumError):
        events_from_json(text)


def test_not_an_object() -> None:
    with pytest.raises(InvalidArgument, match="JSON object"):
        decode_event([1, 2])  # type: ignore[arg-type]
