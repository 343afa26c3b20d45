"""``podium check``: every engine that runs here passes, and engines broken on purpose are refused with the reason.

Spark is checked where its tests have one running: tests/contract/sources/test_spark.py.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlglot import exp
from tests.support import mariadb, postgres
from tests.support.clickhouse import PASSWORD, served_clickhouse
from tests.support.command_line import check as check_schema
from tests.support.command_line import podium as run
from tests.support.sources.blind import CaseBlind, PaddingBlind
from tests.support.sources.sent import note_statements

from podium.errors import SourceUnavailable
from podium.sources.engine_check.engine_report import EngineReport, check_engine, check_source
from podium.sources.engine_check.engines import open_engine
from podium.sources.sql.dialect import DuckDB
from podium.sources.sqlalchemy.connection import SQLAlchemySession
from podium.sources.sqlalchemy.sqlite_sql import SQLite, SQLiteArithmetic

SECRET = "secret4711"  # noqa: S105 - a name, not a password


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / f"{SECRET}.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {SECRET} (customer TEXT, product TEXT)")
    return path


def unused(report: EngineReport) -> list[str]:
    return [one.what for one in report.findings if one.result == "not used"]


def failures(report: EngineReport) -> dict[str, str | None]:
    return {one.what: one.problem for one in report.findings if one.result == "failed"}


def passes(location: Any, engine: str, *names: str) -> EngineReport:
    """Every check passes, and the report has none of these names."""
    report = check_source(location)
    assert failures(report) == {}
    assert report.passed
    assert report.engine == engine
    check_schema("check", report.to_dict())
    told = report.text() + json.dumps(report.to_dict())
    assert [name for name in names if name in told] == []
    assert {one.area for one in report.findings} == {"counts", "compares", "hashes", "fences"}
    return report


def test_duckdb_and_files_that_are_not_read(tmp_path: Path) -> None:
    broken = tmp_path / f"{SECRET}.csv"
    broken.write_bytes(b"\xff\xfe\x00no text,\n")
    assert unused(passes(broken, "duckdb", SECRET, str(tmp_path))) == []
    assert passes(pl.DataFrame({"user": [1]}), "duckdb").version != "unknown"
    with pytest.raises(SourceUnavailable, match="is not a file"):
        check_source(tmp_path / "none.csv")


def test_sqlite_reads_no_table(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = note_statements(monkeypatch, SQLAlchemySession, "fetch")
    assert unused(passes(shop, "sqlite", SECRET, str(shop.parent))) == ["values of kind decimal"]
    assert len(sent) > 20
    assert [query for query in sent if SECRET in query] == []


def test_postgresql() -> None:
    with postgres.new_database() as url:
        name = url.rpartition("/")[2].partition("?")[0]
        assert unused(passes(url, "postgresql", name, "localhost", "/")) == []


def test_mariadb() -> None:
    with mariadb.new_database() as url:
        assert unused(passes(url, "mariadb", mariadb.name_of(url), "root", "localhost", "/")) == []


def test_clickhouse() -> None:
    with served_clickhouse() as url:
        assert unused(passes(url, "clickhouse", PASSWORD, "reader", "127.0.0.1", "/")) == []


class OtherHash(SQLite):
    def text_hash(self, text: exp.Expr) -> exp.Expr:
        return exp.Lower(this=exp.Hex(this=text))


class WrappingSums(SQLiteArithmetic):
    def total(self, value: exp.Expr) -> exp.Expr:
        return exp.Mod(this=exp.paren(super().total(value)), expression=exp.Literal.number(2**31))


class Wrapping(SQLite):
    arithmetic = WrappingSums()


class Unfenced(DuckDB):
    """Conditions move into the view, and what a CASE excludes is computed."""

    def fence(self, table: exp.Expr, names: Any) -> exp.Select:
        query = super().fence(table, names)
        query.set("offset", None)
        return query

    def opaque(self, value: exp.Expr) -> exp.Expr:
        return value


@contextmanager
def broken(location: Any, dialect: Any) -> Iterator[EngineReport]:
    with open_engine(location) as (facts, engine):
        yield check_engine(replace(engine, dialect=dialect), facts)


@pytest.mark.parametrize(
    ("dialect", "what", "problem"),
    [
        (CaseBlind(), "case", "'a' and 'A' count as one item: case is ignored."),
        (PaddingBlind(), "trailing blanks", "'a' and 'a ' count as one item: trailing blanks are ignored."),
        (OtherHash(), "hash of users and items", "A user keeps other items than by the hash of salt, user and item"),
        (Wrapping(), "sums without overflow", "Large sums wrap, are rounded, or raise."),
    ],
)
def test_an_engine_that_is_broken_on_purpose(shop: Path, dialect: Any, what: str, problem: str) -> None:
    with broken(shop, dialect) as report:
        assert not report.passed
        assert problem in (failures(report)[what] or "")
        assert problem in report.text()
        if what in ("case", "trailing blanks"):
            assert {"case", "trailing blanks"} & set(failures(report)) == {what}
        else:
            assert set(failures(report)) == {what}


def test_an_engine_without_fences() -> None:
    with broken(pl.DataFrame({"user": [1]}), Unfenced()) as report:
        assert set(failures(report)) == {"conditions outside a view"}


def test_an_engine_without_views() -> None:
    """All questions about a view fail, with and without a condition: that is not a fence."""

    class Unanswered(DuckDB):
        def fence(self, table: exp.Expr, names: Any) -> exp.Select:
            return super().fence(table, [*names, "no such column"])

    with broken(pl.DataFrame({"user": [1]}), Unanswered()) as report:
        assert set(failures(report)) == {"conditions outside a view"}


def test_the_command(tmp_path: Path, shop: Path) -> None:
    good = run("check", str(shop), "--format", "json")
    assert good.exit_code == 0
    check_schema("check", json.loads(good.stdout))
    path = tmp_path / f"{SECRET}-16.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA encoding = 'UTF-16le'")
        connection.execute("CREATE TABLE events (user_id INTEGER, item TEXT)")
    bad = run("check", f"sqlite:///{path}")
    assert bad.exit_code == 8
    assert "failed    counts: each user once" in bad.stdout
    assert "Texts are not counted" in bad.stdout
    assert SECRET not in bad.stdout + bad.stderr
    assert run("check", str(tmp_path / "none.csv")).exit_code == 4
