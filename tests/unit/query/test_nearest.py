"""Every refusal of a statement or a condition offers the nearest one that works, ready to paste."""

from __future__ import annotations

import datetime as dt

import pytest
from tests.support.columns import schema
from tests.support.hostile import HOSTILE_CONDITIONS, HOSTILE_STATEMENTS

from podium.errors import PodiumError, QuestionRefused
from podium.query import Question, check_question, parse_sql, parse_where
from podium.query.join import Join
from podium.query.parse.sql_options import Options
from podium.query.predicate import Compare, Operator

SCHEMA = schema(
    {
        "user_id": "integer",
        "page": "text",
        "country": "text",
        "group": "text",
        "day": "date",
        "at": "timestamp",
        "price": "decimal(2)",
        "score": "float",
        "staff": "boolean",
        "tags": "list(text)",
        "number of visits": "integer",
        "plan": "text",
    }
)
NOW = dt.datetime(2026, 3, 9, tzinfo=dt.UTC)
JOINS = (Join("people.parquet", "user_id"), Join("catalogue.csv", "page", public=True))
USERS = "COUNT(DISTINCT user_id)"
GROUPED = "GROUP BY page ORDER BY n DESC"
BEST = f"SELECT page, {USERS} AS n FROM visits {GROUPED} LIMIT 10"
WHERE = f"SELECT page, {USERS} AS n FROM visits WHERE {{}} {GROUPED} LIMIT 10"
PEOPLE = f"SELECT page, {USERS} AS n FROM visits JOIN people USING (user_id) {GROUPED} LIMIT 10"
LISTS = (
    f"SELECT country, page, {USERS} AS n FROM visits GROUP BY country, page "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) <= 3"
)


def refusal(text: str) -> str:
    with pytest.raises(QuestionRefused) as caught:
        parse_sql(text, schema=SCHEMA, table="visits", user="user_id", now=NOW, joins=JOINS)
    return str(caught.value)


