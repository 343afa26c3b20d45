"""The last days, on DuckDB: rows are chosen by a constant, which the plan shows and the ledger stores."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import podium as command
from tests.support.curator.tables import curator

import podium
from podium import Plan, Release
from podium.errors import QuestionRefused
from podium.ledger import Kind, open_ledger
from podium.query import QuestionRecord
from podium.release import GroupedRelease

WEEK, DAY = "day >= CURRENT_DATE - 7", "at >= CURRENT_TIMESTAMP - INTERVAL '24' HOUR"
AGES = {"a": (2000, 1), "b": (1000, 90), "old": (3000, 24 * 30)}
"""Users of each article, and how many hours ago they read it."""


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


def _shows_the_day(plan: Plan, before: dt.date) -> bool:
    """Whether the SQL has the day a week ago; midnight may have passed since ``before``."""
    shown = {f"'{day - dt.timedelta(days=7)}'" for day in (before, _today())}
    sql = plan.queries[0]
    return any(day in sql for day in shown) and "current_date" not in sql.lower()


@pytest.fixture(name="table", scope="module")
def _table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Days are dates of UTC, times are kept in another zone."""
    now = dt.datetime.now(dt.UTC)
    rows = [
        {"user_id": user, "article": article, "beaten": "z", "shop": 7, "day": then.date(), "at": then}
        for article, (users, hours) in AGES.items()
        for then in [now - dt.timedelta(hours=hours)]
        for user in range(users)
    ]
    zoned = pa.timestamp("us", tz="America/New_York")
    kinds = {
        "user_id": pa.int64(), "article": pa.string(), "beaten": pa.string(), "shop": pa.int64(), "day": pa.date32(),
        "at": zoned,
    }  # fmt: skip
    path = tmp_path_factory.mktemp("days") / "views.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(kinds)), path)
    return path


def test_the_last_days_are_answered(table: Path) -> None:
    def listed(where: str) -> tuple[object, ...]:
        return podium.top(table, item="article", user="user_id", k=3, where=where, epsilon=3, delta="1e-6").items

    assert listed(WEEK) == listed("at >= CURRENT_DATE - 7") == ("a", "b")
    assert listed(DAY) == ("a",)
    assert listed("day < CURRENT_DATE - INTERVAL '1' WEEK") == ("old",)


def test_the_plan_shows_the_day(table: Path) -> None:
    before = _today()
    statement = f"SELECT article FROM views WHERE {WEEK} GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 3"
    plan = podium.plan(table, sql=statement, name="views", user="user_id", epsilon=3, delta="1e-6")
    assert _shows_the_day(plan, before)


def test_the_plan_of_a_ranking_shows_it_too(table: Path) -> None:
    before = _today()
    plan = podium.plan_rank(
        table, winner="article", loser="beaten", comparisons_per_pair=500, user="user_id", items=["a", "b"], k=1,
        where=WEEK, epsilon=3, delta="1e-6",
    )  # fmt: skip
    assert _shows_the_day(plan, before)


def test_the_command_line_takes_them_beside_listed_groups(table: Path) -> None:
    ran = command(
        "top", str(table), "--item", "article", "--user", "user_id", "--epsilon", "8", "--delta", "1e-6", "-k", "2",
        "--where", WEEK, "--per", "shop", "--groups", "7", "--format", "json",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.stderr
    release = Release.from_json(ran.stdout)
    assert isinstance(release, GroupedRelease)
    assert {group: found.items for group, found in release.lists.items()} == {7: ("a", "b")}


def test_the_stored_question_has_the_day_and_its_constant_is_free(table: Path) -> None:
    before = _today()
    with curator(table) as (asked, _):
        first = asked.top("article", k=2, where=WEEK)
        with open_ledger(table.with_name("ledger.db")) as ledger:
            stored = next(entry for entry in ledger.history("views") if entry.kind is Kind.RESERVED)
        record = QuestionRecord.from_text(stored.question)
        assert record is not None
        operator, column, constant = record.where
        day = constant["date"]
        assert (operator, column) == (">=", "day")
        assert dt.date.fromisoformat(day) + dt.timedelta(days=7) in {before, _today()}
        again = asked.top("article", k=2, where=f"day >= DATE '{day}'")
        assert (again.items, again.paid.events, asked.status.questions_asked) == (first.items, (), 1)
        with pytest.raises(QuestionRefused, match="it lies outside the years 1 to 9999"):
            asked.top("article", k=2, where="day >= CURRENT_DATE - 99999999")
        assert asked.status.questions_asked == 1


def test_a_schedule_does_not_move_with_the_clock(table: Path, tmp_path: Path) -> None:
    with pytest.raises(QuestionRefused, match="a schedule asks the same question in every period"):
        podium.TopKMonitor(
            table, item="article", user="user_id", time="day", start="2026-01-01", periods=2, every="day", where=WEEK,
            epsilon=1, delta="1e-6", k=2, ledger=tmp_path / "ledger.db", dataset="views",
        )  # fmt: skip
