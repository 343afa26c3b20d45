"""The question as one value: what callers write becomes tuples, what cannot be answered yet is refused by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podium import Question
from podium.errors import InvalidArgument
from podium.query import RankingQuestion
from podium.query.spelled_options import QUESTION_DEFAULTS
from podium.sources import DomainTable


def test_one_name_or_several_are_the_same_value() -> None:
    assert (
        Question.of("a", where="b = 1")
        == Question.of(["a"], where=["b = 1"])
        == Question(item=("a",), where=("b = 1",))
    )
    assert (Question.of("a").k, Question.of(sql="SELECT 1").k) == (10, None)
    assert hash(Question.of("a")) == hash(Question.of(["a"]))


def test_plain_data_makes_the_question_again() -> None:
    for question in (
        Question.of("a"),
        Question.of(["a", "b"], k=3, where=["c > 1", "d < 2"], counts=True, ordered=False),
        Question.of("a", domain=["x", "y"], k_bar=None, mechanism="auto"),
        Question.of(sql="SELECT 1", max_items_per_user=3),
        Question.of("a", at_least="2.50", others=True),
    ):
        assert Question(**question.to_dict()) == question
    assert Question.of("a").to_dict() == {"item": "a", "k": 10}


def test_what_can_be_read_once_is_kept() -> None:
    """A question is planned and asked: both must be the same."""
    question = Question.of((name for name in "ab"), where=(text for text in ["c = 1"]), domain=(item for item in "xy"))
    assert (question.item, question.where, question.domain) == (("a", "b"), ("c = 1",), ("x", "y"))
    ranking = RankingQuestion(winner="w", loser="l", comparisons_per_pair=1, items=iter("ab"), where=iter(["c = 1"]))
    assert (ranking.items, ranking.where) == (("a", "b"), ("c = 1",))
    assert RankingQuestion(**ranking.to_dict()) == ranking


def test_files_are_written_by_their_paths() -> None:
    assert Question.of("a", domain=Path("items.csv")).to_dict()["domain"] == "items.csv"
    with pytest.raises(InvalidArgument, match="domain='DomainTable' is not valid"):
        Question.of("a", domain=DomainTable("t")).to_dict()


def test_a_ranking_is_stored_with_the_mechanism_that_was_requested() -> None:
    asked = [
        RankingQuestion(
            winner="w", loser="l", comparisons_per_pair=1, items=["a", "b"], mechanism=mechanism, mixing=mixing
        )
        for mechanism, mixing in (("exponential", "0.5"), ("noisy", "0.5"), ("noisy", "1/2"))
    ]
    assert asked[0].describe() != asked[1].describe() == asked[2].describe()


def test_a_question_names_the_tables_that_it_joins() -> None:
    assert Question.of("a", join="users").join == Question.of("a", join=["users"]).join == ("users",)
    assert Question(**Question.of("a", join=("users", "products")).to_dict()).join == ("users", "products")
    for wrong in ("users.csv", "users USING (a)", ["users", "users"], [1], 7, [f"t{place}" for place in range(9)]):
        with pytest.raises(InvalidArgument, match=r"^join="):
            Question.of("a", join=wrong)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"item": "a", "mechanism": "set"}, "Say ordered=False if no order is needed."),
        ({"item": "a", "ordered": 1}, "ordered=1 is not valid. Allowed: True or False."),
        ({"item": "a", "counts": "yes"}, "counts='yes' is not valid. Allowed: True or False."),
        ({"item": "a", "sql": "SELECT 1"}, "either item and k, or sql, and not both"),
        ({"sql": "SELECT 1", "k": 0}, "k=0 is not valid"),
        ({"sql": "SELECT 1", "by": "visits"}, "by='visits' is not valid"),
        ({"item": "a", "others": 0}, "others=0 is not valid. Allowed: True or False."),
        ({"item": "a", "at_least": 0}, "at_least=0 is not valid"),
        ({"item": "a", "at_least": "many"}, "at_least='many' is not valid"),
        ({}, "one or more distinct columns"),
    ],
)
def test_what_is_no_question(parts: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Question(**parts)
    assert told in str(caught.value)


def test_the_options_that_help_shows_are_those_of_the_question() -> None:
    shown = Question.of("a", **QUESTION_DEFAULTS)  # type: ignore[arg-type]
    assert shown == Question.of("a")
