"""Parameters become the literals of their values, and nothing else."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.columns import schema

from podium.errors import InvalidArgument, QuestionRefused
from podium.query.parse.parameters import fill_in
from podium.query.parse.selected import selected_names
from podium.query.parse.where import parse_where
from podium.query.predicate import Compare

SCHEMA = schema({"x": "text", "n": "integer", "d": "decimal(2)"})


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co")), max_size=40))
def test_a_text_comes_back_as_it_was(text: str) -> None:
    found = parse_where(fill_in("x = ?", [text]), schema=SCHEMA)
    assert isinstance(found, Compare)
    assert found.value == text


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (True, "TRUE"),
        (-3, "-3"),
        (10**18, "1000000000000000000"),
        (0.1, "0.1"),
        (1e-7, "0.0000001"),
        (Decimal("2.50"), "2.50"),
        (dt.date(2026, 11, 1), "DATE '2026-11-01'"),
        (dt.datetime(2026, 11, 1, 12), "TIMESTAMP '2026-11-01 12:00:00'"),  # noqa: DTZ001 - a time without a zone
        (dt.datetime(2026, 11, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2))), "TIMESTAMP '2026-11-01 10:00:00'"),
        ("O'Hara ?", "'O''Hara ?'"),
    ],
)
def test_literals(value: Any, literal: str) -> None:
    assert fill_in("x = ? AND '?' = \"?\"", [value]) == f"x = {literal} AND '?' = \"?\""


@pytest.mark.parametrize(
    ("text", "value", "filled"),
    [("n > -? OR n = 2", -5, "n > - -5 OR n = 2"), ("x = e?", "a", "x = e 'a'"), ("x=?", "a", "x='a'")],
)
def test_a_literal_is_apart_from_what_precedes_it(text: str, value: Any, filled: str) -> None:
    assert fill_in(text, [value]) == filled


@pytest.mark.parametrize(
    "value", [None, float("nan"), float("inf"), Decimal("NaN"), Decimal("1e999999999"), b"x", [1], object()]
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="parameters="):
        fill_in("x = ?", [value])


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
def test_there_is_one_value_for_each_mark(values: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgument, match="one for each of the 2 question marks"):
        fill_in("n > ? AND n < ?", values)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(QuestionRefused):
        fill_in("x = 'unfinished", [1])
    with pytest.raises(QuestionRefused):
        fill_in(3, [1])  # type: ignore[arg-type]


def test_names_of_the_select_list() -> None:
    text = 'SELECT Page, COUNT(*) AS "how many", "a ""b""" FROM t GROUP BY 1'
    assert selected_names(text) == [("Page", False), ("how many", True), ('a "b"', False)]
    assert selected_names("SELECT page, COUNT(DISTINCT u) FROM t") == [("page", False), ("", True)]
