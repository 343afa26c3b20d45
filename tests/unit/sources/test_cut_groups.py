"""Users who are cut to a few groups keep no more of them, and whole ones, even if all their hashes are equal."""

from __future__ import annotations

from collections import defaultdict

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources import CountQuery, GroupCut
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import DuckDB
from podium.sources.sql.relation import Relation

_SCHEMA = Schema(tuple(Column(name, Kind.INTEGER) for name in ("user_id", "country", "article")))
_ITEMS = 3


class _ByJoin(DuckDB):
    def text_hash(self, text: exp.Expr) -> exp.Expr:
        return exp.cast(exp.Literal.number(7), exp.DType.UBIGINT)


class _ByWindow(DuckDB):
    computes_once = False

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        return exp.Literal.string("7" * 32)


@pytest.mark.parametrize("per_user", [1, 2, 11])
@pytest.mark.parametrize("dialect", [_ByJoin(), _ByWindow()], ids=["join", "window"])
def test_of_equal_hashes_the_least_groups_are_kept(dialect: DuckDB, per_user: int) -> None:
    groups = {1: range(12), 2: range(5, 5 + per_user), 3: [8]}
    rows = [(user, group, item) for user, some in groups.items() for group in some for item in range(_ITEMS)]
    names = [column.name for column in _SCHEMA.columns]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    query = CountQuery(("article",), "user_id", groups=GroupCut(("country",), per_user=per_user), salt="0" * 32)
    sql = dialect.sql(SqlBuilder(Relation(exp.to_table("visits"), _SCHEMA, dialect), query).pairs())
    kept = defaultdict(list)
    with duckdb.connect() as connection:
        connection.register("visits", table)
        for user, group, _ in connection.execute(sql).fetchall():
            kept[user].append(group)
    expected = {user: sorted(some)[:per_user] * _ITEMS for user, some in groups.items()}
    assert {user: sorted(some) for user, some in kept.items()} == {
        user: sorted(some) for user, some in expected.items()
    }
