"""Data sets and their tables: which name stands for which, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.integration.curator.tables import BUDGET, PURE, curator, events

from podium import Curator
from podium.errors import DatasetExists, InvalidArgument, UnknownDataset
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
    spellings: list[object] = [
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
            "add up to a weaker promise. Use that data set, or register again with --insist (in Python: insist=True)."
        )
        with Curator(spelling, dataset="views", user="user_id", ledger=ledger) as same:
            assert same.dataset == "views"
    with Curator(table, dataset="other", user="user_id", ledger=ledger, budget=BUDGET, insist=True) as insisted:
        assert insisted.dataset == "other"
    with pytest.raises(DatasetExists, match="is registered already, with another budget or source"):
        Curator(table, dataset="views", user="user_id", ledger=ledger, budget=PURE)


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
    with Curator(other, dataset="views", user="user_id", ledger=ledger, insist=True) as copy:
        assert copy.top("article", k=1).items == ("x",)
    with Curator(other, dataset="views", user="user_id", ledger=ledger, budget=BUDGET, insist=True) as copy:
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
