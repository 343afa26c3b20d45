"""The question language: what is understood, what it means, and what is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from tests.support.columns import schema
from tests.support.hostile import COUNT, GOOD_TAIL, HOSTILE_CONDITIONS, HOSTILE_STATEMENTS

from podium.errors import PodiumError, QuestionRefused, UnknownColumn
from podium.query import parse_sql, parse_where
from podium.query.parse.statement import Parsed
from podium.query.predicate import And, Between, Compare, Like, Missing, Not, OneOf, Operator, Or, Wildcard
from podium.query.record import subject_json

SCHEMA = schema(
    {
        "user_id": "integer",
        "article": "text",
        "country": "text",
        "day": "date",
        "at": "timestamp",
        "price": "decimal(2)",
        "flag": "boolean",
        "rating": "float",
        "tags": "list(text)",
        "Mixed Case": "text",
    }
)


def where(text: str) -> Any:
    return parse_where(text, schema=SCHEMA)


def sql(text: str) -> Parsed:
    return parse_sql(text, schema=SCHEMA, table="views", user="user_id")


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("country = 'DE'", Compare("country", Operator.EQUAL, "DE")),
        ("'DE' < country", Compare("country", Operator.MORE, "DE")),
        ("COUNTRY <> 'it''s'", Compare("country", Operator.UNEQUAL, "it's")),
        ("\"Mixed Case\" != 'a'", Compare("Mixed Case", Operator.UNEQUAL, "a")),
        ("user_id >= -9223372036854775808", Compare("user_id", Operator.AT_LEAST, -(2**63))),
        ("price <= 1.50", Compare("price", Operator.AT_MOST, Decimal("1.5"))),
        ("price = -3", Compare("price", Operator.EQUAL, Decimal(-3))),
        ("flag = TRUE", Compare("flag", Operator.EQUAL, True)),
        ("day > DATE '2026-01-31'", Compare("day", Operator.MORE, dt.date(2026, 1, 31))),
        (
            "at < TIMESTAMP '2026-01-31 10:00:00.5'",
            Compare("at", Operator.LESS, dt.datetime(2026, 1, 31, 10, 0, 0, 500000)),  # noqa: DTZ001
        ),
        ("country IN ('b', 'a', 'b')", OneOf("country", ("a", "b"))),
        ("country IN ('a')", Compare("country", Operator.EQUAL, "a")),
        ("country NOT IN ('b', 'a')", Not(OneOf("country", ("a", "b")))),
        ("user_id BETWEEN 1 AND 5", Between("user_id", 1, 5)),
        ("article IS NULL", Missing("article")),
        ("article IS NOT NULL", Not(Missing("article"))),
        ("article LIKE 'a%%b_c'", Like("article", ("a", Wildcard.MANY, "b", Wildcard.ONE, "c"))),
        ("article LIKE '50!% !!' ESCAPE '!'", Like("article", ("50% !",))),
        ("article LIKE 'a\\'", Like("article", ("a\\",))),
        ("article LIKE ''", Like("article", ())),
        ("article NOT LIKE 'a%'", Not(Like("article", ("a", Wildcard.MANY)))),
        ("NOT (user_id = 1)", Compare("user_id", Operator.UNEQUAL, 1)),
        (
            "NOT (user_id < 1 OR country = 'a')",
            And((Compare("country", Operator.UNEQUAL, "a"), Compare("user_id", Operator.AT_LEAST, 1))),
        ),
        (
            "flag = FALSE OR (user_id = 1 OR (user_id = 2))",
            Or(
                (
                    Compare("flag", Operator.EQUAL, False),
                    Compare("user_id", Operator.EQUAL, 1),
                    Compare("user_id", Operator.EQUAL, 2),
                )
            ),
        ),
    ],
)
def test_conditions(text: str, meaning: object) -> None:
    assert where(text) == meaning


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("country = 'a' AND flag = TRUE", "flag = TRUE AND country = 'a'"),
        ("country = 'a' AND country = 'a'", "((country = 'a'))"),
        ("NOT NOT article LIKE 'x'", "article LIKE 'x'"),
        ("country IN ('a', 'b')", "country IN ('b', 'a', 'a')"),
        ("price = 1.5", "price = 1.50"),
        ("1 < user_id", "user_id > 1"),
        ("NOT (flag = TRUE AND user_id > 3)", "user_id <= 3 OR flag <> TRUE"),
    ],
)
def test_the_same_meaning_is_the_same_question(one: str, other: str) -> None:
    subjects = [subject_json(("article",), where(text)) for text in (one, other)]
    assert subjects[0] == subjects[1]
    assert subject_json(("article",), where("country = 'zz'")) != subjects[0]


LONG = "123456789012345678901234567890123456"


@pytest.mark.parametrize("sign", ["", "-"])
def test_constants_of_many_digits_are_kept_exactly(sign: str) -> None:
    here, there = (where(f"price = {sign}{LONG}.{end}") for end in ("10", "11"))
    assert (here.value, there.value) == (Decimal(f"{sign}{LONG}.1"), Decimal(f"{sign}{LONG}.11"))
    assert subject_json(("article",), here) != subject_json(("article",), there)
    again = where(f"price = {sign}{LONG}.1")
    assert subject_json(("article",), here) == subject_json(("article",), again)


def test_another_number_of_items_than_the_limit_says_is_refused() -> None:
    with pytest.raises(QuestionRefused, match=r"'LIMIT 10 PERCENT' is not allowed: LIMIT takes one integer\."):
        sql(f"SELECT article, {COUNT} FROM views {GOOD_TAIL} PERCENT")


@pytest.mark.parametrize("text", HOSTILE_CONDITIONS, ids=range(len(HOSTILE_CONDITIONS)))
def test_hostile_conditions_are_refused(text: str) -> None:
    with pytest.raises(PodiumError) as caught:
        where(text)
    assert len(str(caught.value)) < 700


QUALIFIED = "views.article = 'a'"
"""A statement's FROM says which table this is; a condition alone has none."""


