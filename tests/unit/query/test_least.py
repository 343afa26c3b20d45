"""HAVING and ``at_least``: what is parsed, in which units, what is refused, and how a ledger stores it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.columns import schema

from podium.errors import InvalidArgument, PodiumError, QuestionRefused
from podium.query import Question, QuestionRecord, check_question

SCHEMA = schema({"listener": "integer", "track": "text", "plays": "integer", "price": "decimal(2)"})
SHAPE = "SELECT track, {} AS n FROM plays GROUP BY track HAVING {} ORDER BY n DESC LIMIT 5"


def least(sql: str | None = None, **parts: Any) -> int | None:
    return check_question(Question(sql=sql, **parts), SCHEMA, user="listener", table="plays").at_least


@pytest.mark.parametrize(
    ("aggregate", "having", "units"),
    [
        ("COUNT(DISTINCT listener)", "n >= 50", 50),
        ("COUNT(DISTINCT listener)", "N > 50", 51),
        ("COUNT(DISTINCT listener)", "n >= 49.5", 50),
        ("COUNT(DISTINCT listener)", "n > 49.5", 50),
        ("COUNT(DISTINCT listener)", "n > 0", 1),
        ("COUNT(DISTINCT listener)", "(50 <= count(distinct LISTENER))", 50),
        ("COUNT(*)", "50 < COUNT(*)", 51),
        ("SUM(price)", "n >= 12.5", 1250),
        ("SUM(price)", "n > 12.5", 1251),
        ("SUM(price)", "SUM(price) > 0.001", 1),
    ],
)
def test_having_states_the_least_of_what_ranks(aggregate: str, having: str, units: int) -> None:
    assert least(SHAPE.format(aggregate, having)) == units


def test_a_list_without_its_counts_has_a_minimum_too() -> None:
    text = "SELECT track FROM plays GROUP BY track HAVING COUNT(*) >= 7 ORDER BY COUNT(*) DESC LIMIT 5"
    assert least(text) == 7
    checked = check_question(Question(sql=SHAPE.format("COUNT(*)", "n >= 7")), SCHEMA, user="listener", table="plays")
    assert checked.list_only == text


def test_the_option_is_the_same_and_the_larger_of_two_holds() -> None:
    assert least(item=("track",), at_least=50) == 50
    assert least(item=("track",), by="sum(price)", at_least="12.5") == 1250
    assert least(SHAPE.format("COUNT(*)", "n >= 7"), at_least=9) == least(SHAPE.format("COUNT(*)", "n > 8")) == 9
    assert least(item=("track",)) is None


@pytest.mark.parametrize(
    "having",
    [
        "n <= 50", "n = 50", "50 > n", "n >= plays", "n >= 50 AND n < 60", "COUNT(*) >= 50", "SUM(plays) > 2", "n",
        "n >= '50'", "n >= -50", "n >= 0", "track >= 50", "AVG(plays) > 1", "n + 1 >= 50", "n >= 1 + 1",
        "COUNT(DISTINCT track) > 2", "NOT n < 50", "n BETWEEN 1 AND 2", "plays.n >= 3",
    ],
)  # fmt: skip
def test_other_conditions_on_groups_are_refused(having: str) -> None:
    with pytest.raises(PodiumError):
        least(SHAPE.format("COUNT(DISTINCT listener)", having))


def test_a_refusal_says_how_to_write_it() -> None:
    with pytest.raises(QuestionRefused) as caught:
        least(SHAPE.format("COUNT(DISTINCT listener)", "COUNT(*) >= 50"))
    assert "HAVING states the least of what ranks. Write: HAVING n >= 50, or > 50" in str(caught.value)
    with pytest.raises(InvalidArgument, match=r"at_least=.* is not valid"):
        Question.of("a", at_least=-1)


def test_a_ledger_stores_it_only_where_it_is_stated() -> None:
    plain = QuestionRecord(
        items=("track",), where=None, user="listener", k=3, k_bar=None, ordered=True, domain=None,
        max_items_per_user=None, mechanism="auto", budget={"epsilon": "1"}, counts=False,
    )  # fmt: skip
    assert "at_least" not in plain.to_text()
    assert "others" not in plain.to_text()
    beside = replace(plain, others=True)
    assert QuestionRecord.from_text(beside.to_text()) == beside
    assert beside.key != plain.key
    stated = replace(plain, at_least="50")
    assert QuestionRecord.from_text(stated.to_text()) == stated
    assert len({plain.key, stated.key, replace(stated, at_least="51").key}) == 3
