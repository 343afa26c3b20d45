"""Releases survive JSON, whatever the items are; foreign text is refused."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import InvalidArgument, UnknownEvent
from podium.privacy.events import (
    ApproximateMechanism,
    BottomEvent,
    GaussianNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
)
from podium.privacy.guarantee import Guarantee, total
from podium.release import BOTTOM, Receipt, Release

HALF = Fraction(1, 2)


def made(**changes: Any) -> Release:
    paid = (LimitedDomainCall("0.01"), Selection(HALF), BottomEvent(HALF))
    parts: dict[str, Any] = {
        "mechanism": "LimitedDomain",
        "outcome": ("a", BOTTOM),
        "k": 2,
        "paid": Receipt(paid),
        "guarantee": total(paid),
        "theorem": "Durfee & Rogers 2019",
        "parameters": {"k": "2"},
    }
    return Release(**{**parts, **changes})


plain = st.one_of(
    st.text(),
    st.integers(),
    st.booleans(),
    st.none(),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, dt.UTC])),
    st.times(),
    st.decimals(allow_nan=False),
    st.floats(allow_nan=False),
)
items = st.one_of(plain, st.tuples(plain, plain))
fractions = st.fractions()
events = st.one_of(
    st.builds(Selection, st.fractions(min_value="1/100", max_value=10)),
    st.builds(BottomEvent, st.fractions(min_value="1/100", max_value=10)),
    st.builds(PureMechanism, st.fractions(min_value="1/100", max_value=10)),
    st.builds(GaussianNoise, st.fractions(min_value="1/100", max_value=10)),
    st.builds(LimitedDomainCall, st.fractions(min_value="1/10000", max_value="1/2")),
    st.builds(ApproximateMechanism, st.fractions(min_value="1/100", max_value=10), st.fractions("1/10000", "1/2")),
)


@given(
    st.lists(items, max_size=4),
    st.booleans(),
    st.booleans(),
    st.lists(events, min_size=1, max_size=4),
    st.lists(fractions, max_size=3),
    st.none() | st.just("0f" * 32),
)
def test_json_round_trip(
    names: list[Any], stopped: bool, ordered: bool, paid: list[Any], values: list[Fraction], entry: str | None
) -> None:
    outcome: Any = (*names, BOTTOM) if stopped and ordered else tuple(names)
    gaps = tuple(values[: len(set(names))])
    release = made(
        outcome=outcome if ordered else frozenset(names),
        k=len(names) + 1,
        paid=Receipt(tuple(paid), entry=entry),
        guarantee=total(paid),
        values=gaps or None,
        value_kind="gaps" if gaps else None,
    )
    again = Release.from_json(release.to_json())
    assert again == release
    assert again.ordered is ordered
    assert [type(item) for item in again.items] == [type(item) for item in release.items]
    assert again.to_json() == release.to_json()


def test_what_a_release_says() -> None:
    release = made()
    assert release.items == ("a",)
    assert not release.complete
    assert release.ordered
    assert release.paid.rho == 2 * Selection(HALF).rho
    assert (release.paid.delta, release.paid.epsilon) == (Fraction(1, 101), Fraction(1))
    unordered = made(outcome=frozenset({"b", "a"}))
    assert unordered.items == ("a", "b")
    assert not unordered.ordered
    assert unordered.complete


def test_a_profile_survives_too() -> None:
    release = made(guarantee=Guarantee.profile([(1, "0.001"), (2, "1e-6")]))
    assert Release.from_json(release.to_json()) == release


def test_numbers_of_numpy_become_numbers() -> None:
    again = Release.from_json(made(outcome=(np.int64(3), np.str_("x"))).to_json())
    assert again.outcome == (3, "x")


def test_there_is_one_bottom() -> None:
    assert pickle.loads(pickle.dumps(BOTTOM)) is BOTTOM  # noqa: S301
    assert repr(BOTTOM) == "BOTTOM"
    assert Release.from_json(made().to_json()).outcome[-1] is BOTTOM  # type: ignore[index]


def test_an_item_that_is_no_value_is_refused() -> None:
    with pytest.raises(InvalidArgument) as caught:
        made(outcome=(object(),)).to_json()
    assert str(caught.value) == (
        "item='object' is not valid. Allowed: text, numbers, dates, bytes and tuples of these."
    )


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": 1}', "not json"])
def test_foreign_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Release.from_json(text)
    assert (
        str(caught.value) == "text='not a release' is not valid. Allowed: what Release.to_json or --format json wrote."
    )


def test_a_later_format_and_an_unknown_event_are_refused_by_name() -> None:
    raw = json.loads(made().to_json())
    with pytest.raises(InvalidArgument) as caught:
        Release.from_json(json.dumps({**raw, "format": 3}))
    assert str(caught.value) == "format=3 is not valid. Allowed: 1 or 2. Use a newer podium."
    raw["paid"][1]["kind"] = "surprise"
    with pytest.raises(UnknownEvent):
        Release.from_json(json.dumps(raw))


def test_a_decimal_item_keeps_its_digits() -> None:
    assert repr(Release.from_json(made(outcome=(Decimal("1.50"),)).to_json()).outcome) == "(Decimal('1.50'),)"
