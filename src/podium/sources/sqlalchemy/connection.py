"""Connections through SQLAlchemy that log nothing and leave no tables behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import NullPool
from sqlglot import exp

from podium.histogram import Item
from podium.query.schema import Column, Kind
from podium.sources.isolation import BATCH, attempt, run_guarded, run_in_batches
from podium.sources.quiet import silence_loggers
from podium.sources.sqlalchemy import sqlite_sql
from podium.sources.sqlalchemy.dialect import Flavour

__all__ = ["SQLAlchemySession", "ask", "open_session", "quiet_engine"]

T = TypeVar("T")

# The types with which values are bound.
_BOUND: dict[Kind, sa.types.TypeEngine[Any]] = {
    Kind.TEXT: sa.Text(),
    Kind.INTEGER: sa.BigInteger(),
    Kind.BOOLEAN: sa.Boolean(),
    Kind.DATE: sa.Date(),
    Kind.TIMESTAMP: sa.DateTime(),
    Kind.DECIMAL: sa.Numeric(),
}


def quiet_engine(location: str | sa.URL | sa.Engine) -> sa.Engine:
    """A separate engine that logs nothing, from a URL or with a given engine's pool settings."""
    if isinstance(location, sa.Engine):
        engine = sa.create_engine(location.url, pool=location.pool.recreate())
    else:
        engine = sa.create_engine(location, poolclass=NullPool)
    # SQLAlchemy logs statements at INFO and rows at DEBUG; no configuration reaches a logger outside the hierarchy.
    silent = logging.Logger("podium.silent", level=logging.CRITICAL + 1)  # noqa: LOG001
    engine.logger = silent
    engine.pool.logger = silent
    if engine.dialect.name == "sqlite":
        event.listen(engine, "do_connect", _only_read)
        event.listen(engine, "connect", _equip)
    return engine


def _only_read(_dialect: Any, _record: Any, arguments: list[Any], keywords: dict[str, Any]) -> None:
    """Open the file only if it is there, and without writing to it."""
    if arguments and arguments[0] != ":memory:" and not str(arguments[0]).startswith("file:"):
        arguments[0] = Path(arguments[0]).absolute().as_uri() + "?mode=ro"
        keywords["uri"] = True


def _equip(connection: Any, _record: Any) -> None:
    """Register the functions that SQLite lacks."""
    for name, function in sqlite_sql.FUNCTIONS.items():
        connection.create_function(name, 1, function, deterministic=True)


def ask(engine: sa.Engine, action: Callable[[sa.Connection], T]) -> T | None:
    """The result of a query of the catalog, or None if the server cannot be reached."""

    def asked() -> T:
        with silence_loggers("psycopg"), engine.connect() as connection:
            return action(connection)

    return attempt(asked)


@contextmanager
def open_session(engine: sa.Engine, flavour: Flavour, refused: Exception) -> Iterator[SQLAlchemySession]:
    """A connection for one question; raises ``refused`` if the server cannot be reached."""
    connection = attempt(lambda: _connect(engine, flavour))
    if connection is None:
        raise refused
    try:
        yield SQLAlchemySession(connection, flavour)
    finally:
        with suppress(Exception):
            connection.close()


def _connect(engine: sa.Engine, flavour: Flavour) -> sa.Connection:
    with silence_loggers("psycopg"):
        connection = engine.connect()
    try:
        offered = engine.dialect.get_isolation_level_values(connection.connection.dbapi_connection)  # type: ignore[arg-type]
        strict = [level for level in flavour.isolation if level in offered]
        if strict:
            connection = connection.execution_options(isolation_level=strict[0])
        # Temporary tables must not reappear in a connection that is reused.
        connection.detach()
        for statement in flavour.prepare:
            _execute(connection, statement).close()
    except BaseException:
        connection.close()
        raise
    return connection


def _execute(connection: sa.Connection, statement: str) -> Any:
    """Execute through the driver itself, which leaves percent signs and colons alone without parameters."""
    cursor = connection.connection.cursor()
    cursor.execute(statement)
    return cursor


class SQLAlchemySession:
    """One transaction; closing the connection ends it and removes the temporary tables."""

    def __init__(self, connection: sa.Connection, flavour: Flavour) -> None:
        self._connection = connection
        self._flavour = flavour

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""

        def fetched() -> Sequence[tuple[Any, ...]]:
            cursor = _execute(self._connection, query)
            rows = [tuple(row) for row in cursor.fetchall()]
            cursor.close()
            return rows

        return run_guarded(fetched)

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in batches; some drivers hold all of them nevertheless."""
        cursor = run_guarded(lambda: _execute(self._connection, query))
        yield from run_in_batches(lambda: [tuple(row) for row in cursor.fetchmany(BATCH)])
        run_guarded(cursor.close)

    def explain(self, query: str) -> None:
        """Plan a query, if the engine is known to do so without reading rows."""
        if self._flavour.explain is not None:
            self.fetch(f"{self._flavour.explain} {query}")

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """A temporary table with the rows of a query."""
        self._run(self._flavour.dialect.keep(table, query))

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A table of the caller's items."""
        name = exp.to_table(table)
        types = map(self._flavour.loaded_column, columns)
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        self._run(exp.Create(this=exp.Schema(this=name, expressions=list(types)), kind="TABLE", properties=temporary))
        if rows:
            target = sa.table(table, *(sa.column(column.name, _BOUND[column.kind]) for column in columns))
            names = [column.name for column in columns]
            run_guarded(
                lambda: self._connection.execute(
                    sa.insert(target), [dict(zip(names, row, strict=True)) for row in rows]
                ).close()
            )

    def _run(self, statement: exp.Expr) -> None:
        text = self._flavour.dialect.sql(statement)
        run_guarded(lambda: _execute(self._connection, text).close())