def works(text: str) -> bool:
    try:
        parse_sql(text, schema=SCHEMA, table="visits", user="user_id", now=NOW, joins=JOINS)
    except PodiumError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "near"),
    [
        (f"SELECT page, {USERS} AS n FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 10", BEST),
        (f"SELECT page, {USERS} AS n FROM visits AS v {GROUPED} LIMIT 10", BEST),
        (f"SELECT v.page, {USERS} AS n FROM main.visits v {GROUPED} LIMIT 10", BEST),
        (f"SELECT page AS p, {USERS} AS n FROM visits GROUP BY p ORDER BY n DESC LIMIT 10", BEST),
        (f"SELECT LOWER(page), {USERS} AS n FROM visits {GROUPED} LIMIT 10", BEST),
        (f"SELECT page, {USERS} AS n FROM visits GROUP BY page ORDER BY n LIMIT 10", BEST),
        (f"SELECT page, {USERS} AS n FROM visits GROUP BY page ORDER BY n DESC, page LIMIT 10", BEST),
        (f"SELECT page, {USERS} AS n FROM visits {GROUPED} LIMIT 8 OFFSET 2", BEST),
        (f"SELECT page, {USERS} AS n FROM visits {GROUPED} FETCH FIRST 10 ROWS ONLY", BEST),
        (f"SELECT page, {USERS} AS n FROM visits {GROUPED}", BEST),
        (f"SELECT page, {USERS} AS n, COUNT(*) AS v FROM visits {GROUPED} LIMIT 10", BEST),
        (f"SELECT page, APPROX_COUNT_DISTINCT(user_id) AS n FROM visits {GROUPED} LIMIT 10", BEST),
        ("SELECT DISTINCT page FROM visits LIMIT 10", BEST),
        ("SELECT * FROM visits GROUP BY page", BEST),
        (f"SELECT page, {USERS} AS page FROM visits GROUP BY page LIMIT 10", BEST),
        ("SELECT page, COUNT(DISTINCT country) AS n FROM visits GROUP BY page ORDER BY n DESC LIMIT 10", BEST),
        (f"SELECT page, 100.0 * {USERS} / SUM({USERS}) OVER () AS share FROM visits {GROUPED} LIMIT 10", BEST),
        ("SELECT page, COUNT(page) AS views FROM visits GROUP BY page ORDER BY views DESC LIMIT 5",
         "SELECT page, COUNT(*) AS views FROM visits GROUP BY page ORDER BY views DESC LIMIT 5"),
        ("SELECT page FROM visits GROUP BY page ORDER BY COUNT(1) DESC LIMIT 5",
         "SELECT page FROM visits GROUP BY page ORDER BY COUNT(*) DESC LIMIT 5"),
        ("SELECT page, AVG(price) AS mean FROM visits GROUP BY page ORDER BY mean DESC LIMIT 5",
         "SELECT page, SUM(price) AS mean FROM visits GROUP BY page ORDER BY mean DESC LIMIT 5"),
        ('SELECT "group", SUM("number of visits" * 2) AS n FROM visits GROUP BY "group" LIMIT 5',
         'SELECT "group", SUM("number of visits") AS n FROM visits GROUP BY "group" ORDER BY n DESC LIMIT 5'),
        (f"SELECT UNNEST(tags) AS tag, {USERS} AS n FROM visits GROUP BY tag ORDER BY n DESC LIMIT 5",
         f"SELECT tags, {USERS} AS n FROM visits GROUP BY tags ORDER BY n DESC LIMIT 5"),
        (f"SELECT tag, {USERS} AS n FROM visits, UNNEST(tags) AS t(tag) GROUP BY tag ORDER BY n DESC LIMIT 5",
         f"SELECT tags, {USERS} AS n FROM visits GROUP BY tags ORDER BY n DESC LIMIT 5"),
        (f"SELECT page, {USERS} AS n FROM visits GROUP BY page HAVING COUNT(*) > 50 ORDER BY n DESC LIMIT 5",
         f"SELECT page, {USERS} AS n FROM visits GROUP BY page HAVING n > 50 ORDER BY n DESC LIMIT 5"),
        (f"SELECT page, {USERS} AS n FROM visits GROUP BY page HAVING n >= 50 AND n < 900 ORDER BY n DESC LIMIT 5",
         f"SELECT page, {USERS} AS n FROM visits GROUP BY page HAVING n >= 50 ORDER BY n DESC LIMIT 5"),
        (f"SELECT page, {USERS} AS n FROM visits GROUP BY page HAVING n >= 50 OR page = 'x' ORDER BY n DESC LIMIT 5",
         f"SELECT page, {USERS} AS n FROM visits GROUP BY page ORDER BY n DESC LIMIT 5"),
        (f"SELECT page, {USERS} FILTER (WHERE staff) AS n FROM visits {GROUPED} LIMIT 10", WHERE.format("staff")),
        (("SELECT page, COUNT(DISTINCT CASE WHEN staff AND country = 'DE' THEN user_id END) AS n FROM visits "
         f"{GROUPED} LIMIT 10"), WHERE.format("staff AND country = 'DE'")),
        (("SELECT page, SUM(CASE WHEN user_id > 3 THEN price ELSE 0 END) AS n FROM visits WHERE NOT staff "
         "GROUP BY page LIMIT 10"), ("SELECT page, SUM(price) AS n FROM visits WHERE NOT staff AND user_id > 3 "
         f"{GROUPED} LIMIT 10")),
        (f"SELECT page, SUM(CASE WHEN staff THEN 1 ELSE 0 END) AS n FROM visits {GROUPED} LIMIT 10",
         f"SELECT page, COUNT(*) AS n FROM visits WHERE staff {GROUPED} LIMIT 10"),
        (LISTS.replace("ROW_NUMBER", "RANK"), LISTS),
        (("SELECT * FROM (SELECT country, page, ROW_NUMBER() OVER (PARTITION BY country ORDER BY COUNT(DISTINCT "
          "user_id) DESC) AS place FROM visits GROUP BY country, page) AS t WHERE place < 4"), LISTS),
        ((f"WITH c AS (SELECT country, page, {USERS} AS n FROM visits GROUP BY country, page) "
          "SELECT * FROM c QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) <= 3"), LISTS),
        (f"SELECT country, page, {USERS} AS n FROM visits GROUP BY country, page ORDER BY country, n DESC LIMIT 3",
         LISTS),
        (f"SELECT page, {USERS} AS n FROM visits LEFT JOIN people p ON p.user_id = visits.user_id {GROUPED} LIMIT 10",
         PEOPLE),
        (f"SELECT page, {USERS} AS n FROM visits v JOIN people p ON v.user_id = p.user_id {GROUPED} LIMIT 10", PEOPLE),
        (f"SELECT page, {USERS} AS n FROM visits JOIN people USING (page) {GROUPED} LIMIT 10", PEOPLE),
        (WHERE.format("user_id IN (SELECT user_id FROM people)"), PEOPLE),
        (WHERE.format("user_id NOT IN (SELECT p.user_id FROM people p WHERE p.staff)"),
         PEOPLE.replace("GROUP", "WHERE NOT (staff) GROUP")),
        (WHERE.format("page IN (SELECT page FROM catalogue WHERE price > 3) AND country = 'DE'"),
         BEST.replace("GROUP", "JOIN catalogue USING (page) WHERE (price > 3) AND country = 'DE' GROUP")),
        (WHERE.format("day >= DATEADD(day, -7, CURRENT_DATE)"), WHERE.format("day >= CURRENT_DATE - 7")),
        (WHERE.format("day >= NOW() - INTERVAL '7 days' AND (country = 'DE' OR country = 'FR')"),
         WHERE.format("day >= CURRENT_DATE - 7 AND (country = 'DE' OR country = 'FR')")),
        (WHERE.format("page ILIKE '%news%'"), WHERE.format("page LIKE '%news%'")),
        (WHERE.format("staff IS FALSE"), WHERE.format("staff = FALSE")),
        (WHERE.format('country = "DE"'), WHERE.format("country = 'DE'")),
        (WHERE.format("day >= '2026-03-01'"), WHERE.format("day >= CAST('2026-03-01' AS DATE)")),
        (WHERE.format("at < DATE '2026-03-01'"), WHERE.format("at < CAST('2026-03-01 00:00:00' AS TIMESTAMP)")),
        (WHERE.format("user_id IN ('1', '2')"), WHERE.format("user_id IN (1, 2)")),
        (WHERE.format("staff = 1"), WHERE.format("staff = TRUE")),
    ],
)  # fmt: skip
def test_the_nearest_statement(text: str, near: str) -> None:
    told = refusal(text)
    assert told.endswith(f"Write: {near}")
    assert works(near)


