"""Engines behind SQLAlchemy: what they must show on constants first, and what SQLite's freedom with types leads to."""

from __future__ import annotations

import datetime as dt
import logging
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.pool import StaticPool
from sqlglot import exp
from tests.support.postgres import LINGUISTIC, new_database
from tests.support.sources.blind import CaseBlind, PaddingBlind

import podium
from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.query.predicate import And, Compare, Like, Not, Operator, Predicate, Wildcard
from podium.query.schema import Kind
from podium.sources import CountQuery, DomainItems, Source, open_source
from podium.sources.sql.dialect import Dialect, Postgres
from podium.sources.sqlalchemy import self_test
from podium.sources.sqlalchemy import source as module
from podium.sources.sqlalchemy.connection import SQLAlchemySession, open_session, quiet_engine
from podium.sources.sqlalchemy.dialect import Flavour, flavour_of
from podium.sources.sqlalchemy.source import SQLAlchemySource
from podium.sources.sqlalchemy.sqlite_sql import SQLite, clean

SECRET = "secret-4711"  # noqa: S105 - a value of a row, not a password
SALT = "ab" * 16
QUERY = CountQuery(("item",), "user_id")


def database(path: Path, *statements: str) -> str:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return database(
        tmp_path / "e.db",
        "CREATE TABLE events (user_id INTEGER, item TEXT, price DECIMAL(5, 2), day DATE, moment DATETIME)",
        f"INSERT INTO events (user_id, item) VALUES (1, 'a'), (2, 'a'), (2, '{SECRET}')",
    )


def top(source: Source, query: CountQuery = QUERY) -> list[tuple[Any, int]]:
    with source.snapshot(query) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return list(zip(rows.items, rows.counts.tolist(), strict=True))


def under_test(url: str, flavour: Flavour, dialect: Dialect | None = None) -> self_test.Engine:
    opened = quiet_engine(url)

    @contextmanager
    def session() -> Iterator[SQLAlchemySession]:
        with open_session(opened, flavour, SourceUnavailable()) as given:
            yield given

    return self_test.Engine(dialect or flavour.dialect, flavour.cleaner({}), session)


def test_sqlite_passes(url: str) -> None:
    engine = under_test(url, flavour_of("sqlite"))
    kinds = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)
    assert all(self_test.kind_is_exact(engine, kind) for kind in kinds)
    assert self_test.patterns_are_exact(engine)
    assert self_test.hashes_alike(engine)
    assert self_test.weighs_alike(engine)
    assert self_test.keeps_tables(engine)


def test_decimals_of_sqlite_are_floats(url: str) -> None:
    assert not self_test.kind_is_exact(under_test(url, flavour_of("sqlite")), Kind.DECIMAL)
    source = SQLAlchemySource(url, table="events")
    with pytest.raises(InvalidArgument, match="engines disagree on what is equal"):
        source.check(CountQuery(("price",), "user_id"))


def test_an_order_that_is_not_binary_is_refused(tmp_path: Path) -> None:
    url = database(
        tmp_path / "u.db", "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE events (user_id INTEGER, item TEXT)"
    )
    with pytest.raises(SourceUnavailable) as caught:
        open_source(url, table="events")
    assert str(caught.value) == (
        f"source='{url}' failed podium's test on constants: it does not tell apart, count exactly, compare and order "
        "values of kind text as other engines do. Allowed: an engine that does. Copy the table to DuckDB, Parquet or "
        "PostgreSQL, or ask in another way."
    )


