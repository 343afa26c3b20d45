"""Users who are cut to a few items keep no more of them, even if all their hashes are equal."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources import CountQuery, DomainItems, DuckDBSource, PairValue
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import DuckDB
from podium.sources.sql.relation import Relation

_CUT = CountQuery(("article",), "user_id", max_items_per_user=1, salt="0" * 32)


def _source(pairs: list[tuple[int, int]]) -> DuckDBSource:
    return DuckDBSource(pa.table({"user_id": [user for user, _ in pairs], "article": [item for _, item in pairs]}))


def test_an_item_that_nobody_keeps_is_not_listed() -> None:
    with closing(_source([(1, item) for item in range(5)])) as source, source.snapshot(_CUT) as snapshot:
        assert snapshot.counts_of_counts() == ((1,), (1,))


def test_items_of_a_domain_are_counted_whoever_keeps_them() -> None:
    domain = DomainItems(tuple(range(4)))
    with closing(_source([(1, item) for item in range(5)])) as source, source.snapshot(_CUT, domain=domain) as snapshot:
        assert snapshot.counts_of_counts() == ((1, 0), (1, 3))


def test_who_has_few_items_keeps_them_all() -> None:
    pairs = [(user, 0) for user in range(1, 4)] + [(9, item) for item in (0, 1, 2)]
    with closing(_source(pairs)) as source, source.snapshot(_CUT) as snapshot:
        top = snapshot.top_rows(5)
    # The fourth user keeps one of three items.
    assert sum(top.top(5).counts) == 4
    assert top.top(1).counts[0] >= 3


class _EqualHashes(DuckDB):
    def text_hash(self, text: exp.Expr) -> exp.Expr:
        return exp.cast(exp.Literal.number(7), exp.DType.UBIGINT)


_SCHEMA = Schema(tuple(Column(name, Kind.INTEGER) for name in ("user_id", "article")))


@pytest.mark.parametrize("most", [1, 2, 11])
@pytest.mark.parametrize("shape", ["counts", "weights", "sums"])
def test_of_equal_hashes_the_least_items_are_kept(shape: str, most: int) -> None:
    """However many rows there are: the engine sorts thousands in several parts."""
    owned = {user: range(user % 5, user % 5 + 1 + user % 14) for user in range(700)}
    rows = [(user, item) for user, items in owned.items() for item in (*items, *items)]
    table = pa.table({"user_id": [user for user, _ in rows], "article": [item for _, item in rows]})
    query = CountQuery(("article",), "user_id", max_items_per_user=most, salt="0" * 32)
    expected: dict[int, int] = {}
    for items in owned.values():
        for item in items[:most]:
            weight = 5 if shape == "weights" and 1 in (len(items), most) else 2 if shape == "sums" else 1
            expected[item] = expected.get(item, 0) + weight
    if shape == "weights":
        query = replace(query, weights=((1, 5), (most, 1)) if most > 1 else ((1, 5),))
    if shape == "sums":
        query = replace(query, value=PairValue(clip=3))
    builder = SqlBuilder(Relation(exp.to_table("views"), _SCHEMA, _EqualHashes()), query)
    with duckdb.connect() as connection:
        connection.register("views", table)
        assert dict(connection.execute(_EqualHashes().sql(builder.counts())).fetchall()) == expected
