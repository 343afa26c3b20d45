"""Relative dates become constants when a question is planned, and nothing else of it changes."""

from __future__ import annotations

import datetime as dt

import pytest

from podium.errors import QuestionRefused
from podium.query import Column, Kind, Question, Schema
from podium.query.parse.fixed_dates import fix_dates
from podium.query.parse.where import parse_where

KINDS = {"day": Kind.DATE, "At": Kind.TIMESTAMP}
SCHEMA = Schema((Column("day", Kind.DATE), Column("At", Kind.TIMESTAMP), Column("x", Kind.TEXT)))
NOW = dt.datetime(2026, 11, 19, 23, 59, 30, tzinfo=dt.UTC)
GROUPED = (
    "SELECT country, article, COUNT(*) AS n FROM views WHERE views.day BETWEEN CURRENT_DATE - 7 AND CURRENT_DATE "
    "AND x LIKE 'a!%' ESCAPE '!' GROUP BY country, article HAVING n >= 50 "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) <= 10"
)


@pytest.mark.parametrize(
    "where",
    [
        "day >= CURRENT_DATE - 7",
        "CURRENT_DATE - 7 <= day AND x = 'it''s \\ CURRENT_DATE'",
        "NOT (at < NOW() - INTERVAL '24' HOUR OR day IN (CURRENT_DATE, DATE '2026-01-01'))",
        "at BETWEEN CURRENT_DATE - INTERVAL '1' WEEK AND CURRENT_TIMESTAMP",
        "day = CURRENT_DATE OR x LIKE 'now%'",
    ],
)
def test_a_fixed_condition_means_the_same_at_any_time(where: str) -> None:
    question = Question.of("x", where=where)
    fixed = fix_dates(question, KINDS, NOW)
    meant = parse_where(where, schema=SCHEMA, now=NOW)
    assert parse_where(fixed.where[0], schema=SCHEMA, now=NOW + dt.timedelta(days=3)) == meant
    assert parse_where(fixed.where[0], schema=SCHEMA) == meant
    # Control: unfixed, it means something else three days later.
    assert parse_where(where, schema=SCHEMA, now=NOW + dt.timedelta(days=3)) != meant


@pytest.mark.parametrize("where", ["day >= DATE '2026-11-01'", "x = 'CURRENT_DATE'", "X  =  'a'"])
def test_other_questions_stay_as_they_were_written(where: str) -> None:
    question = Question.of("x", where=[where, "day IS NOT NULL"])
    assert fix_dates(question, KINDS, NOW) is question


def test_statements_are_fixed_too() -> None:
    fixed = fix_dates(Question.of(sql=GROUPED), KINDS, NOW).sql
    assert fixed is not None
    assert fixed == GROUPED.replace("CURRENT_DATE - 7", "CAST('2026-11-12' AS DATE)").replace(
        "CURRENT_DATE", "CAST('2026-11-19' AS DATE)"
    )


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("x >= CURRENT_DATE", "relative dates are compared with dates or times"),
        ("COALESCE(day, CURRENT_DATE) IS NULL", "cannot be fixed when it is planned"),
    ],
)
def test_what_cannot_be_fixed_is_refused(where: str, text: str) -> None:
    with pytest.raises(QuestionRefused, match=text):
        fix_dates(Question.of("x", where=where), KINDS, NOW)
