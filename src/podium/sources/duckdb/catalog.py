"""The tables that an embedded DuckDB can see: found and described without reading a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from duckdb import sqltypes
from sqlglot import exp

from podium.errors import UnknownColumn
from podium.query.schema import Column, Kind, Schema
from podium.sources.duckdb.connection import ATTACHED, DIALECT
from podium.sources.duckdb.files import DataFiles, reader
from podium.sources.duckdb.types import check_declared, column_of, convert
from podium.sources.only_table import named_or_only
from podium.sources.sql.relation import Relation

__all__ = ["FRAME", "attached_table", "describe", "json_relation"]

FRAME = "frame"
"""The name of a registered frame inside the connection."""


class OpenSchema(Schema):
    """A JSON file: any name is a column, NULL where a record has no such key, and text unless declared."""

    @property
    def is_open(self) -> bool:
        """Any name is a column."""
        return True

    def column(self, name: str, *, role: str = "column") -> Column:
        """The column as declared, or a column of text."""
        return next((column for column in self.columns if column.name == name), Column(name, Kind.TEXT))


@dataclass(frozen=True, slots=True)
class _Cleaner:
    types: Mapping[str, Any]

    def __call__(self, value: exp.Expr, column: Column) -> exp.Expr:
        return convert(value, column, self.types.get(column.name, sqltypes.VARCHAR))


def describe(cursor: duckdb.DuckDBPyConnection, table: exp.Expr, declared: Mapping[str, Column]) -> Relation:
    """The table with the columns that DuckDB reports or the owner declares."""
    rows = cursor.sql(DIALECT.sql(exp.select("*").from_(table.copy()).limit(0)))
    types = dict(zip(rows.columns, rows.types, strict=True))
    for name, column in declared.items():
        if name not in types:
            raise UnknownColumn("types", name, tuple(types))
        check_declared(column, types[name])
    columns = tuple(declared.get(name) or column_of(name, type_) for name, type_ in types.items())
    return Relation(table, Schema(columns), DIALECT, _Cleaner(types), _computed(cursor, table, types))


def _computed(cursor: duckdb.DuckDBPyConnection, table: exp.Expr, names: Iterable[str]) -> frozenset[str]:
    """The columns computed on read: none of a file or frame, the generated ones of a table, all of a view."""
    if not isinstance(table, exp.Table) or table.catalog != ATTACHED:
        return frozenset()
    query = (
        "SELECT column_name, is_generated FROM duckdb_columns() JOIN duckdb_tables() USING (database_oid, table_oid) "
        "WHERE duckdb_columns.database_name = $1 AND duckdb_columns.schema_name = $2 "
        "AND duckdb_columns.table_name = $3"
    )
    stored = dict(cursor.execute(query, [ATTACHED, table.db, table.name]).fetchall())
    return frozenset(name for name in names if stored.get(name, True))


def json_relation(files: DataFiles, names: Sequence[str], declared: Mapping[str, Column]) -> Relation:
    """JSON files with the columns that the owner declares and those that a question uses."""
    # A list stays JSON, whose cast to a list knows JSON's escapes.
    lists = {name for name, column in declared.items() if column.kind is Kind.LIST}
    used = dict.fromkeys((*declared, *names))
    table = reader(files, {name: "JSON" if name in lists else "VARCHAR" for name in used})
    return Relation(table, OpenSchema(tuple(declared.values())), DIALECT, _Cleaner({}))


def attached_table(cursor: duckdb.DuckDBPyConnection, name: str | None, source: str) -> exp.Expr:
    """A table or view of the attached file, by its name or by schema.name; None if there is only one."""
    query = (
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT internal UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = $1 AND NOT internal ORDER BY 1, 2"
    )
    found = cursor.execute(query, [ATTACHED]).fetchall()
    known = {table if schema == "main" else f"{schema}.{table}": (schema, table) for schema, table in found}
    schema, table = named_or_only(name, known, repr(source), "Name one with --table (in Python: table=...).")
    return exp.table_(table, db=schema, catalog=ATTACHED, quoted=True)
