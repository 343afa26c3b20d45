"""The SQL that is sent, word for word: one file per dialect, so that a change of any engine's SQL is seen.

A file is rewritten by: python -m tests.golden.sources.test_sql
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp
from tests.support.columns import schema
from tests.support.sources.data import utc

from podium.query.predicate import And, Between, Compare, Like, Missing, Not, OneOf, Operator, Or, Wildcard
from podium.sources import CountQuery, DomainSize, GroupCut, PairValue
from podium.sources.clickhouse.dialect import ClickHouse
from podium.sources.snowflake.dialect import Snowflake
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import Dialect, DuckDB, Postgres, Spark
from podium.sources.sql.groups.queries import GroupedSql, listed_texts
from podium.sources.sql.relation import ItemTable, Relation
from podium.sources.sqlalchemy.mariadb_sql import MariaDB
from podium.sources.sqlalchemy.sqlite_sql import SQLite
from podium.sources.sqlalchemy.warehouse_sql import BigQuery, Databricks, Trino

DIALECTS = {dialect.name: dialect for dialect in (DuckDB(), Postgres(), Spark(), ClickHouse(), Snowflake(), MariaDB())}
UNTRIED = {dialect.name: dialect for dialect in (Trino(), BigQuery())}
"""Engines that nobody has run this SQL on: it is what their documentation says. Databricks is one more."""
SCHEMA = schema(
    {
        "user_id": "integer",
        "article": "text",
        "price": "decimal(2)",
        "paid": "boolean",
        "day": "date",
        "at": "timestamp",
        "tags": "list(text)",
        "minutes": "float",
    }
)
SALT = "0123456789abcdef" * 2
WHERE = And(
    (
        Compare("article", Operator.UNEQUAL, "O'Brien\\"),
        Like("article", ("50%_!", Wildcard.MANY, "\\", Wildcard.ONE)),
        Or((Missing("tags"), Not(OneOf("price", (Decimal("1.5"), Decimal("2")))))),
        Compare("price", Operator.LESS, Decimal("1.005")),
        Compare("paid", Operator.EQUAL, value=True),
        Between("day", dt.date(2024, 1, 1), dt.date(2024, 12, 31)),
        Compare("at", Operator.AT_LEAST, utc(2024, 1, 1, 12, 30, 0, 1)),
        Compare("user_id", Operator.MORE, -(2**63)),
        Compare("user_id", Operator.LESS, 2**64),
    )
)


def statements(dialect: Dialect) -> Iterator[tuple[str, exp.Expr]]:
    views = Relation(exp.to_table("views"), SCHEMA, dialect)
    listed = ItemTable(Relation(exp.to_table("articles"), SCHEMA, dialect), ("article",))
    plain = SqlBuilder(views, CountQuery(("article",), "user_id"))
    bounded = SqlBuilder(views, CountQuery(("article", "price", "at"), "article", max_items_per_user=3, salt=SALT))
    tags = SqlBuilder(views, CountQuery(("tags", "day", "paid"), "user_id", where=Missing("article")))
    numbers = SqlBuilder(views, CountQuery(("user_id",), "article"), DomainSize(1000))
    domain = SqlBuilder(views, CountQuery(("article",), "user_id"), listed)
    chosen = SqlBuilder(views, CountQuery(("article",), "user_id", max_items_per_user=1, salt=SALT), listed)
    weights = ((1, 1024), (2, 724), (1000, 32))
    several = ("tags", "day")
    weighted = SqlBuilder(
        views, CountQuery(("article",), "user_id", max_items_per_user=1000, salt=SALT, weights=weights, without=("a",)),
        without=listed,
    )  # fmt: skip
    rest = SqlBuilder(
        views, CountQuery(several, "user_id", where=WHERE.parts[0], without=(("a", dt.date(2024, 1, 1)),)),
        without=ItemTable(Relation(exp.to_table("gone"), SCHEMA, dialect), ("article", "day")),
    )  # fmt: skip
    yield "the top rows", plain.top_rows(11)
    yield "a condition of every kind", SqlBuilder(views, CountQuery(("article",), "user_id", where=WHERE)).top_rows(11)
    yield "at most three items of each user", bounded.top_rows(11)
    yield "a list beside other columns", tags.top_rows(11)
    yield "every count, kept", dialect.keep("counts", plain.kept_counts())
    yield "counts of counts", plain.counts_of_counts("counts")
    yield "names by rank", plain.names("counts", [(7, 0), (2, 5), (2, 9)])
    yield "a domain given by its size, kept", dialect.keep("counts", numbers.kept_counts())
    yield "items that nobody has, by rank", numbers.unseen("counts", [0, 41])
    yield "a listed domain, kept", dialect.keep("counts", domain.kept_counts())
    yield "a listed domain, one item of each user, kept", dialect.keep("counts", chosen.kept_counts())
    yield "the top rows of a listed domain", domain.top_rows(11)
    yield "weights, without some items", weighted.top_rows(11)
    yield "weights in a listed domain, kept", dialect.keep("counts", replace(weighted, domain=listed).kept_counts())
    yield "pairs from lists, without some", rest.top_rows(11)
    yield "how many items users have", weighted.sizes((1, 2, 8))
    kept = replace(weighted, without=None).reading_kept("kept")
    found = replace(rest, kept="kept", without=None, named=ItemTable(rest.without.relation, ("article", "day")))  # type: ignore[union-attr]
    yield "the pairs of all rounds, kept", dialect.keep("kept", replace(rest, without=None).pairs_to_keep())
    yield "weights of kept pairs, kept", dialect.keep("counts", kept.kept_counts())
    users = replace(kept, kept_users="users")
    yield "kept users", dialect.keep("users", kept.users())
    yield "how many items kept users have", users.sizes((1, 2, 8))
    yield "weights of kept pairs by kept users, kept", dialect.keep("counts", users.kept_counts())
    yield (
        "weights of kept pairs, without some items, kept",
        dialect.keep("counts", replace(kept, without=listed).kept_counts()),
    )
    yield "the kept pairs of some items, kept", dialect.keep("among", found.pairs())
    yield (
        "some items by how many of them users have, kept",
        dialect.keep("by_size", replace(found, named=None).items_by_size()),
    )
    yield "users by how many of some items they have", found.users_by_size("by_size")
    yield "how often a few items occur for each number of them", replace(found, named=None).named_by_size()
    yield "weighted sums of some items", found.weighted_sums("by_size", weights)
    yield "sums of some items with one weight for all", found.equal_sums(3)
    yield from measures(views, dialect)
    yield from groups(views, listed, dialect)
    computed = replace(views, computed=frozenset(SCHEMA.names))
    viewed = SqlBuilder(computed, CountQuery(("article",), "user_id", where=Missing("day")))
    if dialect.keeps_rows:
        viewed, first = viewed.keep_computed("kept", "listed", "known")
        yield "the rows of a view, kept", dialect.keep("kept", first["kept"])
    yield "a view", viewed.top_rows(11)


def groups(views: Relation, listed: ItemTable, dialect: Dialect) -> Iterator[tuple[str, exp.Expr]]:
    def asked(*items: str, per: tuple[str, ...] = ("day",), per_user: int | None = 1, **more: Any) -> CountQuery:
        cut = GroupCut(per, per_user, within_group="weights" in more)
        return CountQuery(items or ("article",), "user_id", salt=SALT, groups=cut, **more)

    def kept(query: CountQuery) -> SqlBuilder:
        return replace(SqlBuilder(views, query), kept="kept", kept_sizes=dialect.keeps_sizes)

    known = ItemTable(Relation(exp.to_table("articles"), SCHEMA, dialect), ("article",))
    top = GroupedSql(SqlBuilder(views, asked()))
    yield "the top rows of each group, one of each user", top.top_rows(11)
    two = SqlBuilder(views, asked("tags", per=("article", "paid"), per_user=2, max_items_per_user=3), groups=None)
    yield "three items of each user in two groups of two columns", GroupedSql(two).top_rows(11)
    cents = asked("paid", per=("article",), value=PairValue("price", Fraction(1, 100), 5000))
    yield "sums in known groups", GroupedSql(SqlBuilder(views, cents, groups=known)).top_rows(11)
    inside = GroupedSql(SqlBuilder(views, asked(), listed))
    yield "the counts of a listed domain in each group, kept", dialect.keep("counts", inside.builder.kept_counts())
    for title, query in zip(("tallies", "names", "unused names"), inside.shown("counts", "places"), strict=True):
        yield f"{title} of each group", query
    numbers = GroupedSql(SqlBuilder(views, asked("user_id", per=("article",)), DomainSize(1000)))
    yield "items that nobody in a group has, by rank", numbers.unused_shifts("counts", "places")
    yield "the size of a domain in groups", inside.domain_size(listed)
    yield "the rows of each group, kept", dialect.keep("counts", top.ranked(11))
    yield "the kept counts without names", top.ranked_counts("counts")
    yield "the kept rows of some groups", top.rows_of("counts", "wanted")
    yield "the pairs of all groups and rounds, kept", dialect.keep("kept", SqlBuilder(views, asked()).pairs_to_keep())
    weighted = kept(asked(max_items_per_user=1000, weights=((1, 1024), (2, 724), (1000, 32))))
    yield "weights within groups, kept", dialect.keep("counts", weighted.kept_counts())
    rounds = GroupedSql(replace(weighted, kept="among", kept_sizes=False))
    yield (
        "some items of each group by how many of them users have, kept",
        dialect.keep("by_size", rounds.builder.items_by_size()),
    )
    yield "users of each group by how many of its items they have", rounds.users_by_size("by_size")
    yield "weighted sums in each group", rounds.weighted_sums("by_size", "weights")
    yield "groups that a table lists", listed_texts(known, (SCHEMA.column("article"),))


def measures(views: Relation, dialect: Dialect) -> Iterator[tuple[str, exp.Expr]]:
    def asked(value: PairValue, *items: str, **more: Any) -> SqlBuilder:
        return SqlBuilder(views, CountQuery(items or ("article",), "user_id", value=value, **more))

    cents = PairValue("price", Fraction(1, 100), 5000)
    yield "events", asked(PairValue(clip=20)).top_rows(11)
    yield "a sum of decimals", asked(cents, max_items_per_user=3, salt=SALT).top_rows(11)
    yield "a signed sum in units of 3/2", asked(PairValue("price", Fraction(3, 2), 500, -700)).top_rows(11)
    yield "a sum of floats", asked(PairValue("minutes", Fraction(1, 10), 600)).top_rows(11)
    yield "counts on a grid", asked(PairValue("user_id", clip=1000, grid_bits=4)).top_rows(11)
    yield "events of a list", asked(PairValue(clip=20), "tags", "day").top_rows(11)
    ceiling = asked(PairValue("price", Fraction(1, 100), dialect.arithmetic.max_clip))
    kept = replace(ceiling, query=replace(ceiling.query, value=cents)).reading_kept("kept")
    yield "pairs with values, kept", dialect.keep("kept", ceiling.pairs_to_keep())
    yield "sums of kept pairs with a smaller clip", kept.top_rows(11)
    yield "pairs by the size of their value", kept.value_sizes(4, 1024)
    yield "kept sums by how many items users have", kept.items_by_size()
    yield "weighted sums of values", kept.weighted_sums("by_size", ((1, 10), (2, 7)))
    yield "sums of values with one weight for all", kept.equal_sums(3)


def written(dialect: Dialect) -> str:
    return "\n".join(f"-- {title}\n{dialect.sql(statement)};\n" for title, statement in statements(dialect))


def golden(name: str) -> Path:
    return Path(__file__).parent / f"{name}.sql"


@pytest.mark.parametrize("name", [*DIALECTS, *UNTRIED])
def test_the_sql_is_the_one_we_mean(name: str) -> None:
    assert written({**DIALECTS, **UNTRIED}[name]) == golden(name).read_text(encoding="utf-8")


def test_databricks_is_spark_but_for_what_keeps_rows() -> None:
    spark = golden("spark").read_text(encoding="utf-8")
    assert "CREATE TEMPORARY VIEW" in spark
    assert written(Databricks()) == spark.replace("CREATE TEMPORARY VIEW", "CREATE TEMPORARY TABLE")


def test_text_is_always_compared_by_its_bytes() -> None:
    """The test server's own order is binary, so only the text of the SQL shows a forgotten collation."""
    for name, collation in (("postgres", 'COLLATE "C"'), ("spark", "COLLATE UTF8_BINARY")):
        text = written(DIALECTS[name]).replace("`", '"')
        assert 'rows_."article"' in text
        for after in text.split('rows_."article" ')[1:]:
            # Inside the unnesting of a list, or a fence, the raw column is only handed on.
            assert after.startswith((collation, "AS u", "AS item", "AS group", 'AS "article"', 'END AS "article"')), (
                after[:40]
            )


def test_names_at_many_places_are_no_deep_expression() -> None:
    """SQLite refuses expressions that are more than a thousand deep."""
    dialect = SQLite()
    builder = SqlBuilder(Relation(exp.to_table("views"), SCHEMA, dialect), CountQuery(("article",), "user_id"))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE counts (item0 TEXT, n INTEGER)")
        connection.execute(dialect.sql(builder.names("counts", [(count, count) for count in range(1, 2001)])))


if __name__ == "__main__":
    for each in (*DIALECTS.values(), *UNTRIED.values()):
        golden(each.name).write_text(written(each), encoding="utf-8")
