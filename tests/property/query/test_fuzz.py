"""Any text whatever is understood or refused, never anything else."""

from __future__ import annotations

import datetime as dt

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.hostile import HOSTILE_CONDITIONS, HOSTILE_STATEMENTS
from tests.unit.query.test_query import SCHEMA

from podium.errors import PodiumError
from podium.query import parse_sql, parse_where

WORDS = st.sampled_from(
    ["article", "user_id", "country", "'a'", "1", "-2", "=", "<", "AND", "OR", "NOT", "IN", "(", ")", ",", "LIKE",
     "'%'",      "BETWEEN", "IS", "NULL", "TRUE", "DATE", "'2026-01-01'", "day", "at",
     "CURRENT_DATE", "NOW()", "+", "-", "INTERVAL", "7", "'7'", "HOUR", "WEEK",
     "SELECT", "FROM", "views", "COUNT", "DISTINCT", "GROUP BY",
     "ORDER BY", "LIMIT", "10", "*", "ESCAPE", "CASE", "WHEN", "END", "::", "[", "]", "{", "}", "--", "/*", ";", "."]
)  # fmt: skip
NOW = dt.datetime(2026, 3, 1, 0, 30, tzinfo=dt.UTC)
texts = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join))


@settings(max_examples=400)
@given(texts)
def test_conditions_are_understood_or_refused(text: str) -> None:
    try:
        predicate = parse_where(text, schema=SCHEMA, now=NOW)
    except PodiumError:
        return
    assert predicate == parse_where(f"({text})", schema=SCHEMA, now=NOW)


@settings(max_examples=400)
@given(texts)
def test_statements_are_understood_or_refused(text: str) -> None:
    try:
        k = parse_sql(text, schema=SCHEMA, table="views", user="user_id", now=NOW).k
    except PodiumError:
        return
    assert k >= 1


@settings(max_examples=300)
@given(st.sampled_from(HOSTILE_CONDITIONS + HOSTILE_STATEMENTS), st.data())
def test_damaged_hostile_texts_never_crash(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 20)))
    damaged = text[:start] + data.draw(st.text(max_size=3)) + text[stop:]
    for call in (
        lambda: parse_where(damaged, schema=SCHEMA, now=NOW),
        lambda: parse_sql(damaged, schema=SCHEMA, table="views", user="user_id", now=NOW),
    ):
        try:
            call()
        except PodiumError:
            continue
