"""Relative dates are constants, fixed in UTC by a clock that is passed in."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from tests.support.hostile import COUNT, GOOD_TAIL
from tests.unit.query.test_query import SCHEMA

from podium.errors import QuestionRefused
from podium.query import parse_conditions, parse_sql, parse_where
from podium.query.record import subject_json

NEW_YORK = dt.timezone(dt.timedelta(hours=-5))
NOW = dt.datetime(2026, 2, 28, 21, 45, 59, 999999, tzinfo=NEW_YORK)
"""In UTC it is the first of March, 02:45:59."""


def where(text: str, now: dt.datetime | None = NOW) -> Any:
    return parse_where(text, schema=SCHEMA, now=now)


@pytest.mark.parametrize(
    ("relative", "constant"),
    [
        ("day >= CURRENT_DATE", "day >= DATE '2026-03-01'"),
        ("day >= current_date()", "day >= DATE '2026-03-01'"),
        ("day >= CURRENT_DATE - 7", "day >= DATE '2026-02-22'"),
        ("CURRENT_DATE - 7 <= day", "day >= DATE '2026-02-22'"),
        ("day >= (CURRENT_DATE - (7))", "day >= DATE '2026-02-22'"),
        ("day < CURRENT_DATE + 1", "day < DATE '2026-03-02'"),
        ("day >= CURRENT_DATE - INTERVAL 7 DAY", "day >= DATE '2026-02-22'"),
        ("day >= CURRENT_DATE - INTERVAL '7' DAY", "day >= DATE '2026-02-22'"),
        ("day >= CURRENT_DATE - INTERVAL '7 days'", "day >= DATE '2026-02-22'"),
        ("day >= CURRENT_DATE - INTERVAL 2 WEEKS", "day >= DATE '2026-02-15'"),
        ("day >= CURRENT_DATE - INTERVAL '48' HOUR", "day >= DATE '2026-02-27'"),
        ("day BETWEEN CURRENT_DATE - 7 AND CURRENT_DATE - 1", "day BETWEEN DATE '2026-02-22' AND DATE '2026-02-28'"),
        ("day IN (CURRENT_DATE, CURRENT_DATE - 7)", "day IN (DATE '2026-02-22', DATE '2026-03-01')"),
        ("at >= CURRENT_DATE - 1", "at >= TIMESTAMP '2026-02-28 00:00:00'"),
        ("at >= CURRENT_DATE - INTERVAL '6' HOUR", "at >= TIMESTAMP '2026-02-28 18:00:00'"),
        ("at >= CURRENT_TIMESTAMP", "at >= TIMESTAMP '2026-03-01 02:45:00'"),
        ("at >= CURRENT_TIMESTAMP - INTERVAL '24' HOUR", "at >= TIMESTAMP '2026-02-28 02:45:00'"),
        ("at >= now() - INTERVAL '90' MINUTE", "at >= TIMESTAMP '2026-03-01 01:15:00'"),
        ("NOT (at < NOW() - INTERVAL 1 WEEK)", "at >= TIMESTAMP '2026-02-22 02:45:00'"),
    ],
)
def test_a_relative_date_is_the_constant(relative: str, constant: str) -> None:
    assert where(relative) == where(constant)
    statement = f"SELECT article, {COUNT} FROM views WHERE {relative} {GOOD_TAIL}"
    assert parse_sql(statement, schema=SCHEMA, table="views", user="user_id", now=NOW).where == where(constant)


def test_a_question_is_the_same_for_a_day_or_for_a_minute() -> None:
    def key(text: str, now: dt.datetime) -> str:
        return subject_json(("article",), where(text, now))

    evening = dt.datetime(2026, 3, 1, 23, 59, 0, tzinfo=dt.UTC)
    by_day, by_minute = "day >= CURRENT_DATE - 7", "at >= NOW() - INTERVAL '1' HOUR"
    assert key(by_day, NOW) == key(by_day, evening) != key(by_day, evening + dt.timedelta(minutes=1))
    assert key(by_minute, evening) == key(by_minute, evening + dt.timedelta(seconds=59.9))
    assert key(by_minute, evening) != key(by_minute, evening + dt.timedelta(minutes=1))


FAR = "9" * 5000
DATES = "is not allowed: it is not a relative date that podium understands. Write CURRENT_DATE, CURRENT_DATE - 7"
TIMES = "is not allowed: it is not a relative timestamp that podium understands. Write CURRENT_DATE - 7"
YEARS = "it lies outside the years 1 to 9999."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("day >= CURRENT_DATE - 99999999", YEARS),
        ("day >= CURRENT_DATE + 99999999", YEARS),
        ("day >= CURRENT_DATE - INTERVAL '99999999999999' WEEK", YEARS),
        (f"day >= CURRENT_DATE - {FAR}", YEARS),
        (f"at >= NOW() - INTERVAL '{FAR}' MINUTE", YEARS),
        ("day >= NOW()", DATES),
        ("day >= NOW() - INTERVAL '7' DAY", DATES),
        ("day >= CURRENT_DATE - INTERVAL '25' HOUR", DATES),
        ("day >= CURRENT_DATE - INTERVAL '1' MONTH", DATES),
        ("day >= CURRENT_DATE - INTERVAL '1-2' YEAR TO MONTH", DATES),
        ("day >= CURRENT_DATE - INTERVAL '7'", DATES),
        ("day >= CURRENT_DATE - INTERVAL '-7' DAY", DATES),
        ("day >= CURRENT_DATE - INTERVAL user_id DAY", DATES),
        ("day >= CURRENT_DATE - -7", DATES),
        ("day >= CURRENT_DATE - 7.5", DATES),
        ("day >= CURRENT_DATE - '7'", DATES),
        ("day >= CURRENT_DATE - \u0667", DATES),
        ("day >= CURRENT_DATE - 7 - 7", DATES),
        ("day >= 7 - CURRENT_DATE", DATES),
        ("day >= CURRENT_DATE - CURRENT_DATE", DATES),
        ("day >= CURRENT_DATE('Europe/Berlin')", DATES),
        ("day >= CURRENT_DATE AT TIME ZONE 'Europe/Berlin'", DATES),
        ("at >= NOW() - 7", TIMES),
        ("at >= CURRENT_TIMESTAMP(3)", TIMES),
        ("at >= NOW(3)", TIMES),
        ("at >= DATE_TRUNC('day', NOW())", TIMES),
        ("article >= CURRENT_DATE", "column 'article' is text, and relative dates are compared with dates or times."),
        ("article >= CURRENT_DATE", "as in --types article=date."),
        ("user_id >= CURRENT_DATE - 7", "column 'user_id' is integer, and relative dates"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, said: str) -> None:
    with pytest.raises(QuestionRefused) as caught:
        where(text)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 700


def test_without_a_clock_they_are_refused() -> None:
    with pytest.raises(QuestionRefused, match="a schedule asks the same question in every period"):
        where("day >= CURRENT_DATE - 7", None)
    with pytest.raises(QuestionRefused, match="a schedule"):
        parse_conditions(["flag = TRUE", "at < NOW()"], schema=SCHEMA)