@pytest.mark.parametrize(
    "counted", [f"{USERS} FILTER (WHERE staff) AS n, COUNT(*) AS v", "SUM(CASE WHEN staff THEN 1 ELSE 2 END) AS n"]
)
def test_what_counts_under_several_conditions_is_said_too(counted: str) -> None:
    told = refusal(f"SELECT page, {counted} FROM visits {GROUPED} LIMIT 10")
    assert "Without what cannot be asked: SELECT page" in told
    assert works(told.rpartition(": ")[2])


@pytest.mark.parametrize(
    "condition",
    ["LOWER(country) = 'de'", "country = page", "country = 'DE' AND EXISTS (SELECT 1 FROM people)", "score > 1"],
)
def test_what_a_statement_leaves_out_is_said(condition: str) -> None:
    told = refusal(WHERE.format(condition))
    assert "Without what cannot be asked: SELECT page" in told
    assert works(told.rpartition(": ")[2])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT page, MAX(price) AS n FROM visits GROUP BY page ORDER BY n DESC LIMIT 3", "SUM(column) by amounts"),
        (
            f"SELECT page, {USERS} / 7.0 AS n FROM visits GROUP BY page ORDER BY n DESC LIMIT 3",
            "others=True (--others)",
        ),
        (LISTS.replace("ROW_NUMBER", "RANK"), "per= (--per)"),
        (f"SELECT LOWER(page), {USERS} AS n FROM visits {GROUPED} LIMIT 3", "in a view"),
        (WHERE.format("page IN (SELECT page FROM elsewhere)"), "domain=, --domain"),
    ],
)
def test_what_a_statement_seems_to_want(text: str, sentence: str) -> None:
    assert sentence in refusal(text)


