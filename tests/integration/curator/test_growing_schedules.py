"""Growing and long windows: which periods measure a list, which repeat the last one, and what that costs."""

from __future__ import annotations

import datetime as dt
import signal
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.curator import monitoring
from tests.support.curator.monitoring import FIRST, START, USERS, monitor
from tests.support.processes import context

from podium.errors import InvalidArgument
from podium.ledger import Kind, open_ledger
from podium.sources.parquet import write_parquet

DAYS = 12
MEASURED = (1, 2, 3, 4, 5, 7, 9, 12)
"""Of a growing window of twelve periods: each is longer than the one before by a quarter, or by one period."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everybody comes once, on the first day; nobody later."""
    rows = [(user, item, START + dt.timedelta(hours=12)) for item, number in USERS.items() for user in range(number)]
    target = tmp_path_factory.mktemp("growing") / "events.parquet"
    write_parquet(dict(zip(("user_id", "item", "at"), map(list, zip(*rows, strict=True)), strict=True)), target)
    return target


def label(number: int) -> str:
    return f"2026-01-{number:02d}"


def test_the_periods_between_repeat_the_last_list_free_of_charge(table: Path) -> None:
    with monitor(table, window="growing", periods=DAYS) as watching:
        lists = list(watching.run(catch_up=True))
        spent = watching.history()
        again = list(watching.run())
        assert watching.history() == spent
        told = watching.releases
        limit = watching.plan().limits.rho
    assert [release.items for release in lists] == [FIRST] * DAYS
    assert [release.parameters["period"] for release in lists] == [label(number) for number in range(1, DAYS + 1)]
    for number, release in enumerate(lists, 1):
        last = max(measured for measured in MEASURED if measured <= number)
        assert release.parameters.get("measured", label(number)) == label(last)
        assert (release.paid.rho > 0) == (number in MEASURED)
        # A repeated list says which rows it is about.
        assert release.parameters["closes"][:10] == label(last + 1)
        assert release.paid.entry == lists[last - 1].paid.entry
    asked = [entry for entry in spent if entry.kind is Kind.RESERVED]
    assert len(asked) == len(MEASURED) + 4
    assert [release.outcome for release in again] == [release.outcome for release in lists]
    assert {period: release.parameters for period, release in told.items()} == {
        label(number): release.parameters for number, release in enumerate(lists, 1)
    }
    with open_ledger(table.with_name("ledger.db")) as ledger:
        status = ledger.status("daily")
    assert limit is not None
    assert Fraction(99, 100) * limit < status.spent.rho <= limit


def test_a_clock_that_goes_backwards_pays_nothing_twice(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monitor(table, window="growing", periods=DAYS) as watching:
        lists = list(watching.run("2026-01-09"))
        spent = watching.history()
        with monkeypatch.context() as patch:
            patch.setattr("podium.curator.monitor.topk_monitor._now", lambda: dt.datetime(2026, 1, 4))  # noqa: DTZ001 - UTC
            earlier = list(watching.run())
        assert watching.history() == spent
        assert [release.outcome for release in earlier] == [release.outcome for release in lists[: len(earlier)]]
        assert len(earlier) < len(lists)
        later = list(watching.run(catch_up=True))
        assert [release.outcome for release in later[: len(lists)]] == [release.outcome for release in lists]
        assert watching.history()[: len(spent)] == spent
        limit = watching.plan().limits.rho
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert limit is not None
        assert ledger.status("daily").spent.rho <= limit


def test_the_owner_may_say_how_often_lists_are_measured(table: Path) -> None:
    with monitor(table, window="growing", periods=7, remeasure=2) as watching:
        assert [release.paid.rho > 0 for release in watching.run(until="2026-01-04")] == [True, False, True]


def test_nothing_found_is_said_again_until_it_is_time_to_search(table: Path) -> None:
    """Nobody has rows before 2026, so the searches find nothing; lists between them ask nothing."""
    with monitor(table, window="growing", periods=DAYS, start="2025-01-01") as watching:
        lists = list(watching.run(catch_up=True))
        told = watching.releases
        again = list(watching.run())
    assert [release.items for release in lists] == [()] * DAYS
    assert [number for number, release in enumerate(lists, 1) if release.paid.rho > 0] == [1, 2, 4, 7]
    assert list(told) == [release.parameters["period"] for release in lists]
    assert [release.parameters for release in again] == [release.parameters for release in lists]
    assert all(release.paid.events == () for release in again)


def test_a_long_way_ahead_needs_to_be_meant(table: Path) -> None:
    with monitor(table, window="growing", periods=DAYS) as watching:
        with pytest.raises(InvalidArgument, match="more than 10 periods are due; 12 are, up to 2026-01-12"):
            list(watching.run())
        assert len(list(watching.run(until="2026-01-03"))) == 2
        assert len(list(watching.run(until="2026-01-05"))) == 4


def test_kill_9_in_a_growing_window(table: Path) -> None:
    """The steps are those of any schedule (test_monitor.py); here one of them, in the list after a repeated one."""
    killed = context().Process(target=die, args=(table, "before settling"))
    killed.start()
    killed.join(timeout=120)
    assert killed.exitcode == -signal.SIGKILL
    with monitor(table, **SIX) as watching:
        lists = list(watching.run())
        history = watching.history()
        limit = watching.plan().limits.rho
    assert [release.items for release in lists] == [FIRST] * 6
    assert [release.parameters.get("measured") for release in lists] == [
        None, None, label(2), None, label(4), None,
    ]  # fmt: skip
    assert sum(entry.kind is Kind.FORFEITED for entry in history) == 1
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        spent = ledger.status("daily").spent
    assert limit is not None
    assert spent.rho <= limit


SIX: dict[str, object] = {"window": "growing", "periods": 6, "remeasure": 2}
"""Lists in the first, second, fourth and sixth period; the last has what another attempt at the fourth needs."""


def die(table: Path, step: str) -> None:
    """Answer three periods, the third of which repeats a list; then die in the next list."""
    with monitor(table, **SIX) as watching:
        releases = watching.run()
        for _ in range(3):
            next(releases)
        monitoring.STEPS[step]()
        list(releases)
