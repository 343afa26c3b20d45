"""What cannot be answered is refused before anything is reserved: nothing is charged, and nothing counts as failed."""

from __future__ import annotations

import datetime as dt
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator.monitoring import monitor
from tests.support.curator.tables import BUDGET, COUNTS, curator, events

from podium import Curator
from podium.curator.monitor.windows import subject_of
from podium.errors import InvalidArgument, SourceUnavailable
from podium.ledger import Kind, open_ledger
from podium.planning.schedule.calendar import Schedule
from podium.sources import open_source
from podium.sources.sqlalchemy import source as engines
from podium.sources.sqlalchemy import sqlite_sql

Ask = Callable[[Curator], object]
COMPARED: dict[str, Any] = {"winner": "item", "loser": "other", "items": ["a", "b"], "comparisons_per_pair": 100}


def in_rounds(asked: Curator) -> object:
    return asked.top("item", k=20)


BOUNDED: dict[str, Ask] = {
    "a bound": lambda asked: asked.top("item", k=3, max_items_per_user=2),
    "rounds": in_rounds,
    "a ranking": lambda asked: asked.rank(k=1, max_comparisons_per_user=1, **COMPARED),
}


@pytest.fixture
def url(tmp_path: Path) -> str:
    connection = sqlite3.connect(tmp_path / "events.db")
    connection.execute("CREATE TABLE events (user_id INTEGER, item TEXT, other TEXT, at DATETIME)")
    connection.close()
    return f"sqlite:///{tmp_path / 'events.db'}"


def asking(url: str, tmp_path: Path) -> Curator:
    ledger = tmp_path / "ledger.db"
    return Curator(url, table="events", dataset="views", user="user_id", ledger=ledger, budget=BUDGET)


def require_unpaid(ledger: Path) -> None:
    with open_ledger(ledger) as opened:
        assert [entry.kind for entry in opened.history("views")] == [Kind.REGISTERED]


