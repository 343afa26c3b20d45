"""Open a source from a path, a URL, a frame or a session, importing only the engine it needs."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from podium.errors import InvalidArgument, PodiumError, SourceUnavailable
from podium.errors.installing import install_command
from podium.query.join import Join, declared_joins
from podium.sources.declared_types import Types
from podium.sources.duckdb.files import is_sqlite
from podium.sources.duckdb.frames import is_frame, speaks_arrow
from podium.sources.duckdb.source import DuckDBSource
from podium.sources.duckdb.validity import FileRules
from podium.sources.nearly_tables import is_lazy, leads_on, ready_table
from podium.sources.protocol import Source
from podium.sources.sql.sql_source import SqlSource

__all__ = [
    "SOURCE_DEFAULTS",
    "EngineLibrary",
    "SourceOptions",
    "import_engine",
    "open_source",
    "server_of",
    "source_options",
]

_URL = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9]*)(?:\+[a-zA-Z0-9]+)?://")


class SourceOptions(TypedDict, total=False):
    """How a source is read: see ``open_source``."""

    table: str | None
    types: Types | None
    bad_lines: str
    encoding: str
    header: bool
    joins: Iterable[Join | str] | Join | str | None


SOURCE_DEFAULTS: Mapping[str, object] = {
    "table": None, "types": None, "bad_lines": "refuse", "encoding": "utf-8", "header": True, "joins": None,
}  # fmt: skip
"""What ``open_source`` takes where nothing is stated."""


def source_options(declared: object) -> SourceOptions:
    """How the source of a declared table or data set is read, which has a field for each option."""
    return cast(SourceOptions, {name: getattr(declared, name) for name in SOURCE_DEFAULTS})


@dataclass(frozen=True, slots=True)
class EngineLibrary:
    """An engine whose library is installed by an extra; its class takes the location and ``table=``."""

    module: str
    cls: str
    extra: str


_POSTGRES = EngineLibrary("podium.sources.postgresql.source", "PostgreSQLSource", "postgresql")
_SPARK = EngineLibrary("podium.sources.spark.source", "SparkSource", "spark")
_CLICKHOUSE = EngineLibrary("podium.sources.clickhouse.source", "ClickHouseSource", "clickhouse")
_CHDB = EngineLibrary("podium.sources.clickhouse.source", "ClickHouseSource", "chdb")
_SNOWFLAKE = EngineLibrary("podium.sources.snowflake.source", "SnowflakeSource", "snowflake")
_SQLALCHEMY = EngineLibrary("podium.sources.sqlalchemy.source", "SQLAlchemySource", "sqlalchemy")

_SCHEMES = {
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
    "spark": _SPARK,
    "sc": _SPARK,
    "clickhouse": _CLICKHOUSE,
    "clickhouses": _CLICKHOUSE,
    "chdb": _CHDB,
    "snowflake": _SNOWFLAKE,
}
_LIBRARIES = {
    "psycopg": _POSTGRES,
    "pyspark": _SPARK,
    "clickhouse_connect": _CLICKHOUSE,
    "chdb": _CHDB,
    "sqlalchemy": _SQLALCHEMY,
}
_REMOTE_FILES = ("s3", "gs", "gcs", "http", "https", "hf", "az", "abfss", "file")


def open_source(
    location: object,
    *,
    table: str | None = None,
    types: Types | None = None,
    bad_lines: str = "refuse",
    encoding: str = "utf-8",
    header: bool = True,
    joins: Iterable[Join | str] | Join | str | None = None,
) -> Source:
    """A source for a path, a pattern, a folder, a database URL, a frame, or an engine's own session or connection.

    A frame is one of pandas, polars or Arrow, or any object that hands over an Arrow stream (``__arrow_c_stream__``),
    such as a DuckDB relation. A lazy frame is collected once, when it is opened; of a DuckDB connection one table is
    read into memory.

    ``table`` names the table in a database; ``types`` declares columns of files and frames, for example
    ``{"user_id": "integer"}``; ``bad_lines``, ``encoding`` and ``header`` are rules for CSV and JSON files, see
    ``DuckDBSource``. ``joins`` declares the tables that questions may join: a ``podium.Join``, or several.
    """
    source = _open(location, table, types, bad_lines, encoding, header=header)
    declared = declared_joins(joins)
    if not declared:
        return source
    try:
        if not isinstance(source, SqlSource):
            raise InvalidArgument("joins", sorted(declared), allowed="None for a source that podium does not open")
        source.declare_joins(declared)
    except PodiumError:
        if source is not location:
            source.close()
        raise
    return source


def _open(
    location: object, table: str | None, types: Types | None, bad_lines: str, encoding: str, *, header: bool
) -> Source:
    """The source without what is beside it."""
    if isinstance(location, str | Path) and is_sqlite(location):
        location = f"sqlite:///{Path(location).resolve()}"
    if isinstance(location, str | Path) and not (isinstance(location, str) and _URL.match(location)):
        return DuckDBSource(location, table=table, types=types, bad_lines=bad_lines, encoding=encoding, header=header)
    FileRules(bad_lines, encoding, header).refuse()
    if isinstance(location, str) and (server := server_of(location)):
        return _open_engine(server, location, table, types)
    return _open_object(location, table, types)


def server_of(location: object) -> EngineLibrary | None:
    """The engine of a URL, or of an engine's own session or connection; None for all else."""
    if not isinstance(location, str):
        found = (_LIBRARIES.get(cls.__module__.partition(".")[0]) for cls in type(location).__mro__)
        return next((engine for engine in found if engine is not None), None)
    url = _URL.match(location)
    if url is None:
        return None
    scheme = url["scheme"].lower()
    if scheme in _REMOTE_FILES:
        # Only the scheme: the rest of a URL may hold a password or a signature.
        raise SourceUnavailable(
            f"source='{scheme}://...' is not on this machine. Files must be local, so that the engine needs no "
            "network: download the files, or query them through a database."
        )
    return _SCHEMES.get(scheme, _SQLALCHEMY)


