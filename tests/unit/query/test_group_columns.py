"""What a question says about groups is checked before anything is read, and stored only where there are groups."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.support.columns import schema

from podium import Question
from podium.errors import InvalidArgument, UnknownColumn
from podium.query import CheckedQuestion, QuestionRecord, check_question
from podium.query.group_columns import TYPED, groups_sentence, typed_groups

SCHEMA = schema({"user_id": "integer", "article": "text", "country": "text", "day": "date", "tags": "list(text)"})
COUNTRY = "a column that divides the rows into groups"


def checked(**options: Any) -> CheckedQuestion:
    return check_question(Question.of("article", **options), SCHEMA, user="user_id", table="views")


def test_one_column_or_several_divide_the_rows() -> None:
    assert Question.of("article", per="country") == Question.of("article", per=["country"])
    assert checked(per="country").per == ("country",)
    assert checked(per=["country", "day"]).per == ("country", "day")
    assert checked().per == ()


def test_groups_and_how_many_a_user_has_are_kept() -> None:
    asked = checked(per="country", groups=(name for name in ["DE", "FR"]), groups_per_user=2).asked
    assert asked is not None
    assert (asked.groups, asked.groups_per_user) == (("DE", "FR"), 2)
    assert Question.of("article", per="country", groups_per_user="all").groups_per_user == "all"


def test_plain_data_makes_the_question_again() -> None:
    for question in (
        Question.of("a", per="b"),
        Question.of("a", per=["b", "c"], groups=[("x", 1), ("y", 2)], groups_per_user=3, domain=["p", "q"]),
        Question.of("a", per="b", groups="groups.csv", groups_per_user="all"),
    ):
        assert Question(**json.loads(json.dumps(question.to_dict()), object_hook=_tuples)) == question
    assert Question.of("a", per="b").to_dict() == {"item": "a", "k": 10, "per": "b"}
    assert Question.of("a", per="b", groups=Path("groups.csv")).to_dict()["groups"] == "groups.csv"


def _tuples(document: dict[str, Any]) -> dict[str, Any]:
    groups = document.get("groups")
    pairs = {"groups": [tuple(group) for group in groups]} if isinstance(groups, list) else {}
    return document | pairs


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"per": "article"}, (f"per='article' is not valid. Allowed: {COUNTRY}, other than the item columns. "
                             "In a list for each item there would be nothing to rank.")),
        ({"per": "user_id"}, (f"per='user_id' is not valid. Allowed: {COUNTRY}, other than the user column. "
                             "A list for each user would be about that user alone.")),
        ({"per": "tags"}, ("per='tags' is not valid. Allowed: a column with one value in each row. "
                          "Column 'tags' holds lists. It can be ranked as an item, which unnests it.")),
        ({"per": ["day", "day"]}, "per=('day', 'day') is not valid. Allowed: distinct columns. Name each column once."),
        ({"per": 3}, "per=3 is not valid. Allowed: the name of a column."),
        ({"groups": ["DE"]}, ("groups=('DE',) is not valid. Allowed: None where there is no per. "
                             "Add per='COLUMN' for a list for each of its values.")),
        ({"groups_per_user": 2}, ("groups_per_user=2 is not valid. Allowed: 1 where there is no per. "
                                 "Add per='COLUMN' for a list for each of its values.")),
        ({"per": "country", "groups": []},
         ("groups=() is not valid. Allowed: one or more groups, or None for those that enough users have. "
         "A list without groups has no answer.")),
        ({"per": "country", "groups_per_user": 0}, "groups_per_user=0 is not valid. Allowed: an integer, 1 or more."),
        ({"per": "country", "groups_per_user": True},
         "groups_per_user=True is not valid. Allowed: an integer, 1 or more."),
        ({"per": "country", "groups_per_user": "some"},
         "groups_per_user='some' is not valid. Allowed: an integer, 1 or more, or 'all'."),
    ],
)  # fmt: skip
def test_what_divides_no_rows(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        checked(**options)
    assert str(caught.value) == told


def test_a_group_column_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownColumn, match="per='contry'"):
        checked(per="contry")


def test_sql_without_groups_takes_no_options_about_them() -> None:
    sql = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 3"
    for options in ({"groups": ["DE"]}, {"groups_per_user": 2}):
        with pytest.raises(InvalidArgument, match=r"where there is no per\. Say QUALIFY ROW_NUMBER"):
            check_question(Question.of(sql=sql, **options), SCHEMA, user="user_id", table="views")


RECORD: dict[str, Any] = {
    "items": ("article",), "where": None, "user": "user_id", "k": 3, "k_bar": None, "ordered": True, "domain": None,
    "max_items_per_user": None, "mechanism": "auto", "budget": {"epsilon": "1"}, "counts": False,
}  # fmt: skip


def test_a_stored_question_without_groups_does_not_mention_them() -> None:
    text = QuestionRecord(**RECORD).to_text()
    assert not {"per", "groups", "groups_per_user"} & json.loads(text).keys()
    assert QuestionRecord.from_text(text) == QuestionRecord(**RECORD)


def test_a_stored_question_keeps_its_groups_outside_its_key() -> None:
    """What was released about some groups also answers for fewer of them, so their keys are equal."""
    every = QuestionRecord(**RECORD, per=("country", "day"), groups_per_user="all")
    few = QuestionRecord(**RECORD, per=("country", "day"), groups=[["DE", "x"]], groups_per_user="all")
    for record in (every, few):
        assert QuestionRecord.from_text(record.to_text()) == record
    assert every.key == few.key
    assert every.to_text() != few.to_text()
    assert QuestionRecord(**RECORD).key != every.key
    assert QuestionRecord(**RECORD, per=("country", "day")).key != every.key


def test_typed_groups_become_values_of_their_columns() -> None:
    """JSON has no dates, and a command line only text; what is no such value stays as it is, and is refused later."""
    day, november = "2026-11-02", dt.date(2026, 11, 2)
    assert checked(per="day", groups=[day, "soon"]).asked.groups == (november, "soon")  # type: ignore[union-attr]
    assert checked(per=["country", "day"], groups=[("DE", day)]).asked.groups == (("DE", november),)  # type: ignore[union-attr]
    # Text is no integer, unless it was typed.
    assert typed_groups(["1", 2], ["user_id"], SCHEMA) == ("1", 2)
    assert typed_groups(["1", "x"], ["user_id"], SCHEMA, kinds=TYPED) == (1, "x")
    small = schema({"flag": "boolean", "price": "decimal(2)"})
    assert typed_groups(["true", "False", "1"], ["flag"], small, kinds=TYPED) == (True, False, "1")
    assert typed_groups(["1.50", "x"], ["price"], small) == (Decimal("1.50"), "x")


def test_dates_among_groups_are_sent_as_text() -> None:
    question = Question.of("a", per="day", groups=[dt.date(2026, 11, 2), Decimal("1.50"), "x", 3])
    assert question.to_dict()["groups"] == ["2026-11-02", "1.50", "x", 3]


def test_what_is_said_about_groups() -> None:
    assert groups_sentence((), None, 1) == ""
    assert groups_sentence(("country",), None, 1) == (
        "one list for each value of country: those with enough users; a user counts in at most 1"
    )
    assert groups_sentence(("country", "day"), ["x"], "all") == (
        "one list for each value of country and day: the listed ones, each of which is shown; "
        "a user counts in all of theirs"
    )
