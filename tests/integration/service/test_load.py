"""Many analysts on real workers that are killed, on a database that goes away: the books stay right.

``python -m bench.load`` does the same for a minute each.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bench.load import disturbed
from bench.postgresql import postgresql
from bench.storm import Seen, audit_books
from tests.serving import views

from podium.ledger import Budget, open_ledger
from podium.privacy import Cost, Selection

ANALYSTS = 64


def test_workers_are_killed_under_load(tmp_path: Path) -> None:
    views(tmp_path / "views.parquet", users=300)
    seen, books = disturbed(tmp_path, "ledger.db", None, ANALYSTS, 3.0)
    assert seen.statuses[200] > 0
    assert books.settled > 0


def test_workers_are_killed_and_the_database_goes_away_under_load(tmp_path: Path) -> None:
    views(tmp_path / "views.parquet", users=300)
    with postgresql() as server:
        seen, books = disturbed(tmp_path, server.url, server, ANALYSTS, 4.0)
    assert seen.statuses[200] > 0
    assert books.settled > 0
    # InvalidArgument: the key of an attempt that was forfeited with its worker.
    refused = {"LedgerUnavailable", "LedgerLocked", "BudgetExceeded", "DatasetLocked", "InvalidArgument"}
    assert set(seen.errors) <= refused


QUESTION = '{"items": ["article"], "k": %d}'


@pytest.fixture
def ledger_path(tmp_path: Path) -> str:
    path = str(tmp_path / "ledger.db")
    with open_ledger(path) as ledger:
        ledger.register("views", Budget(epsilon=1, delta="1e-6", items=10, questions=10), source="s")
    return path


def test_the_audit_finds_what_was_paid_for_twice(ledger_path: str) -> None:
    cost = Cost(epsilon="0.01", rho=Selection("0.01").rho)
    with open_ledger(ledger_path) as ledger:
        entries = set()
        for k in (3, 4, 2, 4):
            reservation = ledger.reserve("views", cost, QUESTION % k, question_key="articles")
            entries.add(ledger.settle(reservation, "{}", cost).hash)
        ledger.forfeit(ledger.reserve("views", cost, QUESTION % 9, question_key="articles"))
    books = audit_books(ledger_path, Seen(entries={"q": entries}))
    # The second top 4, and the top 2 twice over: it is in the top 3 and in the top 4.
    assert sorted(books.paid_twice) == [6, 6, 8]
    assert not books.in_order
    assert (books.settled, books.forfeited, books.unknown_entries) == (4, Counter(failed=1), set())


def test_the_audit_finds_what_was_shown_and_not_settled(ledger_path: str) -> None:
    books = audit_books(ledger_path, Seen(entries={"q": {"0" * 64}}))
    assert books.unknown_entries == {"0" * 64}
    assert not books.in_order
    assert audit_books(ledger_path, Seen()).in_order
