"""Questions as they are sent: one shape for a body, a form and a stored job, and nothing of the server's files."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.serving import world

from podium.errors import InvalidArgument
from podium.query import Question, RankingQuestion
from podium.wire.request import QuestionRequest

RANKING: dict[str, Any] = {"winner": "better", "loser": "worse", "comparisons_per_pair": 5, "items": ["x", "y"]}


@pytest.mark.parametrize(
    ("parts", "question"),
    [
        ({"item": "article"}, Question(item=("article",), k=10)),
        ({"item": ["a", "b"], "k": 3, "where": ["a > 1", "b > 2"]},
         Question(item=("a", "b"), k=3, where=("a > 1", "b > 2"))),
        ({"item": "a", "domain": [["x", 1], "y"]}, Question(item=("a",), domain=[("x", 1), "y"])),
        ({"item": "a", "by": "sum(b)", "clip": 20, "unit": "0.10"},
         Question(item=("a",), by="sum(b)", clip="20.0", unit=Fraction(1, 10))),
        ({"item": "a", "by": "sum(b)", "clip": [-5, "7.5"]}, Question(item=("a",), by="sum(b)", clip=(-5, "15/2"))),
        ({"item": "a", "per": "c", "groups": ["x", "y"], "groups_per_user": "all"},
         Question(item=("a",), per=("c",), groups=["x", "y"], groups_per_user="all")),
        ({"item": "a", "per": ["c", "d"], "groups": [["x", dt.date(2026, 11, 2)]], "groups_per_user": 2},
         Question(item=("a",), per=("c", "d"), groups=[("x", "2026-11-02")], groups_per_user=2)),
        ({"sql": "SELECT 1", "counts": True}, Question(sql="SELECT 1", counts=True)),
        ({**RANKING, "ordered": False}, RankingQuestion(**RANKING, ordered=False)),
        ({**RANKING, "mixing": Fraction(1, 2)}, RankingQuestion(**RANKING, mixing="1/2")),
    ],
)  # fmt: skip
def test_a_request_is_its_question_and_the_epsilon(parts: dict[str, Any], question: Any) -> None:
    request = QuestionRequest.of(**parts, epsilon=Fraction(1, 3))
    assert request == QuestionRequest(question, "1/3")
    assert QuestionRequest.from_text(request.to_text()) == request
    assert QuestionRequest.of(**request.to_dict()) == request
    assert QuestionRequest.of(**parts).epsilon is None
    assert "epsilon" not in QuestionRequest.of(**parts).to_dict()


def test_what_is_left_out_may_be_none() -> None:
    request = QuestionRequest.of(item="article", k=None, where=None, domain=None, winner=None, epsilon=None)
    assert request == QuestionRequest.of(item="article")
    assert (request.heading, request.options) == ("article", {})
    assert QuestionRequest.of(item=["a", "b"], counts=True).heading == "a, b"
    assert QuestionRequest.of(sql="SELECT 1").heading == "item"
    assert QuestionRequest.of(item="a", counts=True, epsilon=1).options == {"counts": True, "epsilon": "1"}


@pytest.mark.parametrize("name", ["domain", "groups", "items", "pairs"])
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("/etc/passwd", "'/etc/passwd'"), (Path("/etc/passwd"), "'PosixPath'"), (b"items", "'bytes'"),
        ({"x": 1}, "'dict'"), (3, "'int'"), (pd.DataFrame({"article": ["a0"]}), "'DataFrame'"),
    ],
)  # fmt: skip
def test_items_are_listed_and_never_a_file(name: str, value: Any, shown: str) -> None:
    others = {part: RANKING[part] for part in ("winner", "loser", "comparisons_per_pair")}
    parts = {"domain": {"item": "article"}, "groups": {"item": "article", "per": "country"}}.get(name, others)
    if name == "groups" and isinstance(value, str):
        # The name of a table that the owner declared: test_groups_doors.py shows that it is never a path.
        assert QuestionRequest.of(**parts, groups=value).options["groups"] == value
        return
    with pytest.raises(InvalidArgument) as refused:
        QuestionRequest.of(**parts, **{name: value})
    what = "groups" if name == "groups" else "items"
    assert str(refused.value) == f"{name}={shown} is not valid. Allowed: a list of {what}."


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"item": "a", "limit": 3}, "limit=3 is not valid. Allowed: None in this question."),
        ({"item": "a", "loser": "b"}, "loser='b' is not valid. Allowed: None in this question."),
        ({**RANKING, "counts": True}, "counts=True is not valid. Allowed: None in this question."),
        ({**RANKING, "sql": "SELECT 1"}, "sql='SELECT 1' is not valid. Allowed: None in this question."),
        ({"winner": "a", "comparisons_per_pair": 3},
         "loser=None is not valid. Allowed: the column of the items that were not preferred."),
        ({"winner": "a", "loser": "b"}, ("comparisons_per_pair=None is not valid. Allowed: how many users are expected "
                                        "to prefer one item of a pair to the other.")),
        ({"item": "a", "sql": "SELECT 1"}, "item='a' is not valid. Allowed: either item and k, or sql, and not both."),
        ({"sql": "SELECT 1", "clip": 3, "by": "users"},
         ("clip=3 is not valid. Allowed: None with by='users', where a user counts once for each item. Say by='events' "
         "or by='sum(COLUMN)' to rank by something else.")),
        ({"item": "a", "mechanism": "set"},
         ("mechanism='set' is not valid. Allowed: the name of a mechanism. Say ordered=False if no order is needed.")),
        ({"item": "a", "ordered": "no"}, "ordered='no' is not valid. Allowed: True or False."),
    ],
)  # fmt: skip
def test_what_a_question_does_not_have_is_refused_as_it_was_sent(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        QuestionRequest.of(**parts)
    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["", "[]", "3", "null", '{"item": "a", "k": ', '"x"', "[" * 100_000])
def test_a_text_that_is_no_question(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"Allowed: what QuestionRequest\.to_text wrote"):
        QuestionRequest.from_text(text)


def test_a_body_of_unknown_fields_or_half_a_ranking_is_refused(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        for body, said in (
            ({"item": "article", "limit": 3}, "limit"),
            ({"item": "article", "loser": "country"}, "loser='country' is not valid."),
            ({"winner": "article"}, "loser=None is not valid."),
            ({"winner": "article", "loser": "country", "items": "/etc/passwd"}, "items"),
        ):
            for place in ("plan", "releases"):
                refused = here.call("POST", f"/v1/datasets/views/{place}", body)
                assert refused.status_code == 422
                assert said in refused.json()["detail"]
                assert "passwd" not in refused.text
        several = {"item": "article", "k": 2, "where": ["weekday < 6", "country = 'DE'"]}
        joined = {"item": "article", "k": 2, "where": "weekday < 6 AND country = 'DE'"}
        first, second = (here.call("POST", "/v1/datasets/views/releases", body).json() for body in (several, joined))
        assert (first["outcome"], second["paid"]) == (second["outcome"], [])