def test_what_is_said_beside_a_statement_counts() -> None:
    beside = Options(k=3, by="events")
    with pytest.raises(QuestionRefused) as caught:
        parse_sql("SELECT page FROM visits GROUP BY 1", schema=SCHEMA, table="visits", user="user_id", options=beside)
    assert caught.value.hint == "Write: SELECT page FROM visits GROUP BY page"
    per = Options(per=("country",))
    with pytest.raises(QuestionRefused, match=r"state k=7 \(-k\) beside the statement"):
        parse_sql(f"SELECT country, page, {USERS} AS n FROM visits GROUP BY country, page ORDER BY n DESC LIMIT 7",
                  schema=SCHEMA, table="visits", user="user_id", options=per)  # fmt: skip


@pytest.mark.parametrize("text", [*HOSTILE_STATEMENTS, *(WHERE.format(text) for text in HOSTILE_CONDITIONS if text)])
def test_what_is_offered_works_however_hostile_the_statement(text: str) -> None:
    try:
        parse_sql(text, schema=SCHEMA, table="visits", user="user_id", now=NOW, joins=JOINS)
    except QuestionRefused as refused:
        *_, lead, statement = ("", *refused.hint.rpartition(": "))
        if statement.startswith("SELECT") and "item" not in statement:
            assert lead == ": "
            assert works(statement)
    except PodiumError:
        pass


@pytest.mark.parametrize(
    ("condition", "near"),
    [
        ('country = "DE"', "country = 'DE'"),
        ("day > '2026-03-01' AND staff IS TRUE", "day > CAST('2026-03-01' AS DATE) AND staff = TRUE"),
        ("at >= '2026-03-01'", "at >= CAST('2026-03-01 00:00:00' AS TIMESTAMP)"),
        ("price BETWEEN '1' AND '2.50'", "price BETWEEN 1 AND 2.50"),
        ("page ILIKE 'a%'", "page LIKE 'a%'"),
    ],
)
def test_the_nearest_condition(condition: str, near: str) -> None:
    question = Question.of("page", where=("country = 'DE'", condition))
    with pytest.raises(QuestionRefused) as caught:
        check_question(question, SCHEMA, user="user_id", table="visits", now=NOW)
    assert caught.value.hint.endswith(f"Write: {near}")
    parse_where(near, schema=SCHEMA, now=NOW)


def test_a_condition_without_a_near_one_keeps_its_words() -> None:
    for condition in ("LOWER(country) = 'de'", "country = 5", "country =", "page ILIKE country"):
        with pytest.raises(QuestionRefused) as caught:
            check_question(Question.of("page", where=condition), SCHEMA, user="user_id", table="visits", now=NOW)
        assert "Write: page" not in caught.value.hint


def test_a_boolean_column_is_a_condition() -> None:
    assert parse_where("staff", schema=SCHEMA) == Compare("staff", Operator.EQUAL, True)
    assert parse_where("NOT staff", schema=SCHEMA) == Compare("staff", Operator.UNEQUAL, True)
    with pytest.raises(QuestionRefused):
        parse_where("page", schema=SCHEMA)
