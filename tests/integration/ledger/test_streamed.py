"""Verification reads entries a few at a time: nothing is missed between two readings, and writers need not wait."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from tests.integration.ledger.test_tampering import intruder

from podium.ledger import Budget, Ledger, open_ledger
from podium.ledger.tables import copying
from podium.ledger.tables.copying import RawEntries, read_copy
from podium.ledger.verification import verify_copy
from podium.privacy import Cost, Selection
from podium.storage.backend import Row, Session, Value

CAPPED = Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.5")
TENTH = Cost(epsilon="0.1", rho="0.005")


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "_BATCH", 3)


def fill(ledger: Ledger) -> None:
    """Eleven entries, among them releases that others see after their settlement."""
    ledger.register("clicks", CAPPED, source="s1")
    for name in ("first", "second"):
        ledger.settle(ledger.reserve("clicks", TENTH, name, analyst="ann"), "{}", TENTH)
    for analyst in ("bob", "eve"):
        ledger.find_release("clicks", "first", analyst=analyst)
    ledger.reserve("clicks", [Selection("0.05")], "open", analyst="eve")
    ledger.find_release("clicks", "second", analyst="bob")
    ledger.forfeit(ledger.reserve("clicks", TENTH, "lost", analyst="ann"))


def test_nothing_is_missed_between_two_readings(url: str) -> None:
    with open_ledger(url) as ledger:
        fill(ledger)
        found = ledger.verify(receipts=[entry.hash for entry in ledger.history("clicks")])
        assert (found.sound, found.entries, len(found.receipts)) == (True, 11, 11)
        with intruder(url) as database:
            database.run("UPDATE entries SET release = ? WHERE sequence = ?", '{"other": 1}', 5)
        problem = ledger.verify().problem
        assert problem is not None
        assert (problem.sequence, problem.what) == (5, "it was changed")


@pytest.mark.parametrize("gone", [3, 4, 7, 11])
def test_an_entry_that_is_gone(tmp_path: Path, gone: int) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with open_ledger(url) as ledger:
        fill(ledger)
        with intruder(url) as database:
            database.run("PRAGMA foreign_keys=OFF")
            database.run("DELETE FROM entries WHERE sequence = ?", gone)
        problem = ledger.verify().problem
        assert problem is not None
        assert problem.what == "it is missing"
        assert problem.sequence == gone


def test_what_is_written_meanwhile_is_left_for_the_next_time(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        fill(ledger)
        readings = 0

        def reader() -> AbstractContextManager[Session]:
            nonlocal readings
            readings += 1
            # Between two readings nothing is held: others write.
            reserved = ledger.reserve("clicks", TENTH, f"meanwhile {readings}", analyst=f"zoe {readings}")
            ledger.settle(reserved, "{}", Cost(epsilon="0.001", rho="0.0001"))
            return ledger._backend.transaction(write=False)

        with ledger._backend.transaction(write=False) as session:
            copy = read_copy(session, None, reader)
        found = verify_copy(copy, ())
        assert (found.sound, found.entries) == (True, 11)
        assert readings >= 4
        assert ledger.verify().entries == 11 + 2 * readings


@pytest.mark.parametrize("with_its_hash", [False, True])
def test_a_settlement_that_is_exchanged_after_it_was_read_is_noticed(tmp_path: Path, with_its_hash: bool) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with open_ledger(url) as ledger:
        fill(ledger)
        cheaper = replace(ledger.history("clicks")[2], cost=Cost(epsilon="0.1", rho=0))
        digest = cheaper.computed_hash() if with_its_hash else cheaper.hash
        readings = 0
        begin = partial(ledger._backend.transaction, write=False)

        def reader() -> AbstractContextManager[Session]:
            nonlocal readings
            readings += 1
            if readings == 2:  # the settlement of the first question, entry 3, was read
                with intruder(url) as database:
                    database.run("UPDATE entries SET rho = ?, hash = ? WHERE sequence = ?", "0", digest, 3)
            return begin()

        with begin() as session:
            copy = read_copy(session, None, reader)
        problem = verify_copy(copy, ()).problem
        assert problem is not None
        assert problem.what == "it reads a release that was not settled"


class _Explained:
    """A session that remembers how its queries find their rows."""

    def __init__(self, session: Session, plans: list[str]) -> None:
        self._session, self._plans = session, plans

    def rows(self, statement: str, parameters: tuple[Value, ...] = ()) -> list[Row]:
        """The rows; the plan of the query is kept."""
        plan = self._session.rows(f"EXPLAIN QUERY PLAN {statement}", parameters)
        self._plans.append("; ".join(str(step[-1]) for step in plan))
        return self._session.rows(statement, parameters)


def test_what_was_settled_is_found_again_without_reading_what_is_before_it(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        fill(ledger)
        with ledger._backend.transaction(write=False) as session:
            plans: list[str] = []
            entries = RawEntries(lambda: nullcontext(cast(Session, _Explained(session, plans))), 1, 11, 11)
            assert [row[:2] for row in entries.settled(4)] == [(4, "reserved"), (5, "settled")]
    # Every index begins with the data set: a second equality is what spares a long ledger from being read each time.
    assert all(re.search(r"dataset_id=\? AND (sequence|reservation)=\?", plan) for plan in plans), plans