def _open_object(location: object, table: str | None, types: Types | None) -> Source:
    """A source for what is neither a path nor a URL."""
    if is_frame(location):
        return DuckDBSource(location, table=table, types=types)
    lazy = is_lazy(location)
    ready = ready_table(location, table)
    if ready is not None:
        # Of a connection, the table was chosen there.
        return DuckDBSource(ready, table=table if lazy else None, types=types)
    # isinstance with a protocol touches the attributes, and a lazy frame then resolves its whole schema.
    if not lazy and isinstance(location, Source):
        if table is not None or types is not None:
            raise InvalidArgument("table", table, allowed="no table and no types where the source is already open")
        return location
    engine = server_of(location)
    if engine is not None:
        return _open_engine(engine, location, table, types)
    # Only now: an engine's own frame may speak Arrow too, and must not be fetched whole.
    if not lazy and speaks_arrow(location):
        return DuckDBSource(location, table=table, types=types)
    raise InvalidArgument(
        "source",
        type(location).__name__,
        allowed="a path, a pattern, a folder, a database URL, a pandas, polars or Arrow frame, or an engine's session",
        hint=leads_on(location),
    )


def _open_engine(engine: EngineLibrary, location: object, table: str | None, types: Types | None) -> Source:
    if types is not None:
        raise InvalidArgument("types", dict(types), allowed="None for a database, which has types of its own")
    return cast("Source", import_engine(engine)(location, table=table))


def import_engine(engine: EngineLibrary) -> Any:
    """The class of an engine; raises if its library is not installed."""
    try:
        module: Any = importlib.import_module(engine.module)
    except ModuleNotFoundError as missing:
        raise SourceUnavailable(
            f"This source needs {missing.name!r}, which is not installed. Run: {install_command(engine.extra)}"
        ) from None
    return getattr(module, engine.cls)
