"""Whom a promise is made to: every sentence of a guarantee names the column that was protected."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from tests.support.command_line import ASK, NEW_BUDGET, TOTAL, succeeded

import podium as library
from podium.present.explanation import explanation
from podium.present.html import release_html
from podium.present.text.release_text import release_text
from podium.present.text.terminal import release_drawing
from podium.privacy import Guarantee
from podium.release import Release
from podium.sources.parquet import write_parquet

PROMISE = "for any one `user_id`, added or removed"
PLAN = ("--items", "100", "--questions", "10")


@pytest.fixture
def release() -> Release:
    return library.top("views.parquet", item="article", user="user_id", k=2, epsilon=5, delta="1e-6")


def test_budgets_say_whom_they_protect() -> None:
    unit = "any one `user_id`, with all rows that have this value in the column"
    assert f"unit     {unit}\n" in succeeded("budget", "create", "views", *NEW_BUDGET, *PLAN, "--dry-run")
    assert f"unit       {unit}\n" in succeeded("budget", "create", "views", *NEW_BUDGET, *PLAN)
    shown = succeeded("budget", "show", "views", "--ledger", "ledger.db", "--verbose")
    assert f"unit       {unit}\n" in shown
    assert PROMISE in shown
    listed = json.loads(succeeded("budget", "show", "--ledger", "ledger.db", "--format", "json"))
    assert listed["datasets"][0]["user"] == "user_id"
    assert PROMISE in listed["datasets"][0]["promise"]


def test_answers_plans_and_answers_told_again_name_the_column() -> None:
    assert PROMISE in succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--verbose")
    assert "private for each user_id" in succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2")
    assert PROMISE in succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--dry-run", "-v")
    planned = json.loads(succeeded("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--dry-run", "-f", "json"))
    assert PROMISE in planned["promise"]
    succeeded("budget", "create", "views", *NEW_BUDGET, *PLAN)
    asked = ("top", "views.parquet", *ASK, "-k", "2", "--ledger", "ledger.db", "--dataset", "views")
    assert PROMISE in succeeded(*asked, "-v")
    assert PROMISE in succeeded(*asked, "-v")
    assert json.loads(succeeded(*asked, "-f", "json"))["user"] == "user_id"


def test_every_form_of_a_release_names_the_column(release: Release) -> None:
    assert release.promise.endswith(PROMISE)
    assert PROMISE in release_text(release)
    assert PROMISE in release_html(release)
    assert PROMISE in release.card().to_dict()["guarantee"]["sentence"]
    assert "`user_id`" in release.card().to_dict()["unit"]["protected"]
    assert "\\`user\\_id\\`" in release.card().to_markdown()
    assert "`user_id`" in explanation(release)[0].text
    assert PROMISE in explanation(release)[2].text
    assert PROMISE in "".join(str(part) for part in _cells(release))
    assert Release.from_json(release.to_json()) == release


def _cells(release: Release) -> list[object]:
    facts = release_drawing(release).renderables[-1]  # type: ignore[union-attr]
    return [cell for column in facts.columns for cell in column.cells]


def test_a_release_that_was_written_before_still_opens(release: Release, tmp_path: Path) -> None:
    document = json.loads(release.to_json())
    del document["user"]
    old = Release.from_json(json.dumps(document))
    assert old.user is None
    assert old.promise.endswith("for any one user, added or removed")
    (tmp_path / "old.json").write_text(old.to_json(), encoding="utf-8")
    assert "whoever has one value in the user column" in " ".join(
        succeeded("explain", str(tmp_path / "old.json")).split()
    )


def test_a_column_cannot_move_the_cursor() -> None:
    assert Guarantee.pure(1).sentence(user="a\x1b[2Jb") == (
        "1-differentially private for any one 'a\\x1b[2Jb', added or removed"
    )


@pytest.mark.parametrize(
    ("unit", "promise"),
    [
        ("user", f"are (5, 1e-6)-differentially private {PROMISE}"),
        ("user-period", "rows of any one `user_id` in any one day"),
    ],
)
def test_a_schedule_names_the_column(unit: str, promise: str) -> None:
    days = [dt.datetime(2026, 1, day, 12) for day in (1, 2, 3)]  # noqa: DTZ001 - a column of UTC
    write_parquet({"user_id": [1, 2, 3], "article": ["a", "b", "c"], "at": days}, Path("times.parquet"))
    times = ("--time", "at", "--start", "2026-01-01", "--periods", "3", "--unit", unit)
    planned = succeeded(
        "watch", "times.parquet", *ASK, *TOTAL, *times, "--ledger", "watched.db", "--dataset", "w", "--dry-run"
    )
    assert promise in planned
    assert "unit       a `user_id`" in planned
