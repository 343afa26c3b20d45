"""How the engines behind SQLAlchemy differ: their SQL, their types, and the setup of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
import sqlglot
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.types import TypeEngine
from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.postgresql import types as postgresql_types
from podium.sources.postgresql.types import NativeType, computed_query
from podium.sources.sql.dialect import Dialect, Postgres
from podium.sources.sqlalchemy import mariadb_sql, sqlite_sql
from podium.sources.sqlalchemy.warehouse_sql import BigQuery, Databricks, Trino

__all__ = ["Flavour", "flavour_of"]

Clean = Callable[[exp.Expr, Column], exp.Expr]
Columns = Sequence[ReflectedColumn]

# SQLAlchemy's names of types. Only these: a subclass such as CITEXT compares differently.
_KINDS = {
    "VARCHAR": Kind.TEXT,
    "TEXT": Kind.TEXT,
    "NVARCHAR": Kind.TEXT,
    "text": Kind.TEXT,
    "string": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "boolean": Kind.BOOLEAN,
    "SMALLINT": Kind.INTEGER,
    "INTEGER": Kind.INTEGER,
    "BIGINT": Kind.INTEGER,
    "small_integer": Kind.INTEGER,
    "integer": Kind.INTEGER,
    "big_integer": Kind.INTEGER,
    "NUMERIC": Kind.DECIMAL,
    "DECIMAL": Kind.DECIMAL,
    "numeric": Kind.DECIMAL,
    "DATE": Kind.DATE,
    "date": Kind.DATE,
    "DATETIME": Kind.TIMESTAMP,
    "TIMESTAMP": Kind.TIMESTAMP,
    "datetime": Kind.TIMESTAMP,
    "REAL": Kind.FLOAT,
    "FLOAT": Kind.FLOAT,
    "DOUBLE": Kind.FLOAT,
    "DOUBLE_PRECISION": Kind.FLOAT,
    "float": Kind.FLOAT,
    "double": Kind.FLOAT,
}
# Those of the tables that podium puts items into.
_TYPES = {
    Kind.TEXT: "TEXT",
    Kind.INTEGER: "BIGINT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
_TEXTS = ("CHAR", "NCHAR", "CLOB")
_SQLGLOT_NAMES = {"mssql": "tsql"}


class _Standard(Dialect):
    """An unknown engine, with the SQL that sqlglot writes for it; the self-test shows whether that is enough.

    It has no collation that works everywhere, and no way to write a timestamp exactly.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text itself."""
        return text


class Flavour:
    """An engine that is neither of those below."""

    prepare: tuple[str, ...] = ()
    """Statements that prepare each session."""

    explain: str | None = None
    """The prefix that makes the engine plan a query without reading rows."""

    fences = False
    """Whether its fences are known to hold: see ``Dialect.fence``."""

    sums = False
    """Whether it is known to compute sums of values exactly, and to raise for no row."""

    isolation: tuple[str, ...] = ("REPEATABLE READ", "SERIALIZABLE")
    """The levels of isolation under which a question sees one state of its table, the best first."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def column(self, name: str, type_: TypeEngine[Any]) -> Column:
        """The column as the engine's catalogue describes it."""
        kind = _KINDS.get(type_.__visit_name__, Kind.OTHER)
        if kind is Kind.TEXT and getattr(type_, "collation", None) is not None:
            # The self-test compares constants, by the collation of the connection, and no other can be asked for.
            return Column(name, Kind.OTHER)
        if kind is Kind.DECIMAL:
            scale = getattr(type_, "scale", None)
            return Column(name, Kind.OTHER) if scale is None else Column(name, kind, scale=scale)
        unsigned = kind is Kind.INTEGER and bool(getattr(type_, "unsigned", False))
        return Column(name, Kind.OTHER if kind is Kind.TIMESTAMP else kind, unsigned=unsigned)

    def computed(self, connection: sa.Connection, name: str, schema: str | None, columns: Columns) -> set[str]:
        """The columns computed on read: the virtual ones of a base table, all of anything else."""
        stored = self.stores(connection, name, schema)
        return {str(column["name"]) for column in columns if not stored or _virtual(column)}

    def is_known_storage(self, connection: sa.Connection, name: str, schema: str | None) -> bool:
        """Whether the table's rows are where one statement is known to see one state of them."""
        return True

    def stores(self, connection: sa.Connection, name: str, schema: str | None) -> bool:
        """Whether this is a base table, whose rows are what was stored in it."""
        return name in sa.inspect(connection).get_table_names(schema=schema)

    def cleaner(self, types: Mapping[str, TypeEngine[Any]]) -> Clean:
        """How to convert values of columns of these types to their kinds."""
        return lambda value, _column: value

    def loaded_column(self, column: Column) -> exp.ColumnDef:
        """A column of a table that podium puts items into."""
        digits = self.dialect.decimal_digits
        if column.unsigned:
            type_ = exp.DataType.build("UBIGINT", dialect="duckdb")
        elif column.kind is Kind.DECIMAL:
            type_ = exp.DataType.build("DECIMAL" if digits is None else f"DECIMAL({digits}, {column.scale})")
        else:
            type_ = exp.DataType.build(_TYPES[column.kind])
        return exp.ColumnDef(this=exp.to_identifier(column.name, quoted=True), kind=type_)


