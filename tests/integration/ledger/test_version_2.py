"""A ledger whose entries commit to nothing goes on: they stay as they are, what follows from them is computed again.

It has "orders", with a paid release of a curator, and "clicks", with caps, one entry of every kind but an unlocking,
and an open reservation of a process far away.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.ledger.restored import restored

from podium.curator import Curator
from podium.errors import DatasetLocked, InvalidArgument, LedgerTampered
from podium.ledger import Budget, Entry, Kind, Ledger, open_ledger
from podium.ledger.budget import RULES
from podium.ledger.tables.migrations import LATEST
from podium.ledger.tables.rows import ENTRY_COLUMNS, entry_to_row
from podium.privacy import Cost

VERSION_2 = Path(__file__).with_name("version_2.sql")
TENTH = Cost(epsilon="0.1", rho="0.005")
RELEASED = ("bread", "cake")
ENTRY = "b8e9ce27c687d65118b8e2c70701928b676fa905e743dbbe47d81ddec91f1ea0"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return restored(tmp_path / "old.db", VERSION_2)


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_text("customer,product\n" + "".join(f"{user},bread\n" for user in range(99)), encoding="utf-8")
    return path


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def changed(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER entries_keep")
    connection.execute(sql)
    connection.commit()
    connection.close()


def test_it_is_sound_and_its_entries_stay_as_they_are(old: Path) -> None:
    kept = "SELECT dataset_id, sequence, details, release, salt, previous, hash FROM entries ORDER BY 1, 2"
    before = rows(old, kept)
    with open_ledger(old) as ledger:
        assert rows(old, "SELECT MAX(version) FROM migrations") == [(LATEST,)]
        report = ledger.verify(receipts=[ENTRY])
        assert report.problem is None
        assert report.entries == len(before)
        assert (ledger.status("orders").questions_asked, ledger.status("clicks").failures) == (1, 1)
    assert rows(old, kept) == before


def test_a_paid_release_is_told_again_and_new_questions_go_on(old: Path, orders: Path) -> None:
    with (
        open_ledger(old) as ledger,
        Curator(orders, dataset="orders", user="customer", ledger=ledger, force=True) as curator,
    ):
        again = curator.top("product", k=3)
        assert (again.items, again.paid.events, again.paid.entry) == (RELEASED, (), ENTRY)
        assert curator.top("product", k=1).items == RELEASED[:1]
        assert len(ledger.history("orders")) == 3
        new = curator.top("product", k=4)
        assert [entry.kind for entry in ledger.history("orders")[3:]] == [Kind.RESERVED, Kind.SETTLED]
        assert ledger.verify(receipts=[again, new, curator.top("product", k=2)]).problem is None
    # From now on entries commit to the sums; those before do not.
    states = [state for (state,) in rows(old, "SELECT state FROM entries WHERE dataset_id = 1 ORDER BY sequence")]
    assert states[:3] == [None, None, None]
    assert None not in states[3:]


def test_every_kind_of_entry_may_be_the_first_that_commits(old: Path) -> None:
    pristine = old.read_bytes()
    actions: tuple[Callable[[Ledger], object], ...] = (
        lambda ledger: ledger.reserve("clicks", TENTH, "new", analyst="ann"),
        lambda ledger: ledger.recover(force=True),
        lambda ledger: ledger.find_release("clicks", "q", "1", analyst="eve"),
        lambda ledger: ledger.raise_total("clicks", Budget(epsilon=3, items=10, questions=10, epsilon_per_analyst=1)),
        lambda ledger: ledger.set_data_version("clicks", "3"),
        lambda ledger: ledger.unlock("clicks"),
    )
    for number, first in enumerate(actions):
        path = old.with_name(f"{number}.db")
        path.touch(0o600)
        path.write_bytes(pristine)
        with open_ledger(path) as ledger:
            first(ledger)
            ledger.reserve("clicks", TENTH, "next", analyst="bob")
            assert ledger.verify().problem is None


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE datasets SET epsilon = '0' WHERE name = 'clicks'",
        "UPDATE analysts SET epsilon = '0' WHERE analyst = 'bob'",
        "DELETE FROM open_reservations",
        "UPDATE entries SET release = '{}' WHERE kind = 'settled'",
        "UPDATE entries SET analyst = 'eve' WHERE analyst = 'bob' AND kind = 'seen'",
    ],
)
def test_its_sums_are_not_trusted_either(old: Path, change: str) -> None:
    changed(old, change)
    with open_ledger(old) as ledger:
        with pytest.raises(LedgerTampered, match="clicks"):
            ledger.reserve("clicks", TENTH, "new", analyst="bob")
        with pytest.raises(LedgerTampered, match="clicks"):
            ledger.find_release("clicks", "q", "1", analyst="ann")


def test_an_entry_that_commits_to_nothing_may_follow_one_that_does(old: Path) -> None:
    """An older podium may still have the ledger open: what it writes is taken, after a walk of the whole chain."""
    with open_ledger(old) as ledger:
        ledger.unlock("clicks")
        last = ledger.history("clicks")[-1]
    entry = Entry("clicks", last.sequence + 1, Kind.RELABELLED, last.at, last.hash, last.salt, data_version="3")
    entry = replace(entry, hash=entry.computed_hash())
    connection = sqlite3.connect(old)
    marks = ", ".join("?" * len(entry_to_row(entry)))
    connection.execute(f"INSERT INTO entries (dataset_id, {ENTRY_COLUMNS}) VALUES (2, {marks})", entry_to_row(entry))
    values = (entry.data_version, entry.sequence, entry.hash)
    connection.execute("UPDATE datasets SET data_version = ?, sequence = ?, head = ? WHERE id = 2", values)
    connection.commit()
    connection.close()
    with open_ledger(old) as ledger:
        assert ledger.status("clicks").data_version == "3"
        ledger.reserve("clicks", TENTH, "new", analyst="ann")
        assert ledger.verify().problem is None


def test_data_sets_keep_the_rules_that_they_were_registered_under(old: Path) -> None:
    with open_ledger(old) as ledger:
        totals = ledger.status("clicks").totals
        assert (totals.rules, totals.max_questions, totals.minimum_price) == (1, None, Fraction(0))
        # No minimum price, no limit on questions, and failures lock the data set for everybody.
        ledger.raise_total("clicks", Budget(epsilon=3, items=10, questions=10, epsilon_per_analyst=3))
        for number in range(120):
            ledger.reserve("clicks", Cost(epsilon="1e-9", rho="1e-18"), f"q{number}", analyst="ann")
        ledger.forfeit(ledger.reserve("clicks", TENTH, "fails", analyst="ann"))
        with pytest.raises(InvalidArgument, match="an analyst whose questions"):
            ledger.unlock("clicks", analyst="ann")
        ledger.forfeit(ledger.reserve("clicks", TENTH, "fails too", analyst="bob"))
        status = ledger.status("clicks")
        assert (status.locked, status.failures, status.failures_of) == (True, 3, {})
        with pytest.raises(DatasetLocked):
            ledger.reserve("clicks", TENTH, "q", analyst="eve")
        limited = Budget(epsilon=3, items=10, questions=10, epsilon_per_analyst=3, max_questions=500)
        with pytest.raises(InvalidArgument, match="registered under rules that have none"):
            ledger.raise_total("clicks", limited)
        # New data sets in the same ledger have the present rules.
        ledger.register("new", Budget(epsilon=3, items=10, questions=10), source="new")
        assert ledger.status("new").totals.rules == RULES
        assert ledger.verify().problem is None


@pytest.mark.parametrize(
    ("cost", "facts", "what"),
    [
        (TENTH, None, "it is one question too many"),
        (Cost(epsilon="1e-9", rho="1e-18"), None, "it reserves less than the minimum price"),
        (TENTH, '{"schedule":"daily"}', None),
    ],
)
def test_verification_applies_the_rules_of_each_data_set(
    tmp_path: Path, cost: Cost, facts: str | None, what: str | None
) -> None:
    """Entries that a program without these rules wrote, with right hashes."""
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        most = 1 if what is None or "many" in what else 2
        ledger.register("clicks", Budget(epsilon=3, items=10, questions=1, max_questions=most), source="s")
        ledger.reserve("clicks", TENTH, "q")
        last = ledger.history("clicks")[-1]
        held = ledger.status("clicks").reserved + cost
    entry = replace(last, sequence=3, previous=last.hash, cost=cost, details=facts, state=None)
    entry = replace(entry, hash=entry.computed_hash())
    connection = sqlite3.connect(path)
    marks = ", ".join("?" * len(entry_to_row(entry)))
    connection.execute(f"INSERT INTO entries (dataset_id, {ENTRY_COLUMNS}) VALUES (1, {marks})", entry_to_row(entry))
    connection.execute("INSERT INTO open_reservations VALUES (1, 3, ?)", (entry.owner,))
    values = (str(held.epsilon), str(held.rho), 1 + (facts is None), entry.hash)
    connection.execute("UPDATE datasets SET epsilon = ?, rho = ?, questions = ?, sequence = 3, head = ?", values)
    connection.commit()
    connection.close()
    with open_ledger(path) as ledger:
        problem = ledger.verify().problem
        assert (None if problem is None else problem.what) == what
