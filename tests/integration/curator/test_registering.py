"""Data sets and their tables: which name stands for which, and what is refused."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest
from tests.support.clickhouse import embedded_clickhouse
from tests.support.curator.tables import BUDGET, PURE, curator, events
from tests.support.postgres import new_database

from podium import Curator
from podium.errors import DatasetExists, InvalidArgument, UnknownDataset
from podium.ledger import open_ledger
from podium.sources import open_source


def test_an_unknown_data_set(table: Path) -> None:
    with curator(table):
        pass
    for name, hint in (("vews", "Did you mean 'views'?"), ("clicks", "Register it first, with a budget.")):
        with pytest.raises(UnknownDataset) as caught:
            Curator(table, dataset=name, user="user_id", ledger=table.with_name("ledger.db"))
        assert str(caught.value) == (
            f"dataset={name!r} is not registered. Allowed: a name given at registration. {hint}"
        )


def test_the_same_source_under_another_name(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(table.parent)
    ledger = table.with_name("ledger.db")
    with Curator(table, dataset="views", user="user_id", ledger=ledger, budget=BUDGET):
        pass
    Path("link.parquet").symlink_to(table)
    Path("hard.parquet").hardlink_to(table)
    spellings: list[object] = [
        f"{table.name[:-1]}?",
        f"[{table.name[0]}]{table.name[1:]}",
        Path("hard.parquet"),
        table,
        str(table),
        table.name,
        f"./{table.name}",
        Path("link.parquet"),
        open_source(table.name),
    ]
    for spelling in spellings:
        with pytest.raises(DatasetExists) as caught:
            Curator(spelling, dataset="other", user="user_id", ledger=ledger, budget=BUDGET)
        assert str(caught.value) == (
            "dataset='other' names a source that is registered already, as 'views'. Two budgets for the same users "
            "add up to a weaker promise. Use that data set, or register again with --force (in Python: force=True)."
        )
        with Curator(spelling, dataset="views", user="user_id", ledger=ledger) as same:
            assert same.dataset == "views"
    with Curator(table, dataset="other", user="user_id", ledger=ledger, budget=BUDGET, force=True) as forced:
        assert forced.dataset == "other"
    with pytest.raises(DatasetExists, match="is registered already, with another budget or source"):
        Curator(table, dataset="views", user="user_id", ledger=ledger, budget=PURE)


def test_a_table_that_shares_files_with_a_registered_one(table: Path) -> None:
    """A folder, and a file in it: the users of the file would have two budgets."""
    ledger = table.with_name("ledger.db")
    folder = table.with_name("parts")
    folder.mkdir()
    part = events(folder / "1.parquet", {"x": 3000})
    events(folder / "2.parquet", {"y": 3000})
    with Curator(folder, dataset="views", user="user_id", ledger=ledger, budget=BUDGET):
        pass
    with pytest.raises(DatasetExists, match="as 'views'"):
        Curator(part, dataset="part", user="user_id", ledger=ledger, budget=BUDGET)
    with pytest.raises(InvalidArgument, match="for whose users dataset='views' was registered"):
        Curator(part, dataset="views", user="user_id", ledger=ledger)
    with Curator(folder / "*.parquet", dataset="views", user="user_id", ledger=ledger) as same:
        assert same.dataset == "views"


def test_the_only_table_of_a_database_needs_no_name(tmp_path: Path) -> None:
    path, ledger = tmp_path / "one.duckdb", tmp_path / "ledger.db"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE duckdb AS SELECT 1 AS user_id, 'a' AS article")
    with Curator(path, dataset="views", user="user_id", ledger=ledger, budget=BUDGET):
        pass
    with pytest.raises(DatasetExists):
        Curator(path, table="duckdb", dataset="other", user="user_id", ledger=ledger, budget=BUDGET)
    with Curator(path, table="duckdb", dataset="views", user="user_id", ledger=ledger) as same:
        assert same.dataset == "views"


def test_names_of_tables_with_and_without_their_schema(tmp_path: Path) -> None:
    path, ledger = tmp_path / "shop.db", tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (user_id INTEGER, article TEXT)")
    (tmp_path / "hard.db").hardlink_to(path)
    with Curator(f"sqlite:///{path}", table="t", dataset="views", user="user_id", ledger=ledger, budget=BUDGET):
        pass
    for url, table in ((path, "main.t"), (tmp_path / "hard.db", "t")):
        with pytest.raises(DatasetExists, match="as 'views'"):
            Curator(f"sqlite:///{url}", table=table, dataset="o", user="user_id", ledger=ledger, budget=BUDGET)
        with Curator(f"sqlite:///{url}", table=table, dataset="views", user="user_id", ledger=ledger) as same:
            assert same.dataset == "views"


def test_a_table_of_postgresql_is_the_same_with_and_without_its_schema(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (user_id INTEGER, article TEXT)")
            connection.execute("CREATE SCHEMA other")
            connection.execute("CREATE TABLE other.t (user_id INTEGER, article TEXT)")
        with Curator(url, table="t", dataset="views", user="user_id", ledger=ledger, budget=BUDGET) as asked:
            known = asked.status.source
        assert known.endswith("#public.t")
        with open_ledger(ledger) as opened:
            # As they were written before names were given in full.
            opened.register("old", BUDGET, source=f"{known}#t", user="user_id")
        for table in ("t", "public.t"):
            with pytest.raises(DatasetExists, match="registered already"):
                Curator(url, table=table, dataset="again", user="user_id", ledger=ledger, budget=BUDGET)
            for dataset in ("views", "old"):
                with Curator(url, table=table, dataset=dataset, user="user_id", ledger=ledger) as same:
                    assert same.dataset == dataset
        with Curator(url, table="other.t", dataset="other", user="user_id", ledger=ledger, budget=BUDGET) as other:
            assert other.status.source.endswith("#other.t")


def test_a_table_of_clickhouse_is_the_same_with_and_without_its_database(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with embedded_clickhouse() as session:
        session.query("CREATE TABLE t (user_id Int64, article String) ENGINE = Memory")
        with Curator(session, table="t", dataset="views", user="user_id", ledger=ledger, budget=BUDGET):
            pass
        with pytest.raises(DatasetExists, match="as 'views'"):
            Curator(session, table="default.t", dataset="again", user="user_id", ledger=ledger, budget=BUDGET)
        with Curator(session, table="default.t", dataset="views", user="user_id", ledger=ledger) as same:
            assert same.dataset == "views"


def test_another_source_under_the_same_name(table: Path) -> None:
    """A budget protects the users of one table: what it paid for must not be asked of another one."""
    ledger = table.with_name("ledger.db")
    other = events(table.with_name("other.parquet"), {"x": 3000})
    with Curator(table, dataset="views", user="user_id", ledger=ledger, budget=BUDGET):
        pass
    with pytest.raises(InvalidArgument) as caught:
        Curator(other, dataset="views", user="user_id", ledger=ledger)
    assert f"{str(table)!r}, for whose users dataset='views' was registered" in str(caught.value)
    assert str(caught.value).startswith("source=")
    with pytest.raises(InvalidArgument, match="source='a frame' is not valid"):
        Curator(pa.table({"user_id": [1], "article": ["a"]}), dataset="views", user="user_id", ledger=ledger)
    with pytest.raises(DatasetExists, match="is registered already, with another budget or source"):
        Curator(other, dataset="views", user="user_id", ledger=ledger, budget=BUDGET)
    with Curator(other, dataset="views", user="user_id", ledger=ledger, force=True) as copy:
        assert copy.top("article", k=1).items == ("x",)
    with Curator(other, dataset="views", user="user_id", ledger=ledger, budget=BUDGET, force=True) as copy:
        assert copy.top("article", k=1).paid.events == ()


def test_tables_of_one_database_are_different_sources(tmp_path: Path) -> None:
    path = tmp_path / "both.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS u, 'x' AS i; CREATE TABLE b AS FROM a")
    ledger = tmp_path / "ledger.db"
    for table in ("a", "b"):
        with Curator(path, table=table, dataset=table, user="u", ledger=ledger, budget=BUDGET) as asked:
            assert asked.status.source == f"{path}#{table}"
    with pytest.raises(DatasetExists, match="as 'a'"):
        Curator(path, table="a", dataset="c", user="u", ledger=ledger, budget=BUDGET)


@pytest.mark.parametrize("dataset", ["", "a\nb", "x" * 201])
def test_a_data_set_needs_a_printable_name(table: Path, dataset: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape("Allowed: a printable text of 1 to 200 characters")):
        Curator(table, dataset=dataset, user="user_id", ledger=table.with_name("ledger.db"), budget=BUDGET)
