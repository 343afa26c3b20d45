"""``podium watch``: the plan, the lists as text, JSON and CSV, the picture, and a second run that costs nothing."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.support.command_line import podium, succeeded
from tests.support.curator.monitoring import FIRST, events

from podium.ledger import open_ledger


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events(tmp_path_factory.mktemp("watch") / "events.parquet")


def ask(table: Path, *more: str) -> tuple[str, ...]:
    return (
        "watch", str(table), "--item", "item", "--user", "user_id", "--time", "at", "--start", "2026-01-01",
        "--periods", "3", "-k", "3", "--epsilon", "5", "--delta", "1e-6", *more,
    )  # fmt: skip


def test_a_dry_run_says_what_it_costs_and_registers_nothing(table: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    text = succeeded(*ask(table, "--dry-run", "--verbose", "--ledger", str(ledger)))
    for word in ("schedule", "unit", "promise", "lists", "finding", "cost", "every day"):
        assert f"\n{word}" in f"\n{text}"
    plan = json.loads(succeeded(*ask(table, "--dry-run", "--format", "json", "--unit", "user-period")))
    assert plan["unit"] == "user-period"
    assert plan["periods"] == 3
    assert not ledger.exists()


def test_lists_in_every_format_and_free_the_second_time(table: Path, tmp_path: Path) -> None:
    at = ("--ledger", str(tmp_path / "ledger.db"), "--dataset", "daily")
    text = succeeded(*ask(table, *at, "--plot", str(tmp_path / "lists.png")))
    assert text.splitlines() == [f"2026-01-0{day}  {', '.join(FIRST)}" for day in (1, 2, 3)]
    assert (tmp_path / "lists.png").read_bytes().startswith(b"\x89PNG")
    with open_ledger(tmp_path / "ledger.db") as ledger:
        spent = ledger.status("daily").spent
    rows = list(csv.reader(io.StringIO(succeeded(*ask(table, *at, "--format", "csv")))))
    assert rows[:2] == [["period", "rank", "item"], ["2026-01-01", "1", "a"]]
    assert len(rows) == 10
    told = json.loads(succeeded(*ask(table, *at, "--format", "json", "--until", "2026-01-03")))
    assert [one["period"] for one in told] == ["2026-01-01", "2026-01-02"]
    with open_ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.status("daily").spent == spent


def test_a_list_for_each_group(table: Path, tmp_path: Path) -> None:
    """The days of the table are the groups of a growing window."""
    grouped = ("--per", "day", "--groups-per-user", "all", "--window", "growing")
    text = succeeded(*ask(table, *grouped, "--dry-run", "--verbose"))
    for word in ("schedule", "unit", "promise", "groups", "lists", "cost", "every day"):
        assert f"\n{word}" in f"\n{text}"
    at = ("--ledger", str(tmp_path / "ledger.db"), "--dataset", "daily", "--until", "2026-01-03", *grouped)
    days = [("2026-01-01", "2026-01-01"), ("2026-01-02", "2026-01-01"), ("2026-01-02", "2026-01-02")]
    assert succeeded(*ask(table, *at)).splitlines() == [f"{one}  {day}  {', '.join(FIRST)}" for one, day in days]
    rows = list(csv.reader(io.StringIO(succeeded(*ask(table, *at, "--format", "csv")))))
    assert rows[:2] == [["period", "day", "rank", "item"], ["2026-01-01", "2026-01-01", "1", "a"]]
    assert [tuple(row[:2]) for row in rows[1::3]] == days
    told = json.loads(succeeded(*ask(table, *at, "--format", "json")))
    assert [(one["period"], len(one["lists"])) for one in told] == [("2026-01-01", 1), ("2026-01-02", 2)]
    ran = podium(*ask(table, *grouped, "--groups", "2026-01-01", "--plot", str(tmp_path / "lists.png")))
    assert ran.exit_code == 2
    assert "none with --per" in ran.stderr


def test_lists_that_do_not_fit_on_the_disk_are_told_on_stdout(table: Path, tmp_path: Path) -> None:
    at = ("--ledger", str(tmp_path / "ledger.db"), "--output", "/dev/full", "--format", "csv")
    ran = podium(*ask(table, *at))
    assert ran.exit_code == 9
    assert ran.stdout.startswith("period,rank,item\n")
    assert "output='/dev/full' could not be written" in ran.stderr


def test_a_file_has_the_format_of_its_ending_and_all_lists_so_far(table: Path, tmp_path: Path) -> None:
    file = tmp_path / "lists.csv"
    at = ("--ledger", str(tmp_path / "ledger.db"), "--output", str(file))
    succeeded(*ask(table, *at, "--until", "2026-01-03"))
    first = file.read_text(encoding="utf-8")
    assert first.startswith("period,rank,item\n")
    succeeded(*ask(table, *at))
    assert file.read_text(encoding="utf-8").startswith(first)


def test_mistakes_end_with_a_hint(table: Path) -> None:
    for more, text in ((("--format", "parquet"), "'csv'"), (("--output", "lists.md"), ".csv, .json, .txt")):
        ran = podium(*ask(table, *more))
        assert ran.exit_code == 2
        assert text in ran.stderr
    ran = podium(*ask(table, "--every", "year"))
    assert "every='year'" in ran.stderr
    assert "Traceback" not in ran.stderr
