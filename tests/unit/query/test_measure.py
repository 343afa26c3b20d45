"""What items are ranked by: as text, as SQL, in units of a column, and as a ledger stores it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.columns import schema

from podium.errors import InvalidArgument, PodiumError, QuestionRefused, UnknownColumn
from podium.query import Question, QuestionRecord, check_question
from podium.query.ranked_by import MAX_CLIP, Measure, sum_of

SCHEMA = schema(
    {
        "listener": "integer",
        "track": "text",
        "plays": "integer",
        "price": "decimal(2)",
        "minutes": "float",
        'time "spent"': "integer",
    }
)


def measure(**parts: Any) -> Measure | None:
    return check_question(Question(item=("track",), **parts), SCHEMA, user="listener", table="plays").measure


def measure_of_sql(aggregate: str, **parts: Any) -> Measure | None:
    text = f"SELECT track, {aggregate} AS n FROM plays GROUP BY track ORDER BY n DESC LIMIT 5"
    return check_question(Question(sql=text, **parts), SCHEMA, user="listener", table="plays").measure


@pytest.mark.parametrize(
    ("parts", "meaning"),
    [
        ({}, None),
        ({"by": "users"}, None),
        ({"by": "events"}, Measure(None)),
        ({"by": "events", "clip": 20}, Measure(None, clip=20)),
        ({"by": "sum(plays)"}, Measure("plays")),
        ({"by": "SUM( plays )"}, Measure("plays")),
        ({"by": "sum(price)"}, Measure("price", Fraction(1, 100))),
        ({"by": "sum(price)", "clip": "19.99"}, Measure("price", Fraction(1, 100), 1999)),
        ({"by": "sum(price)", "unit": "0.5", "clip": 20}, Measure("price", Fraction(1, 2), 40)),
        ({"by": "sum(price)", "clip": (-5, 20)}, Measure("price", Fraction(1, 100), 2000, -500)),
        ({"by": "sum(price)", "clip": ["0", "20"]}, Measure("price", Fraction(1, 100), 2000)),
        ({"by": "sum(minutes)", "unit": "0.1"}, Measure("minutes", Fraction(1, 10))),
        ({"by": 'sum("time ""spent""")'}, Measure('time "spent"')),
    ],
)
def test_measures_as_text(parts: dict[str, Any], meaning: Measure | None) -> None:
    assert measure(**parts) == meaning
    asked = Question(item=("track",), **parts)
    assert Question(**asked.to_dict()).to_dict() == asked.to_dict()
    if meaning is not None:
        assert measure(**{**parts, "by": meaning.by}) == meaning


