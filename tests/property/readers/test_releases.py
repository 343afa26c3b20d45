"""Whatever stands in a file or comes over the network is read as what podium wrote, or refused in podium's words."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.damage import damaged, values

from podium.errors import PodiumError
from podium.present.card import card
from podium.present.documents import release_document
from podium.present.html import release_html
from podium.privacy import Guarantee, Selection, events_from_json, events_to_json
from podium.privacy.encoding import REGISTRY
from podium.privacy.events import (
    ApproximateMechanism,
    Bottom,
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
    LimitedDomainCall("0.01"), Selection(HALF), Selection(HALF), Bottom(HALF), SetSelection(HALF),
    PureMechanism(HALF), LaplaceNoise(epsilon=HALF), GaussianNoise(sigma=2), HiddenItems("1e-6"),
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
        shows: list[Callable[[Release], object]] = [release_html, card, release_document, Release.to_csv, repr]
        for show in shows:
            refused_or_read(lambda show=show: show(release))  # type: ignore[misc]


@settings(max_examples=200)
@given(damaged(st.just(json.loads(events_to_json(EVENTS)))) | values)
def test_damaged_events(document: Any) -> None:
    found = refused_or_read(lambda: events_from_json(json.dumps(document)))
    if found is not None and len(found) < 1000:
        assert events_from_json(events_to_json(found)) == found


@settings(max_examples=200)
@given(damaged(st.sampled_from([
    Guarantee.pure(1).to_json(), Guarantee.zcdp("0.1").to_json(), total([GaussianNoise(sigma=1)]).to_json(),
    (Guarantee.profile([(1, "0.1"), (2, "0.01")]) + Guarantee.approximate(1, "1e-6")).to_json(),
])) | values)  # fmt: skip
def test_a_damaged_guarantee(document: Any) -> None:
    found = refused_or_read(lambda: Guarantee.from_json(document))
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
