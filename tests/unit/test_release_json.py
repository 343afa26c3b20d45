"""The JSON of a release: what was asked, of what and when, and plain numbers beside exact ones."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.grouped_releases import counted_lists
from tests.support.pictures import made

import podium
from podium import Budget, Curator, Release
from podium.curator.asked_about import asked_about
from podium.curator.one_question import OneQuestion
from podium.errors import InvalidArgument
from podium.ledger.receipts import Claim
from podium.query import Question
from podium.release.asked import Asked

ASKED = Asked({"item": "product", "k": 3, "where": ["a = 1", "b"]}, "orders.csv", "2026-11-19T04:10:00+00:00")


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    rows = "".join(f"{user},rye\n{user},bun\n" for user in range(400))
    (tmp_path / "orders.csv").write_text(f"customer,product\n{rows}", encoding="utf-8")
    return tmp_path / "orders.csv"


def test_a_release_says_what_was_asked_of_what_and_when(orders: Path) -> None:
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    release = podium.top(orders, item="product", user="customer", k=2, where="product <> 'x'", epsilon=1, delta="1e-6")
    told = json.loads(release.to_json())
    assert told["asked"]["question"] == {"item": "product", "k": 2, "where": "product <> 'x'", "by": "users"}
    assert told["asked"]["source"] == "orders.csv"
    assert before <= dt.datetime.fromisoformat(told["asked"]["at"]) <= dt.datetime.now(dt.UTC)
    assert str(orders.parent) not in release.to_json()
    assert told["columns"] == ["product"]
    assert "None" not in release.to_json()
    assert Release.from_json(release.to_json()) == release
    assert Release.from_json(release.to_json()).asked == release.asked
    assert replace(release, asked=None) == release


def test_the_time_is_that_of_the_plan_to_the_second(orders: Path) -> None:
    """Before a row is read, so that how long the answer took is not in it."""
    account = OneQuestion(1, "1e-6")
    with Curator(orders, dataset="orders", user="customer", ledger=account) as curator:
        planned = curator._prepare(Question.of(item="product", k=2), None)
        assert planned.asked is not None
        assert len(planned.asked.at) == len("2026-11-19T04:10:00+00:00")
        release = curator.ask(Question.of(item="product", k=2))
    assert planned.name_values(replace(release, asked=None)).asked is planned.asked


def test_under_a_ledger_the_source_is_the_data_set_and_each_asker_has_words_of_their_own(orders: Path) -> None:
    budget = Budget(epsilon=1, delta="1e-6")
    with Curator(orders, dataset="bakery", user="customer", ledger=orders.parent / "l.db", budget=budget) as curator:
        first = curator.top("product", k=2)
        again = curator.sql(
            "SELECT product FROM bakery GROUP BY product ORDER BY COUNT(DISTINCT customer) DESC LIMIT 1"
        )
        batched = curator.batch([Question.of(item="product", k=2)]).ask()[0]
    assert [one.asked.source for one in (first, again, batched) if one.asked] == ["bakery"] * 3
    assert again.paid.events == ()
    assert again.asked is not None
    assert again.asked.question["sql"].startswith("SELECT product FROM bakery")
    with Curator(orders, dataset="bakery", user="customer", ledger=orders.parent / "l.db") as curator:
        ledger = curator._ledger_account.ledger
        found = ledger.verify(receipts=[first, again])
        assert [one.compared for one in found.receipts] == [
            "the whole release, but for how it was asked",
            "its first 1 of 2 places, told again free of charge, but for how it was asked",
        ]
        document = json.loads(first.to_json())
        assert ledger.verify(receipts=[Claim(document["entry"], document=_rewritten(document))]).sound
        document["decimals"]["guarantee"]["delta"] /= 2
        tampered = ledger.verify(receipts=[Claim(document["entry"], document=document)])
        assert "in decimals" in str(tampered.problem)


def _rewritten(document: dict[str, Any]) -> dict[str, Any]:
    """As another program may write it, without a point where there is nothing behind it."""
    written: dict[str, Any] = json.loads(json.dumps(document), parse_float=_shortest)
    return written


def _shortest(text: str) -> float:
    return int(text.removesuffix(".0")) if text.endswith(".0") else float(text)


def test_plain_numbers_stand_beside_exact_ones() -> None:
    release = made(("a", "b"), values=(Fraction(7), Fraction(1, 3)), value_kind="counts")
    told = release.to_dict()
    assert told["values"] == ["7", "1/3"]
    assert told["decimals"]["values"] == [7.0, 1 / 3]
    assert told["decimals"]["guarantee"] == {
        "epsilon": 0.2, "rho": 0.00249965285492, "delta": 9.99999900001e-08,
    }  # fmt: skip
    assert Fraction(str(told["decimals"]["paid"]["rho"])) >= release.paid.rho
    assert made(("a",)).to_dict()["decimals"]["values"] is None
    lists = counted_lists()
    values = [[float(value) for value in found.values or ()] for found in lists.lists.values()]
    assert lists.to_dict()["decimals"]["values"] == values


def test_old_documents_read_as_before() -> None:
    old = json.loads(made(("a",), parameters={"k": "1"}).to_json())
    del old["decimals"]
    old["parameters"]["max_items_per_user"] = "None"
    release = Release.from_json(json.dumps(old))
    assert release == made(("a",), parameters={"k": "1"})
    assert release.asked is None


@pytest.mark.parametrize(
    "asked",
    [
        [], "now", {"question": {}}, {"question": [], "source": "a", "at": ASKED.at},
        {"question": {"k": None}, "source": "a", "at": ASKED.at}, {"question": {}, "source": 1, "at": ASKED.at},
        {"question": {}, "source": "a", "at": "yesterday"}, {"question": {"k": {}}, "source": "a", "at": ASKED.at},
        {"question": {"k": [[["deep"]]]}, "source": "a", "at": ASKED.at},
        {"question": {"k": 1.5}, "source": "a", "at": ASKED.at},
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(asked: object) -> None:
    document = {**made(("a",)).to_dict(), "asked": asked, "entry": None}
    with pytest.raises(InvalidArgument, match="not a release"):
        Release.from_json(json.dumps(document))


def test_files_are_told_by_name_and_long_lists_by_length() -> None:
    def told(**options: Any) -> dict[str, Any]:
        asked = asked_about(Question.of(item=("a", "b"), **options), "postgresql://host/shop#orders")
        assert asked is not None
        assert asked.source == "shop#orders"
        return dict(asked.question)

    assert told(domain="/home/me/items.csv")["domain"] == "items.csv"
    assert told(domain=Path("/home/me/items.csv"))["domain"] == "items.csv"
    assert told(domain=[("a", 1), ("b", dt.date(2026, 1, 1))])["domain"] == [["a", 1], ["b", "2026-01-01"]]
    assert told(domain=range(5000))["domain"] == "5,000 values"
    assert told(per="c", groups=["x"], by="sum(d)", clip=(-1, 2)) == {
        "item": ["a", "b"], "k": 10, "by": "sum(d)", "clip": ["-1", "2"], "per": "c", "groups": ["x"],
    }  # fmt: skip