def test_a_span_reaches_from_the_least_to_the_most() -> None:
    signed = measure(by="sum(price)", clip=(-5, 20))
    assert signed is not None
    assert (signed.span, signed.amount(1999)) == (2500, Fraction(1999, 100))
    assert measure(by="events") == replace(Measure("x"), column=None)
    assert Measure(None).span is None


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (
            {"by": "rows"},
            "by='rows' is not valid. Allowed: 'users', 'events' or 'sum(COLUMN)'. by='events' counts rows",
        ),
        ({"by": "sum(a + b)"}, "Allowed: 'users', 'events' or 'sum(COLUMN)'"),
        ({"by": 5}, "by=5 is not valid"),
        ({"by": "COUNT(*)"}, "Say by='events'."),
        ({"by": "count(DISTINCT listener)"}, "Say by='users'."),
        ({"by": "avg(price)"}, "by='sum(price)' adds up a column; by='events' counts rows, by='users' distinct users."),
        ({"by": "events", "clip": (-1, 2)}, "clip=(-1, 2) is not valid. Allowed: one number above 0 with by='events'"),
        ({"clip": 3}, "clip=3 is not valid. Allowed: None with by='users', where a user counts once for each item"),
        ({"unit": 1}, "unit=1 is not valid. Allowed: None with by='users'"),
        ({"by": "events", "unit": 1}, "unit=1 is not valid. Allowed: None with by='events': rows are counted"),
        ({"by": "events", "clip": 0}, "clip=0 is not valid. Allowed: a number above 0, or a pair (-a, b)"),
        ({"by": "events", "clip": "many"}, "clip='many' is not valid"),
        ({"by": "events", "clip": (1, 2)}, "the first number is not above 0"),
        ({"by": "events", "clip": (1, 2, 3)}, "a pair (-a, b)"),
        ({"by": "events", "clip": "2.5"}, "Allowed: a multiple of the unit, 1. The nearest below is 2."),
        ({"by": "events", "clip": MAX_CLIP + 1}, f"Allowed: at most {MAX_CLIP} units. State a larger unit"),
        ({"by": "sum(minutes)"}, "unit=None is not valid. Allowed: a number such as '0.01': what each value of"),
        ({"by": "sum(price)", "unit": 0}, "unit=0 is not valid. Allowed: a number above 0"),
        ({"by": "sum(track)"}, "Column 'track' is of kind text; by='events' counts its rows."),
        ({"by": "sum(listener)"}, "the sum of a column other than the user column"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_can(parts: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        measure(**parts)
    assert told in str(caught.value)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(UnknownColumn, match="by='seconds'"):
        measure(by="sum(seconds)")


@pytest.mark.parametrize(
    ("aggregate", "meaning"),
    [
        ("COUNT(DISTINCT listener)", None),
        ("COUNT(*)", Measure(None)),
        ("SUM(plays)", Measure("plays")),
        ("sum(PRICE)", Measure("price", Fraction(1, 100))),
        ('SUM("time ""spent""")', Measure('time "spent"')),
    ],
)
def test_measures_in_sql(aggregate: str, meaning: Measure | None) -> None:
    assert measure_of_sql(aggregate) == meaning


def test_sql_takes_clip_and_unit_beside_it() -> None:
    assert measure_of_sql("SUM(minutes)", unit="0.1", clip=6) == Measure("minutes", Fraction(1, 10), 60)
    with pytest.raises(InvalidArgument, match="clip='6' is not valid"):
        measure_of_sql("COUNT(DISTINCT listener)", clip=6)
    with pytest.raises(InvalidArgument, match="clip=6 is not valid"):
        Question(sql="SELECT 1", by="users", clip=6)


@pytest.mark.parametrize(
    "aggregate",
    [
        "COUNT(plays)", "SUM(DISTINCT plays)", "SUM(plays + 1)", "SUM(plays) OVER ()",
        "COUNT(*) FILTER (WHERE plays = 1)",
        "COUNT(* EXCLUDE (plays))", "AVG(plays)", "SUM(track)", "SUM(listener)", "SUM(plays, price)", "COUNT(1)",
        "2 * SUM(plays)", "SUM(SUM(plays))",
    ],
)  # fmt: skip
def test_other_aggregates_are_refused(aggregate: str) -> None:
    with pytest.raises(PodiumError):
        measure_of_sql(aggregate)


def test_an_order_by_another_aggregate_is_refused() -> None:
    text = "SELECT track, COUNT(*) FROM plays GROUP BY track ORDER BY SUM(plays) DESC LIMIT 5"
    with pytest.raises(QuestionRefused, match="ordered by the count alone"):
        check_question(Question(sql=text), SCHEMA, user="listener", table="plays")


def test_a_ledger_stores_the_measure_only_where_there_is_one() -> None:
    plain = QuestionRecord(
        items=("track",), where=None, user="listener", k=3, k_bar=None, ordered=True, domain=None,
        max_items_per_user=None, mechanism="auto", budget={"epsilon": "1"}, counts=False,
    )  # fmt: skip
    assert not {"by", "clip", "unit"} & set(plain.to_text().replace('"', " ").split())
    by_minutes = replace(plain, by="sum(minutes)", clip="20", unit="1/10")
    for record in (plain, by_minutes, replace(plain, by="events")):
        assert QuestionRecord.from_text(record.to_text()) == record
    keys = {plain.key, by_minutes.key, replace(by_minutes, clip="21").key, replace(by_minutes, unit="1/5").key}
    assert len(keys) == 4


def test_names_are_quoted_where_needed() -> None:
    assert (sum_of("plays"), sum_of('a "b"')) == ("sum(plays)", 'sum("a ""b""")')
