"""A ledger whose questions name the class of their mechanism (format 1): every one of them is answered again, for free.

It was written before questions held what was requested. "orders" and "votes" have a delta, "pure" and "pure votes"
have none; all reservations are settled.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger.restored import restored

from podium.curator import Curator
from podium.ledger import Kind, Ledger, open_ledger
from podium.query import QuestionRecord

VERSION_3 = Path(__file__).with_name("version_3.sql")
DOMAIN = [f"p{place:02}" for place in range(12)]
SQL = (
    "SELECT country FROM orders WHERE product LIKE 'p0%' GROUP BY country "
    "ORDER BY COUNT(DISTINCT customer) DESC LIMIT 2"
)
COMPARED: dict[str, Any] = {"winner": "won", "loser": "lost", "comparisons_per_pair": 60, "items": [0, 1, 2, 3]}
ASKED: list[tuple[str, str, dict[str, Any], str, list[Any]]] = [
    ("orders", "top", {"item": "product", "k": 3}, "1c89eacb71fa0537", ["p00", "p01", "p02"]),
    ("orders", "top", {"item": "product", "k": 4, "counts": True}, "f210557b02e1170f", ["p00", "p01", "p02", "p03"]),
    (
        "orders",
        "top",
        {"item": ["product", "country"], "k": 3, "where": "customer < 300"},
        "6b9c65a601e29958",
        [["p00", "FR"], ["p01", "FR"], ["p00", "DE"]],
    ),
    (
        "orders",
        "top",
        {"item": "product", "k": 20},
        "790b45f473f26572",
        ["p00", "p01", "p02", "p03", "p04", "p06", "p05", "p08", "p07", "p10", "p09", "p11"],
    ),
    (
        "orders",
        "top",
        {"item": "product", "k": 12, "counts": True},
        "d654a3262450a83a",
        ["p00", "p01", "p02", "p03", "p04", "p05", "p06", "p07", "p08", "p09", "p10", "p11"],
    ),
    ("orders", "top", {"item": "product", "k": 2, "domain": DOMAIN}, "3efeb10c9bda11cd", ["p00", "p01"]),
    (
        "orders",
        "top",
        {"item": "product", "k": 2, "domain": DOMAIN, "counts": True},
        "cfa095ebfe901533",
        ["p00", "p01"],
    ),
    (
        "orders",
        "top",
        {"item": "product", "k": 2, "domain": DOMAIN, "ordered": False},
        "3efeb10c9bda11cd",
        ["p00", "p01"],
    ),
    ("orders", "top", {"item": "product", "k": 3, "max_items_per_user": 2}, "15455675083c2da9", ["p00", "p01", "p02"]),
    ("orders", "top", {"item": "product", "k": 3, "k_bar": 50}, "40d8b946cbf4f9b7", ["p00", "p01", "p02"]),
    ("orders", "top", {"item": "product", "k": 3, "epsilon": "2"}, "d94e63ee6ac357bd", ["p00", "p01", "p02"]),
    (
        "orders",
        "top",
        {"item": "product", "k": 5, "mechanism": "adaptive"},
        "790b45f473f26572",
        ["p00", "p01", "p02", "p03", "p04"],
    ),
    (
        "orders",
        "top",
        {"item": "product", "k": 11, "mechanism": "limited-domain"},
        "c35236b1a7e44fd7",
        ["p00", "p01", "p02", "p03", "p04", "p05", "p06", "p07", "p08", "p09", "p10"],
    ),
    (
        "orders",
        "top",
        {"item": "product", "k": 11, "epsilon": "3"},
        "1d2e671e4119d610",
        ["p00", "p01", "p02", "p05", "p03", "p06", "p04", "p07", "p08", "p10", "p09"],
    ),
    ("orders", "sql", {}, "f6c7eb0f5dd4738b", ["DE", "FR"]),
    ("pure", "top", {"item": "product", "k": 2, "domain": DOMAIN}, "8da1095b0349cb69", ["p00", "p01"]),
    ("pure", "top", {"item": "product", "k": 2, "domain": DOMAIN, "counts": True}, "cfa3259cffc4eacd", ["p00", "p01"]),
    ("votes", "rank", {"k": 2}, "34d5321f26f70b54", [0, 1]),
    ("votes", "rank", {"k": 2, "method": "borda"}, "34d5321f26f70b54", [0, 1]),
    ("pure votes", "rank", {"k": 2, "ordered": False}, "255c173b0d4209ab", [0, 1]),
]
"""The data set, how it was asked, the question, the first digits of the entry that settled it, what came out."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = restored(tmp_path / "old.db", VERSION_3)
    (tmp_path / "orders.csv").write_text("customer,product,country\n1,p00,DE\n", encoding="utf-8")
    (tmp_path / "votes.csv").write_text("voter,won,lost\n1,0,1\n", encoding="utf-8")
    return path


