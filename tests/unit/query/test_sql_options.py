"""Options beside a statement: they say what it leaves out, add conditions, and must not contradict it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.columns import schema

from podium.errors import InvalidArgument, QuestionRefused, UnknownColumn
from podium.query import CheckedQuestion, Question, check_question

SCHEMA = schema({"user_id": "integer", "article": "text", "country": "text", "minutes": "integer"})
START = "SELECT article FROM views GROUP BY article"
COUNTED = "SELECT article, COUNT(*) AS n FROM views WHERE country = 'DE' GROUP BY article"
WHOLE = f"{COUNTED} ORDER BY n DESC LIMIT 10"
BOTH = "SELECT country, article FROM views GROUP BY country, article"
GROUPED = f"{BOTH} QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY COUNT(*) DESC) <= 4"


def asked(sql: str | None = None, **options: Any) -> CheckedQuestion:
    return check_question(Question.of(sql=sql, **options), SCHEMA, user="user_id", table="views")


def meaning(found: CheckedQuestion) -> tuple[object, ...]:
    return found.items, found.k, found.where, found.measure, found.per


@pytest.mark.parametrize(
    ("sql", "options", "same_as"),
    [
        (f"{START} ORDER BY COUNT(*) DESC", {"k": 7}, {"k": 7, "by": "events"}),
        (f"{START} LIMIT 7", {"by": "events"}, {"k": 7, "by": "events"}),
        (START, {"k": 3, "by": "users"}, {"k": 3}),
        (START, {"k": 3, "by": "sum( minutes )"}, {"k": 3, "by": "sum(minutes)"}),
        (WHOLE, {"k": 10, "by": "events"}, {"by": "events", "where": "country = 'DE'"}),
        (WHOLE, {"where": "minutes > 3"}, {"by": "events", "where": ["minutes > 3", "country = 'DE'"]}),
        (WHOLE, {"where": ["minutes > 3", "country = 'DE'"]},
         {"by": "events", "where": "country = 'DE' AND minutes > 3"}),
        (f"{COUNTED} HAVING n >= 5", {"k": 10, "by": "events"}, {"by": "events", "where": "country = 'DE'"}),
        (f"{START} ORDER BY COUNT(*) DESC", {"k": 4, "per": "country"}, {"k": 4, "by": "events", "per": "country"}),
        (BOTH, {"k": 4, "by": "events", "per": "country"}, {"k": 4, "by": "events", "per": "country"}),
        (GROUPED, {"k": 4, "by": "events", "per": "country"}, {"k": 4, "by": "events", "per": "country"}),
    ],
)  # fmt: skip
def test_options_say_what_a_statement_leaves_out(sql: str, options: dict[str, Any], same_as: dict[str, Any]) -> None:
    assert meaning(asked(sql, **options)) == meaning(asked(item="article", **same_as))


@pytest.mark.parametrize(
    ("sql", "options", "told"),
    [
        (WHOLE, {"k": 5}, r"^k=5 is not valid\. Allowed: what the statement says \(10\), or nothing"),
        (WHOLE, {"by": "users"}, r"^by='users' is not valid\. Allowed: what the statement says \('events'\)"),
        (WHOLE, {"by": "sum(minutes)"}, r"^by='sum\(minutes\)' is not valid"),
        (GROUPED, {"per": ("country", "minutes")}, r"^per=\('country', 'minutes'\) is not valid"),
    ],
)  # fmt: skip
def test_what_contradicts_the_statement_is_refused(sql: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument, match=told) as caught:
        asked(sql, **options)
    assert caught.value.hint == "Say it in the SQL, or beside it."


@pytest.mark.parametrize(
    ("sql", "options", "told"),
    [
        (START, {"k": 3}, "ORDER BY. is not allowed: the answer is ordered by the count alone"),
        (f"{START} ORDER BY COUNT(*) DESC", {}, "LIMIT. is not allowed: LIMIT takes one integer"),
        (f"{COUNTED} LIMIT 3", {"by": "users"}, "it is not what ranks, which is users"),
        (f"{START} ORDER BY COUNT(*) DESC LIMIT 4", {"per": "country"}, "LIMIT 4.*would cut all lists together"),
    ],
)
def test_what_nothing_says_is_not_guessed(sql: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(QuestionRefused, match=told):
        asked(sql, **options)


def test_a_column_beside_the_statement_must_exist() -> None:
    for options in ({"where": "contry = 'DE'"}, {"per": "contry"}):
        with pytest.raises(UnknownColumn, match="contry"):
            asked(f"{START} ORDER BY COUNT(*) DESC", k=3, **options)


def test_a_question_in_sql_is_plain_data_with_what_stands_beside_it() -> None:
    question = Question.of(sql=START, k=3, by="users", where="minutes > 3")
    assert question.to_dict() == {"sql": START, "k": 3, "by": "users", "where": "minutes > 3"}
    assert Question(**question.to_dict()) == question
    assert Question.of("article").to_dict() == {"item": "article", "k": 10}