class _SQLite(Flavour):
    # A connection learns the file's encoding, and with it the order of text, on its first read.
    prepare = ("BEGIN", "SELECT 1 FROM sqlite_master LIMIT 1")
    explain = "EXPLAIN"
    fences = True
    sums = True

    def stores(self, connection: sa.Connection, name: str, schema: str | None) -> bool:
        """Views and virtual tables have no pages of their own, and what is temporary is found first."""
        tables = sa.table("sqlite_master", *map(sa.column, ("name", "type", "rootpage")), schema=schema or "main")
        hiding = sa.table("sqlite_temp_master", sa.column("name"))
        named, hidden = (table.c.name.collate("NOCASE") == name for table in (tables, hiding))
        stored = sa.and_(named, tables.c.type == "table", tables.c.rootpage > 0)
        if schema is None and connection.execute(sa.select(hiding).where(hidden)).first():
            return False
        return connection.execute(sa.select(tables).where(stored)).first() is not None

    def column(self, name: str, type_: TypeEngine[Any]) -> Column:
        """Decimals are floating-point numbers here, whatever their column is called."""
        kind = Kind.TEXT if type_.__visit_name__ in _TEXTS else _KINDS.get(type_.__visit_name__, Kind.OTHER)
        return Column(name, Kind.FLOAT if kind is Kind.DECIMAL else kind)

    def cleaner(self, types: Mapping[str, TypeEngine[Any]]) -> Clean:
        """By kind alone: a declared type binds no value."""
        return sqlite_sql.clean


class _PostgreSQL(Flavour):
    prepare = (
        "SET TIME ZONE 'UTC'",
        "SET standard_conforming_strings = on",
        # SQLAlchemy logs notices, and a function behind a view may quote rows in them.
        "SET client_min_messages = error",
        # As in the native engine.
        "SET enable_hashagg = off",
    )
    explain = "EXPLAIN"
    fences = True
    sums = True

    def computed(self, connection: sa.Connection, name: str, schema: str | None, columns: Columns) -> set[str]:
        """As the native engine finds them."""
        quote = sa.inspect(connection).dialect.identifier_preparer.quote_identifier
        quoted = ".".join(quote(part) for part in (schema, name) if part is not None)
        query = sa.text(computed_query("CAST(pg_catalog.to_regclass(:name) AS pg_catalog.oid)"))
        return {str(row[0]) for row in connection.execute(query, {"name": quoted})}

    def column(self, name: str, type_: TypeEngine[Any]) -> Column:
        """The column as the native engine would describe it."""
        return postgresql_types.column_of(name, _native(type_))

    def cleaner(self, types: Mapping[str, TypeEngine[Any]]) -> Clean:
        """As the native engine does it."""
        return postgresql_types.Cleaner({name: _native(type_) for name, type_ in types.items()})