@pytest.mark.parametrize("ask", BOUNDED.values(), ids=BOUNDED)
def test_an_engine_without_the_hash(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    monkeypatch.delitem(sqlite_sql.FUNCTIONS, "MD5")
    with asking(url, tmp_path) as asked, pytest.raises(SourceUnavailable, match="does not hash"):
        ask(asked)
    require_unpaid(tmp_path / "ledger.db")


@pytest.mark.parametrize(("probe", "reason"), [("weighs_alike", "does not sum"), ("keeps_tables", "does not keep")])
def test_rounds_need_sums_and_tables(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probe: str, reason: str
) -> None:
    monkeypatch.setattr(engines, probe, lambda _engine: False)
    with asking(url, tmp_path) as asked, pytest.raises(SourceUnavailable, match=reason):
        in_rounds(asked)
    require_unpaid(tmp_path / "ledger.db")


@pytest.mark.parametrize("probe", ["hashes_alike", "weighs_alike", "keeps_tables"])
def test_a_schedule_needs_what_its_rounds_of_finding_need(
    url: str, monkeypatch: pytest.MonkeyPatch, probe: str
) -> None:
    source = open_source(url, table="events")
    monkeypatch.setattr(engines, probe, lambda _engine: False)
    with pytest.raises(SourceUnavailable, match="failed podium's test on constants"):
        monitor(source)
    if probe != "keeps_tables":
        monitor(source, domain=["a", "b", "c"]).close()
    source.close()


def test_a_schedule_is_opened_with_what_it_reads_first(url: str) -> None:
    source = open_source(url, table="events")
    schedule = Schedule.of(start=dt.date(2026, 1, 1), every="day", periods=3, window=None)
    subject = subject_of(
        source, item="item", user="user_id", time="at", where=None, k=3, max_items_per_user=50, schedule=schedule
    )
    period = schedule.period(0)
    finding = subject.finding_question(period.opens, period.closes, Fraction(1, 10), Fraction(1, 10**7))
    assert subject.first_query(period, known=False) == finding.first_query()
    source.close()


def test_a_table_that_goes_away_between_two_periods(tmp_path: Path) -> None:
    path = events(tmp_path / "events.parquet", COUNTS, at=dt.datetime(2026, 1, 1, 12))  # noqa: DTZ001 - UTC
    with monitor(path, item="article") as watching:
        releases = watching.run()
        next(releases)
        before = watching.history()
        path.unlink()
        with pytest.raises(SourceUnavailable):
            next(releases)
        assert watching.history() == before


def test_a_file_that_changes_after_it_was_opened(tmp_path: Path) -> None:
    path = events(tmp_path / "views.parquet", COUNTS)
    with curator(path) as (asked, _):
        path.unlink()
        with pytest.raises(SourceUnavailable, match="changed or went away after it was opened and checked"):
            asked.top("article", k=3)
        pq.write_table(pa.table({"user_id": [1], "title": ["a"]}), path)
        with pytest.raises(SourceUnavailable, match="changed or went away after it was opened and checked"):
            asked.top("article", k=3)
    require_unpaid(path.with_name("ledger.db"))


@pytest.mark.parametrize("item", ["", "User_ID", ["article", "Article"]])
def test_names_that_a_json_file_cannot_have(tmp_path: Path, item: str | list[str]) -> None:
    """However often: three questions that failed would lock the data set."""
    path = tmp_path / "views.jsonl"
    path.write_text('{"user_id": 1, "article": "a"}\n', encoding="utf-8")
    with curator(path) as (asked, _):
        for _ in range(4):
            with pytest.raises(SourceUnavailable, match="with the columns that the question names"):
                asked.top(item, k=3)
    require_unpaid(path.with_name("ledger.db"))


def nested(depth: int) -> str:
    """AND and OR in turn, one in the other."""
    condition = "item = 'a'"
    for level in range(depth):
        condition = f"({condition}) {('AND', 'OR')[level % 2]} other = '{level}'"
    return condition


@pytest.mark.parametrize("k", [3, 20])
def test_a_condition_that_the_engine_cannot_parse(url: str, tmp_path: Path, k: int) -> None:
    """SQLite's parser gives up on a question that is legal elsewhere: nobody pays for it."""
    with asking(url, tmp_path) as asked:
        for depth in (21, 35):
            with pytest.raises(SourceUnavailable, match=f"nested {depth} deep; no row was read"):
                asked.top("item", k=k, where=nested(depth))
        require_unpaid(tmp_path / "ledger.db")
        assert asked.top("item", k=k, where=nested(7)).items == ()


def test_a_condition_on_an_engine_that_is_not_asked(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.sources.sqlalchemy.dialect._SQLite.explain", None)
    with asking(url, tmp_path) as asked:
        with pytest.raises(InvalidArgument, match="nested at most 8 deep"):
            asked.top("item", k=20, where=nested(9))
        require_unpaid(tmp_path / "ledger.db")
        assert asked.top("item", k=20, where=nested(8)).items == ()


FORKED = """
import os, sys
from podium import Budget, Curator
from podium.errors import SourceUnavailable

source, ledger = sys.argv[1:]
budget = Budget(epsilon=3, delta="1e-6", items=200, questions=20)
asked = Curator(source, dataset="views", user="user_id", ledger=ledger, budget=budget)
asked.top("article", k=1)
if child := os.fork():
    os.waitpid(child, 0)
    assert asked.top("article", k=2).items
else:
    try:
        asked.top("article", k=2)
    except SourceUnavailable as error:
        print(error, flush=True)
    asked.close()
    os._exit(0)
"""


def test_a_fork_of_a_process_that_has_asked(tmp_path: Path) -> None:
    """A copy of an engine has no threads and would wait for ever, and its folder belongs to the first process."""
    arguments = [str(events(tmp_path / "views.parquet", COUNTS)), str(tmp_path / "ledger.db")]
    ran = subprocess.run(
        [sys.executable, "-c", FORKED, *arguments], capture_output=True, text=True, timeout=300, check=True
    )
    assert "was opened before this process was forked" in ran.stdout
    with open_ledger(tmp_path / "ledger.db") as opened:
        kinds = [entry.kind for entry in opened.history("views")]
    assert kinds == [Kind.REGISTERED, Kind.RESERVED, Kind.SETTLED, Kind.RESERVED, Kind.SETTLED]
