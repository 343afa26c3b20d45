"""SQL for people: the same statement in lines."""

from __future__ import annotations

import sqlglot
from sqlglot.errors import SqlglotError

__all__ = ["pretty_sql"]

_DIALECTS = ("duckdb", "postgres", "clickhouse", "spark", "mysql", "sqlite")


def pretty_sql(query: str) -> str:
    """The statement in indented lines, if they are certain to mean the same; otherwise as it is.

    It is certain for a dialect that reads the statement and writes the same text again.
    """
    for dialect in _DIALECTS:
        try:
            read = sqlglot.parse_one(query, read=dialect)
            if read.sql(dialect=dialect) == query:
                return read.sql(dialect=dialect, pretty=True)
        except SqlglotError:
            continue
    return query
