"""Whatever is changed behind the ledger's back, ``verify`` finds it, and a question notices what it decides on."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from podium.curator import Curator
from podium.errors import LedgerTampered
from podium.ledger import Budget, Entry, Kind, Ledger, open_ledger
from podium.ledger.entries import canonical_json
from podium.ledger.reservation_request import key_of
from podium.ledger.tables.rows import ENTRY_COLUMNS, entry_to_row
from podium.privacy import Cost, GaussianNoise, PureMechanism, Selection
from podium.storage.processes import this_process

KEYS = {
    "entries": ("dataset_id", "sequence"),
    "datasets": ("id",),
    "analysts": ("dataset_id", "analyst"),
    "open_reservations": ("dataset_id", "sequence"),
    "ledger": ("id",),
}


class Intruder:
    """Somebody who writes to the database directly, with all rules switched off."""

    def __init__(self, connection: Any, mark: str) -> None:
        self._connection = connection
        self._mark = mark

    def run(self, sql: str, *values: object) -> None:
        self._connection.execute(sql.replace("?", self._mark), values)

    def table(self, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self._connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2")
        return [column[0] for column in cursor.description], cursor.fetchall()


@contextmanager
def intruder(url: str) -> Iterator[Intruder]:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        connection.execute("PRAGMA synchronous=OFF")
        for trigger in ("entries_keep", "entries_stay"):
            connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        try:
            yield Intruder(connection, "?")
        finally:
            connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute("SET session_replication_role = replica")
            server.execute("SET search_path = podium_ledger")
            yield Intruder(server, "%s")


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """One entry of every kind, two data sets, an open reservation."""
    with open_ledger(url) as opened:
        budget = Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.5")
        opened.register("clicks", budget, source="s1")
        opened.register("views", Budget(epsilon=1, delta="1e-6", items=10, questions=5), source="s2")
        event = PureMechanism("0.05", reserved="0.1")
        reservation = opened.reserve("clicks", (event,), "q", analyst="ann", idempotency_key="key")
        opened.settle(reservation, '{"outcome": []}', (event,))
        opened.find_release("clicks", "q", analyst="bob")
        opened.forfeit(opened.reserve("clicks", Cost(epsilon="0.1", rho="0.005"), "q2", analyst="ann"))
        opened.raise_total("clicks", Budget(epsilon=2, items=10, questions=10, epsilon_per_analyst="0.5"))
        opened.set_data_version("clicks", "2")
        opened.unlock("clicks")
        opened.reserve("clicks", Cost(epsilon="0.1", rho="0.005"), "q3", analyst="ann")
        assert opened.verify().sound
        yield opened


def other(value: object, column: str) -> object:
    """A different value that the column could hold."""
    if isinstance(value, int):
        return value + 1000
    if value is None:
        return 3 if column == "reservation" else "1/7"
    text = str(value)
    if column in ("epsilon", "rho", "delta"):
        return "1/7" if text != "1/7" else "1/8"
    return f"{text[:-1]}{'0' if text[-1] != '0' else '1'}"


def test_every_column_of_every_row_counts(url: str, ledger: Ledger) -> None:
    missed = []
    with intruder(url) as raw:
        for table, keys in KEYS.items():
            columns, rows = raw.table(table)
            for row in rows:
                named = dict(zip(columns, row, strict=True))
                for column in columns:
                    changed = {**named, column: other(named[column], column)}
                    if table == "ledger" and column == "id":
                        continue  # the database itself allows no other number
                    _replace(raw, table, keys, named, changed)
                    if ledger.verify().sound:
                        missed.append((table, column, named))
                    _replace(raw, table, keys, changed, named)
        assert missed == []
        assert ledger.verify().sound


def _replace(raw: Intruder, table: str, keys: tuple[str, ...], old: dict[str, Any], new: dict[str, Any]) -> None:
    for column, value in new.items():
        if value != old[column]:
            where = " AND ".join(f"{key} = ?" for key in keys)
            raw.run(f"UPDATE {table} SET {column} = ? WHERE {where}", value, *(old[key] for key in keys))


def test_every_missing_row_is_found_and_the_first_one_is_named(url: str, ledger: Ledger) -> None:
    with intruder(url) as raw:
        for table, keys in KEYS.items():
            columns, rows = raw.table(table)
            for row in rows:
                named = dict(zip(columns, row, strict=True))
                where = " AND ".join(f"{key} = ?" for key in keys)
                raw.run(f"DELETE FROM {table} WHERE {where}", *(named[key] for key in keys))
                report = ledger.verify()
                assert report.problem is not None, (table, named)
                if table == "entries":
                    assert report.problem.sequence == named["sequence"]
                    assert report.problem.what == "it is missing"
                raw.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
        assert ledger.verify().sound


def test_entries_in_another_order_are_found(url: str, ledger: Ledger) -> None:
    with intruder(url) as raw:
        for old, new in ((4, 999), (5, 4), (999, 5)):
            raw.run("UPDATE entries SET sequence = ? WHERE dataset_id = 1 AND sequence = ?", new, old)
    problem = ledger.verify("clicks").problem
    assert problem is not None
    assert (problem.dataset, problem.sequence) == ("clicks", 4)
    assert str(problem) == "'clicks', entry 4: it does not follow the entry before"
    # The other data set is sound by itself.
    assert ledger.verify("views").sound


TENTH = Cost(epsilon="0.1", rho="0.005")
LAST = "(SELECT MAX(sequence) FROM entries WHERE dataset_id = 1)"
NEXT_TO_LAST = "(SELECT hash FROM entries WHERE dataset_id = 1 ORDER BY sequence DESC LIMIT 1)"
CUT = (
    f"DELETE FROM entries WHERE dataset_id = 1 AND sequence = {LAST}",
    f"UPDATE datasets SET sequence = sequence - 1, head = {NEXT_TO_LAST} WHERE id = 1",
    "DELETE FROM open_reservations WHERE dataset_id = 1 AND sequence > 9",
)
"""The last entry, a reservation of ann's, is gone, and the account names the one before as the last."""


