"""Databases that hold the tables and views of a test: how each runs a statement, and opens a table as a source."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psycopg
from tests.support import mariadb
from tests.support.clickhouse import embedded_clickhouse
from tests.support.postgres import new_database
from tests.support.sources.hostile_rows import COLUMNS, GOOD, Row, parquet
from tests.support.spark import spark_threads

from podium.sources import Source, open_source
from podium.sources.sqlalchemy.source import SQLAlchemySource

__all__ = ["DATABASES", "Database", "open_database"]


@dataclass(frozen=True)
class Database:
    """``cast`` makes a number of the text ``raw``, and raises if it is none; or else the ``guard`` does so.

    ``nul`` is a text of one NUL; ``escapes``: whether a backslash escapes; ``casts``: whether texts must be cast to be
    stored; ``slow``: whether a question takes so long that a part of them must do.
    """

    execute: Callable[[str], object]
    opened: Callable[[str], AbstractContextManager[Source]]
    cast: str
    types: tuple[str, ...] = tuple(COLUMNS.values())
    engine: str = ""
    nul: str = "chr(0)"
    escapes: bool = False
    casts: bool = True
    guard: str = ""
    slow: bool = False
    folder: Path = Path()

    def make(self, table: str, rows: Sequence[Row]) -> list[bool]:
        """A table of the good rows and of these; which of these it can hold."""
        declared = ", ".join(f"{name} {type_}" for name, type_ in zip(COLUMNS, self.types, strict=True))
        self.execute(f"CREATE TABLE {table} ({declared}) {self.engine}")
        self.execute(f"INSERT INTO {table} VALUES {', '.join(map(self._values, GOOD))}")
        return [True] * len(rows) if self._added(table, rows) else [self._added(table, [row]) for row in rows]

    def view(self, name: str, table: str, kind: str = "VIEW") -> None:
        """Those rows whose ``raw`` is a number, as the owner thinks."""
        self.execute(
            f"CREATE {kind} {name} AS SELECT user_id, label, {self.cast} AS number, day, moment FROM {table} "
            f"WHERE lower(trim(kind)) = 'num'{self.guard}"
        )

    def _added(self, table: str, rows: Sequence[Row]) -> bool:
        try:
            self.execute(f"INSERT INTO {table} VALUES {', '.join(map(self._values, rows))}")
        except Exception:  # noqa: BLE001 - each driver has its own
            return False
        return True

    def _values(self, row: Row) -> str:
        return f"({', '.join(self.literal(row[name], type_) for name, type_ in zip(COLUMNS, self.types, strict=True))})"

    def literal(self, text: str | None, type_: str) -> str:
        """A value of that type, by its text."""
        if text is None:
            return "NULL"
        text = text.replace("\\", "\\\\").replace("'", "\\'") if self.escapes else text.replace("'", "''")
        pieces = [f"'{piece}'" for piece in text.split("\0")]
        whole = f" || {self.nul} || ".join(pieces)
        return f"CAST({whole} AS {type_})" if self.casts else whole


def open_database(name: str, folder: Path) -> AbstractContextManager[Database]:
    """An empty database."""
    return _OPENED[name](folder)


@contextmanager
def _duckdb(folder: Path) -> Iterator[Database]:
    path = folder / "t.duckdb"

    def execute(statement: str) -> None:
        # A source has the file for itself.
        with duckdb.connect(path) as connection:
            connection.execute(statement)

    yield Database(execute, lambda table: closing(open_source(path, table=table)), "CAST(raw AS INTEGER)")


@contextmanager
def _postgresql(_folder: Path, scheme: str = "postgresql:") -> Iterator[Database]:
    with new_database() as url:

        def execute(statement: str) -> None:
            with psycopg.connect(url) as connection:
                connection.execute(statement.encode())

        def opened(table: str) -> AbstractContextManager[Source]:
            source = open_source if scheme == "postgresql:" else SQLAlchemySource
            return closing(source(url.replace("postgresql:", scheme), table=table))

        types = ("BIGINT", "TEXT", "BIGINT", "FLOAT8", "DATE", "TIMESTAMP", "TEXT", "TEXT")
        yield Database(execute, opened, "CAST(raw AS INTEGER)", types)


def _sqlalchemy(folder: Path) -> AbstractContextManager[Database]:
    return _postgresql(folder, "postgresql+psycopg:")


@contextmanager
def _sqlite(folder: Path) -> Iterator[Database]:
    path = folder / "t.db"

    def execute(statement: str) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)

    types = ("BIGINT", "TEXT", "BIGINT", "DOUBLE", "DATE", "DATETIME", "TEXT", "TEXT")
    yield Database(
        execute,
        lambda table: closing(open_source(f"sqlite:///{path}", table=table)),
        "number",
        types,
        guard=" AND json_extract(raw, '$') IS NOT NULL",
        nul="char(0)",
        casts=False,
    )


@contextmanager
def _mariadb(_folder: Path) -> Iterator[Database]:
    text = "LONGTEXT CHARACTER SET utf8mb4"
    with mariadb.new_database() as url:

        def execute(statement: str) -> None:
            # Strict, so that a value is stored as it is or not at all.
            mode = "STRICT_ALL_TABLES,PIPES_AS_CONCAT"
            with mariadb.connect(mariadb.name_of(url), sql_mode=mode) as connection, connection.cursor() as cursor:
                cursor.execute(statement)

        yield Database(
            execute,
            lambda table: closing(open_source(url, table=table)),
            "CAST(IF(raw REGEXP '^[0-9]+$', raw, exp(1000 + char_length(raw))) AS SIGNED)",
            ("BIGINT", text, "BIGINT", "DOUBLE", "DATE", "DATETIME(6)", text, text),
            nul="char(0 USING utf8mb4)",
            escapes=True,
            casts=False,
        )


@contextmanager
def _clickhouse(_folder: Path) -> Iterator[Database]:
    types = ("Int64", "String", "Int64", "Float64", "Date32", "DateTime64(6)", "String", "String")
    with embedded_clickhouse() as session:
        yield Database(
            session.query,
            lambda table: closing(open_source(session, table=table)),
            "toInt64(assumeNotNull(raw))",
            tuple(f"Nullable({type_})" for type_ in types),
            engine="ENGINE = MergeTree ORDER BY ()",
            nul="char(0)",
            escapes=True,
        )


@dataclass(frozen=True)
class _Spark(Database):
    """Tables are Parquet files, and are opened by their paths."""

    def make(self, table: str, rows: Sequence[Row]) -> list[bool]:
        path = parquet([*GOOD, *rows], self.folder / f"{table}.parquet")
        self.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM parquet.`{path}`")
        return [True] * len(rows)

    def view(self, name: str, table: str, kind: str = "OR REPLACE TEMP VIEW") -> None:
        super().view(name, table, kind)


@contextmanager
def _spark(folder: Path) -> Iterator[Database]:
    with spark_threads() as cluster:

        def opened(table: str) -> AbstractContextManager[Source]:
            path = folder / f"{table}.parquet"
            # By its path, if it is a file.
            return closing(open_source(cluster.session, table=str(path) if path.exists() else table))

        yield _Spark(cluster.session.sql, opened, "CAST(raw AS INTEGER)", slow=True, folder=folder)


_OPENED: dict[str, Callable[[Path], AbstractContextManager[Database]]] = {
    "DuckDB": _duckdb,
    "PostgreSQL": _postgresql,
    "PostgreSQL by SQLAlchemy": _sqlalchemy,
    "SQLite": _sqlite,
    "MariaDB": _mariadb,
    "ClickHouse": _clickhouse,
    "Spark": _spark,
}
DATABASES = tuple(_OPENED)
