"""Whom the accounts of a schedule answer, and which periods a run asks about."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from tests.support.curator import monitoring
from tests.support.curator.monitoring import monitor

import podium
from podium.curator import Curator
from podium.errors import InvalidArgument
from podium.ledger import Kind, open_ledger
from podium.mechanisms import LimitedDomain

ELSEWHERE = LimitedDomain(3, 100, "0.1", "1e-7").worst_case


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return monitoring.events(tmp_path_factory.mktemp("events") / "events.parquet")


def test_other_questions_are_refused_in_the_accounts_of_periods(table: Path) -> None:
    with monitor(table, unit="user-period", window=None, periods=1) as watching:
        list(watching.run())
    with open_ledger(table.with_name("ledger.db")) as ledger:
        ledger.raise_total("daily@2026-01-01", podium.Budget(epsilon=50, delta="1e-5", items=3, questions=2))
        schedule = ledger.status("daily@2026-01-01").schedule
        assert schedule is not None
        for other in (None, schedule.replace("01-01", "01-02"), "another"):
            with pytest.raises(
                InvalidArgument, match="questions of the schedule and window that it was registered for"
            ):
                ledger.reserve("daily@2026-01-01", ELSEWHERE, "a question from elsewhere", schedule=other)
        with Curator(table, dataset="daily@2026-01-01", user="user_id", ledger=ledger) as curator:
            for where in (None, "day = DATE '2026-01-01'", "day = DATE '2026-01-05'"):
                with pytest.raises(InvalidArgument, match="questions of the schedule and window"):
                    curator.top("item", k=3, where=where)
        assert sum(entry.kind is Kind.RESERVED for entry in ledger.history("daily@2026-01-01")) == 2
        ledger.reserve("daily@2026-01-01", ELSEWHERE, "a question from elsewhere", schedule=schedule)
    again = monitor(table, unit="user-period", window=None, periods=1, epsilon=None)
    with again as watching, pytest.raises(InvalidArgument, match="only this schedule asks"):
        list(watching.run())


def test_many_periods_at_once_need_to_be_meant(table: Path) -> None:
    with monitor(table, periods=30, window=None, dataset="long") as watching:
        with pytest.raises(InvalidArgument, match="more than 10 periods are due; 30 are, up to 2026-01-30"):
            next(watching.run())
        assert watching._ledger().datasets() == ()
        assert len(list(watching.run("2026-01-03"))) == 2
        # What was answered does not count: ten more are a few, eleven are not.
        with pytest.raises(InvalidArgument, match="11 are, up to 2026-01-13"):
            next(watching.run("2026-01-14"))
        assert next(watching.run("2026-01-13")).paid.events == ()
        assert next(watching.run(catch_up=True)).paid.events == ()


@pytest.mark.parametrize("unit", ["user", "user-period"])
def test_a_clock_that_is_ahead_of_the_ledgers_makes_nothing_due(
    table: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    ahead = dt.datetime(2066, 1, 1)  # noqa: DTZ001 - all times are UTC
    monkeypatch.setattr("podium.curator.monitor.topk_monitor._now", lambda: ahead)
    with monitor(table, start="2060-01-01", periods=5, unit=unit, dataset="future") as watching:
        assert list(watching.run(catch_up=True)) == []
        assert watching._ledger().datasets() == ()
        with pytest.raises(InvalidArgument, match="a time in the past"):
            next(watching.run("2060-01-03"))
