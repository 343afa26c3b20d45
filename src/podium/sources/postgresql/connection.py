"""Connections to PostgreSQL: one for each question, with one transaction that sees one state of the data.

A single query runs in a READ ONLY transaction, so it works on a standby server and without write privileges.
Such a transaction cannot create a table, not even a temporary one. A question that needs its counts more than once
therefore runs in one that may write, keeps them in a temporary table, and is always rolled back: computing the counts
again for every query would double the work, and a materialised view would outlive the question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlglot import exp

from podium.histogram import Item
from podium.query.schema import Column, Kind
from podium.sources.isolation import BATCH, attempt, run_guarded, run_in_batches
from podium.sources.quiet import silence_loggers
from podium.sources.sql.dialect import Postgres

__all__ = ["DIALECT", "PostgreSQLSession", "Server"]

DIALECT = Postgres()

T = TypeVar("T")
_Connection = psycopg.Connection[tuple[Any, ...]]

_CONNECT_SECONDS = 10
_CURSOR = "podium_rows_to_come"
_TEMPORARY_FIRST = (
    "SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_temp', "
    "nullif(pg_catalog.current_setting('search_path'), '')), true)"
)
# Memory for what a question keeps, in blocks of 8 kB: a table that fits is not written to files and read again.
_TEMPORARY_MEMORY = (
    "SELECT pg_catalog.set_config('temp_buffers', greatest(setting::bigint, 16384)::text, true) "
    "FROM pg_catalog.pg_settings WHERE name = 'temp_buffers'"
)
_TYPES = {
    Kind.TEXT: "TEXT",
    Kind.INTEGER: "BIGINT",
    Kind.DECIMAL: "DECIMAL",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


class Server:
    """Where to connect, and how long a statement may take."""

    def __init__(self, conninfo: str, *, statement_timeout: float | None) -> None:
        self._parameters = conninfo_to_dict(conninfo)
        self._statement_timeout = statement_timeout

    @property
    def address(self) -> str:
        """Host and database: no user, no password."""
        parts = self._parameters
        host = parts.get("host") or parts.get("hostaddr") or "localhost"
        port = f":{parts['port']}" if parts.get("port") else ""
        return f"postgresql://{host}{port}/{parts.get('dbname') or ''}"

    def ask(self, action: Callable[[_Connection], T]) -> T | None:
        """The result of a query of the catalog, or None if the server cannot be reached."""

        def asked() -> T:
            connection = self._connect()
            try:
                connection.execute(self._begin("READ ONLY"))
                return action(connection)
            finally:
                _end(connection)

        return attempt(asked)

    @contextmanager
    def session(self, refused: Exception) -> Iterator[PostgreSQLSession]:
        """A connection for one question; ``refused`` is raised if the server cannot be reached."""
        connection = attempt(self._connect)
        if connection is None:
            raise refused
        try:
            yield PostgreSQLSession(connection, self._begin)
        finally:
            _end(connection)

    def _connect(self) -> _Connection:
        settings: dict[str, Any] = {
            "connect_timeout": _CONNECT_SECONDS,
            **self._parameters,
            "application_name": "podium",
            "client_encoding": "utf8",
        }
        with silence_loggers("psycopg"):
            return psycopg.connect("", autocommit=True, prepare_threshold=None, **settings)

    def _begin(self, access: str) -> bytes:
        """The transaction and its settings, none of which outlives it: a pooler may give the connection to others."""
        statements = [
            f"BEGIN ISOLATION LEVEL REPEATABLE READ {access}",
            "SET LOCAL TIME ZONE 'UTC'",
            "SET LOCAL standard_conforming_strings = on",
            # A function behind a view may raise notices that quote rows.
            "SET LOCAL client_min_messages = error",
            # Distinct pairs by sorting, as in COUNT(DISTINCT ...): there are more of them than the planner thinks, and
            # hashing them in the memory that servers usually allow takes twice as long.
            "SET LOCAL enable_hashagg = off",
            # A temporary table of ours is found before any other of its name.
            _TEMPORARY_FIRST,
        ]
        if self._statement_timeout is not None:
            statements.append(f"SET LOCAL statement_timeout = {math.ceil(1000 * self._statement_timeout)}")
        return "; ".join(statements).encode()


def _end(connection: _Connection) -> None:
    """Closing rolls back."""
    with suppress(psycopg.Error):
        connection.close()


class PostgreSQLSession:
    """One transaction; it begins with the first statement, which decides whether it must write."""

    def __init__(self, connection: _Connection, begin: Callable[[str], bytes]) -> None:
        self._connection = connection
        self._begin = begin
        self._begun = False

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return run_guarded(lambda: self._execute(query, "READ ONLY").fetchall())

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in batches: the server keeps what has not come yet."""
        run_guarded(lambda: self._execute(f"DECLARE {_CURSOR} NO SCROLL CURSOR FOR {query}", "READ ONLY"))
        yield from run_in_batches(
            lambda: self._execute(f"FETCH FORWARD {BATCH} FROM {_CURSOR}", "READ ONLY").fetchall()
        )
        run_guarded(lambda: self._execute(f"CLOSE {_CURSOR}", "READ ONLY"))

    def explain(self, query: str) -> None:
        """Plan a query."""
        run_guarded(lambda: self._execute(f"EXPLAIN {query}", "READ ONLY").fetchall())

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """A temporary table with the rows of a query; the planner learns how many pairs there are."""
        statements = [DIALECT.sql(DIALECT.keep(table, query))]
        if pairs:
            # With these statistics hashing is planned where it is faster, and only there. A tenth of the usual sample
            # tells how many pairs there are as well, in a fraction of the time.
            sample = "SET LOCAL default_statistics_target = 10"
            statements += [sample, f"ANALYZE {_quote(table)}", "SET LOCAL enable_hashagg = on"]
        for statement in statements:
            run_guarded(lambda statement=statement: self._execute(statement, "READ WRITE"))  # type: ignore[misc]

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A table of the caller's items."""
        run_guarded(lambda: self._load(table, columns, rows))

    def _load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        name = _quote(table)
        declared = ", ".join(f"{_quote(column.name)} {_TYPES[column.kind]}" for column in columns)
        self._execute(f"CREATE TEMPORARY TABLE {name} ({declared})", "READ WRITE")
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def _enlarge_temporary_memory(self) -> None:
        """As long as nobody used temporary tables on this connection, which a pooler may share; later it is refused."""
        self._connection.execute(b"SAVEPOINT podium_memory")
        try:
            self._connection.execute(_TEMPORARY_MEMORY.encode())
        except psycopg.Error:
            self._connection.execute(b"ROLLBACK TO SAVEPOINT podium_memory")

    def _execute(self, statement: str, access: str) -> psycopg.Cursor[tuple[Any, ...]]:
        if not self._begun:
            self._connection.execute(self._begin(access))
            self._begun = True
            if access == "READ WRITE":
                self._enlarge_temporary_memory()
        return self._connection.execute(statement.encode())


def _quote(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(DIALECT.name)
