"""SQL for engines that cannot run here: read back by sqlglot's dialect of each, and answered by DuckDB in its place.

That the engines themselves do the same is not shown by this. Databricks' SQL is Spark's, which the contract runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from tests.golden.sources.test_sql import UNTRIED, written

from podium.histogram import Item
from podium.query.schema import Column
from podium.sources.engine_check.engine_report import check_engine
from podium.sources.engine_check.engines import EngineFacts
from podium.sources.isolation import run_guarded
from podium.sources.sql.dialect import Dialect
from podium.sources.sqlalchemy.dialect import Flavour, flavour_of
from podium.sources.sqlalchemy.self_test import Engine, hashes_alike
from podium.sources.sqlalchemy.warehouse_sql import BigQuery, Databricks, Trino

# What DuckDB has otherwise: it writes times without trailing zeros, its LIKE has no escape unless one is stated, and
# its widest decimal has 38 digits where BigQuery's has 76.
NOT_TOLD: dict[str, set[str]] = {
    "trino": {"values of kind timestamp"},
    "bigquery": {"patterns", "sums without overflow"},
}


class Translated:
    """A session that reads SQL in another dialect."""

    def __init__(self, dialect: Dialect, connection: duckdb.DuckDBPyConnection) -> None:
        self._dialect, self._connection = dialect, connection

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        tree = sqlglot.parse_one(query, read=self._dialect.name)
        for call in list(tree.find_all(exp.Collate, exp.Anonymous)):
            if isinstance(call, exp.Collate) or call.name.upper() == "COLLATE":
                call.replace(call.this if isinstance(call, exp.Collate) else call.expressions[0])
        return run_guarded(lambda: self._connection.execute(tree.sql("duckdb")).fetchall())

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        yield self.fetch(query)

    def explain(self, query: str) -> None:
        self.fetch(f"SELECT * FROM ({query}) AS planned LIMIT 0")

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        self.fetch(self._dialect.sql(self._dialect.keep(table, query)))

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        types = [Flavour(self._dialect).loaded_column(column) for column in columns]
        made = exp.Create(this=exp.Schema(this=exp.to_table(table), expressions=types), kind="TABLE")
        self.fetch(self._dialect.sql(made))
        for row in rows:
            values = [self._dialect.literal(value, column) for value, column in zip(row, columns, strict=True)]  # type: ignore[arg-type]
            inserted = exp.insert(exp.Values(expressions=[exp.Tuple(expressions=values)]), table)
            self.fetch(self._dialect.sql(inserted))


def engine(dialect: Dialect) -> Engine:
    @contextmanager
    def session() -> Iterator[Translated]:
        with duckdb.connect() as connection:
            yield Translated(dialect, connection)

    return Engine(dialect, lambda value, _: value, session)


@pytest.mark.parametrize("dialect", [Trino(), BigQuery()], ids=lambda dialect: dialect.name)
def test_the_sql_means_what_podium_needs(dialect: Dialect) -> None:
    report = check_engine(engine(dialect), EngineFacts(dialect.name, "0"))
    assert {one.what for one in report.findings if one.result == "failed"} == NOT_TOLD[dialect.name]
    assert len(report.findings) > 15


def test_a_hash_of_other_bytes_is_noticed() -> None:
    class Backwards(Trino):
        def text_hash(self, text: exp.Expr) -> exp.Expr:
            return exp.Anonymous(this="REVERSE", expressions=[super().text_hash(text)])

    class Lengths(BigQuery):
        def length(self, text: exp.Expr) -> exp.Expr:
            return exp.Anonymous(this="BYTE_LENGTH", expressions=[text])

    assert hashes_alike(engine(Trino()))
    assert not hashes_alike(engine(Backwards()))
    assert not hashes_alike(engine(Lengths()))


@pytest.mark.parametrize("dialect", [*UNTRIED.values(), Databricks()], ids=lambda dialect: str(dialect.name))
def test_every_shape_is_read_back_by_its_dialect(dialect: Dialect) -> None:
    name, statements = dialect.name, written(dialect).split(";\n")
    trees = [sqlglot.parse_one(text, read=name) for text in statements if text.strip()]
    assert len(trees) > 55
    assert not [tree for tree in trees if isinstance(tree, exp.Command)]
    assert type(flavour_of(name).dialect) is type(dialect)
    # Known by its SQL alone: nobody has seen how it treats views and sums.
    assert not flavour_of(name).fences
    assert not flavour_of(name).sums
