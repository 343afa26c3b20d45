"""Snowflake's client passes the contract against an emulator. The real service was never asked.

It runs in an environment of its own, which has the client and the emulator: make outside.
"""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp
from tests.support.sources.checks import Load
from tests.support.sources.data import Table, quoted
from tests.support.sources.suite import SourceContract

import podium
from podium.errors import DatasetExists, InvalidArgument, SourceFailure, SourceUnavailable
from podium.query.predicate import Compare, Operator
from podium.query.schema import Kind
from podium.sources import CountQuery, PairValue, Source, open_source
from podium.sources.engine_check.engine_report import check_source

client: Any = pytest.importorskip(
    "snowflake.connector", reason="Snowflake's client is in an environment of its own: make outside"
)

from podium.sources.snowflake.source import SnowflakeSource  # noqa: E402 - needs the client

EMULATOR = Path(__file__).parents[2] / "support" / "snowflake_server.py"
TYPES = {
    Kind.TEXT: "VARCHAR",
    Kind.INTEGER: "BIGINT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ(6)",
    Kind.FLOAT: "FLOAT",
    Kind.DECIMAL: "NUMBER(20, 2)",
}


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | Decimal):
        return str(value)
    if isinstance(value, float):
        return f"'{value!r}'::FLOAT"
    text = value.isoformat(sep=" ") if isinstance(value, dt.datetime) else str(value)
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    command = [sys.executable, str(EMULATOR)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8") as running:
        assert running.stdout is not None
        port = int(running.stdout.readline())
        yield f"snowflake://u:p@emulator/SHOP/PUBLIC?host=localhost&port={port}&protocol=http&network_timeout=120"
        running.kill()


def run(url: str, *statements: str) -> None:
    port = int(url.partition("port=")[2].partition("&")[0])
    with client.connect(
        user="u", password="p", account="emulator", host="localhost", port=port, protocol="http", database="SHOP",
        schema="PUBLIC", network_timeout=120,
    ) as connection:  # fmt: skip
        for statement in statements:
            connection.cursor().execute(statement)


def create(url: str, table: Table) -> None:
    places = [place for place, column in enumerate(table.columns) if column.kind is not Kind.LIST]
    columns = ", ".join(f"{quoted(table.columns[one].name)} {TYPES[table.columns[one].kind]}" for one in places)
    rows = ", ".join(f"({', '.join(literal(row[place]) for place in places)})" for row in table.rows)
    insert = [f"INSERT INTO {quoted(table.name)} VALUES {rows}"] if rows else []
    run(url, f"CREATE OR REPLACE TABLE {quoted(table.name)} ({columns})", *insert)


class SummingSource(SnowflakeSource):
    """As if it were known that no row makes a sum fail, which only the real service can show."""

    sums = True


class TestSnowflake(SourceContract):
    """There are no lists."""

    has_lists = False

    def test_parts_of_kept_pairs(self, amounts: Source) -> None:
        pytest.skip("the emulator's NUMBER(38, 0) has 64 bits, and squares of lengths have more")

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, url: str) -> Iterator[Load]:
        sources: list[Source] = []

        def load(table: Table, *beside: Table) -> Source:
            for each in (table, *beside):
                create(url, each)
            sources.append(SummingSource(url, table=table.name))
            return sources[-1]

        yield load
        for source in sources:
            source.close()


def test_sums_are_refused_until_the_real_service_has_shown_them(url: str) -> None:
    run(url, 'CREATE OR REPLACE TABLE sold ("user" BIGINT, "item" VARCHAR, "price" NUMBER(10, 2))')
    with closing(open_source(url, table="SOLD")) as source:
        source.check(CountQuery(("item",), "user"))
        source.check(CountQuery(("item",), "user", value=PairValue(clip=3)))
        with pytest.raises(SourceUnavailable, match="an error that depends on a row"):
            source.check(CountQuery(("item",), "user", value=PairValue("price", clip=3)))


def test_what_a_view_computes_is_kept_first(url: str) -> None:
    run(
        url,
        'CREATE OR REPLACE TABLE raw ("user" BIGINT, "item" VARCHAR)',
        "INSERT INTO raw VALUES (1, 'a'), (2, 'a'), (2, 'b')",
        'CREATE OR REPLACE VIEW shown AS SELECT "user", UPPER("item") AS "item" FROM raw',
    )
    query = CountQuery(("item",), "user", where=Compare("user", Operator.MORE, 0))
    with closing(open_source(url, table="SHOWN")) as source:
        first, then = source.queries(query, limit=5)
        assert first.startswith('CREATE TEMPORARY TABLE "podium_rows" AS SELECT')
        assert "WHERE" not in first
        assert '"podium_rows"' in then
        with source.snapshot(query) as snapshot:
            assert snapshot.top_rows(5).top(5).items == ("A", "B")
    with closing(open_source(url, table="RAW")) as source:
        assert len(source.queries(query, limit=5)) == 1


def test_what_cannot_be_opened_is_said_without_a_password(url: str) -> None:
    for bad in (url.replace("u:p@", ""), f"{url}&odd=1", url.replace("port=", "port=x"), "snowflake://u:secret@"):
        with pytest.raises(InvalidArgument) as refused:
            open_source(bad, table="RAW")
        assert "secret" not in str(refused.value)
    with pytest.raises(SourceUnavailable, match="cannot be read") as missing:
        open_source(url, table="NONE")
    assert "u:p" not in str(missing.value)


def test_podium_check(url: str) -> None:
    report = check_source(url)
    assert {one.what: one.problem for one in report.findings if one.result == "failed"} == {}
    assert report.engine == "snowflake"
    assert "emulator" not in report.text()


def test_a_table_is_the_same_however_its_name_is_written(url: str, tmp_path: Path) -> None:
    run(url, 'CREATE OR REPLACE TABLE twice ("user" BIGINT, "item" VARCHAR)', "CREATE SCHEMA IF NOT EXISTS other")
    options: dict[str, Any] = {"user": "user", "ledger": tmp_path / "l.db"}
    budget = podium.Budget(epsilon=1, delta="1e-6")
    podium.Curator(url, table="TWICE", dataset="one", budget=budget, **options).close()
    elsewhere = url.replace("/SHOP/PUBLIC", "/SHOP/OTHER").replace("@emulator", "@EMULATOR")
    for place, name in ((url, "PUBLIC.TWICE"), (url, "SHOP.PUBLIC.TWICE"), (elsewhere, "PUBLIC.TWICE")):
        podium.Curator(place, table=name, dataset="one", **options).close()
        with pytest.raises(DatasetExists):
            podium.Curator(place, table=name, dataset="two", budget=budget, **options)
    with podium.Curator(url, table="TWICE", dataset="one", **options) as curator:
        assert curator.status.source == "snowflake://emulator#SHOP.PUBLIC.TWICE"
        assert curator.top("item", k=2).items == ()


def test_a_table_that_podium_did_not_make_is_never_dropped(url: str) -> None:
    run(url, 'CREATE TABLE "podium_kept" ("n" BIGINT)', 'CREATE TABLE "own" ("user_id" BIGINT)')
    with closing(open_source(url, table="own")) as source:
        assert isinstance(source, SnowflakeSource)
        missing = exp.select("n").from_("no_such_table")
        with pytest.raises(SourceFailure), source.session() as session:
            session.keep("podium_kept", missing)
        with source.session() as session:
            assert session.fetch('SELECT COUNT(*) FROM "podium_kept"') == [(0,)]
    run(url, 'DROP TABLE "podium_kept"')
