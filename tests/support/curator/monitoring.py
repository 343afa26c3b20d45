"""A table of events over ten days whose order no noise will change, and monitors of it that die on the way."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.workers import Step, after, before

import podium
from podium.curator import settle
from podium.curator.monitor import turn
from podium.ledger import Entry, Kind, Ledger, reservations
from podium.mechanisms import AdaptiveTopK, ExponentialTopK, GaussianSparseHistogram
from podium.planning.schedule.schedule_plan import SchedulePlan
from podium.sources import DuckDBSource, Source
from podium.sources.parquet import write_parquet
from podium.sources.sql.snapshot import SqlSnapshot

__all__ = [
    "DAYS",
    "FIRST",
    "LATER",
    "NOTHING_LOST",
    "ROUNDS",
    "STEPS",
    "TWO_OVER",
    "USERS",
    "events",
    "interrupt_rounds",
    "interrupted",
    "monitor",
    "plan_of",
    "run",
    "two_of_three",
]

DAYS = 10
FIRST, LATER = ("a", "b", "c"), ("d", "a", "b")
"""The most common items of the first five days, and of the others."""
USERS = {"a": 4_000, "b": 3_000, "c": 2_000, "e": 10}
START = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - all times are UTC


def events(target: Path, days: int = DAYS) -> Path:
    """Everybody comes back every day; from the sixth on more of them have d than any other item."""
    rows: list[tuple[int, str, dt.datetime, dt.date]] = []
    for day in range(days):
        counts = USERS if day < DAYS // 2 else {"d": 5_000, **USERS}
        at = START + dt.timedelta(days=day, hours=12)
        rows += [(user, item, at, at.date()) for item, number in counts.items() for user in range(number)]
    names = ("user_id", "item", "at", "day")
    write_parquet(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), target)
    return target


def monitor(table: Path | Source, **changes: Any) -> podium.TopKMonitor:
    """A daily list of three, of the last two days; the ledger of a file is beside it."""
    options: dict[str, Any] = {
        "item": "item", "user": "user_id", "time": "at", "start": START, "periods": DAYS, "every": "day", "k": 3,
        "window": "2 days", "epsilon": 5, "delta": "1e-6", "dataset": "daily",
    }  # fmt: skip
    if isinstance(table, Path):
        options["ledger"] = table.with_name("ledger.db")
    return podium.TopKMonitor(table, **{**options, **changes})


def plan_of(watching: podium.TopKMonitor) -> SchedulePlan:
    """The plan of a schedule with one list in each period."""
    plan = watching.plan()
    assert isinstance(plan, SchedulePlan)
    return plan


TWO_OVER = START + dt.timedelta(days=2)


def two_of_three(table: Path, window: str | None = "2 days") -> podium.TopKMonitor:
    """Two periods are asked about, and a third keeps enough for an attempt that failed to be repeated."""
    return monitor(table, periods=3, window=window)


STEPS: dict[str, Step] = {
    "before registering": before(Ledger, "register"),
    "after registering": after(Ledger, "register"),
    "before reading the record": before(Ledger, "history"),
    "before planning": before(turn, "schedule_question"),
    "before reserving": before(Ledger, "reserve"),
    "while reserving, before it commits": after(reservations, "reserve"),
    "after reserving": after(Ledger, "reserve"),
    "before the snapshot": before(DuckDBSource, "snapshot"),
    "after reading": after(SqlSnapshot, "counts_of_counts"),
    "after finding": after(GaussianSparseHistogram, "release"),
    "after choosing": after(ExponentialTopK, "release"),
    "before the rounds": before(AdaptiveTopK, "run"),
    "after the rounds": after(AdaptiveTopK, "run"),
    "before settling": before(Ledger, "settle"),
    "while settling, before it commits": after(reservations, "settle"),
    "after settling": after(Ledger, "settle"),
    "before the answer is returned": before(settle, "replace"),
}
"""Every place between two steps of a period: chosen from what was found, or found in rounds of its own."""
ROUNDS = ("before the rounds", "after the rounds")
NOTHING_LOST = {
    "before registering", "after registering", "before reading the record", "before planning", "before reserving",
    "while reserving, before it commits", "after settling", "before the answer is returned",
}  # fmt: skip


def run(table: Path, step: str, periods: int, window: str | None = "2 days") -> None:
    """Answer ``periods`` periods, then die at that step of the next."""
    with two_of_three(table, window) as watching:
        releases = watching.run(TWO_OVER)
        for _ in range(periods):
            next(releases)
        STEPS[step]()
        next(releases)


def interrupted(*_: object, **__: object) -> None:
    """In the place of any step: somebody pressed Ctrl-C."""
    raise KeyboardInterrupt


def interrupt_rounds(watching: podium.TopKMonitor, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """The reservation of the next list, whose rounds are interrupted: it is given up as spent."""
    with monkeypatch.context() as patch:
        patch.setattr(AdaptiveTopK, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(watching.run())
    reserved, failed = watching.history()[-2:]
    assert (reserved.kind, failed.kind) == (Kind.RESERVED, Kind.FORFEITED)
    return reserved
