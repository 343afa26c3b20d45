"""Whatever stands in a file or comes over the network is read as what podium wrote, or refused in podium's words."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.damage import damaged, values

from podium.errors import PodiumError
from podium.present import release_text
from podium.present.explanation import explanation
from podium.present.html import release_html
from podium.present.json import release_document
from podium.present.text.release_text import mechanism_text
from podium.present.text.terminal import release_drawing
from podium.privacy import Guarantee, Selection, events_from_json, events_to_json
from podium.privacy.encoding import REGISTRY
from podium.privacy.events import (
    ApproximateMechanism,
    BottomEvent,
    CorrelatedNoise,
    GaussianNoise,
    HiddenItems,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    SetSelection,
)
from podium.privacy.guarantee import total
from podium.release import BOTTOM, Receipt, Release

HALF = Fraction(1, 2)
EVENTS = (
    LimitedDomainCall("0.01"), Selection(HALF), Selection(HALF), BottomEvent(HALF), SetSelection(HALF),
    PureMechanism(HALF), LaplaceNoise(epsilon=HALF), GaussianNoise(sigma=2), HiddenItems("1e-6"),
    CorrelatedNoise(3, 2, 5, HALF),
    ApproximateMechanism("0.5", "1e-6"),
)  # fmt: skip
"""One event of each kind, and one twice."""

SHAPES: tuple[tuple[Any, Any, Any], ...] = (
    (("a", BOTTOM), None, None),
    (("a", ("b", 1)), (Fraction(1, 3), Fraction(-2)), "counts"),
    ((1, 2), (Fraction(1),), "gaps"),
    (frozenset({"a", "b"}), None, None),
)
RELEASES = tuple(
    Release(mechanism="M", outcome=outcome, k=2, paid=Receipt(EVENTS[:3]), guarantee=total(EVENTS[:3]), theorem="T",
            parameters={"k": "2"}, values=listed, value_kind=kind)
    for outcome, listed, kind in SHAPES
)  # fmt: skip


SHOWS: tuple[Callable[[Release], object], ...] = (
    release_html, release_document, Release.to_csv, repr, str, release_text, explanation, release_drawing,
    lambda release: (release.card().to_json(), release.card().to_markdown()),
    lambda release: (release.paid.cost, release.guarantee.sentence()),
)  # fmt: skip
"""What is done with a release that was read."""


def test_every_kind_of_event_is_among_the_examples() -> None:
    assert {type(event) for event in EVENTS} == set(REGISTRY.values())


def refused_or_read(read: Callable[[], Any]) -> Any:
    """What was read; None if it was refused in podium's words."""
    try:
        return read()
    except PodiumError:
        return None


documents = st.sampled_from([json.loads(release.to_json()) for release in RELEASES])


@settings(max_examples=300)
@given(damaged(documents) | values)
def test_a_damaged_release_is_refused_or_can_be_used(document: Any) -> None:
    release = refused_or_read(lambda: Release.from_json(json.dumps(document)))
    if release is not None:
        assert Release.from_json(release.to_json()).to_json() == release.to_json()
        assert len(release.items) <= len(release.outcome)
        assert release.paid.cost.rho >= 0
        assert isinstance(release.complete, bool)
        assert release.guarantee.sentence()


@settings(max_examples=60)
@given(damaged(documents))
def test_a_release_that_was_read_can_be_shown(document: Any) -> None:
    release = refused_or_read(lambda: Release.from_json(json.dumps(document)))
    if release is not None:
        for show in SHOWS:
            refused_or_read(lambda show=show: show(release))  # type: ignore[misc]


def coprime(count: int) -> list[str]:
    """Numbers of 1,500 digits of which no two have much in common."""
    return [str(10**1499 + 2 * number + 1) for number in range(count)]


def event(kind: str, **numbers: Any) -> dict[str, Any]:
    return {"kind": kind, "version": 1, **numbers}


def nested(depth: int) -> Any:
    return "x" if depth == 0 else {"tuple": [nested(depth - 1)]}


GOOD = json.loads(RELEASES[1].to_json())
HUGE: dict[str, dict[str, Any]] = {
    "a value": {"values": ["1e999999999", "1"]},
    "a value within the digits of a number": {"values": ["1e1999", "1"]},
    "a decimal": {"outcome": [{"decimal": "1e999999999"}, "a"]},
    "a small decimal": {"outcome": [{"decimal": "1e-999999999"}, "a"]},
    "a decimal that raises when it is looked at": {"outcome": [{"decimal": "sNaN"}, "a"]},
    "a nested item": {"outcome": [nested(300), "a"]},
    "k": {"k": 10**4200},
    "selections without a common denominator": {
        "paid": [event("selection", epsilon=f"1/{number}") for number in coprime(300)]
    },
    "pure costs without a common denominator": {
        "paid": [event("pure_mechanism", epsilon="0", reserved=f"3/{number}") for number in coprime(300)]
    },
    "noise without a common denominator": {
        "paid": [
            event("gaussian_noise", sigma=f"{number}/3", sensitivity_squared="1", discrete=False)
            for number in coprime(300)
        ]
    },
    "calls without a common denominator": {
        "paid": [event("limited_domain_call", delta_parameter=f"3/{number}") for number in coprime(300)]
    },
    "a guarantee": {"guarantee": {**GOOD["guarantee"], "rho": "1e999999999"}},
    "profiles": {"guarantee": {**GOOD["guarantee"], "profiles": [[["1", "0.1"], ["2", "0.01"]]] * 40}},
}
"""Short texts that stand for much work."""


