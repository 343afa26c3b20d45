"""The state of the service, apart from the ledger: tokens, sessions, jobs, data sets registered on the page.

It is a separate SQLite file, or tables beside the ledger in PostgreSQL, over the same connections. Losing it costs no
privacy: the ledger alone decides what may be released.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from podium.errors import LedgerUnavailable
from podium.storage.backend import Backend, Row, Session, Value
from podium.storage.sqlite import APPLICATION_ID, SQLiteBackend

__all__ = ["State", "now", "open_state"]

_TIMEOUT = 10.0
_VERSION = 4
_PLANS = """CREATE TABLE service_plans (
    id TEXT PRIMARY KEY, analyst TEXT NOT NULL, dataset TEXT NOT NULL, question TEXT NOT NULL, price TEXT NOT NULL,
    expires BIGINT NOT NULL)"""
_LINKS = """CREATE TABLE service_links (
    hash TEXT PRIMARY KEY, token TEXT NOT NULL REFERENCES service_tokens (id), target TEXT NOT NULL,
    expires BIGINT NOT NULL)"""
_TABLES = (
    "CREATE TABLE service_version (version BIGINT PRIMARY KEY)",
    """CREATE TABLE service_tokens (
        id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL, datasets TEXT NOT NULL,
        created BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT)""",
    """CREATE TABLE service_sessions (
        hash TEXT PRIMARY KEY, token TEXT NOT NULL REFERENCES service_tokens (id), expires BIGINT NOT NULL)""",
    """CREATE TABLE service_jobs (
        id TEXT PRIMARY KEY, dataset TEXT NOT NULL, analyst TEXT NOT NULL, question TEXT NOT NULL, state TEXT NOT NULL,
        entry TEXT, problem TEXT, owner TEXT NOT NULL, created BIGINT NOT NULL, token TEXT)""",
    "CREATE TABLE service_datasets (name TEXT PRIMARY KEY, definition TEXT NOT NULL, created BIGINT NOT NULL)",
    _PLANS,
    _LINKS,
)
_UPGRADES = {1: ("ALTER TABLE service_jobs ADD COLUMN token TEXT",), 2: (_PLANS,), 3: (_LINKS,)}
"""Statements that upgrade the tables of a version to the next. Earlier jobs have no token and stay hidden."""
_EXISTS = {
    "sqlite": "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'service_version'",
    "postgresql": "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'podium_ledger' AND tablename = 'service_version'",
}


def now() -> int:
    """The time in seconds since 1970."""
    return int(time.time())


class State:
    """The tables of one backend; thread-safe."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._prepared = False

    def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Run a query in its own transaction."""
        self._prepare()
        with self._backend.transaction(write=False) as session:
            return session.rows(sql, parameters)

    def run(self, sql: str, parameters: Sequence[Value] = ()) -> None:
        """Run a statement in its own transaction."""
        with self.write_transaction() as session:
            session.run(sql, parameters)

    def write_transaction(self) -> AbstractContextManager[Session]:
        """A write transaction."""
        self._prepare()
        return self._backend.transaction(write=True)

    def close(self) -> None:
        """Close the connections."""
        self._backend.close()

    def _prepare(self) -> None:
        """Create the tables on first use: a worker must start while its database is down."""
        if self._prepared:
            return
        with self._backend.migration() as session:
            ((exists,),) = session.rows(_EXISTS[session.dialect])
            if not exists:
                _create(session)
            ((version,),) = session.rows("SELECT MAX(version) FROM service_version")
            for known in range(version, _VERSION):
                for statement in _UPGRADES[known]:
                    session.run(statement)
                session.run("INSERT INTO service_version (version) VALUES (?)", (known + 1,))
        if version > _VERSION:
            raise LedgerUnavailable(
                f"state={self._backend.name!r} has version={version}. This podium knows versions up to {_VERSION}. "
                "Install a newer podium."
            )
        self._prepared = True


def open_state(url: str) -> State:
    """Open the state at a path or a PostgreSQL URL; it is created if absent."""
    if not url.startswith(("postgresql://", "postgres://")):
        return State(SQLiteBackend(Path(url), timeout=_TIMEOUT, create=True))
    from podium.storage.postgresql import PostgreSQLBackend  # noqa: PLC0415 - the driver is an extra

    return State(PostgreSQLBackend(url, timeout=_TIMEOUT))


def _create(session: Session) -> None:
    if session.dialect == "sqlite":
        # The same application id as a ledger: one file may hold both.
        session.run(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in _TABLES:
        session.run(statement)
    session.run("INSERT INTO service_version (version) VALUES (?)", (_VERSION,))