def test_columns_may_be_qualified_with_the_one_table() -> None:
    said = f"SELECT article, {COUNT} FROM views WHERE {{}} {GOOD_TAIL}"
    assert sql(said.format(QUALIFIED)).where == where("article = 'a'")
    for other in ("users.article = 'a'", "main.views.article = 'a'", "\"VIEWS\".article = 'a'", "views.n = 1"):
        with pytest.raises(PodiumError):
            sql(said.format(other))


@pytest.mark.parametrize("text", HOSTILE_STATEMENTS, ids=range(len(HOSTILE_STATEMENTS)))
def test_hostile_statements_are_refused(text: str) -> None:
    with pytest.raises(PodiumError):
        sql(text)


@pytest.mark.parametrize("text", [text for text in HOSTILE_CONDITIONS if text.strip() and text != QUALIFIED])
def test_hostile_conditions_are_refused_inside_a_statement(text: str) -> None:
    with pytest.raises(PodiumError):
        sql(f"SELECT article, {COUNT} FROM views WHERE {text} {GOOD_TAIL}")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 10",
        "select Article, count(distinct USER_ID) as N from VIEWS group by article order by n desc limit 10;",
        (
            "SELECT article, COUNT(DISTINCT user_id) FROM views "
            "GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 10"
        ),
        'SELECT COUNT(DISTINCT user_id) AS n, article FROM "views" GROUP BY article ORDER BY n DESC LIMIT 10',
        (
            "SELECT views.article, COUNT(DISTINCT Views.user_id) AS n FROM views "
            'GROUP BY "views".article ORDER BY n DESC LIMIT 10'
        ),
    ],
)
def test_statements_that_mean_the_same(text: str) -> None:
    parsed = sql(text)
    assert (parsed.items, parsed.k, parsed.where, parsed.by, parsed.values) == (("article",), 10, None, "users", True)


