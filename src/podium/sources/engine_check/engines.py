"""An engine to check: opened by its address, without a table of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.query.schema import Kind
from podium.sources.duckdb.files import find_files, is_sqlite
from podium.sources.duckdb.source import DuckDBSource
from podium.sources.open import import_engine, server_of
from podium.sources.sqlalchemy.self_test import Engine

__all__ = ["COUNTED_KINDS", "EngineFacts", "open_engine"]

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_UNNAMED = re.compile(r"[^a-z0-9]+")
_NONE = "podium_none"
# What is opened instead of a table of the user: one of the engine's own, or none at all.
_CONSTANTS = {
    "PostgreSQLSource": ("podium.sources.postgresql.source", "PostgreSQLSource", "pg_catalog.pg_class"),
    "ClickHouseSource": ("podium.sources.clickhouse.source", "ClickHouseSource", "system.one"),
    "SnowflakeSource": ("podium.sources.snowflake.snowflake_constants", "SnowflakeConstants", _NONE),
    "SparkSource": ("podium.sources.spark.without_table", "SparkConstants", _NONE),
    "SQLAlchemySource": ("podium.sources.sqlalchemy.constants", "SQLAlchemyConstants", _NONE),
}
COUNTED_KINDS = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.DECIMAL, Kind.TIMESTAMP)
_UNUSED: dict[str, tuple[Kind, ...]] = {"sqlite": (Kind.DECIMAL,), "postgresql": (), "mariadb": (), "mysql": ()}


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """An engine's name and version, and what podium uses of it.

    ``kinds`` are those of columns that podium counts there; ``fences`` and ``sums`` say whether it asks about views,
    and by events or amounts.
    """

    name: str
    version: str
    kinds: tuple[Kind, ...] = COUNTED_KINDS
    fences: bool = True
    sums: bool = True


@contextmanager
def open_engine(location: object) -> Iterator[tuple[EngineFacts, Engine]]:
    """The engine behind a path, a URL, a frame or a session; raises if it cannot be reached.

    A file or a frame of the user is not opened: its engine is the DuckDB in this process.
    """
    with closing(_open(location)) as source:
        flavour = getattr(source, "flavour", None)
        with source.session() as session:
            asked = getattr(source, "version_query", "SELECT version()")
            said = source.version() if flavour else str(session.fetch(asked)[0][0])
        # Of what a server says only digits: the rest may name the machine that it was made on.
        number = _NUMBER.search(said)
        version = "unknown" if number is None else number.group()
        if flavour is None:
            facts = EngineFacts({"postgres": "postgresql"}.get(source.dialect, source.dialect), version)
            facts = replace(facts, sums=getattr(source, "sums", True))
            yield facts, Engine(source.sql_dialect, lambda value, _column: value, source.session)
            return
        name = _UNNAMED.sub("", source.engine_name.lower())
        unused = _UNUSED.get(name, (Kind.TIMESTAMP,))
        facts = EngineFacts(name, version, tuple(kind for kind in COUNTED_KINDS if kind not in unused))
        facts = replace(facts, fences=flavour.fences, sums=flavour.sums)
        yield facts, Engine(source.sql_dialect, flavour.cleaner({}), source.session)


def _open(location: object) -> Any:
    if isinstance(location, str | Path) and is_sqlite(location):
        location = f"sqlite:///{Path(location).resolve()}"
    library = server_of(location)
    if library is not None:
        module, cls, table = _CONSTANTS[library.cls]
        return import_engine(replace(library, module=module, cls=cls))(location, table=table)
    if isinstance(location, str | Path):
        find_files(location)
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return DuckDBSource(pa.table({_NONE: pa.array([0], pa.int64())}))
