"""MariaDB passes the contract, on a real server and with columns that compare without case, accents and blanks."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.mariadb import connect, name_of, new_database
from tests.support.sources.checks import Load
from tests.support.sources.data import Table, quoted
from tests.support.sources.suite import SourceContract

from podium.query.schema import Kind
from podium.sources import Source, open_source
from podium.sources.sqlalchemy.source import SQLAlchemySource

TYPES = {
    Kind.TEXT: "varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    Kind.INTEGER: "bigint",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "datetime(6)",
    Kind.FLOAT: "double",
    Kind.DECIMAL: "decimal(20, 2)",
}


def stored(value: Any) -> Any:
    """There is no NaN here, and there are no infinities: the largest numbers take their place."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else math.copysign(sys.float_info.max, value)
    return value


def create(database: str, table: Table) -> None:
    places = [place for place, column in enumerate(table.columns) if column.kind is not Kind.LIST]
    names = [quoted(table.columns[place].name, "`") for place in places]
    columns = ", ".join(f"{name} {TYPES[table.columns[place].kind]}" for name, place in zip(names, places, strict=True))
    with connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE TABLE {table.name} ({columns}) ENGINE=InnoDB")
        if table.rows:
            rows = [tuple(stored(row[place]) for place in places) for row in table.rows]
            cursor.executemany(f"INSERT INTO {table.name} VALUES ({', '.join(['%s'] * len(places))})", rows)


class TestMariaDB(SourceContract):
    """There are no lists."""

    has_lists = False

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls) -> Iterator[Load]:
        sources: list[Source] = []
        with new_database() as url:

            def load(table: Table, *beside: Table) -> Source:
                for each in (table, *beside):
                    create(name_of(url), each)
                sources.append(open_source(url, table=table.name))
                assert isinstance(sources[-1], SQLAlchemySource)
                return sources[-1]

            yield load
            for source in sources:
                source.close()
