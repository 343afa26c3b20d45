"""Connections to an embedded DuckDB that can do nothing but what podium asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import duckdb
from sqlglot import exp

from podium.errors import PodiumError, SourceUnavailable
from podium.histogram import Item
from podium.query.schema import Column
from podium.sources.isolation import guarded, interruptible
from podium.sources.sql.dialect import DuckDB

__all__ = [
    "ATTACHED",
    "DIALECT",
    "DuckDBSession",
    "engine_failed",
    "hide_progress",
    "locked_database",
    "opened",
    "values_are_readable",
]

T = TypeVar("T")

DIALECT = DuckDB()

ATTACHED = "data"
"""What an attached DuckDB file is called inside the connection."""


def locked_database(
    paths: Sequence[str], *, attach: bool, spill: str, resources: Mapping[str, str]
) -> duckdb.DuckDBPyConnection:
    """A database in memory that installs nothing, reads only these files, and cannot be reconfigured.

    ``spill`` is the folder for what does not fit into memory; ``resources`` are settings on memory and threads.
    """
    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "temp_directory": spill,
            **resources,
        },
    )
    hide_progress(connection)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    if attach:
        connection.execute(f"ATTACH {_quoted(paths[0])} AS {ATTACHED} (READ_ONLY)")
    else:
        connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, paths))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def hide_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """No progress bar, which a notebook would get, and which tells about rows before anything is paid."""
    # In a kernel without ipywidgets there is none, and DuckDB raises where the setting is as much as named.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
        connection.execute("SET enable_progress_bar = false")


def opened(action: Callable[[], T], refused: Callable[[], SourceUnavailable], name: str) -> T:
    """What the action returns; ``refused`` if DuckDB says that it cannot read this, and if it fails by itself, that."""
    try:
        return action()
    except PodiumError:
        raise
    except (duckdb.DataError, duckdb.ProgrammingError, duckdb.IOException):
        failed = refused()
    except Exception:  # noqa: BLE001 - whatever it is, it is not a property of the file
        failed = engine_failed(name)
    # Out here, because what DuckDB said may quote data, and would be the context of an error raised in there.
    raise failed


def engine_failed(name: str) -> SourceUnavailable:
    """That DuckDB failed, which says nothing about what it was given."""
    return SourceUnavailable(
        f"DuckDB failed before it could answer about source={name!r}; the reason need not lie in the data. It needs "
        "memory, and room on disk for what does not fit. Give it more, and check that the file is complete."
    )


def values_are_readable(cursor: duckdb.DuckDBPyConnection, query: str) -> bool | None:
    """Whether a query reads all that it touches; None if DuckDB failed for another reason than what it read."""
    try:
        interruptible(lambda: cursor.execute(query).fetchall(), cursor.interrupt)
    except (duckdb.DataError, duckdb.ProgrammingError):
        # Bytes that are not text, times without a microsecond.
        return False
    except Exception:  # noqa: BLE001 - no memory, no disk, a fault of its own; the text may quote data
        return None
    return True


def _quoted(text: str) -> str:
    return exp.Literal.string(text).sql("duckdb")


class DuckDBSession:
    """A cursor for one question; its temporary tables are its own, and gone when it is closed."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return guarded(lambda: self._run(lambda: self._cursor.execute(query).fetchall()))

    def explain(self, query: str) -> None:
        """Plan a query."""
        guarded(lambda: self._run(lambda: self._cursor.execute(f"EXPLAIN {query}").fetchall()))

    def keep(self, table: str, query: exp.Query) -> None:
        """A temporary table with the rows of a query."""
        statement = DIALECT.sql(DIALECT.keep(table, query))
        guarded(lambda: self._run(lambda: self._cursor.execute(statement)))

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A table of the caller's items."""
        from podium.sources.duckdb.arrow import item_table  # noqa: PLC0415 - slow to import

        items = item_table(columns, rows)
        guarded(lambda: self._cursor.register(table, items))

    def _run(self, action: Callable[[], T]) -> T:
        return interruptible(action, self._cursor.interrupt)