@pytest.mark.parametrize("name", HUGE)
def test_a_document_that_stands_for_much_work_is_refused(name: str) -> None:
    start = time.process_time()
    with pytest.raises(PodiumError):
        Release.from_json(json.dumps({**GOOD, **HUGE[name]}))
    assert time.process_time() - start < 10


@pytest.mark.parametrize("name", [name for name in HUGE if "paid" in HUGE[name]])
def test_a_receipt_that_stands_for_much_work_is_refused(name: str) -> None:
    with pytest.raises(PodiumError, match="a common denominator below"):
        events_from_json(json.dumps(HUGE[name]["paid"]))


def test_a_text_that_is_too_long_is_not_parsed() -> None:
    with pytest.raises(PodiumError, match="at most 67,108,864 characters"):
        Release.from_json(" " * ((1 << 26) + 1))


_CORRELATED = {
    "count_noise": "correlated", "count_items": "3", "count_max_items": "3", "count_sigma": "5",
    "count_shared_sigma": "2",
}  # fmt: skip

ODD: dict[str, dict[str, Any]] = {
    "a ratio that is none": {"parameters": {"rate": "1/0", "path": "a/b", "other": "1e9999999/3", "long": "7/" * 9000}},
    "noise of scale 0": {"parameters": {"count_noise": "laplace", "count_scale": "0"}},
    "noise of no scale": {"parameters": {"count_noise": "gaussian", "count_scale": "wide"}},
    "noise of a scale that cannot be drawn": {"parameters": {"count_noise": "gaussian", "count_scale": "1e1999"}},
    "shared noise of no size": {"parameters": {**_CORRELATED, "count_sigma": "wide"}},
    "shared noise on half a count": {"parameters": {**_CORRELATED, "count_items": "1/2"}},
    "shared noise that cannot be drawn": {"parameters": {**_CORRELATED, "count_shared_sigma": "1e1999"}},
    "shared noise below all counts": {"parameters": {**_CORRELATED, "count_sigma": "1e-1999"}},
    "shared noise on more counts than there are": {"parameters": {**_CORRELATED, "count_items": "1" + "0" * 1999}},
    "noise below all counts": {"parameters": {"count_noise": "laplace", "count_scale": "1e-1999"}},
    "a limited domain without its epsilon": {"mechanism": "LimitedDomain", "parameters": {"noise": "laplace"}},
    "a limited domain of epsilon 0": {
        "mechanism": "LimitedDomain", "parameters": {"noise": "laplace", "epsilon_per_item": "0"},
    },
    "an event of a scale that cannot be drawn": {
        "paid": [event("gaussian_noise", sigma="1e1999", sensitivity_squared="1", discrete=True)]
    },
    "a bound that is no number": {"parameters": {"max_items_per_user": "1e999999999"}},
    "a k beyond all sense": {"k": 10**1000},
    "large numbers": {"guarantee": {**GOOD["guarantee"], "rho": "1e1999", "epsilon": "1e1999"}, "k": 1 << 61},
    "a loss beyond all sense": {"guarantee": {**GOOD["guarantee"], "rho": "1e18", "epsilon": "1e9"}},
    "a selection beyond all sense": {"paid": [event("selection", epsilon="1e9")]},
    "small numbers": {"guarantee": {**GOOD["guarantee"], "rho": "1e-1999", "epsilon": None, "delta": "1e-1999"}},
    "numbers that are none": {"outcome": [{"float": "nan"}, {"float": "inf"}]},
    "a set with a number that is none": {"ordered": False, "outcome": [{"decimal": "NaN"}, 5]},
}  # fmt: skip
"""Documents of the right form that no mechanism writes."""


@pytest.mark.parametrize("name", ODD)
def test_a_document_that_no_mechanism_writes_can_be_shown(name: str) -> None:
    start = time.process_time()
    release = Release.from_json(json.dumps({**GOOD, **ODD[name]}))
    for show in SHOWS:
        show(release)
    assert time.process_time() - start < 10


def test_a_ratio_that_is_none_is_shown_as_it_stands() -> None:
    release = Release.from_json(json.dumps({**GOOD, "parameters": {"rate": "1/0", "share": "1/4"}}))
    assert mechanism_text(release) == "M(rate=1/0, share=0.25)"


@settings(max_examples=200)
@given(damaged(st.just(json.loads(events_to_json(EVENTS)))) | values)
def test_damaged_events(document: Any) -> None:
    found = refused_or_read(lambda: events_from_json(json.dumps(document)))
    if found is not None and len(found) < 1000:
        assert events_from_json(events_to_json(found)) == found


@settings(max_examples=200)
@given(damaged(st.sampled_from([
    Guarantee.pure(1).to_dict(), Guarantee.zcdp("0.1").to_dict(), total([GaussianNoise(sigma=1)]).to_dict(),
    (Guarantee.profile([(1, "0.1"), (2, "0.01")]) + Guarantee.approximate(1, "1e-6")).to_dict(),
])) | values)  # fmt: skip
def test_a_damaged_guarantee(document: Any) -> None:
    found = refused_or_read(lambda: Guarantee.from_dict(document))
    if found is not None:
        assert Guarantee.from_json(found.to_json()) == found
        assert found.sentence()


@pytest.mark.parametrize(
    "text", ["", "{", "9" * 5000, "[" * 100_000, '{"a":' * 100_000, "NaN", "\x00", "\ud800", "1e9999"]
)
def test_texts_that_are_no_documents(text: str) -> None:
    for read in (Release.from_json, events_from_json):
        with pytest.raises(PodiumError):
            read(text)


@settings(max_examples=150)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    for read in (Release.from_json, events_from_json):
        refused_or_read(lambda read=read: read(text))  # type: ignore[misc]
