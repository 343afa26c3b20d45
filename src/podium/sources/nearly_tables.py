"""What is nearly a table: a query that was not run yet, and a connection that holds several tables.

Whoever passes a lazy frame asks for it to be worked out. That happens once, when the source is opened, so that no
question can fail because a row makes the frame's own expressions fail. Of a DuckDB connection one table is read, by the
connection itself, because the database may live in memory or be locked by it.
"""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp

from podium.errors import SourceUnavailable
from podium.sources.only_table import named_or_only

__all__ = ["is_lazy", "leads_on", "ready_table"]

_TABLES: Final = (
    "SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() WHERE NOT internal UNION ALL "
    "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1, 2, 3"
)
_HERE: Final = "SELECT current_database(), current_schema()"
_TEMPORARY: Final = "temp"


def is_lazy(data: object) -> bool:
    """Whether this is a query in the form of a frame; its attributes are not looked at, because that may compute."""
    return "Lazy" in type(data).__name__


def ready_table(data: object, table: str | None) -> object | None:
    """The frame or relation behind a lazy frame or a DuckDB connection; None for anything else."""
    if is_lazy(data) and callable(getattr(type(data), "collect", None)):
        return _collect(data)
    if _is_connection(data):
        return _relation(data, table)
    return None


def leads_on(data: object) -> str:
    """What to pass in place of something that is no table."""
    if is_lazy(data):
        return "A lazy frame must be collected first: frame.collect()."
    if isinstance(data, (list, tuple, dict)):
        return "Make rows or columns a table first: pyarrow.table({...}), or pandas.DataFrame(...)."
    if hasattr(type(data), "to_table"):
        return "Make it a table first: data.to_table()."
    if hasattr(type(data), "read"):
        return "Give the path of a file, not the open file."
    if type(data).__module__ == "sqlite3":
        return "Give the path of the SQLite file, not the connection."
    return ""


def _collect(frame: Any) -> object:
    try:
        collected: object = frame.collect()
    except Exception:  # noqa: BLE001 - whatever fails may quote a value
        collected = None
    if collected is None:
        raise SourceUnavailable(
            "source=a lazy frame could not be worked out. It is collected once, when it is opened. frame.collect() "
            "says what is wrong with it."
        )
    return collected


def _is_connection(data: object) -> bool:
    return type(data).__name__ == "DuckDBPyConnection"


def _relation(connection: Any, table: str | None) -> object:
    """A table or view of the connection, by the name that it has there."""
    try:
        home = connection.sql(_HERE).fetchall()[0]
        found = connection.sql(_TABLES).fetchall()
    except Exception:  # noqa: BLE001 - closed, or in the middle of something
        home, found = (), None
    if found is None:
        raise SourceUnavailable(
            "source=a DuckDB connection could not be asked for its tables. It must be open, and in no failed "
            "transaction. Connect again, or pass the path of its file."
        )
    known = {_shown(place, home): place for place in map(tuple, found)}
    hint = "Name one with table=..., or pass a query: connection.sql('SELECT ...')."
    database, schema, name = named_or_only(table, known, "a DuckDB connection", hint)
    chosen = exp.select("*").from_(exp.table_(name, db=schema, catalog=database, quoted=True))
    relation: object = connection.sql(chosen.sql("duckdb"))
    return relation


def _shown(place: tuple[str, ...], home: tuple[str, ...]) -> str:
    """The shortest name: without the database and schema that the connection looks in."""
    if place[:2] == home or place[0] == _TEMPORARY:
        return place[2]
    return ".".join(place[1:] if place[:1] == home[:1] else place)
