"""PostgreSQL passes the contract, on a real server and with columns whose own order is not binary."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.support.postgres import LINGUISTIC, new_database
from tests.support.sources.checks import Load
from tests.support.sources.data import Table, quoted
from tests.support.sources.suite import SourceContract

from podium.query.schema import Column, Kind
from podium.sources import Source, open_source
from podium.sources.postgresql.source import PostgreSQLSource

TYPES = {
    Kind.TEXT: f"text COLLATE {LINGUISTIC}",
    Kind.INTEGER: "bigint",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.FLOAT: "double precision",
}
OTHER_TYPES = {
    Kind.TEXT: "label_text",
    Kind.INTEGER: "whole",
    Kind.BOOLEAN: "yes_or_no",
    Kind.DATE: "day",
    Kind.TIMESTAMP: "timestamptz",
    Kind.FLOAT: "measured",
}


def declared(column: Column, types: dict[Kind, str]) -> str:
    if column.element is not None:
        base, _, collation = types[column.element].partition(" ")
        return f"{base}[] {collation}"
    if column.kind is Kind.DECIMAL:
        return f"numeric(20, {column.scale})" if types is TYPES else "money_amount"
    return types[column.kind]


def create(url: str, table: Table, types: dict[Kind, str]) -> None:
    columns = ", ".join(f"{quoted(column.name)} {declared(column, types)}" for column in table.columns)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET TIME ZONE 'UTC'")
        cursor.execute(f"DROP TABLE IF EXISTS {table.name}".encode())
        cursor.execute(f"CREATE TABLE {table.name} ({columns})".encode())
        with cursor.copy(f"COPY {table.name} FROM STDIN".encode()) as copy:
            for row in table.rows:
                copy.write_row([list(value) if isinstance(value, tuple) else value for value in row])


@pytest.fixture(scope="class")
def url() -> Iterator[str]:
    with new_database() as url:
        yield url


class TestPostgreSQL(SourceContract):
    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, url: str) -> Load:
        def load(table: Table, *beside: Table) -> Source:
            for each in (table, *beside):
                create(url, each, TYPES)
            source = open_source(url, table=table.name)
            assert isinstance(source, PostgreSQLSource)
            return source

        return load


class TestDomainsAndZones(SourceContract):
    """Every column is of a domain type, or has a time zone; the account's own zone and date style are strange ones."""

    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, url: str) -> Load:
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in (
                f"CREATE DOMAIN label_text AS varchar(100) COLLATE {LINGUISTIC} CHECK (length(VALUE) < 90)",
                "CREATE DOMAIN whole AS bigint",
                "CREATE DOMAIN money_amount AS numeric(20, 2)",
                "CREATE DOMAIN yes_or_no AS boolean",
                "CREATE DOMAIN day AS date",
                "CREATE DOMAIN measured AS double precision",
                "ALTER ROLE CURRENT_USER SET TIME ZONE 'America/St_Johns'",
                "ALTER ROLE CURRENT_USER SET DateStyle = 'German'",
                "ALTER ROLE CURRENT_USER SET standard_conforming_strings = off",
                "ALTER ROLE CURRENT_USER SET search_path = public, pg_temp",
                "CREATE TABLE podium_counts (item0 text, n bigint)",
                "CREATE TABLE podium_listed (item0 text)",
            ):
                connection.execute(statement.encode())

        def load(table: Table, *beside: Table) -> Source:
            for each in (table, *beside):
                create(url, each, OTHER_TYPES)
            return PostgreSQLSource(url, table=f"public.{table.name}")

        return load

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _usual_settings(cls, load: Load, url: str) -> Iterator[None]:
        yield
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER ROLE CURRENT_USER RESET ALL")
