"""The most extreme values of every type that an engine has: what one round finds, the next must send back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import cycle, islice
from typing import Any

import duckdb
from tests.support.sources.data import utc
from tests.support.sources.databases import Database

__all__ = ["COMBINATIONS", "make_extremes"]

COMBINATIONS, _USERS = 12, 30
_TEXTS = ("", " ", "x" * 3000, "\U0010ffff\ue000", "'\"\\%;--", "null", "\x01\x7f\u2028")
_NUL = (*_TEXTS, "a\0b", "\0")
_WIDE = tuple(map(Decimal, ("9" * 28 + "." + "9" * 10, "-" + "9" * 28 + "." + "9" * 10, "0.0000000001")))
_LONG = tuple(map(Decimal, (f"1{'0' * 2000}.{'0' * 999}1", f"-{'9' * 1200}", f"0.{'0' * 4000}7")))
_WHOLE = (2**63 - 1, -(2**63), 0)
_UNSIGNED = (2**64 - 1, 2**63, 0)
_LONGEST = (*map(Decimal, ("9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30)), Decimal("1e-30"))
_FLAGS = (True, False)
_DAYS = (dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1582, 10, 10), dt.date(1969, 12, 31))
_MOMENTS = (utc(1, 1, 1), utc(9999, 12, 31, 23, 59, 59, 999999), utc(1969, 12, 31, 23, 59, 59, 999999))

_Column = tuple[str, tuple[Any, ...]]
_DUCKDB: dict[str, _Column] = {
    "text": ("VARCHAR", _NUL),
    "whole": ("BIGINT", _WHOLE),
    "large": ("UBIGINT", _UNSIGNED),
    "wide": ("DECIMAL(38, 10)", _WIDE),
    "flag": ("BOOLEAN", _FLAGS),
    "day": ("DATE", _DAYS),
    "moment": ("TIMESTAMP", _MOMENTS),
}
_POSTGRESQL: dict[str, _Column] = {
    "text": ("TEXT", _TEXTS),
    "whole": ("BIGINT", _WHOLE),
    "wide": ("NUMERIC", _LONG),
    "scaled": ("NUMERIC(60, 40)", (Decimal("9" * 20 + "." + "9" * 40), Decimal("-1e-40"))),
    "flag": ("BOOLEAN", _FLAGS),
    "day": ("DATE", _DAYS),
    "moment": ("TIMESTAMP", _MOMENTS),
}
_EXTREMES: dict[str, dict[str, _Column]] = {
    "DuckDB": _DUCKDB,
    "Spark": _DUCKDB,
    "PostgreSQL": _POSTGRESQL,
    "PostgreSQL by SQLAlchemy": _POSTGRESQL,
    "SQLite": {
        "text": ("TEXT", _TEXTS),
        "whole": ("BIGINT", _WHOLE),
        "flag": ("BOOLEAN", _FLAGS),
        "day": ("DATE", _DAYS),
        "moment": ("DATETIME", _MOMENTS),
    },
    "MariaDB": {
        "text": ("LONGTEXT CHARACTER SET utf8mb4", (*_TEXTS, "x" * 16_384)),
        "whole": ("BIGINT", _WHOLE),
        "large": ("BIGINT UNSIGNED", _UNSIGNED),
        "wide": ("DECIMAL(65, 30)", _LONGEST),
        "flag": ("BOOLEAN", _FLAGS),
        "day": ("DATE", _DAYS),
        "moment": ("DATETIME(6)", _MOMENTS),
    },
    "ClickHouse": {
        "text": ("String", _NUL),
        "whole": ("Int64", _WHOLE),
        "large": ("UInt64", _UNSIGNED),
        "wide": ("Decimal(38, 10)", _WIDE),
        "flag": ("Bool", _FLAGS),
        "day": ("Date32", _DAYS),
        "moment": ("DateTime64(6, 'UTC')", _MOMENTS),
    },
}


def make_extremes(name: str, database: Database, table: str) -> tuple[list[str], set[tuple[Any, ...]]]:
    """A table in which thirty users have each combination: its item columns, and the items."""
    columns = _EXTREMES[name]
    combined = [islice(cycle(values), COMBINATIONS) for _, values in columns.values()]
    items: list[tuple[Any, ...]] = list(zip(*combined, strict=True))
    types = [type_ for type_, _ in columns.values()]
    rows = []
    for place, item in enumerate(items):
        values = ", ".join(database.literal(_text(value), type_) for value, type_ in zip(item, types, strict=True))
        rows += [f"({place * _USERS + user}, {values})" for user in range(_USERS)]
    declared = ", ".join(f"{column} {type_}" for column, (type_, _) in columns.items())
    statements = [
        f"CREATE TABLE {table} (user_id {database.types[0]}, {declared}) {database.engine}",
        f"INSERT INTO {table} VALUES {', '.join(rows)}",
    ]
    if name == "Spark":
        # Its tables are files, and DuckDB can write values that Spark's SQL cannot.
        statements.append(f"COPY {table} TO '{database.folder / table}.parquet' (FORMAT parquet)")
    with duckdb.connect() as writer:
        for statement in statements:
            (writer.execute if name == "Spark" else database.execute)(statement)
    return list(columns), set(items)


def _text(value: Any) -> str:
    """As all engines read it; SQLite's truth is a number."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="microseconds")
    return format(value, "f") if isinstance(value, Decimal) else str(value)
