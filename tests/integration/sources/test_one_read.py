"""A question in rounds reads its table once: one scan, one state, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import clickhouse_connect
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench.engines.scans import clickhouse_scans, duckdb_scans, spark_scans
from tests.support import mariadb
from tests.support.clickhouse import embedded_clickhouse
from tests.support.curator.tables import Watched
from tests.support.postgres import new_table
from tests.support.spark import SparkCluster, spark_threads

import podium
from podium.histogram import Item
from podium.sources import CountQuery, DuckDBSource, open_source
from podium.sources.spark.connection import SparkQuestion
from podium.sources.sql import kept_pairs
from podium.sources.sql.kept_pairs import SqlNamedPairs

COUNTS = {f"item {number:02}": 410 - 8 * number for number in range(40)}
PAIRS = [
    ((7 * place + user) % 500, item) for place, (item, count) in enumerate(COUNTS.items()) for user in range(count)
]
ON_POSTGRESQL = ("views", "user_id bigint, article text", PAIRS)
SURE: dict[str, Any] = {
    "item": "article",
    "user": "user_id",
    "k": 15,
    "counts": True,
    "epsilon": 10**6,
    "delta": "1e-6",
}
"""Noise is next to nothing: each count is within 0.5 but with probability below 1e-9."""


class Interrupted(Watched):
    """A source whose table somebody empties as soon as the first round has read it."""

    def __init__(self, source: Any, empty: Callable[[], None]) -> None:
        super().__init__(source)
        self.empty: Callable[[], None] | None = empty

    def note_round(self, what: CountQuery | tuple[Item, ...]) -> None:
        super().note_round(what)
        if self.empty is not None:
            self.empty()
            self.empty = None


def check_the_answer_is_of_the_first_state(source: Any, table: str | None, empty: Callable[[], None]) -> None:
    watched = Interrupted(open_source(source, table=table), empty)
    release = podium.top(watched, **SURE)
    assert {item: round(value) for item, value in zip(release.items, release.values or (), strict=True)} == dict(
        list(COUNTS.items())[:15]
    )
    assert watched.empty is None
    assert watched.snapshots == 1
    assert len(watched.rounds) > 2
    # The table is indeed empty now, so a second read would have shown.
    assert podium.top(open_source(source, table=table), **SURE).items == ()
    watched.close()


def test_a_writer_between_rounds_changes_nothing_on_postgresql() -> None:
    with new_table(*ON_POSTGRESQL) as url:

        def empty() -> None:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DELETE FROM views")

        check_the_answer_is_of_the_first_state(url, "views", empty)


def test_a_writer_between_rounds_changes_nothing_on_mariadb() -> None:
    """Its server logs statements, where a table that is kept would be of the latest rows, and lock them."""
    with mariadb.new_database() as url:
        with mariadb.connect(mariadb.name_of(url)) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE views (user_id bigint, article varchar(20)) ENGINE=InnoDB")
            cursor.executemany("INSERT INTO views VALUES (%s, %s)", PAIRS)

        def empty() -> None:
            with mariadb.connect(mariadb.name_of(url)) as connection, connection.cursor() as cursor:
                # A row that a question locks could not be deleted.
                cursor.execute("SET SESSION innodb_lock_wait_timeout = 1")
                cursor.execute("DELETE FROM views")

        check_the_answer_is_of_the_first_state(url, "views", empty)


def test_a_writer_between_rounds_changes_nothing_on_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "views.db"
    with closing(sqlite3.connect(path)) as file, file:
        # Otherwise a reader keeps the writer out.
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE views (user_id BIGINT, article TEXT)")
        file.executemany("INSERT INTO views VALUES (?, ?)", PAIRS)

    def empty() -> None:
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("DELETE FROM views")

    check_the_answer_is_of_the_first_state(f"sqlite:///{path}", "views", empty)


def test_a_writer_between_rounds_changes_nothing_on_clickhouse() -> None:
    with embedded_clickhouse() as session:
        session.query("CREATE TABLE views (user_id Int64, article String) ENGINE = MergeTree ORDER BY user_id")
        rows = ", ".join(f"({user}, '{item}')" for user, item in PAIRS)
        session.query(f"INSERT INTO views VALUES {rows}")
        check_the_answer_is_of_the_first_state(session, "views", lambda: session.query("TRUNCATE TABLE views"))
        session.query("DROP TABLE views")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkCluster]:
    with spark_threads() as cluster:
        yield cluster


def test_a_writer_between_rounds_changes_nothing_on_spark(spark: SparkCluster, tmp_path: Path) -> None:
    users, items = (list(column) for column in zip(*PAIRS, strict=True))
    path = tmp_path / "views"
    path.mkdir()
    pq.write_table(pa.table({"user_id": users, "article": items}), path / "rows.parquet")

    def empty() -> None:
        pq.write_table(
            pa.table({"user_id": pa.array([], pa.int64()), "article": pa.array([], pa.string())}), path / "rows.parquet"
        )

    check_the_answer_is_of_the_first_state(spark.session, str(path), empty)


def test_rounds_on_spark_do_not_move_pairs_again_and_free_them(
    spark: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users, items = (list(column) for column in zip(*PAIRS, strict=True))
    pq.write_table(pa.table({"user_id": users, "article": items}), tmp_path / "views.parquet")
    plans: list[str] = []
    later: list[str] = []
    keep, fetch = SparkQuestion._keep_counts, SparkQuestion.fetch

    def plan(self: SparkQuestion, query: str) -> str:
        frame: Any = self._session.sql(query)
        return str(frame._jdf.queryExecution().executedPlan().toString())

    def listening(self: SparkQuestion, table: str, query: Any) -> None:
        plans.append(plan(self, query.sql("spark")))
        keep(self, table, query)

    def asked(self: SparkQuestion, query: str) -> Any:
        later.append(plan(self, query))
        return fetch(self, query)

    monkeypatch.setattr(SparkQuestion, "_keep_counts", listening)
    monkeypatch.setattr(SparkQuestion, "fetch", asked)
    kept = spark.session.sparkContext._jsc.getPersistentRDDs
    before = set(kept().keySet())
    scans = spark_scans(spark.session)
    assert scans(lambda: podium.top(spark.session, table=str(tmp_path / "views.parquet"), **SURE).items) == 1
    assert plans
    assert len(later) > 2
    # Pairs are where their users are; the few of named items may move.
    assert "Window" in plans[0]
    # Only those of users who are cut move, to be sorted.
    _, *moved = plans[0].split("Exchange hashpartitioning(u#")
    assert all("Filter (t#" in part.split("Exchange")[0] for part in moved)
    assert all("FileScan" not in one for one in (*plans, *later))
    assert set(kept().keySet()) == before


def test_postgresql_counts_one_scan_of_the_table() -> None:
    scans = "SELECT seq_scan + coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'views'"
    with (
        new_table(*ON_POSTGRESQL) as url,
        psycopg.connect(url, autocommit=True) as connection,
    ):

        def scanned() -> int:
            connection.execute("SELECT pg_stat_clear_snapshot()")
            return int(connection.execute(scans).fetchall()[0][0])

        before = scanned()
        podium.top(url, table="views", **SURE)
        deadline = time.monotonic() + 60
        while scanned() == before and time.monotonic() < deadline:
            time.sleep(0.05)  # a server's statistics follow a little later
        assert scanned() == before + 1


def test_duckdb_counts_one_scan_of_the_table(tmp_path: Path) -> None:
    users, items = (list(column) for column in zip(*PAIRS, strict=True))
    pq.write_table(pa.table({"user_id": users, "article": items}), tmp_path / "views.parquet")
    with closing(DuckDBSource(tmp_path / "views.parquet")) as source:
        assert duckdb_scans(lambda: podium.top(source, **SURE).items) == 1


def test_clickhouse_counts_one_scan_of_the_table() -> None:
    with embedded_clickhouse() as session:
        session.query("CREATE TABLE seen (user_id Int64, article String) ENGINE = MergeTree ORDER BY user_id")
        rows = ", ".join(f"({user}, '{item}')" for user, item in PAIRS)
        session.query(f"INSERT INTO seen VALUES {rows}")
        client = clickhouse_connect.get_client(interface="chdb", path=":memory:")
        with closing(client), closing(open_source(session, table="seen")) as source:
            assert clickhouse_scans(client, "seen")(lambda: podium.top(source, **SURE).items) == 1
        session.query("DROP TABLE seen")


@pytest.mark.parametrize("few", [kept_pairs.FEW_ITEMS, 0])
def test_sums_with_one_weight_keep_no_table(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_pairs, "FEW_ITEMS", few)
    users, items = zip(*[(1, "a"), (1, "b"), (2, "a"), (3, "a"), (3, "c")], strict=True)
    query = CountQuery(("article",), "user_id")
    table = pa.table({"user_id": users, "article": items})
    with closing(DuckDBSource(table)) as source, source.keep_pairs(query) as pairs:
        named = pairs.among(("b", "a"))
        assert isinstance(named, SqlNamedPairs)
        kept = []
        # The user of a and c has one of these items.
        for weights, sums in ((((2, 5),), (5, 15)), (((1, 5), (2, 3)), (3, 13)), (((2, 7),), (7, 21))):
            assert named.sums(weights) == sums
            kept.append(named.kept)
        assert kept == [False, True, True]


KILLED = """
import os, signal, sys
import podium
from podium.sources import DuckDBSource
from podium.sources.sql.kept_pairs import SqlKeptPairs