class _MySQL(Flavour):
    """MySQL: what the self-test shows. Views, events and sums are refused: nobody has run them there."""

    prepare: tuple[str, ...] = (
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin",
        *mariadb_sql.NOT_STRICT,
    )
    # A question reads its table in one statement, and a statement sees one state. Under REPEATABLE READ a table that is
    # kept would be made of the latest rows, whatever the snapshot is, and would lock each of them until the end.
    isolation = ("READ COMMITTED",)
    explain = "EXPLAIN"

    def column(self, name: str, type_: TypeEngine[Any]) -> Column:
        """Truth is TINYINT(1) or BIT(1) here; every text is compared in one collation, whatever its own."""
        shown, width = type_.__visit_name__, getattr(type_, "display_width", None)
        unsigned = bool(getattr(type_, "unsigned", False))
        if (shown, width) == ("TINYINT", 1) or (shown, getattr(type_, "length", None)) == ("BIT", 1):
            return Column(name, Kind.INTEGER, unsigned=True) if unsigned else Column(name, Kind.BOOLEAN)
        kind = _MARIADB_KINDS.get(shown) or _KINDS.get(shown, Kind.OTHER)
        if kind is Kind.DECIMAL:
            return Column(name, kind, scale=getattr(type_, "scale", None) or 0)
        return Column(name, kind, unsigned=kind is Kind.INTEGER and (unsigned or shown in ("BIT", "YEAR")))

    def cleaner(self, types: Mapping[str, TypeEngine[Any]]) -> Clean:
        """By kind, and by the types whose texts are not their digits."""
        names = {
            name: "ZEROFILL" if getattr(type_, "zerofill", False) else type_.__visit_name__
            for name, type_ in types.items()
        }
        return lambda value, column: mariadb_sql.clean(value, column, names.get(column.name, ""))

    def loaded_column(self, column: Column) -> exp.ColumnDef:
        """Texts in the character set that has all characters, whatever the database has; moments to the microsecond."""
        loaded = super().loaded_column(column)
        if column.kind is Kind.TIMESTAMP:
            loaded.set("kind", exp.DataType.build("DATETIME(6)"))
        if column.kind is Kind.TEXT:
            every = exp.CharacterSetColumnConstraint(this=exp.var("utf8mb4"))
            loaded.set("constraints", [exp.ColumnConstraint(kind=every)])
        return loaded

    def is_known_storage(self, connection: sa.Connection, name: str, schema: str | None) -> bool:
        """Not what is kept elsewhere, or by an engine that nobody has tried. What a view shows is not known."""
        tables = sa.table("tables", *map(sa.column, ("engine", "table_type", "table_name", "table_schema")))
        tables.schema = "information_schema"
        where = sa.func.database() if schema is None else schema
        named = sa.and_(tables.c.table_name == name, tables.c.table_schema == where)
        row = connection.execute(sa.select(tables.c.table_type, tables.c.engine).where(named)).first()
        return row is None or row[0] == "VIEW" or row[1] in _STORAGE


class _MariaDB(_MySQL):
    prepare = (
        "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin",
        "SET SESSION old_mode = ''",
        # Joins by hash; its default compares each row with each row of a table without an index.
        "SET SESSION join_cache_level = 4",
        # It keeps what a subquery gave for a column's value, and compares such values as the column does: without case.
        "SET SESSION optimizer_switch = 'subquery_cache=off'",
        *_MySQL.prepare[1:],
    )
    fences = True
    sums = True


_STORAGE = ("InnoDB", "Aria", "MyISAM", "MEMORY")
_MARIADB_KINDS = {
    "CHAR": Kind.TEXT,
    "TINYTEXT": Kind.TEXT,
    "MEDIUMTEXT": Kind.TEXT,
    "LONGTEXT": Kind.TEXT,
    "ENUM": Kind.TEXT,
    "enum": Kind.TEXT,
    "TINYINT": Kind.INTEGER,
    "MEDIUMINT": Kind.INTEGER,
    "BIT": Kind.INTEGER,
    "YEAR": Kind.INTEGER,
}

_NATIVE = {
    "VARCHAR": "varchar",
    "TEXT": "text",
    "CHAR": "bpchar",
    "UUID": "uuid",
    "ENUM": "enum",
    "enum": "enum",
    "BOOLEAN": "bool",
    "SMALLINT": "int2",
    "INTEGER": "int4",
    "BIGINT": "int8",
    "NUMERIC": "numeric",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "REAL": "float4",
    "DOUBLE_PRECISION": "float8",
}


# Written after their documentation; whether it is so, only the self-test can say.
_WAREHOUSES: dict[str, type[Dialect]] = {"trino": Trino, "bigquery": BigQuery, "databricks": Databricks}


def _native(type_: Any) -> NativeType:
    domain, lists = False, 0
    while type_.__visit_name__ in ("DOMAIN", "ARRAY"):
        if type_.__visit_name__ == "DOMAIN":
            domain, type_ = True, type_.data_type
        else:
            lists, type_ = lists + 1, type_.item_type
    name = _NATIVE.get(type_.__visit_name__, "")
    if name == "timestamp" and type_.timezone:
        name = "timestamptz"
    return NativeType(name, scale=getattr(type_, "scale", None), domain=domain, lists=lists)


def _virtual(column: ReflectedColumn) -> bool:
    computed = column.get("computed")
    return computed is not None and not computed.get("persisted")


def flavour_of(name: str, *, is_mariadb: bool = False) -> Flavour:
    """The flavour of the engine with SQLAlchemy's name ``name``; MariaDB's driver may say ``mysql`` too."""
    if name in ("mysql", "mariadb"):
        return _MariaDB(mariadb_sql.MariaDB()) if is_mariadb else _MySQL(mariadb_sql.MySQL())
    if name == "sqlite":
        return _SQLite(sqlite_sql.SQLite())
    if name == "postgresql":
        return _PostgreSQL(Postgres())
    if name in _WAREHOUSES:
        return Flavour(_WAREHOUSES[name]())
    known = _SQLGLOT_NAMES.get(name, name)
    return Flavour(_Standard(known if known in sqlglot.Dialect.classes else ""))