def test_an_engine_that_opens_a_temporary_table_once_is_found(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As MySQL does: a question would fail where its rounds join such a table with itself."""
    fetch = SQLAlchemySession.fetch

    def once(session: SQLAlchemySession, query: str) -> Any:
        if query.count("podium_listed") > 1:
            raise SourceFailure
        return fetch(session, query)

    monkeypatch.setattr(SQLAlchemySession, "fetch", once)
    assert not self_test.keeps_tables(under_test(url, flavour_of("sqlite")))


class OrderBlind(Postgres):
    def binary(self, text: exp.Expr) -> exp.Expr:
        return text


@pytest.mark.parametrize("dialect", [CaseBlind(), PaddingBlind()])
def test_texts_that_are_not_told_apart(url: str, dialect: SQLite) -> None:
    assert not self_test.kind_is_exact(under_test(url, flavour_of("sqlite"), dialect=dialect), Kind.TEXT)


class Overflowing(SQLite):
    def total(self, value: exp.Expr) -> exp.Expr:
        return exp.cast(exp.Sum(this=exp.Mod(this=value, expression=exp.Literal.number(2**31))), "BIGINT")


class Counting(SQLite):
    def total(self, value: exp.Expr) -> exp.Expr:
        return exp.Count(this=value)


@pytest.mark.parametrize("dialect", [Overflowing(), Counting()])
def test_sums_that_are_wrong(url: str, dialect: SQLite) -> None:
    assert not self_test.weighs_alike(under_test(url, flavour_of("sqlite"), dialect=dialect))


def test_an_unknown_engine_is_used_as_far_as_it_passes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite, with nothing known about it but sqlglot's SQL: no hash, and patterns that take A for a."""
    generic = flavour_of("unknown")
    assert generic.dialect.name == ""
    monkeypatch.setattr(module, "flavour_of", lambda _name: generic)
    monkeypatch.setattr("podium.sources.sqlalchemy.sqlite_sql.FUNCTIONS", {})
    source = SQLAlchemySource(url, table="events")
    assert top(source) == [("a", 2), (SECRET, 1)]
    with source.snapshot(QUERY, domain=DomainItems(("a", "b"))) as snapshot:
        assert snapshot.counts_of_counts() == ((2, 0), (1, 1))
        assert snapshot.names([(0, 0), (2, 0)]) == ("b", "a")
    refused: tuple[tuple[CountQuery, str], ...] = (
        (CountQuery(("item",), "user_id", max_items_per_user=1, salt=SALT), "it does not hash as other engines do"),
        (CountQuery(("item",), "user_id", where=like("a")), "it does not match patterns as other engines do"),
        (CountQuery(("item",), "user_id", where=And((Not(like("a")),))), "it does not match patterns"),
        (CountQuery(("price",), "user_id"), "exactly, compare and order values of kind decimal"),
    )
    for query, reason in refused:
        with pytest.raises(SourceUnavailable, match=reason):
            source.check(query)
    with pytest.raises(InvalidArgument, match="kind other"):
        source.check(CountQuery(("moment",), "user_id"))


@pytest.mark.parametrize("by", ["events", "sum(price)"])
def test_an_unknown_engine_is_not_asked_for_sums(url: str, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """No constants show that a sum never raises for some row: refused before anything is read or paid."""
    generic = flavour_of("unknown")
    monkeypatch.setattr(module, "flavour_of", lambda _name: generic)
    ledger, budget = Path(urlsplit(url).path).with_name("ledger.db"), podium.Budget(epsilon=1, delta="1e-6")
    with (
        closing(SQLAlchemySource(url, table="events")) as source,
        podium.Curator(source, dataset="shop", user="user_id", ledger=ledger, budget=budget) as curator,
    ):
        before = curator.status
        for call in (curator.plan, curator.top):
            with pytest.raises(SourceUnavailable, match=r"Allowed: by='users'.*copy the table to DuckDB"):
                call("item", k=2, by=by, clip=3)
        assert curator.status == before
        assert curator.top("item", k=2).paid.events


def test_a_text_column_with_a_collation_of_its_own() -> None:
    """Where nothing forces a comparison by bytes, the test on constants says nothing about such a column."""
    blind = sa.VARCHAR(20, collation="utf8mb4_general_ci")
    unknown = flavour_of("mssql")
    assert unknown.column("item", sa.VARCHAR(20)).kind is Kind.TEXT
    assert unknown.column("item", blind).kind is Kind.OTHER
    assert unknown.column("item", sa.Text(collation="latin1_swedish_ci")).kind is Kind.OTHER
    for name in ("sqlite", "postgresql", "mariadb"):
        assert flavour_of(name).column("item", blind).kind is Kind.TEXT


def like(text: str) -> Predicate:
    return Like("item", (text, Wildcard.MANY))


def test_a_linguistic_server_is_refused_unless_told_to_compare_bytes() -> None:
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(f"SELECT 'a' < 'B' COLLATE {LINGUISTIC}".encode()).fetchone()
            if found != (True,):
                pytest.skip("this machine cannot make a locale")
            connection.execute("DROP DATABASE IF EXISTS speaking WITH (FORCE)")
            connection.execute("CREATE DATABASE speaking TEMPLATE template0 LOCALE 'en_US.UTF-8'")
        speaking = urlsplit(url)._replace(scheme="postgresql+psycopg", path="/speaking").geturl()
        flavour = flavour_of("postgresql")
        assert not self_test.kind_is_exact(under_test(speaking, flavour, dialect=OrderBlind()), Kind.TEXT)
        for kind in Kind:
            if kind not in (Kind.FLOAT, Kind.LIST, Kind.OTHER):
                assert self_test.kind_is_exact(under_test(speaking, flavour), kind)
        for probe in (
            self_test.patterns_are_exact,
            self_test.hashes_alike,
            self_test.weighs_alike,
            self_test.keeps_tables,
        ):
            assert probe(under_test(speaking, flavour))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP DATABASE speaking WITH (FORCE)")


def test_values_that_are_not_what_their_column_says(tmp_path: Path) -> None:
    """They count as missing, whatever they are; nothing raises, for the error would tell of a row."""
    path = tmp_path / "free.db"
    url = database(path, "CREATE TABLE free (user_id INTEGER, t TEXT, i INTEGER, b BOOLEAN, d DATE, m DATETIME)")
    rows: list[tuple[Any, ...]] = [
        (1, "x", 1, 1, "2024-02-29", "2024-02-29 23:59:59.5"),
        (2, b"x", "one", "yes", "2023-02-29", "2023-02-29 00:00:00"),
        (3, "x\0y", 1.5, 2, "2024-2-9", "2024-02-29 24:00:00"),
        (4, 5, b"1", 0.5, 20240229, "2024-02-29 23:59:59.1234567"),
        (5, None, 2**62, 0, "2024-02-29\0", "2024-02-29T23:59:59.500000"),
        (6, "x", 1, True, "0000-01-01", "2024-02-29 23:59:59+01:00"),
        (7, "", -1, None, "9999-12-31", "9999-12-31 23:59:59.999999"),
        ("eight", "x", 1, 1, "2024-02-29", "2024-02-29 23:59:59.5"),
        (9, "x", 1, 1, dt.date(2024, 2, 29).isoformat(), 1709251199),
    ]
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO free VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO free (user_id, t) VALUES (10, CAST(x'736563726574ff' AS TEXT))")
    connection.commit()
    connection.close()
    source = SQLAlchemySource(url, table="free")
    half = dt.datetime.fromisoformat("2024-02-29 23:59:59.5")
    last = dt.datetime.fromisoformat("9999-12-31 23:59:59.999999")
    expected: dict[str, list[tuple[Any, int]]] = {
        "t": [("x", 3), ("", 1), ("5", 1)],
        "i": [(1, 3), (-1, 1), (2**62, 1)],
        "b": [(True, 3), (False, 1)],
        "d": [(dt.date(2024, 2, 29), 2), (dt.date(9999, 12, 31), 1)],
        "m": [(half, 2), (last, 1)],
    }
    for item, counts in expected.items():
        assert top(source, CountQuery((item,), "user_id")) == counts
        bounded = CountQuery((item,), "user_id", max_items_per_user=1, salt=SALT)
        assert top(source, bounded) == counts
    assert [item for item, _ in top(source, CountQuery(("t",), "t", max_items_per_user=1, salt=SALT))][:2] == ["", "5"]
    low = Compare("i", Operator.MORE, -(2**63) - 1)
    assert sum(count for _, count in top(source, CountQuery(("i",), "user_id", where=low))) == 5


def test_a_row_that_makes_sqlite_fail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = database(
        tmp_path / "j.db",
        "CREATE TABLE texts (user_id INTEGER, item TEXT)",
        f"INSERT INTO texts VALUES (1, '{SECRET}')",
        "CREATE VIEW typed AS SELECT user_id, item FROM texts WHERE json_extract(item, '$.a') IS NULL",
    )
    source = SQLAlchemySource(url, table="typed")
    with pytest.raises(SourceFailure) as caught:
        top(source)
    assert caught.value.__context__ is None
    text = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert SECRET not in text
    assert "malformed" not in text


def test_nothing_is_logged_even_for_an_echoing_engine(
    url: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="sqlalchemy")
    engine = sa.create_engine(url, echo="debug", echo_pool="debug")
    source = open_source(engine, table="events")
    assert top(source) == [("a", 2), (SECRET, 1)]
    source.close()
    engine.dispose()
    out, err = capfd.readouterr()
    assert SECRET not in caplog.text + out + err
    assert "SELECT" not in caplog.text + out + err


def test_an_engine_of_the_callers_is_left_alone(url: str) -> None:
    engine = sa.create_engine(url, poolclass=StaticPool)
    with engine.connect() as connection:
        connection.execute(sa.text("CREATE TEMPORARY TABLE mine (user_id INTEGER, item TEXT)"))
        source = open_source(engine, table="events")
        assert top(source) == [("a", 2), (SECRET, 1)]
        with pytest.raises(SourceUnavailable, match="is not a table"):
            open_source(engine, table="mine")
        source.close()
        assert connection.execute(sa.text("SELECT COUNT(*) FROM mine")).scalar() == 0
    engine.dispose()


def test_a_file_is_read_and_nothing_else(url: str, tmp_path: Path) -> None:
    before = (tmp_path / "e.db").read_bytes()
    source = open_source(url, table="events")
    with source.snapshot(QUERY, domain=DomainItems(("a",))) as snapshot:
        snapshot.counts_of_counts()
    with source.session() as session, pytest.raises(SourceFailure):  # type: ignore[attr-defined]
        session.fetch("DELETE FROM events")
    assert (tmp_path / "e.db").read_bytes() == before
    with pytest.raises(SourceUnavailable, match="could not be reached"):
        open_source(f"sqlite:///{tmp_path / 'none.db'}", table="events")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.db"]


@pytest.mark.parametrize(
    ("opens", "error"),
    [
        (lambda: open_source("nonesuch://anna:hunter2@h/d", table="t"), SourceUnavailable),
        (lambda: open_source("mysql+nonesuch://anna:hunter2@h/d", table="t"), SourceUnavailable),
        (lambda: open_source("sqlite://anna:hunter2@h:port/d", table="t"), SourceUnavailable),
        (lambda: SQLAlchemySource(sa.MetaData(), table="t"), InvalidArgument),
        (lambda: SQLAlchemySource(sa.create_engine("sqlite://"), table="t"), SourceUnavailable),
        (lambda: SQLAlchemySource("sqlite://"), SourceUnavailable),
    ],
)
def test_places_that_cannot_be_opened(opens: Callable[[], Source], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        opens()
    assert "hunter2" not in str(caught.value)
    assert caught.value.__context__ is None


def test_names(url: str, tmp_path: Path) -> None:
    database(
        tmp_path / "e.db",
        'CREATE VIEW "main.odd ""name""" AS SELECT * FROM events',
        "CREATE TABLE strange (user_id INTEGER, item CITEXT, other WIDGET)",
    )
    assert open_source(url, table="main.events").name == f"{url}#main.events"
    assert top(open_source(url, table="main.events")) == top(open_source(url, table='main.odd "name"'))
    kinds = [column.kind for column in open_source(url, table="strange").schema().columns]
    assert kinds == [Kind.INTEGER, Kind.TEXT, Kind.FLOAT]
    assert clean is flavour_of("sqlite").cleaner({})
