"""Users are kept with their numbers of items once, and used only where these are the numbers that count."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources import CountQuery
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import DuckDB
from podium.sources.sql.relation import ItemTable, Relation

DIALECT = DuckDB()
SCHEMA = Schema((Column("user_id", Kind.INTEGER), Column("article", Kind.INTEGER)))
LISTED = ItemTable(Relation(exp.to_table("some"), SCHEMA, DIALECT), ("article",))


def test_kept_users_are_those_of_all_pairs_only() -> None:
    query = CountQuery(("article",), "user_id", max_items_per_user=2, salt="0" * 32, weights=((1, 3), (2, 2)))
    relation = Relation(exp.to_table("views"), SCHEMA, DIALECT)
    builder = replace(SqlBuilder(relation, query).reading_kept("kept"), kept_users="users_table")
    for narrower, reads in ((builder, True), (replace(builder, without=LISTED), False)):
        for asked in (narrower.kept_counts(), narrower.sizes((1, 2))):
            assert ("users_table" in DIALECT.sql(asked)) == reads
    assert "users_table" not in DIALECT.sql(replace(builder, named=LISTED).sizes((1, 2)))
