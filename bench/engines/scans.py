"""How often a question reads the table, in the words of the engine itself: its plans as they ran, or its counters.

Each function here makes another that runs a job once and says how many times the whole table was read for it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias
from unittest.mock import patch

from sqlglot import exp

from podium.sources.duckdb import source as duckdb_source
from podium.sources.duckdb.connection import DIALECT, DuckDBSession

__all__ = ["Job", "Scans", "clickhouse_scans", "duckdb_scans", "mariadb_scans", "postgresql_scans", "spark_scans"]

Job: TypeAlias = Callable[[], Sequence[Any]]
"""Asks, and returns the items."""
Scans: TypeAlias = Callable[[Job], float]
"""Runs a job, and says how many times the whole table was read."""

_SECONDS, _PAUSE = 20.0, 0.05
_QUESTIONS = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'podium'"


def duckdb_scans(job: Job) -> float:
    """The scans of Parquet files in the plans that DuckDB ran; temporary tables are scanned by another operator."""
    plans: list[Any] = []
    with patch.object(duckdb_source, "DuckDBSession", lambda cursor: _Analyzed(cursor, plans)):
        job()
    return float(sum(_reads_parquet(node) for plan in plans for node in _nodes(plan["operator"])))


class _Analyzed(DuckDBSession):
    """A session that has DuckDB say what it ran."""

    def __init__(self, cursor: Any, plans: list[Any]) -> None:
        super().__init__(cursor)
        self._plans = plans

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query, which runs twice: the engine returns either its plan or its rows."""
        self._analyze(query)
        return super().fetch(query)

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The same in batches."""
        self._analyze(query)
        return super().stream(query)

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """A temporary table: a statement that is analyzed runs, so the table is there afterwards."""
        self._analyze(DIALECT.sql(DIALECT.keep(table, query)))

    def _analyze(self, statement: str) -> None:
        ((_, plan),) = super().fetch(f"EXPLAIN (ANALYZE, FORMAT json) {statement}")
        self._plans.append(json.loads(plan))


def _nodes(operators: Sequence[Any]) -> Iterator[Any]:
    for operator in operators:
        yield operator
        yield from _nodes(operator.get("children", ()))


def _reads_parquet(node: Any) -> bool:
    return bool(node["type"] == "TABLE_SCAN" and "PARQUET" in node["extra_info"].get("Function", ""))


def postgresql_scans(connection: Any, table: str, rows: int) -> Scans:
    """The rows that the server's statistics say were read, over those of the table.

    It counts a scan once for each process that takes part in it, but a row only once.
    """
    query = f"SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = '{table}'"  # noqa: S608

    def rows_read() -> int:
        deadline = time.monotonic() + _SECONDS
        # A question's connection reports what it read when it ends, and it ends a little after the question.
        while connection.execute(_QUESTIONS).fetchall() != [(0,)] and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        connection.execute("SELECT pg_stat_force_next_flush()")
        connection.execute("SELECT pg_stat_clear_snapshot()")
        return int(connection.execute(query).fetchall()[0][0])

    def scans(job: Job) -> float:
        before = rows_read()
        job()
        return (rows_read() - before) / rows

    return scans


def mariadb_scans(ask: Callable[[str], Sequence[Sequence[Any]]], table: str, rows: int) -> Scans:
    """The rows that the server's statistics say were read, over those of the table; it must run with userstat=1."""
    query = f"SELECT COALESCE(SUM(ROWS_READ), 0) FROM information_schema.TABLE_STATISTICS WHERE TABLE_NAME = '{table}'"  # noqa: S608

    def scans(job: Job) -> float:
        before = int(ask(query)[0][0])
        job()
        return (int(ask(query)[0][0]) - before) / rows

    return scans


def clickhouse_scans(client: Any, table: str) -> Scans:
    """The parts of tables on disk that the engine's counters say were read, over those of the table.

    Temporary tables are in memory and have no parts; a statement that is only explained reads none.
    """

    def parts_read() -> int:
        rows = client.query("SELECT value FROM system.events WHERE event = 'SelectedParts'").result_rows
        return int(rows[0][0]) if rows else 0

    def scans(job: Job) -> float:
        parts = f"SELECT count() FROM system.parts WHERE active AND table = '{table}'"  # noqa: S608
        ((each,),) = client.query(parts).result_rows
        before = parts_read()
        job()
        return (parts_read() - before) / int(each)

    return scans


def spark_scans(session: Any) -> Scans:
    """The scans of files in the plans of Spark's own record of executions, as adaptive execution left them."""
    store = session._jsparkSession.sharedState().statusStore()
    bus = session.sparkContext._jsc.sc().listenerBus()

    def executions() -> list[int]:
        bus.waitUntilEmpty()
        found = store.executionsList()
        return [int(found.apply(place).executionId()) for place in range(found.size())]

    def scans(job: Job) -> float:
        last = max(executions(), default=-1)
        job()
        return float(sum(_file_scans(store.planGraph(number).allNodes()) for number in executions() if number > last))

    return scans


def _file_scans(nodes: Any) -> int:
    return sum(str(nodes.apply(place).name()).startswith("Scan parquet") for place in range(nodes.size()))
