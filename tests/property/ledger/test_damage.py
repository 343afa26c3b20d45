"""Ledgers that were damaged: whatever the file says, podium answers in its own words, and never hangs."""

from __future__ import annotations

import atexit
import functools
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.damage import HOSTILE_TEXTS

from podium.errors import LedgerError, PodiumError
from podium.ledger import Budget, Ledger, open_ledger
from podium.privacy import Cost, Selection

BUDGET = Budget(epsilon=1, delta="1e-6", items=10, questions=10)
CAPPED = Budget(epsilon=1, items=10, questions=10, epsilon_per_analyst="0.5")
TENTH = Cost(epsilon="0.1", rho="0.005")
VERSION_1 = Path(__file__).parents[2] / "integration" / "ledger" / "version_1.sql"

cells = st.one_of(
    st.none(),
    st.integers(-2, 12),
    st.sampled_from([2**62, -(2**63)]),
    st.floats(allow_nan=False),
    st.binary(max_size=4),
    st.sampled_from([text for text in HOSTILE_TEXTS if text.isascii() and "\x00" not in text]),
    st.sampled_from(
        ["reserved", "settled", "forfeited", "seen", "raised", '{"totals": {}}', '{"events": [1]}', "[" * 9999]
    ),
)
"""What somebody might write into a column."""


@functools.cache
def folder() -> Path:
    """Where this process damages its ledgers."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


@functools.cache
def sound() -> bytes:
    """A ledger with every kind of entry, and one open reservation."""
    path = folder() / "sound.db"
    with open_ledger(path) as ledger:
        for name, budget in (("clicks", BUDGET), ("views", CAPPED)):
            ledger.register(name, budget, source=name)
            for analyst in ("ann", "bob"):
                reservation = ledger.reserve(name, TENTH, analyst, analyst=analyst)
                ledger.settle(reservation, "{}", Cost(epsilon="0.1", rho="0.001"))
        ledger.find_release("views", "ann", analyst="bob")
        ledger.reserve("clicks", [Selection("0.1")], "open", idempotency_key="once")
        ledger.forfeit(ledger.reserve("clicks", TENTH, "lost"))
        ledger.unlock("clicks")
        ledger.set_data_version("clicks", "2")
        ledger.raise_total("clicks", Budget(epsilon=2, delta="1e-6", items=10, questions=10))
        assert ledger.verify().sound
    return path.read_bytes()


@functools.cache
def old() -> bytes:
    """A ledger of version 1."""
    path = folder() / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    connection.close()
    return path.read_bytes()


def put(content: bytes) -> Path:
    path = folder() / "damaged.db"
    for earlier in (path, path.with_name("damaged.db-journal")):
        earlier.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_bytes(content)
    return path


def use(path: Path) -> None:
    """Do everything once; each thing works or is refused by name."""
    try:
        ledger = open_ledger(path, timeout=0.5, create=False)
    except PodiumError:
        return
    with ledger:
        for action in actions(ledger):
            with suppress(PodiumError):
                action()


def actions(ledger: Ledger) -> list[Callable[[], object]]:
    reserved: list[Any] = []
    return [
        ledger.datasets,
        lambda: ledger.verify(receipts=["0" * 64]),
        lambda: ledger.verify("clicks"),
        lambda: ledger.status("clicks").to_dict(),
        lambda: ledger.status("views").to_dict(),
        lambda: [entry.to_dict() for entry in ledger.history("clicks")],
        lambda: ledger.find_release("clicks", "ann", answers=lambda _: True),
        lambda: ledger.find_release("views", "bob", analyst="ann"),
        lambda: ledger.reserve("clicks", TENTH, "again", idempotency_key="once"),
        lambda: reserved.append(ledger.reserve("clicks", TENTH, "new", analyst="ann")),
        lambda: ledger.settle(reserved[0], "{}", TENTH) if reserved else None,
        lambda: ledger.raise_total("clicks", Budget(epsilon=3, delta="1e-6", items=10, questions=10)),
        lambda: ledger.register("third", BUDGET, source="third"),
        lambda: ledger.recover(force=True),
    ]


@settings(max_examples=30)
@given(st.data())
def test_flipped_and_missing_bytes(data: st.DataObject) -> None:
    content = bytearray(sound())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, 120))
        content[place] = data.draw(st.integers(0, 255))
    if data.draw(st.integers(0, 4)) == 0:
        del content[data.draw(st.integers(0, len(content))) :]
    use(put(bytes(content)))


def opened(content: bytes) -> tuple[Path, sqlite3.Connection, list[str]]:
    """A ledger that may be damaged, and its tables."""
    path = put(content)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys=OFF")
    return (
        path,
        connection,
        sorted(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")),
    )


@settings(max_examples=40)
@given(st.sampled_from([sound, old]), st.data())
def test_changed_cells(which: Callable[[], bytes], data: st.DataObject) -> None:
    path, connection, tables = opened(which())
    connection.execute("DROP TRIGGER entries_keep")
    for _ in range(data.draw(st.integers(1, 2))):
        table = data.draw(st.sampled_from(tables))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = data.draw(st.sampled_from(columns))
        row = data.draw(st.integers(0, 14))
        with suppress(sqlite3.IntegrityError):
            connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE rowid IN (SELECT rowid FROM {table} LIMIT 1 OFFSET ?)",
                (data.draw(cells), row),
            )
    connection.close()
    use(path)


@settings(max_examples=40)
@given(st.sampled_from([sound, old]), st.data())
def test_another_schema(which: Callable[[], bytes], data: st.DataObject) -> None:
    path, connection, tables = opened(which())
    table = data.draw(st.sampled_from(tables))
    what = data.draw(st.sampled_from([
        f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME TO elsewhere", "CREATE TABLE analysts (other TEXT)",
        "INSERT INTO migrations VALUES (99, 'x')", "INSERT INTO migrations VALUES (3.5, 'x')", "DELETE FROM migrations",
        "INSERT INTO migrations VALUES ('many', 'x')", "UPDATE migrations SET version = -version", "DELETE FROM ledger",
        "DELETE FROM datasets", "PRAGMA user_version = 7", "PRAGMA application_id = 1", "DROP TRIGGER entries_stay",
        "CREATE TABLE analysts AS SELECT 1", f"CREATE VIEW more AS SELECT * FROM {table}",
        "CREATE TRIGGER nothing BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
    ]))  # fmt: skip
    with suppress(sqlite3.Error):
        connection.execute(what)
    connection.close()
    use(path)


@given(st.binary(max_size=300))
def test_a_file_that_is_no_ledger_is_refused_and_kept(content: bytes) -> None:
    path = put(content)
    if content:
        with pytest.raises(LedgerError):
            open_ledger(path, timeout=0.5)
        assert path.read_bytes() == content
    use(path)