CHANGES = (
    ("DELETE FROM entries WHERE dataset_id = 1 AND sequence > 8",),
    ("UPDATE datasets SET head = 'x' WHERE id = 1",),
    ("UPDATE datasets SET sequence = sequence - 1 WHERE id = 1",),
    ("UPDATE datasets SET rho = 'a lot' WHERE id = 1",),
    ("UPDATE datasets SET totals = '{}' WHERE id = 1",),
    ('UPDATE datasets SET totals = REPLACE(totals, \'"epsilon":"2"\', \'"epsilon":"20"\') WHERE id = 1',),
    ("UPDATE datasets SET epsilon = '0', rho = '0' WHERE id = 1",),
    ("UPDATE datasets SET questions = 0 WHERE id = 1",),
    ("UPDATE datasets SET failures_allowed = 99 WHERE id = 1",),
    ("UPDATE datasets SET failures = 2 WHERE id = 1",),
    ("UPDATE datasets SET data_version = '1' WHERE id = 1",),
    ("UPDATE datasets SET raises = 0 WHERE id = 1",),
    ("UPDATE datasets SET source = 'elsewhere' WHERE id = 1",),
    ("UPDATE analysts SET epsilon = '0', rho = '0' WHERE analyst = 'ann'",),
    ("UPDATE analysts SET epsilon = '0', rho = '0' WHERE analyst = 'bob'",),
    ("UPDATE analysts SET analyst = 'eve' WHERE analyst = 'ann'",),
    ("DELETE FROM analysts WHERE analyst = 'ann'",),
    ("DELETE FROM analysts",),
    ("DELETE FROM open_reservations",),
    ("UPDATE open_reservations SET owner = 'nobody'",),
    ("INSERT INTO open_reservations SELECT dataset_id, 2, owner FROM open_reservations",),
    (f"UPDATE entries SET state = NULL WHERE dataset_id = 1 AND sequence = {LAST}",),
    CUT,
    (*CUT, "UPDATE datasets SET epsilon = '3/20', questions = questions - 1 WHERE id = 1"),
    (*CUT, "DELETE FROM analysts"),
)


def test_the_next_question_notices_and_nothing_is_reserved(url: str, ledger: Ledger) -> None:
    # A question looks for a release, then reserves; its plan reads the totals.
    steps: tuple[Callable[[], object], ...] = (
        lambda: ledger.status("clicks"),
        lambda: ledger.find_release("clicks", "q9", analyst="ann"),
        lambda: ledger.reserve_once("clicks", TENTH, "q9", analyst="ann"),
        lambda: ledger.reserve("clicks", TENTH, "q9", analyst="ann"),
    )
    missed = []
    with intruder(url) as raw:
        before = {table: raw.table(table) for table in KEYS}
        for changes in CHANGES:
            for change in changes:
                raw.run(change)
            changed = raw.table("entries")
            for number, step in enumerate(steps):
                with suppress(LedgerTampered):
                    step()
                    missed.append((changes, number))
            assert raw.table("entries") == changed
            # Another data set is as it was.
            ledger.status("views")
            for table, (_, rows) in before.items():
                raw.run(f"DELETE FROM {table}")
                for row in rows:
                    raw.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
    assert missed == []
    ledger.reserve("clicks", TENTH, "q9", analyst="ann")