def test_what_is_selected_is_asked_for() -> None:
    counted = sql("SELECT article, COUNT(DISTINCT user_id) AS N FROM views GROUP BY article ORDER BY n DESC LIMIT 10")
    alone = "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 10"
    assert (counted.values, counted.value_name, counted.list_only) == (True, "N", alone)
    assert sql(alone) == Parsed(("article",), 10, None, "users")
    rows = "SELECT article FROM views WHERE flag = TRUE GROUP BY article ORDER BY COUNT(*) DESC LIMIT 3"
    assert sql(rows).by == "events"
    unnamed = sql(rows.replace("SELECT article", "SELECT article, COUNT(*)"))
    assert (unnamed.values, unnamed.value_name, unnamed.list_only) == (True, None, rows)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT article FROM views GROUP BY article ORDER BY n DESC LIMIT 10",
        "SELECT article FROM views GROUP BY article ORDER BY COUNT(article) DESC LIMIT 10",
        "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT country) DESC LIMIT 10",
        "SELECT article, COUNT(*) AS n FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 10",
        "SELECT article, COUNT(*) FROM views GROUP BY article ORDER BY article DESC LIMIT 10",
        "SELECT article, COUNT(*) AS n FROM views GROUP BY article ORDER BY views.n DESC LIMIT 10",
    ],
)
def test_what_ranks_must_be_the_measure(text: str) -> None:
    with pytest.raises(PodiumError):
        sql(text)


def test_several_item_columns_and_a_condition() -> None:
    text = (
        "SELECT country, article, COUNT(DISTINCT user_id) AS n FROM views WHERE flag = TRUE "
        "GROUP BY article, country ORDER BY n DESC LIMIT 3"
    )
    assert sql(text)[:4] == (("country", "article"), 3, Compare("flag", Operator.EQUAL, True), "users")


REFUSED_CONDITIONS = {
    "country = 5": (
        "'5' is not allowed: column 'country' is text, so it is compared with a text in single quotes, like 'DE'. "
        "A column of a CSV or JSON file is text unless its type is declared: --types country=integer."
    ),
    'country = "DE"': (
        "'\"DE\"' is not allowed: column 'country' is text, so it is compared with a text in single quotes, like 'DE'. "
        "Single quotes make a text, double quotes name a column; two columns are not compared."
    ),
    "country = UPPER('de')": (
        "\"UPPER('de')\" is not allowed: column 'country' is text, so it is compared with a text in single quotes, "
        "like 'DE'. A constant must have exactly the kind of the column: no casts, functions, columns or parameters."
    ),
}


def test_refusals_say_what_to_write_instead() -> None:
    with pytest.raises(QuestionRefused) as caught:
        sql("SELECT article, COUNT(article) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 10")
    assert str(caught.value) == (
        "'COUNT(article)' is not allowed: it counts rows that have a value. Write COUNT(*) for rows, or "
        "COUNT(DISTINCT user_id) for users. Write: SELECT article, COUNT(*) AS n FROM views GROUP BY article "
        "ORDER BY n DESC LIMIT 10"
    )
    for text, refusal in REFUSED_CONDITIONS.items():
        with pytest.raises(QuestionRefused) as caught:
            where(text)
        assert str(caught.value) == refusal
    with pytest.raises(QuestionRefused, match=r"'LOWER\(country\)' is not allowed: a column must stand here"):
        where("lower(country) = 'de'")
    with pytest.raises(UnknownColumn) as unknown:
        where("contry = 'DE'")
    assert "Did you mean 'country'?" in str(unknown.value)


def test_a_float_column_is_refused_with_the_reason() -> None:
    with pytest.raises(QuestionRefused, match="a float column cannot be used in a condition"):
        where("rating = 1.5")
