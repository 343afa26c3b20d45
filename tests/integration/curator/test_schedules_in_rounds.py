"""Windows that do not overlap: each list is found in rounds of its own, until these bring back too little."""

from __future__ import annotations

import datetime as dt
import signal
from pathlib import Path

import pytest
from tests.support.curator import monitoring
from tests.support.curator.monitoring import FIRST, START, USERS, interrupt_rounds, monitor
from tests.support.processes import context

from podium.curator.monitor import turn
from podium.curator.monitor.periods import Role
from podium.ledger import Kind, open_ledger
from podium.query import QuestionRecord
from podium.sources.parquet import write_parquet

ALONE = {"window": None, "periods": 4}


def days(target: Path, users: list[dict[str, int]]) -> Path:
    """A table of days, with so many users for each item."""
    rows = [
        (user, item, START + dt.timedelta(days=day, hours=12))
        for day, counts in enumerate(users)
        for item, number in counts.items()
        for user in range(number)
    ]
    write_parquet(dict(zip(("user_id", "item", "at"), map(list, zip(*rows, strict=True)), strict=True)), target)
    return target


def asked(watching: object) -> list[str]:
    """The role of every question, or that it was asked in rounds."""
    found = []
    for entry in watching.history():  # type: ignore[attr-defined]
        record = QuestionRecord.from_text(entry.question)
        if entry.kind is Kind.RESERVED and record is not None:
            rounds = record.schedule["role"] == Role.LIST and "epsilon_per_item" not in record.budget
            found.append("rounds" if rounds else record.schedule["role"])
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return days(tmp_path / "events.parquet", [USERS] * 4)


def test_each_list_is_found_in_rounds_of_its_own(table: Path) -> None:
    with monitor(table, **ALONE) as watching:
        lists = list(watching.run())
        limits, spent = watching.plan().limits, watching.history()
        again = list(watching.run())
        told = list(watching.releases.values())
        assert asked(watching) == ["rounds"] * 4
        assert watching.history() == spent
        assert limits.rho is not None
        assert sum(release.paid.rho for release in lists) <= limits.rho
        assert sum(release.paid.delta for release in lists) <= limits.delta
    assert [release.items for release in lists] == [FIRST] * 4
    assert {release.mechanism for release in lists} == {"AdaptiveTopK"}
    for others in (again, told):
        assert [release.items for release in others] == [FIRST] * 4
        assert {release.paid.rho for release in others} == {0}


def test_where_rounds_bring_back_too_little_later_periods_search_and_choose(tmp_path: Path) -> None:
    few = days(tmp_path / "few.parquet", [{"a": 2, "b": 1}, USERS, USERS, USERS])
    with monitor(few, **ALONE) as watching:
        (first,) = watching.run("2026-01-02")
        assert first.items == ()
        # Another process goes on where the ledger says.
    with monitor(few, **ALONE) as watching:
        lists = list(watching.run())
        assert asked(watching)[:3] == ["rounds", "finding", "list"]
        assert "rounds" not in asked(watching)[1:]
        assert [release.items for release in lists] == [(), *[FIRST] * 3]
        assert [release.items for release in watching.releases.values()] == [(), *[FIRST] * 3]


def test_a_schedule_that_began_with_a_search_goes_on_as_it_began(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monitor(table, **ALONE) as watching:
        with monkeypatch.context() as patch:
            # As it was before lists had rounds.
            patch.setattr(turn.Turn, "_in_rounds", lambda _: False)
            list(watching.run("2026-01-02"))
        assert asked(watching) == ["finding", "list"]
        lists = list(watching.run())
        assert "rounds" not in asked(watching)
    assert [release.items for release in lists] == [FIRST] * 4


def test_rounds_that_were_interrupted_stay_charged(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monitor(table, **ALONE) as watching:
        reserved = interrupt_rounds(watching, monkeypatch)
        limits = watching.plan().limits
        assert reserved.cost is not None
        assert limits.rho is not None
        assert 4 * reserved.cost.rho == pytest.approx(float(limits.rho), rel=1e-3)
        lists = list(watching.run())
    with open_ledger(table.with_name("ledger.db")) as ledger:
        spent = ledger.status("daily").spent
    # Later lists share what it left; a ledger rounds up.
    assert reserved.cost.rho + sum(release.paid.rho for release in lists) <= spent.rho <= limits.rho
    assert spent.delta <= limits.delta
    assert [release.items for release in lists] == [FIRST] * 4


@pytest.mark.parametrize(
    "step", ["after reserving", *monitoring.ROUNDS, "while settling, before it commits", "after settling"]
)
def test_kill_9_in_a_list_that_is_found_in_rounds(table: Path, step: str) -> None:
    """What was settled is told again free; what was reserved and not settled stays charged, and is asked anew."""
    killed = context().Process(target=monitoring.run, args=(table, step, 1, None))
    killed.start()
    killed.join(timeout=120)
    assert killed.exitcode == -signal.SIGKILL
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        history = ledger.history("daily")
    with monitoring.two_of_three(table, None) as watching:
        assert [release.items for release in watching.run(monitoring.TWO_OVER)] == [FIRST] * 2
        after, limits = watching.history(), watching.plan().limits
    assert after[: len(history)] == tuple(history)
    assert sum(entry.kind is Kind.FORFEITED for entry in after) == (step not in monitoring.NOTHING_LOST)
    assert sum(entry.kind is Kind.SETTLED for entry in after) == 2
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        spent = ledger.status("daily").spent
    assert limits.rho is not None
    assert spent.rho <= limits.rho
    assert spent.delta <= limits.delta