@contextmanager
def curator(ledger: Ledger, folder: Path, dataset: str) -> Iterator[Curator]:
    """Another table under the same name: whatever is answered as before was not read again."""
    votes = "votes" in dataset
    table, user = (folder / "votes.csv", "voter") if votes else (folder / "orders.csv", "customer")
    types = {"voter": "integer", "won": "integer", "lost": "integer"} if votes else {"customer": "integer"}
    with Curator(table, dataset=dataset, user=user, ledger=ledger, types=types, force=True) as opened:
        yield opened


def entries(path: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT * FROM entries ORDER BY dataset_id, sequence").fetchall()
    connection.close()
    return found


def test_it_is_sound_and_every_question_is_answered_again_for_nothing(old: Path) -> None:
    before = entries(old)
    with open_ledger(old) as ledger:
        assert ledger.verify().problem is None
        told = []
        for dataset, method, options, entry, outcome in ASKED:
            with curator(ledger, old.parent, dataset) as asked:
                if method == "sql":
                    release = asked.sql(SQL)
                else:
                    release = asked.rank(**COMPARED, **options) if method == "rank" else asked.top(**options)
            found = [list(item) if isinstance(item, tuple) else item for item in release.outcome]
            assert (found, release.paid.events, (release.paid.entry or "")[:16]) == (outcome, (), entry)
            told.append(release)
        assert ledger.verify(receipts=told).problem is None
    assert entries(old) == before


def test_a_shorter_list_is_answered_by_a_longer_one_of_before(old: Path) -> None:
    before = entries(old)
    with open_ledger(old) as ledger, curator(ledger, old.parent, "orders") as asked:
        assert asked.top("product", k=2).paid.events == ()
        assert asked.top("product", k=15).paid.events == ()
    assert entries(old) == before


def test_new_questions_go_on_in_the_same_ledger_and_name_what_was_requested(old: Path) -> None:
    with open_ledger(old) as ledger, curator(ledger, old.parent, "orders") as asked:
        before = len(ledger.history("orders"))
        new = asked.top("country", k=20)
        assert new.paid.events != ()
        written = ledger.history("orders")[before:]
        assert [entry.kind for entry in written] == [Kind.RESERVED, Kind.SETTLED]
        record = QuestionRecord.from_text(written[0].question)
        assert record is not None
        assert (record.format, record.mechanism, record.k, record.k_bar) == (2, "auto", 20, None)
        assert record.to_text() == written[0].question
        # Other classes would answer a long and a short list; what was asked for is the same.
        assert asked.top("country", k=4).paid.events == ()
        assert ledger.verify(receipts=[new]).problem is None


def test_a_selected_count_is_a_new_question_whatever_its_column_is_called(old: Path) -> None:
    text = SQL.replace("SELECT country", "SELECT country, COUNT(DISTINCT customer) AS n")
    with open_ledger(old) as ledger, curator(ledger, old.parent, "orders") as asked:
        counted = asked.sql(text)
        assert (counted.paid.rho > 0, counted.value_kind, counted.value_name) == (True, "counts", "n")
        renamed = replace(counted, value_name="buyers")
        assert ledger.verify(receipts=[counted, renamed]).problem is None
        assert "n" not in json.loads(ledger.history("orders")[-1].release or "{}")
        more = replace(renamed, k=9)
        assert "differs from the one that was settled, in k" in str(ledger.verify(receipts=[more]).problem)


def test_a_ranking_with_scores_is_a_new_question(old: Path) -> None:
    """Rankings of that format had none: their answers do not have what is asked for now."""
    with open_ledger(old) as ledger, curator(ledger, old.parent, "votes") as asked:
        assert asked.rank(**COMPARED, k=2).paid.events == ()
        scored = asked.rank(**COMPARED, k=2, scores=True)
        assert (scored.paid.rho > 0, scored.value_kind) == (True, "scores")
        assert ledger.verify(receipts=[scored]).problem is None


def test_questions_of_both_formats_are_read() -> None:
    text = {
        "counts": {"rounds": "False"}, "delta": "1/8", "domain": None, "epsilon_per_item": "1/9", "items": ["a", "b"],
        "k": 20, "k_bar": None, "max_items_per_user": 3, "mechanism": "AdaptiveTopK", "user": "u", "where": None,
    }  # fmt: skip
    first = QuestionRecord.from_text(json.dumps(text))
    assert first is not None
    assert (first.format, first.items, first.counts, first.ordered, first.schedule) == (1, ("a", "b"), False, True, {})
    counted = QuestionRecord.from_text(json.dumps({**text, "counts": {"noise": "gaussian", "scale": "1"}}))
    assert counted is not None
    assert counted.counts
    scheduled = QuestionRecord.from_text(json.dumps({**text, "schedule": "s", "period": "p", "role": "list"}))
    assert scheduled is not None
    assert scheduled.schedule == {"schedule": "s", "period": "p", "role": "list"}


@pytest.mark.parametrize(
    "text", [None, "", "q", "[]", "{}", '{"format": 3}', '{"format": 2, "items": 1}', "[" * 100_000]
)
def test_what_is_none_of_podiums_questions(text: str | None) -> None:
    assert QuestionRecord.from_text(text) is None