def among(self, items):
    os.kill(os.getpid(), signal.SIGKILL)

SqlKeptPairs.among = among
source = DuckDBSource(sys.argv[1], temp_directory=sys.argv[2], memory_limit="40MB", threads=1)
podium.top(source, item="i", user="u", k=15, epsilon=1000, delta="1e-6")
"""


def test_kill_9_between_rounds_leaves_no_pairs_after_the_next_start(tmp_path: Path) -> None:
    aside, path = tmp_path / "aside", tmp_path / "views.parquet"
    aside.mkdir()
    users = pa.array([number % 60_000 for number in range(2_000_000)])
    items = pa.array([number // 60_000 if number % 7 else number for number in range(2_000_000)])
    pq.write_table(pa.table({"u": users, "i": items}), path)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), str(aside)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = aside.iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    # The pairs did not fit into memory: they lie here.
    assert sum(file.stat().st_size for file in left.rglob("*")) > 10**6
    long_ago = time.time() - 3600
    os.utime(left, (long_ago, long_ago))
    DuckDBSource(path, temp_directory=aside).close()
    assert list(aside.iterdir()) == []


KILLED_ASKING_A_SERVER = """
import os, signal, sys
import podium
from podium.sources.sql.kept_pairs import SqlKeptPairs

def among(self, items):
    os.kill(os.getpid(), signal.SIGSTOP)

