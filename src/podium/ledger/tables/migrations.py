"""The tables of a ledger, and the migrations to the current version.

``entries`` is the source of truth. It is append-only; triggers refuse anything else. The other tables cache what
follows from it, so that a question need not read all of it; verification recomputes them. A migration adds columns
and tables and never touches an entry.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from podium.errors import LedgerUnavailable
from podium.ledger.account import Contradiction
from podium.ledger.tables.rows import stored_integer
from podium.ledger.tables.store import rebuild_analysts
from podium.randomness import system_bits
from podium.storage.backend import Backend, Session
from podium.storage.sqlite import APPLICATION_ID

__all__ = ["LATEST", "migrate"]

_TABLES_1 = (
    "CREATE TABLE migrations (version BIGINT PRIMARY KEY, applied_at TEXT NOT NULL)",
    "CREATE TABLE ledger (id BIGINT PRIMARY KEY CHECK (id = 1), genesis TEXT NOT NULL, registry_head TEXT NOT NULL)",
    """CREATE TABLE datasets (
        id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, source TEXT NOT NULL, totals TEXT NOT NULL,
        data_version TEXT NOT NULL, failures_allowed BIGINT NOT NULL,
        epsilon TEXT NOT NULL, unbounded BIGINT NOT NULL, rho TEXT NOT NULL, delta TEXT NOT NULL,
        failures BIGINT NOT NULL, questions BIGINT NOT NULL, raises BIGINT NOT NULL,
        sequence BIGINT NOT NULL, head TEXT NOT NULL)""",
    """CREATE TABLE entries (
        dataset_id BIGINT NOT NULL REFERENCES datasets (id), sequence BIGINT NOT NULL, kind TEXT NOT NULL,
        at TEXT NOT NULL, epsilon TEXT, rho TEXT, delta TEXT, reservation BIGINT, analyst TEXT, question TEXT,
        question_key TEXT, data_version TEXT, idempotency_key TEXT, owner TEXT, details TEXT, release TEXT,
        salt TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL,
        PRIMARY KEY (dataset_id, sequence))""",
    """CREATE UNIQUE INDEX entries_closed_once ON entries (dataset_id, reservation)
        WHERE kind IN ('settled', 'forfeited')""",
    "CREATE UNIQUE INDEX entries_asked_once ON entries (dataset_id, idempotency_key) WHERE idempotency_key IS NOT NULL",
    """CREATE TABLE open_reservations (
        dataset_id BIGINT NOT NULL, sequence BIGINT NOT NULL, owner TEXT NOT NULL,
        PRIMARY KEY (dataset_id, sequence),
        FOREIGN KEY (dataset_id, sequence) REFERENCES entries (dataset_id, sequence))""",
)

_TABLES_2 = (
    """CREATE TABLE analysts (
        dataset_id BIGINT NOT NULL REFERENCES datasets (id), analyst TEXT NOT NULL,
        epsilon TEXT NOT NULL, unbounded BIGINT NOT NULL, rho TEXT NOT NULL, delta TEXT NOT NULL,
        PRIMARY KEY (dataset_id, analyst))""",
    "CREATE INDEX entries_question ON entries (dataset_id, question_key) WHERE kind = 'reserved'",
    "CREATE UNIQUE INDEX entries_seen_once ON entries (dataset_id, reservation, analyst) WHERE kind = 'seen'",
)

_REFUSE = "BEGIN SELECT RAISE(ABORT, 'entries are only ever added'); END"

_TRIGGERS = {
    "sqlite": (
        f"CREATE TRIGGER entries_keep BEFORE UPDATE ON entries {_REFUSE}",
        f"CREATE TRIGGER entries_stay BEFORE DELETE ON entries {_REFUSE}",
        f"PRAGMA application_id = {APPLICATION_ID}",
    ),
    "postgresql": (
        """CREATE FUNCTION entries_are_final() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'entries are only ever added'; END $$""",
        """CREATE TRIGGER entries_keep BEFORE UPDATE OR DELETE ON entries
        FOR EACH ROW EXECUTE FUNCTION entries_are_final()""",
        """CREATE TRIGGER entries_stay BEFORE TRUNCATE ON entries
        FOR EACH STATEMENT EXECUTE FUNCTION entries_are_final()""",
    ),
}

_EXISTS = {
    "sqlite": "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'migrations'",
    "postgresql": "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'podium_ledger' AND tablename = 'migrations'",
}


def _to_1(session: Session) -> None:
    for statement in (*_TABLES_1, *_TRIGGERS[session.dialect]):
        session.run(statement)
    # Chains of different ledgers start differently, so an entry cannot be copied from one to another.
    genesis = system_bits().read(32).hex()
    session.run("INSERT INTO ledger (id, genesis, registry_head) VALUES (1, ?, ?)", (genesis, genesis))


def _to_2(session: Session) -> None:
    """Add the sums of each analyst, for caps, and an index that finds stored releases."""
    for statement in _TABLES_2:
        session.run(statement)


def _to_3(session: Session) -> None:
    """New entries commit to the sums after them; existing ones keep their hashes and commit to nothing."""
    session.run("ALTER TABLE entries ADD COLUMN state TEXT")


def _to_4(session: Session) -> None:
    """Count failures per analyst; existing data sets keep one count for all."""
    session.run("ALTER TABLE analysts ADD COLUMN failures BIGINT NOT NULL DEFAULT 0")


def _to_5(session: Session) -> None:
    """A data set may have several tables; existing ones have the one that they were registered for."""
    session.run("ALTER TABLE datasets ADD COLUMN tables TEXT")


def _to_6(session: Session) -> None:
    """An account may have a Gaussian filter, which charges in a measure of its own; existing ones do not."""
    session.run("ALTER TABLE datasets ADD COLUMN mu_squared TEXT")
    session.run("ALTER TABLE analysts ADD COLUMN mu_squared TEXT")


@dataclass(frozen=True, slots=True)
class _Migration:
    version: int
    apply: Callable[[Session], None]


_MIGRATIONS = (
    _Migration(1, _to_1),
    _Migration(2, _to_2),
    _Migration(3, _to_3),
    _Migration(4, _to_4),
    _Migration(5, _to_5),
    _Migration(6, _to_6),
)
_ANALYSTS_SINCE = 2

LATEST = _MIGRATIONS[-1].version


def migrate(backend: Backend, *, create: bool) -> None:
    """Migrate the ledger to the current version; create it if it is missing and ``create`` is True."""
    try:
        _migrate(backend, create=create)
    except Contradiction as contradiction:
        raise LedgerUnavailable(
            f"ledger={backend.name!r} cannot be brought to version {LATEST}: {contradiction}. Only podium may write to "
            "a ledger. Put back a backup, and compare it with the hashes in receipts."
        ) from None


def _migrate(backend: Backend, *, create: bool) -> None:
    with backend.transaction(write=False) as session:
        version = _version(session)
    if version == 0 and not create:
        raise LedgerUnavailable(
            f"ledger={backend.name!r} has no ledger in it. It is made when a data set is registered. "
            "Check the address, or register a data set."
        )
    if version > LATEST:
        raise LedgerUnavailable(
            f"ledger={backend.name!r} has version={version}. This podium knows versions up to {LATEST}. "
            "Install a newer podium."
        )
    if version < LATEST:
        _upgrade(backend)


def _upgrade(backend: Backend) -> None:
    with backend.migration() as session:
        # Another process may have migrated while we waited.
        version = _version(session)
        for migration in _MIGRATIONS:
            if migration.version > version:
                migration.apply(session)
                now = dt.datetime.now(dt.UTC).isoformat()
                session.run("INSERT INTO migrations (version, applied_at) VALUES (?, ?)", (migration.version, now))
        if version < _ANALYSTS_SINCE:
            # Only now: entries are read with the columns of the current version.
            rebuild_analysts(session)


def _version(session: Session) -> int:
    ((exists,),) = session.rows(_EXISTS[session.dialect])
    if not exists:
        return 0
    ((version,),) = session.rows("SELECT COALESCE(MAX(version), 0) FROM migrations")
    return stored_integer(version)
