"""The SQL that PostgreSQL is sent: every text compares by its bytes, whatever the database's own order is.

The test server's default order is binary, so a missing COLLATE would not show in any result there.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
import sqlglot
from sqlglot import exp
from tests.support.postgres import new_database

from podium.query.predicate import And, Between, Compare, Like, Missing, Not, OneOf, Operator, Wildcard
from podium.sources import CountQuery, DomainItems, DomainSize, DomainTable, GroupCut
from podium.sources.postgresql.source import PostgreSQLSource

SALT = "0123456789abcdef" * 2
TEXTS = ("name", "label", "code", "kind", "tags", "item0", "group0")


@pytest.fixture(scope="module")
def source() -> Iterator[PostgreSQLSource]:
    with new_database() as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TYPE kinds AS ENUM ('x', 'y')")
            connection.execute(
                "CREATE TABLE events (id int, name text, label varchar(9), code char(3), kind kinds, tags text[], "
                "price numeric(9, 2), seen timestamptz, day date)"
            )
            connection.execute("CREATE TABLE labels (label text)")
        yield PostgreSQLSource(url, table="events")


def test_bounded(source: PostgreSQLSource) -> None:
    (query,) = source.queries(CountQuery(("label", "day"), "name", max_items_per_user=3, salt=SALT), limit=1)
    ordering = (
        f"CASE WHEN sized.t > 3 THEN MD5('{SALT}' || ':' || CAST(LENGTH(sized.u) AS TEXT) || ':' || sized.u || ':' || "
        "CAST(LENGTH(sized.item0) AS TEXT) || ':' || sized.item0 || ':' || TO_CHAR(sized.item1, 'YYYY-MM-DD')) "
        'COLLATE "C" END ASC, sized.item0 ASC, sized.item1 ASC'
    )
    assert f"ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY {ordering}) AS place" in query
    assert "WHERE ranked.place <= 3" in query


def test_kept(source: PostgreSQLSource) -> None:
    kept, sizes, names = source.queries(CountQuery(("label",), "id"), domain=DomainTable("labels"))
    assert kept.startswith(
        "CREATE TEMPORARY TABLE podium_counts AS SELECT listed.item0 AS item0, COALESCE(counted.n, 0)"
    )
    assert 'SELECT DISTINCT rows_."label" COLLATE "C" AS item0 FROM "public"."labels" AS rows_' in kept
    assert sizes == "SELECT n, COUNT(*) AS m FROM podium_counts GROUP BY n"
    assert "ROW_NUMBER() OVER (PARTITION BY n ORDER BY item0 ASC) - 1 AS r FROM podium_counts" in names


def test_other_types_are_brought_to_their_kinds(source: PostgreSQLSource) -> None:
    (query,) = source.queries(CountQuery(("kind", "code", "seen", "price"), "id"), limit=1)
    assert 'CAST(rows_."kind" AS TEXT) COLLATE "C" AS item0' in query
    assert 'CAST(rows_."code" AS TEXT) COLLATE "C" AS item1' in query
    assert "rows_.\"seen\" AT TIME ZONE 'UTC' AS item2" in query
    assert (
        "CASE WHEN rows_.\"price\" > CAST('-Infinity' AS DECIMAL) AND rows_.\"price\" < CAST('Infinity' AS DECIMAL) "
        'THEN rows_."price" END AS item3' in query
    )


WHERE = And(
    (
        Compare("name", Operator.UNEQUAL, "a"),
        OneOf("label", ("a", "b")),
        Between("code", "a", "b"),
        Like("kind", ("a", Wildcard.MANY)),
        Not(Missing("name")),
    )
)


@pytest.mark.parametrize(
    ("query", "domain"),
    [
        (CountQuery(("label",), "name", where=WHERE), None),
        (CountQuery(("tags",), "name", where=WHERE), None),
        (CountQuery(("kind", "code", "id"), "label", where=WHERE, max_items_per_user=1, salt=SALT), None),
        (CountQuery(("label",), "name", where=WHERE), DomainItems(("a",))),
        (CountQuery(("label",), "name", max_items_per_user=1, salt=SALT), DomainTable("labels")),
        (CountQuery(("id",), "name", where=WHERE), DomainSize(10)),
        (CountQuery(("label", "kind"), "name", without=(("a", "b"),)), None),
        (
            CountQuery(
                ("tags",), "name", salt=SALT, groups=GroupCut(("code",), known=DomainTable("labels", ("label",)))
            ),
            None,
        ),
        (CountQuery(("label",), "name", salt=SALT, groups=GroupCut(("kind", "id"))), DomainItems(("a",))),
        (CountQuery(("tags",), "name", max_items_per_user=1, salt=SALT, weights=((1, 1),), without=("a",)), None),
    ],
)
def test_every_text_is_compared_by_its_bytes(
    source: PostgreSQLSource, query: CountQuery, domain: DomainItems | DomainSize | DomainTable | None
) -> None:
    for sql in (
        *source.queries(query, domain=domain),
        *source.queries(query, domain=domain, limit=5),
        *source.queries(query, domain=domain, edges=(1, 2)),
    ):
        tree = sqlglot.parse_one(sql, read="postgres")
        raw = [column for column in tree.find_all(exp.Column) if column.table == "rows_" and column.name in TEXTS]
        elements = [column for column in tree.find_all(exp.Column) if column.table == "elements" and column.name != "u"]
        assert raw or "podium_counts" in sql
        left_out = [column for column in tree.find_all(exp.Column) if column.table == "left_out"]
        assert bool(left_out) == ("left_out" in sql)
        for column in (*raw, *elements, *left_out):
            assert collated(column), column.parent.sql("postgres") if column.parent else sql


def collated(column: exp.Expr) -> bool:
    """Whether the value is collated at once, or only handed on to a query that does it."""
    parent = column.parent
    while isinstance(parent, exp.Cast):
        parent = parent.parent
    if isinstance(parent, exp.Collate):
        return bool(parent.expression.sql("postgres") == '"C"')
    while isinstance(parent, exp.Alias | exp.Unnest | exp.Explode):
        parent = parent.parent
    return (
        isinstance(parent, exp.Select) and isinstance(parent.parent, exp.Subquery) and parent.parent.alias == "elements"
    )
