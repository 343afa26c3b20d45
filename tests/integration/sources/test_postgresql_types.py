"""PostgreSQL's own types: what they become, and values that only PostgreSQL has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from tests.support.columns import columns
from tests.support.postgres import LINGUISTIC, new_database

from podium.errors import InvalidArgument
from podium.query.predicate import Compare, Like, Operator, Wildcard
from podium.sources import CountQuery, Source
from podium.sources.postgresql.source import PostgreSQLSource
from podium.sources.sqlalchemy.source import SQLAlchemySource

TYPES = {
    "integer": {"user_id": "smallint"},
    "text": {"mood": "moods", "padded": "char(4)", "id": "uuid", "label": "label"},
    "decimal": {"whole": "numeric(5, 0)", "hundreds": "numeric(5, -2)"},
    "decimal(20)": {"fine": "numeric(30, 20)"},
    "decimal(38)": {"free": "numeric"},
    "date": {"day": "date"},
    "timestamp": {"moment": "timestamptz(3)"},
    "list(decimal(2))": {"prices": "numeric(7, 2)[]"},
    "list(text)": {"moods_list": "moods[]", "labels": "label[]", "tags": "tags"},
    "list(timestamp)": {"times": "timestamptz[]"},
    "list(integer)": {"matrix": "int[][]"},
    "float": {"ratio": "real"},
    "list(float)": {"ratios": "float8[]"},
    "other": {"data": "jsonb", "raw": "bytea", "at": "time", "long": "interval", "place": "point", "own": "pair"},
    "list(other)": {"deep": "tags[]"},
}
"""Types of PostgreSQL by what they become, each with the name of its column."""
ROWS: tuple[dict[str, str], ...] = (
    {
        "mood": "glad", "padded": "ab", "id": "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "whole": "7", "hundreds": "1234",
        "fine": "0.00000000000000000001", "free": "1e-40", "day": "infinity", "moment": "2024-03-31 02:30:00.1234+02",
        "prices": "{1.50,NaN,NULL}", "moods_list": "{sad,glad}", "times": "{-infinity,2024-01-01 00:00+01}",
        "matrix": "{{1,2},{2,3}}", "label": "B", "labels": "{a,B}", "tags": "{x,x,Y}",
    },
    {
        "mood": "glad", "padded": "ab  ", "whole": "NaN", "free": "Infinity", "day": "0044-03-15 BC",
        "moment": "infinity", "prices": "{}", "label": "a",
    },
    {"mood": "sad", "padded": "AB", "free": "NaN", "day": "10000-01-01", "moment": "0001-01-01 00:30+01"},
    {"free": "10.50", "day": "9999-12-31", "hundreds": "1249", "label": "a"},
)  # fmt: skip
EXPECTED: dict[str, list[tuple[Any, int]]] = {
    "mood": [("glad", 2), ("sad", 1)],
    "padded": [("ab", 2), ("AB", 1)],
    "id": [("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 1)],
    "whole": [(Decimal(7), 1)],
    "hundreds": [(Decimal(1200), 2)],
    "fine": [(Decimal("1e-20"), 1)],
    "free": [(Decimal("1e-40"), 1), (Decimal("10.5"), 1)],
    "day": [(dt.date(9999, 12, 31), 1)],
    "moment": [(dt.datetime.fromisoformat("2024-03-31 00:30:00.123"), 1)],
    "prices": [(Decimal("1.5"), 1)],
    "moods_list": [("glad", 1), ("sad", 1)],
    "times": [(dt.datetime.fromisoformat("2023-12-31 23:00"), 1)],
    "matrix": [(1, 1), (2, 1), (3, 1)],
    "label": [("a", 2), ("B", 1)],
    "labels": [("B", 1), ("a", 1)],
    "tags": [("Y", 1), ("x", 1)],
}
NATIVE, ALCHEMY = "native", "sqlalchemy"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    declared = ", ".join(f"{name} {type_}" for named in TYPES.values() for name, type_ in named.items())
    with new_database() as url:
        with psycopg.connect(url) as connection:
            for statement in (
                "CREATE TYPE moods AS ENUM ('sad', 'glad')",
                "CREATE TYPE pair AS (a int, b int)",
                f"CREATE DOMAIN label AS text COLLATE {LINGUISTIC}",
                "CREATE DOMAIN tags AS label[]",
                f"CREATE TABLE things ({declared})",
                'CREATE SCHEMA "My Schema"',
                'CREATE TABLE "My Schema"."Odd.Table" AS SELECT * FROM things',
                'CREATE VIEW public."Odd.Table" AS SELECT * FROM things',
                "CREATE TABLE parts (user_id int, item text) PARTITION BY LIST (item)",
                "CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a')",
                "INSERT INTO parts VALUES (1, 'a'), (2, 'a')",
            ):
                connection.execute(statement.encode())
            for user, row in enumerate(ROWS):
                names, values = ", ".join(("user_id", *row)), ", ".join(f"'{value}'" for value in (user, *row.values()))
                connection.execute(f"INSERT INTO things ({names}) VALUES ({values})".encode())
        yield url


@pytest.fixture(scope="module", params=[NATIVE, ALCHEMY])
def source(url: str, request: pytest.FixtureRequest) -> Source:
    if request.param == NATIVE:
        return PostgreSQLSource(url, table="things")
    return SQLAlchemySource(url.replace("postgresql:", "postgresql+psycopg:"), table="things")


def top(source: Source, query: CountQuery) -> list[tuple[Any, int]]:
    with source.snapshot(query) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return list(zip(rows.items, rows.counts.tolist(), strict=True))


def test_kinds(source: Source) -> None:
    assert source.schema().columns == columns({name: kind for kind, named in TYPES.items() for name in named})


@pytest.mark.parametrize("item", EXPECTED)
def test_items(source: Source, item: str) -> None:
    assert top(source, CountQuery((item,), "user_id")) == EXPECTED[item]


@pytest.mark.parametrize("user", ["mood", "padded", "id", "whole", "free", "day", "moment", "label"])
def test_users(source: Source, user: str) -> None:
    known = sum(1 for _ in EXPECTED[user])
    rows = top(source, CountQuery(("user_id",), user, max_items_per_user=9, salt="ab" * 16))
    assert sum(count for _, count in rows) == sum(count for _, count in EXPECTED[user])
    assert max(count for _, count in rows) <= known


@pytest.mark.parametrize(
    ("where", "users"),
    [
        (Compare("padded", Operator.EQUAL, "ab"), {0, 1}),
        (Like("padded", ("a", Wildcard.ONE)), {0, 1}),
        (Compare("free", Operator.MORE, Decimal(5)), {3}),
        (Compare("free", Operator.LESS, Decimal("1e-39")), {0}),
        (Compare("mood", Operator.MORE, "happy"), {2}),
        (Compare("label", Operator.MORE, "C"), {1, 3}),
        (Compare("moment", Operator.LESS, dt.datetime.fromisoformat("2024-03-31 00:31")), {0, 2}),
    ],
)
def test_conditions(source: Source, where: Any, users: set[int]) -> None:
    assert {item for item, _ in top(source, CountQuery(("user_id",), "user_id", where=where))} == users


@pytest.mark.parametrize("item", ["data", "raw", "at", "long", "place", "own", "deep", "ratio", "ratios"])
def test_types_that_cannot_be_counted(source: Source, item: str) -> None:
    with pytest.raises(InvalidArgument, match="item="):
        source.check(CountQuery((item,), "user_id"))
    with pytest.raises(InvalidArgument, match="user="):
        source.check(CountQuery(("user_id",), item))


@pytest.mark.parametrize(
    "table", ['"My Schema"."Odd.Table"', "My Schema.Odd.Table", "public.Odd.Table", "Odd.Table", '"Odd.Table"']
)
def test_names_of_tables(url: str, table: str) -> None:
    source = PostgreSQLSource(url, table=table)
    where = "My Schema" if table.strip('"').startswith("My") else "public"
    assert source.name.endswith(f"#{where}.Odd.Table")
    assert len(top(source, CountQuery(("mood",), "user_id"))) == (0 if where == "My Schema" else 2)


def test_partitions(url: str) -> None:
    assert top(PostgreSQLSource(url, table="parts"), CountQuery(("item",), "user_id")) == [("a", 2)]


def test_a_linguistic_order_is_not_used(url: str) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute(f"SELECT 'a' < 'B' COLLATE {LINGUISTIC}".encode()).fetchone()
    if found != (True,):
        pytest.skip("this machine cannot make a locale")
    source = PostgreSQLSource(url, table="things")
    with source.snapshot(CountQuery(("labels",), "user_id")) as snapshot:
        assert snapshot.names([(1, 0), (1, 1)]) == ("B", "a")
