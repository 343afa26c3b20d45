"""Spark: a session that the caller has, a standalone master, or Spark Connect."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark
from sqlglot import exp

from podium.errors import InvalidArgument, SourceUnavailable
from podium.errors.installing import install_library
from podium.query.schema import Column, Schema
from podium.sources.isolation import Process, attempt, run_guarded
from podium.sources.spark.connection import DIALECT, SparkQuestion, is_remote, quietly
from podium.sources.spark.types import column_of, convert
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import Relation
from podium.sources.sql.table_source import OneProcessSource

__all__ = ["SparkSource"]

# The settings that podium's SQL relies on, set in its own session and not in the caller's.
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    # A damaged or missing file is always an error, whatever the caller's session tolerates.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Names of folders are text, as on every engine; old calendars are not an error that only some rows raise.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
}
# Settings of podium's own application: failing tasks quote rows in all of these places.
_APPLICATION: dict[str, bool | float | int | str | None] = {
    "spark.app.name": "podium",
    "spark.eventLog.enabled": "false",
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# An executor that starts when the driver's level is set already applies it, and then loads Spark's default log
# configuration over it, unless the level of its own machine says that there is one. Where a cluster has a
# configuration of its own, the level that the driver sends holds.
_EXECUTOR_OPTIONS, _SILENT_EXECUTOR = "spark.executor.extraJavaOptions", "-Dlog4j2.level=OFF"
_MASTER, _CONNECT = "spark", "sc"
_CONNECT_PACKAGES = ("grpc", "grpc_status", "pandas", "zstandard")
_MASTER_PORT, _SECONDS = 7077, 10
_TOLERANT = re.compile(r"\bignore(?:corrupt|missing)files -> true\b", re.IGNORECASE)
_DETAILS, _COLUMNAR = ("# Detailed Table Information", ""), ("parquet", "orc", "delta", "iceberg")
_opened: Counter[str] = Counter()


T = TypeVar("T")


class SparkSource(OneProcessSource):
    """A table of a Spark cluster.

    ``location`` is a SparkSession, a master ``spark://host:port`` or Spark Connect ``sc://host:port``; ``table`` is a
    table or view that the session knows, or a path to Parquet, with a slash in it, that the cluster can read. Opening
    asks for the columns; nothing is read from rows.

    Spark has no transactions: one query sees each file once, and a question of several queries computes the counts
    once, keeps them on the executors (a local checkpoint), and answers from there. If an executor is lost in between,
    the question fails rather than reading again.

    Spark's log quotes rows where a task fails, so a source turns off the log of the driver's JVM, and that of the
    executors if it made the session. In a session of yours, set ``spark.executor.syncLogLevel.enabled`` to ``true``
    and put ``-Dlog4j2.level=OFF`` into ``spark.executor.extraJavaOptions``: executors that start later need both.
    """

    sql_dialect: Dialect = DIALECT

    def __init__(self, location: object, *, table: str | None = None) -> None:
        if table is None:
            raise InvalidArgument("table", table, allowed="the name of a table or view, or a path to Parquet")
        self._url = location if isinstance(location, str) else None
        self._address = "a Spark session" if self._url is None else self._url.partition(";")[0]
        self._session = quietly(lambda: _session_of(location))
        self._process = Process()
        self._open(table)

    def implied_schemas(self) -> tuple[str, ...]:
        """The catalogue and database in which names without them are found."""
        found = quietly(lambda: attempt(self._current))
        return () if found is None else (".".join(found), found[1])

    def _current(self) -> tuple[str, str]:
        return self._session.catalog.currentCatalog(), self._session.catalog.currentDatabase()

    def _describe(self, table: str) -> Relation:
        found = quietly(lambda: attempt(lambda: self._columns(table)))
        if found is None:
            raise SourceUnavailable(
                f"table={table!r} cannot be read on source={self._address!r}. Allowed: a table or view that the "
                "session knows, or a path to Parquet that the cluster can read. Check the name, and that the session "
                "is alive."
            )
        target, types, stored = found
        columns = tuple(column_of(name, type_) for name, type_ in types.items())
        computed = frozenset() if stored else frozenset(types)
        return Relation(target, Schema(columns), DIALECT, _Cleaner(types), computed)

    def _columns(self, table: str) -> tuple[exp.Expr, Mapping[str, spark.DataType], bool]:
        target = _table(table)
        session = _clone(self._session)
        try:
            frame = session.sql(DIALECT.sql(exp.select("*").from_(target.copy())))
            if not is_remote(session) and _tolerates_damage(frame):
                raise SourceUnavailable(
                    f"table={table!r} on source={self._address!r} is read with ignoreCorruptFiles or "
                    "ignoreMissingFiles, so that a damaged file would silently leave users out. Allowed: a table "
                    "whose damage is an error. Read it without these options."
                )
            schema = frame.schema
            stored = "/" in table or _is_stored(session, target)
        finally:
            _release(session)
        return target, {field.name: field.dataType for field in schema.fields}, stored

    @contextmanager
    def session(self) -> Iterator[SparkQuestion]:
        """A session for one question."""
        self._process.require(self._address)
        session = quietly(lambda: run_guarded(lambda: _clone(self._session)))
        question = SparkQuestion(session)
        try:
            yield question
        finally:
            quietly(lambda: attempt(question.free))
            quietly(lambda: attempt(lambda: _release(session)))

    def close(self) -> None:
        """Leave the cluster, if this is the last source that was opened by its URL."""
        if self._url is None or not _opened[self._url]:
            return
        _opened[self._url] -= 1
        if not _opened[self._url]:
            quietly(lambda: attempt(self._session.stop))


@dataclass(frozen=True, slots=True)
class _Cleaner:
    types: Mapping[str, spark.DataType]

    def __call__(self, value: exp.Expr, column: Column) -> exp.Expr:
        return convert(value, column, self.types[column.name])


def _session_of(location: object) -> SparkSession:
    if isinstance(location, SparkSession):
        return location
    scheme = urlsplit(location).scheme if isinstance(location, str) else None
    if scheme == _MASTER:
        return _from_master(str(location))
    if scheme == _CONNECT:
        return _from_connect(str(location))
    if type(location).__name__ == SparkSession.__name__:
        return location  # type: ignore[return-value]  # Spark Connect's class is another, with the same methods
    raise InvalidArgument(
        "source",
        "another URL" if isinstance(location, str) else type(location).__name__,
        allowed="a SparkSession, spark://host:port or sc://host:port",
        hint="A frame becomes a table of its session with frame.createOrReplaceTempView(name).",
    )


def _from_master(url: str) -> SparkSession:
    """A session on a standalone cluster; sources on the same cluster share it."""
    if not any(map(_listens, urlsplit(url).netloc.split(","))):
        raise SourceUnavailable(
            f"source={url!r} cannot be reached. Allowed: spark://host:port of a standalone master. Check host and port."
        )
    before = SparkSession.getActiveSession()
    session = attempt(lambda: SparkSession.builder.master(url).config(map=_application()).getOrCreate())
    if session is None or attempt(lambda: session.sparkContext.master) != url:
        raise SourceUnavailable(
            f"source={url!r} could not be opened. A process can be part of one Spark application, and needs Java 17 or "
            "later. If this process has a Spark session already, give that session as the source."
        )
    if before is None or _opened[url]:
        _opened[url] += 1
    return session


def _application() -> dict[str, bool | float | int | str | None]:
    """Settings of podium's own application; options of the executors' machines that are set already stay."""
    # The first of its kind starts the driver's machine, which knows what files and the environment set.
    SparkContext._ensure_initialized()
    options = SparkConf().get(_EXECUTOR_OPTIONS, "")
    return _APPLICATION | {_EXECUTOR_OPTIONS: f"{options} {_SILENT_EXECUTOR}".strip()}


def _listens(address: str) -> bool:
    """Whether something listens there: Spark itself would retry for minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host or address, int(port) if host else _MASTER_PORT), timeout=_SECONDS):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def _from_connect(url: str) -> SparkSession:
    # What follows a semicolon may be a token.
    shown = url.partition(";")[0]
    connect = _connect_class()
    if connect is None:
        raise SourceUnavailable(
            f"source={shown!r} is Spark Connect, which needs packages that are not installed. "
            f"Run: {install_library('pyspark[connect]')}"
        )
    session: SparkSession | None = attempt(lambda: connect.builder.remote(url).getOrCreate())
    if session is None:
        raise SourceUnavailable(f"source={shown!r} could not be opened. Check host, port and token.")
    return session


