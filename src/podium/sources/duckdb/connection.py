"""Locked-down connections to an embedded DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import duckdb
from sqlglot import exp

from podium.errors import PodiumError, SourceUnavailable
from podium.histogram import Item
from podium.query.schema import Column
from podium.sources.isolation import BATCH, run_guarded, run_in_batches, run_interruptibly
from podium.sources.sql.dialect import DuckDB

__all__ = [
    "ATTACHED",
    "DIALECT",
    "DuckDBSession",
    "engine_failed",
    "hide_progress",
    "open_locked_database",
    "open_or_refuse",
    "values_are_readable",
]

T = TypeVar("T")

DIALECT = DuckDB()

ATTACHED = "data"
"""The name of an attached DuckDB file inside the connection."""


def open_locked_database(
    paths: Sequence[str], beside: Sequence[str] = (), *, attach: bool, spill: str, resources: Mapping[str, str]
) -> duckdb.DuckDBPyConnection:
    """A database in memory that installs nothing, reads only these files, and cannot be reconfigured.

    ``beside`` are further files, of tables that are joined.

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
    # It turns "the first few of each user" into lists, which takes three times as long as sorting.
    connection.execute("SET disabled_optimizers = 'top_n_window_elimination'")
    if attach:
        connection.execute(f"ATTACH {_quote(paths[0])} AS {ATTACHED} (READ_ONLY)")
    read = [*([] if attach else paths), *beside]
    if read or not attach:
        connection.execute(f"SET allowed_paths = [{', '.join(map(_quote, read))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def hide_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn off the progress bar of notebooks, which reveals something about rows before anything is paid."""
    # In a kernel without ipywidgets there is none, and DuckDB raises if the setting is set at all.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
        connection.execute("SET enable_progress_bar = false")


def open_or_refuse(action: Callable[[], T], refused: Callable[[], SourceUnavailable], name: str) -> T:
    """The action's result; raises ``refused()`` if DuckDB cannot read the source, ``engine_failed`` if DuckDB fails."""
    try:
        return action()
    except PodiumError:
        raise
    except (duckdb.DataError, duckdb.ProgrammingError, duckdb.IOException):
        failed = refused()
    except duckdb.ResourceInUseException:
        failed = SourceUnavailable(
            f"source={name!r} is open in this process already, and DuckDB opens a file only once. Pass that connection "
            "in place of the file, with table=..., or close it first."
        )
    except Exception:  # noqa: BLE001 - whatever it is, it is not a property of the file
        failed = engine_failed(name)
    # Raised outside the handler: DuckDB's exception may quote data, and would become the context.
    raise failed


def engine_failed(name: str) -> SourceUnavailable:
    """The error for a failure of DuckDB itself, which says nothing about the source."""
    return SourceUnavailable(
        f"DuckDB failed before it could answer about source={name!r}; the reason need not lie in the data. It needs "
        "memory, and disk space for what does not fit. Give it more, and check that the file is complete."
    )


def values_are_readable(cursor: duckdb.DuckDBPyConnection, query: str) -> bool | None:
    """Whether DuckDB can read every value that a query touches; None if it failed for another reason."""
    try:
        run_interruptibly(lambda: cursor.execute(query).fetchall(), cursor.interrupt)
    except (duckdb.DataError, duckdb.ProgrammingError):
        # Bytes that are not text, or times that microseconds cannot represent.
        return False
    except Exception:  # noqa: BLE001 - no memory, no disk, a fault of its own; the text may quote data
        return None
    return True


def _quote(text: str) -> str:
    return exp.Literal.string(text).sql("duckdb")


class DuckDBSession:
    """A cursor for one question; its temporary tables are private and removed when it is closed."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return run_guarded(lambda: self._run(lambda: self._cursor.execute(query).fetchall()))

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in batches."""
        run_guarded(lambda: self._run(lambda: self._cursor.execute(query)))
        return run_in_batches(lambda: self._run(lambda: self._cursor.fetchmany(BATCH)))

    def explain(self, query: str) -> None:
        """Plan a query."""
        run_guarded(lambda: self._run(lambda: self._cursor.execute(f"EXPLAIN {query}").fetchall()))

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """A temporary table with the rows of a query."""
        statement = DIALECT.sql(DIALECT.keep(table, query))
        run_guarded(lambda: self._run(lambda: self._cursor.execute(statement)))

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A table of the caller's items."""
        from podium.sources.duckdb.arrow import item_table  # noqa: PLC0415 - slow to import

        items = item_table(columns, rows)
        run_guarded(lambda: self._cursor.register(table, items))

    def _run(self, action: Callable[[], T]) -> T:
        return run_interruptibly(action, self._cursor.interrupt)
