"""Ledgers in PostgreSQL: for many processes on many machines.

Tables live in their own schema, ``podium_ledger``. A writer first locks the row of its data set, so writers of one
data set take turns and those of others do not wait. All settings are local to the transaction, so a connection
pooler in between makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict

from podium.errors import InvalidArgument, LedgerLocked, LedgerUnavailable
from podium.storage.backend import BrokenRule, Pool, Row, Session, Value

__all__ = ["SCHEMA", "PostgreSQLBackend"]

SCHEMA = "podium_ledger"

_MIGRATION_LOCK = 0x504F4449
_IDLE_SECONDS = 60
_BUSY = (pg.LockNotAvailable, pg.DeadlockDetected, pg.SerializationFailure, pg.QueryCanceled)
_BROKEN_RULES = (pg.IntegrityError, pg.RaiseException)

_Connection = psycopg.Connection[Row]


@dataclass(frozen=True, slots=True)
class PostgreSQLSession:
    """One transaction on one connection."""

    connection: _Connection
    lock_rows: str = " FOR UPDATE"
    dialect: str = "postgresql"

    def run(self, sql: str, parameters: Sequence[Value] = ()) -> None:
        """Execute a statement."""
        self._execute(sql, parameters)

    def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Execute a query and return all rows."""
        return self._execute(sql, parameters).fetchall()

    def _execute(self, sql: str, parameters: Sequence[Value]) -> psycopg.Cursor[Row]:
        # No statement of ours has a question mark or a percent sign inside a literal.
        if not parameters:
            return self.connection.execute(sql.encode())
        return self.connection.execute(sql.replace("?", "%s").encode(), parameters)


class PostgreSQLBackend:
    """A database on a server."""

    def __init__(self, url: str, *, timeout: float) -> None:
        self._url = url
        self._timeout = timeout
        try:
            self._name = _describe(conninfo_to_dict(url))
        except psycopg.ProgrammingError:
            raise InvalidArgument(
                "url", "postgresql://...", allowed="a URL like postgresql://user@host:5432/database"
            ) from None
        self._pool: Pool[_Connection] = Pool(self._connect, _Connection.close)

    @property
    def name(self) -> str:
        """Host and database."""
        return self._name

    def transaction(self, *, write: bool) -> AbstractContextManager[Session]:
        """One transaction. A reader sees one snapshot; a writer must lock the rows that it decides on."""
        # A writer sees what was committed before each statement; with the row locked, that is the latest state.
        mode = "READ COMMITTED READ WRITE" if write else "REPEATABLE READ READ ONLY"
        return self._transaction(f"BEGIN ISOLATION LEVEL {mode}", f"SET LOCAL search_path = {SCHEMA}")

    def migration(self) -> AbstractContextManager[Session]:
        """A transaction under one advisory lock, in which the schema exists."""
        return self._transaction(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
            f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})",
            f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
            f"SET LOCAL search_path = {SCHEMA}",
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    @contextmanager
    def _transaction(self, begin: str, *preparation: str) -> Iterator[Session]:
        with self._translate_errors():
            connection = self._begin(begin)
            try:
                for statement in preparation:
                    connection.execute(statement.encode())
                yield PostgreSQLSession(connection)
                connection.execute("COMMIT")
            except BaseException:
                # Closing rolls back, whatever state the connection is in.
                with suppress(psycopg.Error):
                    self._pool.drop(connection)
                raise
            self._pool.give_back(connection)

    def _begin(self, begin: str) -> _Connection:
        milliseconds = math.ceil(1000 * self._timeout)
        statements = (
            f"{begin}; SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = {milliseconds}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {1000 * _IDLE_SECONDS}"
        ).encode()
        connection = self._pool.take()
        try:
            connection.execute(statements)
        except psycopg.OperationalError:
            # The server may have closed an idle connection; nothing has been sent on it yet.
            with suppress(psycopg.Error):
                self._pool.drop(connection)
            connection = self._pool.take(fresh=True)
            connection.execute(statements)
        return connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except _BUSY:
            raise LedgerLocked(self.name, self._timeout) from None
        except _BROKEN_RULES:
            raise BrokenRule from None
        except psycopg.Error:
            raise LedgerUnavailable(
                f"ledger={self.name!r} could not be reached or used; what was not confirmed is not released. A ledger "
                "is a PostgreSQL database in which podium may create a schema. Check the server and the address."
            ) from None

    def _connect(self) -> _Connection:
        return psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=max(2, math.ceil(self._timeout)),
            prepare_threshold=None,
            application_name="podium ledger",
        )


def _describe(parts: dict[str, Any]) -> str:
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{host}{port}/{parts.get('dbname') or ''}"