def _connect_class() -> Any:
    """Spark Connect's session, or None if a package that it needs is missing."""
    if any(find_spec(name) is None for name in _CONNECT_PACKAGES):
        return None
    try:
        from pyspark.sql.connect.session import SparkSession as ConnectSession  # noqa: PLC0415 - needs more packages
    except (ImportError, SystemExit):
        # An outdated package mistakes a process without a main file for its own test, and exits.
        return None
    return ConnectSession


def _clone(session: SparkSession) -> SparkSession:
    """A session that sees the tables and views of the caller's, with settings and views of its own."""
    if is_remote(session):
        own: SparkSession = session.cloneSession()  # type: ignore[attr-defined]
    else:
        _silence_jvm(session)
        # Public only for Spark Connect; newSession() would not see the caller's views.
        own = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())
    for name, value in _SETTINGS.items():
        own.conf.set(name, value)
    return own


def _release(own: SparkSession) -> None:
    """Stop a cloned remote session; a local one needs no cleanup, and stopping it would stop the caller's."""
    if is_remote(own):
        own.stop()


def _silence_jvm(session: SparkSession) -> None:
    """Turn off the log of the driver, and of executors that take their level from it."""
    session.sparkContext.setLogLevel("OFF")
    # That was the root logger only: loggers with their own level would still write.
    log4j = session.sparkContext._jvm.org.apache.logging.log4j  # type: ignore[union-attr]
    log4j.core.config.Configurator.setAllLevels("", log4j.Level.OFF)


def _table(name: str) -> exp.Expr:
    """A table by its name, or Parquet files by their path."""
    if "/" in name:
        return exp.table_(name, db="parquet", quoted=True)
    return exp.to_table(name, dialect=DIALECT.name)


def _tolerates_damage(frame: DataFrame) -> bool:
    """Whether files are read with an option that skips damaged ones, which no session setting undoes."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    found = (leaves.apply(place) for place in range(leaves.size()))
    # A leaf that is no file has no such method.
    options = (attempt(lambda leaf=leaf: str(leaf.relation().options().toString())) for leaf in found)  # type: ignore[misc]
    return any(text is not None and _TOLERANT.search(text) for text in options)


def _is_stored(session: SparkSession, target: exp.Expr) -> bool:
    """Whether the catalogue says that this is a table of columnar files: not a view, a frame or another database."""
    rows = session.sql(f"DESCRIBE TABLE EXTENDED {DIALECT.sql(target.copy())}").collect()
    lines = [(row[0], row[1]) for row in rows]
    if _DETAILS not in lines:
        return False
    facts = dict(lines[lines.index(_DETAILS) :])
    return facts.get("Type") in ("MANAGED", "EXTERNAL") and str(facts.get("Provider")).lower() in _COLUMNAR
