"""A stored question, read back: in words, and as the same question again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from tests.support.columns import schema

from podium.planning.facts import Facts
from podium.planning.question_budget import question_budget
from podium.planning.question_plan import Plan
from podium.planning.strategy import strategy_for
from podium.query import QuestionRecord, parse_where
from podium.query.canonical import predicate_to_json
from podium.service.pages.snippets import in_curl, in_python, in_shell
from podium.service.pages.wording import asks_the_same, condition_text, question_sentence, request_of
from podium.wire.request import QuestionRequest

SCHEMA = schema(
    {
        "country": "text",
        "n": "integer",
        "day": "date",
        "at": "timestamp",
        "price": "decimal(2)",
        "ok": "boolean",
        'odd "name': "text",
    }
)


@pytest.mark.parametrize(
    "where",
    [
        "country = 'DE'", "country = 'it''s'", "n IN (1, 2) AND country <> 'x'", "n BETWEEN 1 AND 5 OR n > 9",
        "NOT (country LIKE 'a%_b')", "country IS NULL", "country IS NOT NULL", "day >= DATE '2026-01-01'",
        "at < TIMESTAMP '2026-01-01 10:00:00'", "price = 1.50", "ok = TRUE", "\"odd \"\"name\" = 'x'",
        "(n = 1 OR n = 2) AND (country = 'a' OR country = 'b')", r"country LIKE '100\%%' ESCAPE '\'",
        "NOT (n IN (1, 2))", "NOT (n BETWEEN 1 AND 2)",
    ],
)  # fmt: skip
def test_a_condition_survives_the_round_trip(where: str) -> None:
    canonical = json.loads(json.dumps(predicate_to_json(parse_where(where, schema=SCHEMA))))
    again = predicate_to_json(parse_where(condition_text(canonical), schema=SCHEMA))
    assert json.loads(json.dumps(again)) == canonical


STORED = {
    "items": ["article"], "k": 3, "where": ["=", "country", "DE"], "counts": {"noise": "gaussian"}, "domain": None,
    "epsilon_per_item": "1/10", "delta": "1/100", "max_items_per_user": 5, "mechanism": "LimitedDomain",
    "k_bar": Facts(k=3).rows,
}  # fmt: skip


def test_a_measure_is_said_and_asked_again() -> None:
    stored = QuestionRecord(
        items=("article",), where=None, user="u", k=3, k_bar=None, ordered=True, domain=None, max_items_per_user=None,
        mechanism="auto", budget={"epsilon_per_item": "1/10"}, counts=False, by="sum(minutes)", clip=["-5", "20"],
        unit="1/10",
    )  # fmt: skip
    assert question_sentence(stored.to_text()) == "top 3 of article by sum(minutes)"
    request = request_of(stored.to_text(), "1/10")
    assert request == QuestionRequest.of(item="article", k=3, by="sum(minutes)", clip=(-5, 20), unit="0.1")
    assert "--clip=-5,20" in in_shell(request, "views")


def test_groups_are_said_and_asked_again() -> None:
    stored = QuestionRecord(
        items=("article",), where=None, user="u", k=3, k_bar=None, ordered=True, domain=None, max_items_per_user=None,
        mechanism="auto", budget={"epsilon_per_item": "1/10"}, counts=False, per=("country", "day"),
        groups_per_user="all",
    )  # fmt: skip
    assert question_sentence(stored.to_text()) == "top 3 of article for each country and day"
    request = request_of(stored.to_text(), "1/10")
    assert request == QuestionRequest.of(item="article", k=3, per=["country", "day"], groups_per_user="all")
    assert in_shell(request, "views") == (
        "podium top SOURCE --user USER --item article --per country --per day -k 3 --groups-per-user all "
        "--ledger LEDGER --dataset views"
    )
    # Which groups were listed is not known from the entry.
    assert request_of(replace(stored, groups=["DE"]).to_text(), "1/10") is None


def test_a_stored_question_can_be_asked_again() -> None:
    text = json.dumps(STORED)
    assert question_sentence(text) == "top 3 of article where country = 'DE', with counts"
    request = request_of(text, "1/10")
    assert request == QuestionRequest.of(item="article", k=3, where="country = 'DE'", counts=True, max_items_per_user=5)
    assert request_of(json.dumps({**STORED, "domain": "0..9"}), "1/10") == QuestionRequest.of(
        item="article", k=3, where="country = 'DE'", counts=True, max_items_per_user=5, domain_size=10
    )
    assert request_of(json.dumps({**STORED, "k_bar": 50}), "1/10") == QuestionRequest.of(
        item="article", k=3, where="country = 'DE'", counts=True, max_items_per_user=5, k_bar=50
    )
    # What the entry does not tell is not guessed.
    assert request_of(text, "1/5") is None
    assert request_of(json.dumps({**STORED, "domain": "items 00ff"}), "1/10") is None


RECORD = QuestionRecord(
    items=("article",), where=["=", "country", "DE"], user="user_id", k=3, k_bar=None, ordered=True, domain=None,
    max_items_per_user=None, mechanism="auto", budget={"epsilon_per_item": "1/10", "delta": "1/100"}, counts=False,
)  # fmt: skip


def test_what_was_requested_is_requested_again() -> None:
    def again(**changed: Any) -> QuestionRequest | None:
        return request_of(replace(RECORD, **changed).to_text(), "1/10")

    def request(**stated: Any) -> QuestionRequest:
        return QuestionRequest.of(item="article", k=3, where="country = 'DE'", **stated)

    assert again() == request()
    assert again(counts=True, k_bar=50) == request(counts=True, k_bar=50)
    # An order that nobody asked for would be another question, which costs.
    assert again(ordered=False) == request(ordered=False)
    assert again(mechanism="adaptive") == request(mechanism="adaptive")
    assert again(budget={"epsilon": "1/2", "delta": "1/100"}) == request(epsilon="1/2")
    assert again(domain="0..9") == request(domain_size=10)
    assert again(budget={"epsilon_per_item": "1/5", "delta": "1/100"}) is None
    assert again(domain="items 00ff") is None
    assert again(ranking={"method": "auto"}) is None
    assert again(schedule={"schedule": "s", "period": "1", "role": "report"}) is None


def test_a_ranking_says_which_column_was_preferred_to_which() -> None:
    ranking = replace(RECORD, items=("better", "worse"), where=None, ranking={"method": "auto"})
    assert question_sentence(ranking.to_text()) == "top 3 of a ranking of better over worse"


def test_an_older_entry_is_free_only_if_its_mechanism_would_be_planned_again() -> None:
    facts = Facts(k=3)
    plan = Plan.of(strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6")))
    older = {**STORED, "mechanism": plan.mechanism, "k_bar": plan.rows}
    assert asks_the_same(plan, json.dumps(older))
    assert not asks_the_same(plan, json.dumps({**older, "mechanism": "AdaptiveTopK"}))
    assert not asks_the_same(plan, json.dumps({**older, "k_bar": 40}))
    # What was requested is compared before, and says nothing of how it was answered.
    assert asks_the_same(plan, replace(RECORD, mechanism="adaptive").to_text())
    assert not asks_the_same(plan, "SELECT 1")


ELSEWHERE: list[tuple[QuestionRequest, str, str]] = [
    (
        QuestionRequest.of(item="article", k=3, where="country = 'DE'", counts=True),
        ".top('article', k=3, where=\"country = 'DE'\", counts=True)",
        "podium top SOURCE --user USER --item article -k 3 --where 'country = '\"'\"'DE'\"'\"'' --counts",
    ),
    (QuestionRequest.of(sql="SELECT 1"), ".sql('SELECT 1')", "podium sql 'SELECT 1' --source SOURCE --user USER"),
    (
        QuestionRequest.of(item=["a", "b"], k=2, where=["a > 1", "b > 2"], ordered=False, domain=[["x", 1]]),
        ".top(['a', 'b'], k=2, ordered=False, where=['a > 1', 'b > 2'], domain=[['x', 1]])",
        (
            "podium top SOURCE --user USER --item a --item b -k 2 --unordered --where 'a > 1' --where 'b > 2' "
            "--domain FILE"
        ),
    ),
    (
        QuestionRequest.of(winner="w", loser="l", comparisons_per_pair=5, items=["x", "y"], k=1),
        ".rank(winner='w', loser='l', comparisons_per_pair=5, items=['x', 'y'], k=1)",
        "podium rank SOURCE --user USER -k 1 --winner w --loser l --comparisons-per-pair 5 --items FILE",
    ),
]
"""A request, as a call of a client of the service, and as a command with a ledger."""


def test_the_same_question_elsewhere() -> None:
    for (request, call, command), dataset in product(ELSEWHERE, ("views", "v")):
        assert in_python(request, "http://h", dataset) == (
            f'podium.connect("http://h", token=token, dataset="{dataset}"){call}'
        )
        assert in_shell(request, dataset) == f"{command} --ledger LEDGER --dataset {dataset}"
    request, *_ = ELSEWHERE[0]
    body = json.loads(in_curl(request, "http://h", "views").split("-d ")[1].split(" \\\n")[0].strip("'").replace(
        "'\"'\"'", "'"))  # fmt: skip
    assert body == request.to_dict()
    assert QuestionRequest.from_text(request.to_text()) == request