@pytest.mark.parametrize(
    ("column", "value", "sequence"),
    [
        ("release", '{"outcome": ["somebody"]}', 3),
        ("epsilon", "0", 3),
        ("question_key", None, 2),
        ("analyst", "bob", 2),
        ("epsilon", "1/100", 2),
    ],
)
def test_a_changed_entry_is_not_served(url: str, ledger: Ledger, column: str, value: str, sequence: int) -> None:
    ledger.set_data_version("clicks", "1")
    assert ledger.find_release("clicks", "q", analyst="ann") is not None
    wanted = "another" if column == "question_key" else "q"
    with intruder(url) as raw:
        changed = value or key_of(wanted)
        raw.run(f"UPDATE entries SET {column} = ? WHERE dataset_id = 1 AND sequence = ?", changed, sequence)
    with pytest.raises(LedgerTampered, match=f"entry {sequence} was changed"):
        ledger.find_release("clicks", wanted, analyst="ann")
    with pytest.raises(LedgerTampered, match=f"entry {sequence} was changed"):
        ledger.reserve_once("clicks", TENTH, wanted, analyst="ann")


def test_an_entry_beside_the_chain_is_not_believed(url: str, ledger: Ledger) -> None:
    """An entry with a right hash of its own, under a number that no entry has: bob would see a release for nothing."""
    ledger.set_data_version("clicks", "1")
    seen = Entry("clicks", -1, Kind.SEEN, "t", "p", "s", cost=TENTH, reservation=2, analyst="eve")
    seen = replace(seen, hash=seen.computed_hash())
    marks = ", ".join("?" * len(entry_to_row(seen)))
    with intruder(url) as raw:
        raw.run(f"INSERT INTO entries (dataset_id, {ENTRY_COLUMNS}) VALUES (1, {marks})", *entry_to_row(seen))
    with pytest.raises(LedgerTampered, match="clicks"):
        ledger.find_release("clicks", "q", analyst="eve")


def test_an_entry_that_commits_to_other_sums_is_found(url: str, ledger: Ledger) -> None:
    """Its hash is right, and so is all that repeats it: only the sums show that it commits to others."""
    forged = replace(ledger.history("clicks")[-1], state="0" * 64)
    forged = replace(forged, hash=forged.computed_hash())
    with intruder(url) as raw:
        raw.run(f"UPDATE entries SET state = ?, hash = ? WHERE dataset_id = 1 AND sequence = {LAST}",
                forged.state, forged.hash)  # fmt: skip
        raw.run("UPDATE datasets SET head = ? WHERE id = 1", forged.hash)
    problem = ledger.verify("clicks").problem
    assert str(problem) == "'clicks', entry 10: the sums that it commits to do not follow from the entries"


CAPPED = Budget(
    epsilon=1, delta="1e-6", items=77, questions=77, epsilon_per_analyst="0.5", max_questions=99, filter="gaussian"
)


def forge(url: str, last: Entry, facts: dict[str, Any]) -> None:
    """Other details in the last entry, and hashes to go with them."""
    forged = replace(last, details=canonical_json(facts))
    forged = replace(forged, hash=forged.computed_hash())
    with intruder(url) as raw:
        where = f"WHERE dataset_id = 1 AND sequence = {last.sequence}"
        raw.run(f"UPDATE entries SET details = ?, hash = ? {where}", forged.details, forged.hash)
        raw.run("UPDATE datasets SET head = ? WHERE id = 1", forged.hash)


@pytest.mark.parametrize("terms", ["filter", "filter_of_analyst"])
@pytest.mark.parametrize("kind", [Kind.RESERVED, Kind.SETTLED])
def test_a_chain_of_prices_that_does_not_follow_is_found(url: str, terms: str, kind: Kind) -> None:
    """All hashes are right, and the sums follow from the entries: the prices are not those of what was free."""
    with open_ledger(url) as opened:
        opened.register("clicks", CAPPED, source="s")
        reservation = opened.reserve("clicks", [Selection("0.1")] * 3, "q", analyst="ann")
        if kind is Kind.SETTLED:
            opened.settle(reservation, "{}", [Selection("0.1")])
        assert opened.verify().sound
        facts = opened.history("clicks")[-1].facts
        assert Fraction(facts[terms]["mu_squared"]) > Fraction(1, 1000)
        facts[terms]["mu_squared"] = "1/1000"
        forge(url, opened.history("clicks")[-1], facts)
        whose = "its terms" if terms == "filter" else "the terms of its analyst"
        assert str(opened.verify().problem).endswith(f"{whose} are not those of its events")