SqlKeptPairs.among = among
podium.top(sys.argv[1], table="views", item="article", user="user_id", k=15, epsilon=10**6, delta="1e-6")
"""


def test_kill_9_between_rounds_leaves_no_pairs_on_postgresql() -> None:
    """The server drops the tables of a connection that is gone, and their files, without a next start."""
    with new_table(*ON_POSTGRESQL) as url, psycopg.connect(url, autocommit=True) as connection:

        def kept() -> list[str]:
            """The files of temporary tables: t, the number of a backend, and that of the table."""
            folder = "(SELECT 'base/' || oid FROM pg_database WHERE datname = current_database())"
            files = f"SELECT file FROM pg_ls_dir({folder}, true, false) AS file WHERE file ~ '^t[0-9]+_'"
            found = connection.execute(files.encode())
            return [file for (file,) in found.fetchall()]

        assert kept() == []
        asking = subprocess.Popen([sys.executable, "-c", KILLED_ASKING_A_SERVER, url])
        try:
            # It stops itself in the middle, and waits to be killed.
            _, status = os.waitpid(asking.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
            assert kept() != []
        finally:
            asking.kill()
            asking.wait()
        deadline = time.monotonic() + 60
        while kept() and time.monotonic() < deadline:
            time.sleep(0.02)  # the server notices a little later
        assert kept() == []
