"""The session of one question on Spark: what it keeps, loads and frees, and whose logs it silences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema
from sqlglot import exp

from podium.histogram import Item
from podium.query.schema import Column, Kind
from podium.sources.isolation import BATCH, run_guarded, run_in_batches
from podium.sources.quiet import silence_loggers
from podium.sources.spark.types import type_of
from podium.sources.sql.dialect import Spark
from podium.sources.sql.expressions import USER, column

__all__ = ["DIALECT", "SparkQuestion", "is_remote", "quietly"]

DIALECT = Spark()
_QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")
# At DEBUG the last two log everything that the JVM sends.
_LOGGERS = (*_QUERY_LOGGERS, "py4j.clientserver", "py4j.java_gateway")
_FEW_PARTS, _PARTS_PER_CORE = "8", 4

for _name in _QUERY_LOGGERS:
    # Whoever asks for a logger first decides its class, and Spark needs its own.
    PySparkLogger.getLogger(_name)

T = TypeVar("T")


class SparkQuestion:
    """A session for one question; its views are its own."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._kept: list[DataFrame] = []

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return _run(lambda: [tuple(row) for row in self._session.sql(query).collect()])

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in batches, partition by partition."""
        rows = _run(lambda: iter(self._session.sql(query).toLocalIterator()))
        return run_in_batches(lambda: quietly(lambda: [tuple(row) for row in islice(rows, BATCH)]))

    def explain(self, query: str) -> None:
        """Plan a query; the statement EXPLAIN would return errors as text. Spark Connect checks names only."""

        def planned() -> None:
            frame = self._session.sql(query)
            if is_remote(self._session):
                _ = frame.schema
            else:
                frame._jdf.queryExecution().executedPlan()

        _run(planned)

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """A view of rows that are computed once, and freed when the question ends."""
        _run(lambda: self._keep_pairs(table, query) if pairs else self._keep_counts(table, query))

    def _keep_pairs(self, table: str, query: exp.Query) -> None:
        """Pairs are laid out by user, once: later rounds group them by user without moving them."""
        conf = self._session.conf
        if not is_remote(self._session):
            # Without an adaptive plan the usual 200 would be too many for a small cluster and too few for a large one.
            conf.set(
                "spark.sql.shuffle.partitions", str(_PARTS_PER_CORE * self._session.sparkContext.defaultParallelism)
            )
        # An adaptive plan merges partitions and forgets by which column they were made.
        adaptive = conf.get("spark.sql.adaptive.enabled")
        conf.set("spark.sql.adaptive.enabled", "false")
        frame = self._session.sql(DIALECT.sql(_moved_by_user(query))).localCheckpoint()
        conf.set("spark.sql.adaptive.enabled", str(adaptive))
        self._kept.append(frame)
        frame.createOrReplaceTempView(table)

    def _keep_counts(self, table: str, query: exp.Query) -> None:
        frame = self._session.sql(DIALECT.sql(query)).localCheckpoint()
        self._kept.append(frame)
        frame.createOrReplaceTempView(table)
        # Later queries have as many keys as there are counts: most of hundreds of partitions would be empty.
        self._session.conf.set("spark.sql.shuffle.partitions", _FEW_PARTS)

    def free(self) -> None:
        """Free the kept rows on the executors; a remote session frees its own when it stops."""
        for frame in self._kept:
            if not is_remote(self._session):
                frame._jdf.queryExecution().analyzed().rdd().unpersist(False)

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A view of the caller's items, sent as Arrow, which executors read without Python."""
        schema = spark.StructType([spark.StructField(column.name, type_of(column)) for column in columns])
        items = _as_arrow(schema, columns, rows)
        moments = [column.name for column in columns if column.kind is Kind.TIMESTAMP]

        def loaded() -> None:
            active = None if is_remote(self._session) else SparkSession.getActiveSession()
            frame = self._session.createDataFrame(items, schema)
            if active is not None:
                # The method activates its session in this thread, where the caller's must stay active.
                active.createDataFrame(items.slice(0, 0), schema)
            frame = frame.withColumns({name: frame[name].cast(spark.TimestampType()) for name in moments})
            frame.createOrReplaceTempView(table)

        _run(loaded)


def _moved_by_user(pairs: exp.Query) -> exp.Query:
    """Distinct pairs, made after all rows of a user are in one place: rows move once, and not once more by pair."""
    source = pairs.args.get("from_")
    if source and isinstance(source.this, exp.Subquery) and pairs.find(exp.Window):
        # What is numbered within users, such as how many items they have, is numbered where their pairs are.
        source.this.set("this", _moved_by_user(source.this.this))
        return pairs
    if pairs.find(exp.Group):
        # Pairs with values: their sums move, which are fewer than the rows.
        summed = exp.select("*").from_(pairs.subquery("moved"))
        summed.set("distribute", exp.Distribute(expressions=[column(USER)]))
        return summed
    return DIALECT.by_user(pairs)


def quietly(action: Callable[[], T]) -> T:
    """Run with Spark's Python loggers silenced: they log exceptions, which quote rows."""
    with silence_loggers(*_LOGGERS):
        return action()


def _run(action: Callable[[], T]) -> T:
    return quietly(lambda: run_guarded(action))


def is_remote(session: SparkSession) -> bool:
    """Whether this is Spark Connect, whose session is of another class."""
    return not isinstance(session, SparkSession)


def _as_arrow(schema: spark.StructType, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> pa.Table:
    types = to_arrow_schema(schema)
    values = [[_writable(row[place], column) for row in rows] for place, column in enumerate(columns)]
    return pa.table([pa.array(column, field.type) for column, field in zip(values, types, strict=True)], schema=types)


def _writable(value: Any, column: Column) -> Any:
    return Decimal(value) if column.kind is Kind.DECIMAL and value is not None else value