def test_events_that_no_such_account_carries_are_found(url: str) -> None:
    with open_ledger(url) as opened:
        opened.register("clicks", CAPPED, source="s")
        opened.reserve("clicks", [GaussianNoise(10)], "q", analyst="ann")
        facts = opened.history("clicks")[-1].facts
        facts["events"][0]["discrete"] = True
        forge(url, opened.history("clicks")[-1], facts)
        assert str(opened.verify().problem).endswith("its events have no price in this account")


def test_a_curator_reserves_and_reads_nothing_on_changed_sums(url: str, tmp_path: Path) -> None:
    table = tmp_path / "orders.csv"
    table.write_text("customer,product\n1,bread\n", encoding="utf-8")
    budget = Budget(epsilon=1, delta="1e-6", items=10, questions=5)
    with Curator(table, dataset="orders", user="customer", ledger=url, budget=budget) as curator, intruder(url) as raw:
        first = curator.top("product", k=1)
        (before,) = (row for row in raw.table("datasets")[1])
        raw.run("UPDATE datasets SET epsilon = '0', rho = '0', delta = '0'")
        for k in (1, 2):
            with pytest.raises(LedgerTampered, match="orders"):
                curator.top("product", k=k)
        columns = raw.table("datasets")[0]
        assert len(raw.table("entries")[1]) == before[columns.index("sequence")]
        for column in ("epsilon", "rho", "delta"):
            raw.run(f"UPDATE datasets SET {column} = ?", before[columns.index(column)])
        assert curator.top("product", k=1).outcome == first.outcome


def test_a_ledger_that_is_not_sound_can_be_opened_and_verified(url: str, ledger: Ledger) -> None:
    with intruder(url) as raw:
        raw.run("UPDATE datasets SET head = 'x' WHERE id = 1")
        dead = replace(this_process(), boot="earlier", token="")
        raw.run("UPDATE open_reservations SET owner = ?", dead.to_text())
    with open_ledger(url) as again:
        problem = again.verify().problem
        assert str(problem) == "'clicks', entry 10: head does not follow from the entries"


def test_a_reservation_cannot_be_opened_a_second_time(url: str, ledger: Ledger) -> None:
    reservation = ledger.reserve("clicks", Cost(epsilon="0.1", rho="0.005"), "q8", analyst="bob")
    ledger.settle(reservation, "{}", Cost(epsilon="0.1", rho="0.005"))
    with intruder(url) as raw:
        raw.run("INSERT INTO open_reservations VALUES (1, ?, ?)", reservation.number, "me")
    with pytest.raises(LedgerTampered, match="open reservations"):
        ledger.settle(reservation, '{"another": 1}', Cost(epsilon="0.1", rho="0.005"))


def test_a_ledger_put_back_to_yesterday_is_found_by_a_receipt(tmp_path: Path) -> None:
    path, backup = tmp_path / "ledger.db", tmp_path / "backup.db"
    cost = Cost(epsilon="0.5", rho="0.125")
    with open_ledger(path) as ledger:
        ledger.register("clicks", Budget(epsilon=1, items=2, questions=2), source="s")
        shutil.copy2(path, backup)
        entry = ledger.settle(ledger.reserve("clicks", cost, "q"), "{}", cost)
    shutil.copy2(backup, path)
    with open_ledger(path) as ledger:
        assert ledger.verify().sound
        report = ledger.verify(receipts=[entry.hash])
        assert str(report.problem) == f"the ledger: no entry has the hash {entry.hash!r} of a receipt"


@pytest.mark.parametrize("statement", ["UPDATE entries SET at = 'x'", "DELETE FROM entries"])
def test_the_database_refuses_to_change_entries(url: str, ledger: Ledger, statement: str) -> None:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
            connection.execute(statement)
        connection.close()
    else:
        with psycopg.connect(url) as server, pytest.raises(psycopg.errors.RaiseException, match="only ever added"):
            server.execute(f"SET search_path = podium_ledger; {statement}".encode())
        with psycopg.connect(url) as server, pytest.raises(psycopg.errors.RaiseException, match="only ever added"):
            server.execute("TRUNCATE podium_ledger.entries CASCADE")
    assert ledger.verify().sound
