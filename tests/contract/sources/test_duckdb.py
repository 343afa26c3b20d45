"""DuckDB passes the contract in every form in which it can be given a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.support.sources import reference
from tests.support.sources.checks import Load
from tests.support.sources.data import Table, quoted
from tests.support.sources.parquet import arrow_table
from tests.support.sources.suite import SourceContract

from podium.query.schema import Kind
from podium.sources import CountQuery, DuckDBSource, Source


def declared_types(table: Table) -> dict[str, str]:
    def declared(kind: Kind, scale: int) -> str:
        return f"decimal({scale})" if kind is Kind.DECIMAL else kind.value

    return {
        column.name: f"list({column.element.value})" if column.element else declared(column.kind, column.scale)
        for column in table.columns
        if column.kind is not Kind.TEXT
    }


@pytest.fixture(scope="class")
def opened() -> Iterator[Callable[..., DuckDBSource]]:
    sources: list[DuckDBSource] = []

    def opens(location: object, **options: Any) -> DuckDBSource:
        sources.append(DuckDBSource(location, **options))
        return sources[-1]

    yield opens
    for source in sources:
        source.close()


@pytest.fixture(autouse=True)
def own_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB does not choose what a user keeps by MD5."""
    monkeypatch.setattr(reference, "text_hash", reference.duckdb_hash)


class OneTable(SourceContract):
    """A source that holds one table, which each form puts where DuckDB finds it."""

    has_domain_tables = False

    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        """The location, and the types that are declared."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, opened: Callable[..., DuckDBSource], tmp_path_factory: pytest.TempPathFactory) -> Load:
        folder = tmp_path_factory.mktemp("one")

        def load(table: Table, *_: Table) -> DuckDBSource:
            location, types = cls.located(table, folder)
            return opened(location, types=types)

        return load


class OtherForm(OneTable):
    """Not the form on which everything is tried."""

    another_form = True


class Untyped(OtherForm):
    """A form without types of its own: they are declared, and no float can be."""

    has_floats = False


class TestParquet(OneTable):
    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        path = folder / f"{table.name}.parquet"
        pq.write_table(arrow_table(table), path, row_group_size=100)
        return path, {}


class TestDuckDBFile(SourceContract):
    """The columns of text have a collation that must not matter."""

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, opened: Callable[..., DuckDBSource], tmp_path_factory: pytest.TempPathFactory) -> Load:
        folder = tmp_path_factory.mktemp("duckdb")

        def load(table: Table, *beside: Table) -> DuckDBSource:
            path = folder / f"{table.name}.duckdb"
            with duckdb.connect(path) as connection:
                for each in (table, *beside):
                    connection.register("given", arrow_table(each))
                    connection.execute(f"CREATE TABLE {each.name} AS SELECT * FROM given")
                    for column in each.columns:
                        if column.kind is Kind.TEXT:
                            change = f"ALTER TABLE {each.name} ALTER {quoted(column.name)} TYPE VARCHAR COLLATE NOCASE"
                            connection.execute(change)
            return opened(path, table=table.name)

        return load


class TestArrow(OtherForm):
    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        return arrow_table(table), {}


class TestPolars(OtherForm):
    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        return pl.DataFrame(arrow_table(table)), {}


class TestPandas(Untyped):
    """Columns of Python objects, with declared types: what most pandas frames in the world are."""

    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        frame = pd.DataFrame({name: pd.Series(table.column(name), dtype=object) for name in table.names})
        return frame, declared_types(table)


def csv_cell(value: Any) -> str:
    """An empty text is quoted, so that it is not a missing one; a list is written as DuckDB writes lists."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        value = "[" + ", ".join("NULL" if part is None else listed(part) for part in value) + "]"
    return '"' + str(value).replace('"', '""') + '"'


def listed(part: Any) -> str:
    return '"' + str(part).replace("\\", "\\\\").replace('"', '\\"') + '"'


class TestCSV(Untyped):
    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        path = folder / f"{table.name}.csv"
        lines = [",".join(map(csv_cell, row)) for row in (table.names, *table.rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        return path, declared_types(table)


class TestJSON(Untyped):
    @staticmethod
    def located(table: Table, folder: Path) -> tuple[object, dict[str, str]]:
        path = folder / f"{table.name}.jsonl"
        records = (dict(zip(table.names, row, strict=True)) for row in table.rows)
        lines = [json.dumps(record, default=str, ensure_ascii=place % 2 == 0) for place, record in enumerate(records)]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path, dict.fromkeys(table.names, "text") | declared_types(table)

    @pytest.mark.parametrize(
        ("query", "name"), [(CountQuery(("labels",), "user_id"), "item"), (CountQuery(("label",), "user"), "user")]
    )
    def test_unknown_columns_are_refused(self, events: Source, query: CountQuery, name: str) -> None:
        """None is: records may have any keys, so a key that no record has is a column that is missing everywhere."""
        events.check(query)
        with events.snapshot(query) as snapshot:
            assert len(snapshot.top_rows(10).top(10).items) == 0, name
