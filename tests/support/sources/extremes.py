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

_VALUES: dict[str, tuple[Any, ...]] = {
    "text": _TEXTS,
    "whole": _WHOLE,
    "large": _UNSIGNED,
    "wide": _WIDE,
    "scaled": (Decimal("9" * 20 + "." + "9" * 40), Decimal("-1e-40")),
    "flag": _FLAGS,
    "day": _DAYS,
    "moment": _MOMENTS,
}
_OWN_VALUES: dict[str, dict[str, tuple[Any, ...]]] = {
    "DuckDB": {"text": _NUL},
    "PostgreSQL": {"wide": _LONG},
    "MariaDB": {"text": (*_TEXTS, "x" * 16_384), "wide": _LONGEST},
    "ClickHouse": {"text": _NUL},
}
"""Where an engine has other extremes than those of ``_VALUES``."""
_TYPES = {
    "DuckDB": {
        "text": "VARCHAR", "whole": "BIGINT", "large": "UBIGINT", "wide": "DECIMAL(38, 10)", "flag": "BOOLEAN",
        "day": "DATE", "moment": "TIMESTAMP",
    },
    "PostgreSQL": {
        "text": "TEXT", "whole": "BIGINT", "wide": "NUMERIC", "scaled": "NUMERIC(60, 40)", "flag": "BOOLEAN",
        "day": "DATE", "moment": "TIMESTAMP",
    },
    "SQLite": {"text": "TEXT", "whole": "BIGINT", "flag": "BOOLEAN", "day": "DATE", "moment": "DATETIME"},
    "MariaDB": {
        "text": "LONGTEXT CHARACTER SET utf8mb4", "whole": "BIGINT", "large": "BIGINT UNSIGNED",
        "wide": "DECIMAL(65, 30)", "flag": "BOOLEAN", "day": "DATE", "moment": "DATETIME(6)",
    },
    "ClickHouse": {
        "text": "String", "whole": "Int64", "large": "UInt64", "wide": "Decimal(38, 10)", "flag": "Bool",
        "day": "Date32", "moment": "DateTime64(6, 'UTC')",
    },
}  # fmt: skip
_SAME = {"Spark": "DuckDB", "PostgreSQL by SQLAlchemy": "PostgreSQL"}


def make_extremes(name: str, database: Database, table: str) -> tuple[list[str], set[tuple[Any, ...]]]:
    """A table in which thirty users have each combination: its item columns, and the items."""
    engine = _SAME.get(name, name)
    columns, values_of = _TYPES[engine], _VALUES | _OWN_VALUES.get(engine, {})
    combined = [islice(cycle(values_of[column]), COMBINATIONS) for column in columns]
    items: list[tuple[Any, ...]] = list(zip(*combined, strict=True))
    types = list(columns.values())
    rows = []
    for place, item in enumerate(items):
        values = ", ".join(database.literal(_text(value), type_) for value, type_ in zip(item, types, strict=True))
        rows += [f"({place * _USERS + user}, {values})" for user in range(_USERS)]
    declared = ", ".join(f"{column} {type_}" for column, type_ in columns.items())
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
