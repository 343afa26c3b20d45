"""A list for each group in SQL: what is understood, and what a refusal says to write instead."""

from __future__ import annotations

import pytest
from tests.support.columns import schema

from podium.errors import InvalidArgument, QuestionRefused, UnknownColumn
from podium.query import Question, check_question, parse_sql
from podium.query.parse.statement import Parsed

SCHEMA = schema({"user_id": "integer", "article": "text", "country": "text", "day": "date", "minutes": "integer"})
HEAD = "SELECT country, article, COUNT(*) AS n FROM views GROUP BY country, article"
TOP = f"{HEAD} QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) <= 10"


def parsed(text: str) -> Parsed:
    return parse_sql(text, schema=SCHEMA, table="views", user="user_id")


@pytest.mark.parametrize(
    "text",
    [
        TOP,
        f"{TOP} ORDER BY country, n DESC",
        f"{HEAD} QUALIFY ROW_NUMBER() OVER (PARTITION BY Country ORDER BY COUNT(*) DESC) < 11",
        f"{HEAD} QUALIFY (10 >= ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC))",
        f"{HEAD} QUALIFY 11 > ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC)",
        f"{HEAD} ORDER BY n DESC LIMIT 10 BY country",
        f"{HEAD} ORDER BY country, COUNT(*) DESC LIMIT 10 BY country",
    ],
)
def test_statements_that_mean_the_same(text: str) -> None:
    found = parsed(text)
    assert (found.per, found.items, found.k, found.by) == (("country",), ("article",), 10, "events")
    assert (found.values, found.value_name) == (True, "n")
    alone = parsed(found.list_only or "")
    assert alone == Parsed(("article",), 10, None, "events", per=("country",))


def test_several_group_columns_a_measure_and_a_condition() -> None:
    found = parsed(
        "SELECT day, article, country FROM views WHERE minutes > 3 GROUP BY country, day, article "
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY country, day ORDER BY SUM(minutes) DESC) = 1"
    )
    assert (found.per, found.items, found.k, found.by) == (("country", "day"), ("article",), 1, "sum(minutes)")
    assert found.where is not None
    assert not found.values


def test_two_columns_without_a_partition_are_still_one_list_of_pairs() -> None:
    found = parsed(f"{HEAD} ORDER BY n DESC LIMIT 10")
    assert (found.per, found.items) == ((), ("country", "article"))


def test_the_checked_question_has_the_groups_of_its_sql() -> None:
    question = Question.of(sql=TOP, groups=["DE", "FR"], groups_per_user=2)
    assert check_question(question, SCHEMA, user="user_id", table="views").per == ("country",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{HEAD} ORDER BY country, n DESC LIMIT 10",
         "'ORDER BY country, n DESC' is not allowed: the answer is ordered by the count alone, descending."),
        (f"{TOP} LIMIT 100", "'LIMIT 100' is not allowed: it would cut all lists together: QUALIFY says k."),
        (f"{TOP} ORDER BY n DESC",
         "'ORDER BY n DESC' is not allowed: lists come in the order of their groups, each by its own count."),
        (f"{TOP} ORDER BY country DESC, n DESC", "lists come in the order of their groups, each by its own count."),
        (f"{TOP} ORDER BY article, n DESC", "lists come in the order of their groups, each by its own count."),
        (f"{TOP} ORDER BY country, COUNT(DISTINCT user_id) DESC", "every list is ordered by the count that ranks it."),
        (TOP.replace("ROW_NUMBER", "RANK"), "places are counted by ROW_NUMBER(), which has no ties."),
        (TOP.replace("n DESC", "n"), "a list is ordered by the count alone, descending."),
        (TOP.replace("n DESC", "country, n DESC"), "the window has PARTITION BY, ORDER BY the count and nothing else."),
        (TOP.replace("PARTITION BY country ", ""), "groups are the values of columns."),
        (TOP.replace("PARTITION BY country", "PARTITION BY LOWER(country)"), "groups are the values of columns."),
        (TOP.replace("PARTITION BY country", "PARTITION BY country, article"),
         "'country, article' is not allowed: an item column is selected besides the groups."),
        (TOP.replace("PARTITION BY country", "PARTITION BY day"),
         "'day' is not allowed: a group column is selected, because the answer names the groups."),
        (TOP.replace("ORDER BY n DESC", "ORDER BY n DESC ROWS UNBOUNDED PRECEDING"),
         "the window has PARTITION BY, ORDER BY the count and nothing else."),
        (f"{TOP} AND country = 'DE'", "QUALIFY compares ROW_NUMBER() OVER (...) with one integer."),
        (f"{HEAD} QUALIFY n <= 10", "'QUALIFY n <= 10' is not allowed: QUALIFY compares"),
        (TOP.replace("<= 10", "<= 10.5"), "QUALIFY compares ROW_NUMBER() OVER (...) with one integer."),
        (TOP.replace("<= 10", "= 10"), "QUALIFY compares ROW_NUMBER() OVER (...) with one integer."),
        (f"{HEAD} LIMIT 10 BY country", "it needs ORDER BY, which says what ranks."),
        (f"{HEAD} ORDER BY n DESC LIMIT '10' BY country", "LIMIT k BY takes one integer and columns."),
        (f"{HEAD} ORDER BY n DESC LIMIT 10 BY country || 'x'", "groups are the values of columns."),
        (("SELECT * FROM (SELECT country, ROW_NUMBER() OVER (PARTITION BY country ORDER BY COUNT(*) DESC) AS r "
          "FROM views GROUP BY 1) WHERE r <= 10"), "the one table here is 'views'."),
    ],
)  # fmt: skip
def test_a_refusal_says_how_lists_for_groups_are_written(text: str, told: str) -> None:
    with pytest.raises(QuestionRefused) as caught:
        parsed(text)
    assert told in str(caught.value)
    # The last words are a statement that works.
    near = parsed(caught.value.hint.rpartition(": ")[2])
    assert (near.by, near.k) in {("events", 10), ("events", 100)}
    assert near.per in {("country",), ()} if "day" not in text else near.per == ("day",) or not near.per


@pytest.mark.parametrize("last", ["<= 0", "< 1"])
def test_a_list_has_one_item_or_more(last: str) -> None:
    with pytest.raises(InvalidArgument, match=r"^k=0 is not valid\. Allowed: an integer, 1 or more\.$"):
        parsed(TOP.replace("<= 10", last))


def test_a_group_column_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownColumn, match="per='region'"):
        parsed(TOP.replace("PARTITION BY country", "PARTITION BY region"))
