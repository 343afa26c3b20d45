"""Databases behind SQLAlchemy pass the contract: SQLite, and PostgreSQL by the general way."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.contract.sources.test_postgresql import TYPES, create
from tests.support.postgres import new_database
from tests.support.sources import reference
from tests.support.sources.checks import SCALARS, Load, check_groups, check_top
from tests.support.sources.data import EVENTS, Table, quoted
from tests.support.sources.suite import SourceContract

from podium.query.schema import Kind
from podium.sources import CountQuery, Source, open_source
from podium.sources.sqlalchemy.source import SQLAlchemySource

SQLITE_TYPES = {
    Kind.TEXT: "VARCHAR(100) COLLATE NOCASE",
    Kind.INTEGER: "BIGINT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "DATETIME",
    Kind.FLOAT: "DOUBLE",
    Kind.DECIMAL: "DECIMAL(20, 2)",
    Kind.LIST: "JSON",
}


DECIMAL_TESTS = ("test_the_schema_says_kinds", "test_several_columns_are_one_item", "test_many_names_at_once")


def stored(value: Any) -> Any:
    """As SQLAlchemy would write it, or as other programs do."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" T"[value.day % 2])
    return value.isoformat() if isinstance(value, dt.date) else json.dumps(value) if isinstance(value, tuple) else value


class TestSQLite(SourceContract):
    """Texts have a collation that must not matter. There are no lists, and decimals are floats."""

    has_lists = False

    @pytest.fixture(autouse=True)
    def _without_decimals(self, request: pytest.FixtureRequest) -> None:
        parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
        if "amount" in repr(parameters) or request.node.name in DECIMAL_TESTS:
            pytest.skip("this engine has no decimals")

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
        folder = tmp_path_factory.mktemp("sqlite")
        sources: list[Source] = []

        def load(table: Table, *beside: Table) -> Source:
            path = folder / f"{table.name}.db"
            with sqlite3.connect(path) as connection:
                for each in (table, *beside):
                    columns = ", ".join(f"{quoted(column.name)} {SQLITE_TYPES[column.kind]}" for column in each.columns)
                    connection.execute(f"CREATE TABLE {quoted(each.name)} ({columns})")
                    marks = ", ".join("?" * len(each.columns))
                    rows = [tuple(map(stored, row)) for row in each.rows]
                    connection.executemany(f"INSERT INTO {quoted(each.name)} VALUES ({marks})", rows)
            connection.close()
            sources.append(open_source(f"sqlite:///{path}", table=table.name))
            assert isinstance(sources[-1], SQLAlchemySource)
            return sources[-1]

        yield load
        for source in sources:
            source.close()

    def test_kinds_without_decimals(self, events: Source) -> None:
        kinds = {column.name: column.kind for column in events.schema().columns}
        assert kinds == {column.name: column.kind for column in EVENTS.columns} | {
            "amount": Kind.FLOAT,
            "tags": Kind.OTHER,
            "codes": Kind.OTHER,
        }

    def test_several_columns_without_decimals(self, events: Source) -> None:
        items = tuple(item for item in SCALARS if item != "amount")
        for most in (None, 2):
            query = CountQuery(items, "user name", max_items_per_user=most, salt=None if most is None else "ab" * 16)
            check_top(events, EVENTS, query, (7, 1000))
            check_groups(events, reference.histogram(EVENTS, query), query)


class TestPostgreSQL(SourceContract):
    @pytest.fixture(scope="class")
    @classmethod
    def load(cls) -> Iterator[Load]:
        sources: list[Source] = []

        def load(table: Table, *beside: Table) -> Source:
            for each in (table, *beside):
                create(url, each, TYPES)
            sources.append(SQLAlchemySource(url.replace("postgresql:", "postgresql+psycopg:"), table=table.name))
            return sources[-1]

        with new_database() as url:
            yield load
            for source in sources:
                source.close()
