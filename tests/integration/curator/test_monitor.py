"""Lists that keep up to date: windows, units, what is carried forward, and what a killed process leaves behind."""

from __future__ import annotations

import datetime as dt
import json
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.curator import monitoring
from tests.support.curator.monitoring import DAYS, FIRST, LATER, interrupted, monitor, plan_of
from tests.support.processes import context

import podium
from podium.curator.monitor import turn
from podium.errors import BudgetExceeded, DatasetExists, InvalidArgument, LedgerUnavailable, PodiumError
from podium.ledger import Kind, Ledger, open_ledger, reservations
from podium.mechanisms import AdaptiveTopK, ExponentialTopK, LimitedDomain
from podium.planning.facts import MAX_K
from podium.privacy import Cost
from podium.sources.parquet import write_parquet

ELSEWHERE = LimitedDomain(3, 100, "0.1", "1e-7").worst_case


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return monitoring.events(tmp_path_factory.mktemp("events") / "events.parquet")


def test_every_period_has_its_list_and_new_items_enter(table: Path) -> None:
    with monitor(table) as watching:
        lists = list(watching.run())
    assert [release.parameters["period"] for release in lists] == [f"2026-01-{day:02d}" for day in range(1, DAYS + 1)]
    assert [release.items for release in lists[:5]] == [FIRST] * 5
    # d is found on a day with a round of finding, and has most users from then on.
    assert lists[-1].items == LATER
    assert all(release.complete for release in lists)
    assert lists[2].parameters["opens"] == "2026-01-02T00:00:00"
    assert lists[2].parameters["closes"] == "2026-01-04T00:00:00"


def test_a_second_run_is_free_and_the_same(table: Path) -> None:
    with monitor(table) as watching:
        first = list(watching.run())
        spent = watching.history()
        again = list(watching.run())
        assert watching.history() == spent
        told = watching.releases
    assert [release.outcome for release in again] == [release.outcome for release in first]
    assert all(release.paid.events == () for release in again)
    assert [release.paid.entry for release in again] == [release.paid.entry for release in first]
    assert [release.outcome for release in told.values()] == [release.outcome for release in first]


def test_the_whole_schedule_stays_inside_its_total_and_nearly_uses_it(table: Path) -> None:
    with monitor(table) as watching:
        list(watching.run())
        plan = watching.plan()
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        status = ledger.status("daily")
    limit = plan.limits.rho
    assert limit is not None
    assert Fraction(99, 100) * limit < status.spent.rho <= limit
    assert status.spent.delta <= plan.limits.delta
    assert status.totals.budget.epsilon == 5


def test_what_a_short_list_did_not_use_is_carried_forward(table: Path, tmp_path: Path) -> None:
    """On the first days there is one item, so one selection is paid for; later lists have more to spend."""
    rows = [(user, "a", day) for day in (1, 2) for user in range(3000)]
    rows += [(user, item, 3) for item, number in monitoring.USERS.items() for user in range(number)]
    users, items, days = zip(*rows, strict=True)
    at = [dt.date(2026, 1, day) for day in days]
    few = tmp_path / "few.parquet"
    write_parquet({"user_id": list(users), "item": list(items), "at": at}, few)
    with monitor(few, periods=3, window=None, rediscover=1) as watching:
        lists = list(watching.run())
        planned = plan_of(watching).epsilon_per_item
    assert [release.items for release in lists] == [("a",), ("a",), ("a", "b", "c")]
    assert [release.complete for release in lists] == [False, False, True]
    spent = [Fraction(release.parameters["epsilon_per_item"]) for release in lists]
    assert spent[0] == planned
    assert planned < spent[1] < spent[2]
    # Two thirds of two lists' shares were not used; later rounds of finding and the last list share them.
    assert spent[2] > Fraction(13, 10) * planned


def test_periods_without_rows_are_ordinary_paid_releases(table: Path) -> None:
    with monitor(table, start="2020-01-01", periods=3, dataset="before") as watching:
        lists = list(watching.run())
        assert [release.items for release in lists] == [()] * 3
        assert all(release.paid.rho > 0 for release in lists)
        assert all(not release.complete and release.k == 3 for release in lists)
        assert list(watching.releases) == ["2020-01-01", "2020-01-02", "2020-01-03"]
        assert all(release.paid.events == () for release in watching.run())


@pytest.mark.parametrize("window", ["growing", None, "1 day"])
@pytest.mark.parametrize("time", ["at", "day"])
def test_windows_on_dates_and_timestamps(table: Path, window: str | None, time: str) -> None:
    with monitor(table, window=window, time=time, periods=3) as watching:
        lists = list(watching.run())
    assert [release.items for release in lists] == [FIRST] * 3
    opens = ["2026-01-01"] * 3 if window == "growing" else [f"2026-01-0{day}" for day in (1, 2, 3)]
    assert [release.parameters["opens"][:10] for release in lists] == opens


def test_a_stated_domain_needs_no_finding_and_no_delta(table: Path) -> None:
    with monitor(table, domain=["a", "b", "c", "d", "z"], delta=0, periods=3) as watching:
        assert plan_of(watching).stage is None
        lists = list(watching.run())
        kinds = [entry.kind for entry in watching.history()]
    assert [release.items for release in lists] == [FIRST] * 3
    assert kinds.count(Kind.RESERVED) == 3
    with open_ledger(table.with_name("ledger.db")) as ledger:
        status = ledger.status("daily")
    assert status.spent.epsilon is not None
    assert Fraction(99, 100) * 5 < status.spent.epsilon <= 5


def test_per_user_and_period_every_period_has_its_own_total(table: Path) -> None:
    with monitor(table, unit="user-period", window=None, periods=4) as watching:
        lists = list(watching.run())
        limit = watching.plan().limits.rho
        assert limit is not None
    assert [release.items for release in lists] == [FIRST] * 4
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.datasets() == tuple(f"daily@2026-01-0{day}" for day in (1, 2, 3, 4))
        spent = [ledger.status(name).spent.rho for name in ledger.datasets()]
    assert all(Fraction(99, 100) * limit < one <= limit for one in spent)


def test_per_user_and_period_lists_that_share_rows_share_the_total(table: Path) -> None:
    with monitor(table, unit="user-period", window="3 days", periods=7) as watching:
        lists = list(watching.run())
        limit = watching.plan().limits.rho
        assert limit is not None
        paid = [release.paid.rho for release in lists]
        # Rounds of finding look at one day, because what is protected are the rows of one day.
        found = [entry.question or "" for entry in watching.history() if '"finding"' in (entry.question or "")]
    assert all(one <= limit / 3 for one in paid)
    assert all(sum(paid[start : start + 3]) <= limit for start in range(5))
    assert "2026-01-01T00:00:00" in found[0]
    assert "2026-01-02T00:00:00" in found[0]
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.datasets() == ("daily@2026-01-01", "daily@2026-01-04", "daily@2026-01-07")


def test_what_another_process_found_meanwhile_counts_against_the_cap_of_its_period(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"unit": "user-period", "window": "3 days", "periods": 3, "rediscover": 1}
    with monitor(table, **options) as slow:
        releases = slow.run()
        next(releases)
        with monitor(table, **options) as other, monkeypatch.context() as patch:
            # It finds items for the second day, and is gone before it asks for the list.
            patch.setattr(turn.Turn, "_list", interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(other.run())
        assert next(releases).items == FIRST
        with open_ledger(table.with_name("ledger.db")) as ledger:
            account = "daily@2026-01-01"
            limits = ledger.status(account).totals.whole
            charged = _charged(ledger, account, "2026-01-02")
    assert limits.rho is not None
    assert charged.rho is not None
    assert charged.rho <= limits.rho / 3
    assert charged.delta <= limits.delta / 3


def _charged(ledger: Ledger, account: str, period: str) -> Cost:
    """What the settled questions of a period cost, read off the entries."""
    history = ledger.history(account)
    asked = {entry.sequence for entry in history if f'"period": "{period}"' in (entry.question or "")}
    return sum((e.cost or Cost.nothing() for e in history if e.reservation in asked), Cost.nothing())


def test_a_period_whose_list_is_still_to_come_is_not_told_as_empty(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = dt.datetime(2026, 1, DAYS)  # noqa: DTZ001 - all times are UTC
    with monitor(table, start=last, periods=2, window=None, rediscover=1) as watching:
        releases = watching.run()
        next(releases)
        with monkeypatch.context() as patch:
            # The round of finding of a day without rows is over, and the list, of what was found before, is not.
            patch.setattr(turn.Turn, "_list", interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(releases)
        assert list(watching.releases) == ["2026-01-10"]
        list(watching.run())
        assert [len(release.items) for release in watching.releases.values()] == [3, 3]


def test_a_schedule_may_grow_inside_its_total(table: Path) -> None:
    with monitor(table, periods=2) as watching:
        first = list(watching.run())
    with monitor(table, periods=4) as watching:
        lists = list(watching.run(until="2026-01-03"))
        assert [release.outcome for release in lists] == [release.outcome for release in first]
        assert all(release.paid.events == () for release in lists)


def test_two_processes_never_pay_for_a_period_twice(table: Path) -> None:
    with monitor(table, periods=1) as watching:
        releases = watching.run()
        next(releases)
        question = next(entry for entry in watching.history() if entry.kind is Kind.RESERVED).question or ""
        with open_ledger(table.with_name("ledger.db")) as ledger:
            ledger.raise_total("daily", podium.Budget(epsilon=50, delta="1e-5", items=3, questions=2))
            other = question.replace('"2026-01-01"', '"2026-01-02"')
            ledger.reserve("daily", ELSEWHERE, other, schedule="of another process")
    again = monitor(table, periods=2, epsilon=None)
    with again as watching, pytest.raises(InvalidArgument, match="no other process is asking about"):
        list(watching.run())


def test_a_monitor_gets_past_an_attempt_that_nobody_works_on(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monitoring.two_of_three(table) as watching:
        with monkeypatch.context() as patch:
            patch.setattr(ExponentialTopK, "release", interrupted)
            patch.setattr(reservations, "forfeit", _unreachable)
            with pytest.raises(KeyboardInterrupt):
                list(watching.run(monitoring.TWO_OVER))
        assert watching.history()[-1].kind is Kind.RESERVED
        assert [release.items for release in watching.run(monitoring.TWO_OVER)] == [FIRST] * 2
        assert sum(entry.kind is Kind.FORFEITED for entry in watching.history()) == 1


def _unreachable(*_: object, **__: object) -> None:
    raise LedgerUnavailable("gone")


@pytest.mark.parametrize("step", [step for step in monitoring.STEPS if step not in monitoring.ROUNDS])
def test_kill_9_between_every_two_steps(table: Path, step: str) -> None:
    """Whatever was settled is told again free; what was reserved and not settled stays charged, and is asked anew."""
    before = 0 if "register" in step or "record" in step else 1
    killed = context().Process(target=monitoring.run, args=(table, step, before))
    killed.start()
    killed.join(timeout=120)
    assert killed.exitcode == -signal.SIGKILL
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        history = ledger.history("daily") if "daily" in ledger.datasets() else ()
        settled = [entry for entry in history if entry.kind is Kind.SETTLED]
        assert all(not ledger.status(name).open_reservations for name in ledger.datasets())
    with monitoring.two_of_three(table) as watching:
        assert [release.items for release in watching.run(monitoring.TWO_OVER)] == [FIRST] * 2
        after = watching.history()
        plan = watching.plan()
    assert after[: len(history)] == tuple(history)
    lost = [entry.reservation for entry in after if entry.kind is Kind.FORFEITED]
    assert len(lost) == (0 if step in monitoring.NOTHING_LOST else 1)
    # What the first process settled was not asked again: every list and every round of finding was paid once.
    paid = [entry for entry in after if entry.kind is Kind.RESERVED and entry.sequence not in lost]
    asked = [(told["period"], told["role"]) for told in (json.loads(entry.question or "") for entry in paid)]
    assert sorted(asked) == [(day, role) for day in ("2026-01-01", "2026-01-02") for role in ("finding", "list")]
    assert len(settled) <= len(asked)
    with open_ledger(table.with_name("ledger.db")) as ledger:
        assert ledger.verify().sound
        spent = ledger.status("daily").spent
    assert plan.limits.rho is not None
    assert spent.rho <= plan.limits.rho
    assert spent.delta <= plan.limits.delta


def test_a_period_whose_share_was_lost_is_passed_over_where_nothing_may_be_carried(table: Path) -> None:
    with monitor(table, unit="user-period", window=None, periods=2, domain=["a", "b", "c", "z"]) as watching:
        worst = None
        with open_ledger(table.with_name("other.db")) as other, monitor(table, unit="user-period", window=None,
                periods=1, domain=["a", "b", "c", "z"], ledger=other, dataset="daily") as same:  # fmt: skip
            list(same.run())
            question = next(entry for entry in same.history() if entry.kind is Kind.RESERVED)
            worst = question.cost
            budget = other.status("daily@2026-01-01").totals.budget
        assert worst is not None
        with open_ledger(table.with_name("ledger.db")) as ledger:
            ledger.register("daily@2026-01-01", budget, source=str(table.resolve()))
            ledger.forfeit(ledger.reserve("daily@2026-01-01", worst, question.question or ""))
        lists = list(watching.run())
    # Of the first day's total next to nothing is left: a list would be noise, so there is none; the next is whole.
    assert [release.parameters["period"] for release in lists] == ["2026-01-02"]
    assert lists[-1].items == FIRST
    with open_ledger(table.with_name("ledger.db")) as ledger:
        status = ledger.status("daily@2026-01-01")
        assert status.totals.whole.share(status.held) <= 1


@pytest.mark.parametrize(("step", "rediscover"), [((ExponentialTopK, "release"), 1), ((AdaptiveTopK, "run"), None)])
def test_crumbs_do_not_make_a_list(
    table: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[type, str], rediscover: int | None
) -> None:
    """The last period lost its share: what rounding left over would make noise that looks like a list."""
    with monitor(table, periods=1, window=None, rediscover=rediscover) as watching:
        with monkeypatch.context() as patch:
            patch.setattr(*step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(watching.run())
        spent = watching.history()
        with pytest.raises(BudgetExceeded, match="The owner may raise it"):
            list(watching.run())
        assert watching.history() == spent


MISTAKES = [
    ({"time": "item"}, "time='item'", "dates or timestamps"),
    ({"time": "nothing"}, "nothing", "at"),
    ({"time": "day", "every": "hour", "window": None}, "time='day'", "timestamps"),
    ({"start": "soon"}, "start='soon'", "2026-01-31"),
    ({"start": "2026-01-31", "every": "month", "window": None}, "start='2026-01-31'", "1 to 28"),
    ({"every": "year"}, "every='year'", "'hour'"),
    ({"window": "36 hours"}, "window='36 hours'", "whole number of days"),
    ({"window": "1 month"}, "window='1 month'", "different lengths"),
    ({"periods": 0}, "periods=0", "1"),
    ({"periods": 10**6}, "periods=1000000", "100000"),
    ({"unit": "row"}, "unit='row'", "'user-period'"),
    ({"unit": "row", "epsilon": None}, "unit='row'", "'user-period'"),
    ({"unit": "user-period", "window": "growing"}, "unit='user-period'", "whole schedule"),
    ({"k": 0}, "k=0", "1"),
    ({"delta": 0}, "delta=0", "state the domain"),
    ({"epsilon": -1}, "epsilon=-1", "0"),
    ({"domain": ["a"], "k": 3}, "k=3", "1 to 1"),
    ({"domain": ["a", "b", "c"], "rediscover": 2}, "rediscover=2", "None"),
    ({"item": "user_id"}, "item='user_id'", "other than the user column"),
]


@pytest.mark.parametrize(("changes", "wrong", "allowed"), MISTAKES)
def test_mistakes_are_refused_before_anything_is_registered(
    table: Path, changes: dict[str, object], wrong: str, allowed: str
) -> None:
    with pytest.raises(PodiumError) as raised:
        monitor(table, **changes)
    assert wrong in str(raised.value)
    assert allowed in str(raised.value)
    assert not table.with_name("ledger.db").exists()


def test_periods_that_are_not_over_are_not_answered(table: Path) -> None:
    now = dt.datetime.now(dt.UTC)
    with monitor(table, start=now - dt.timedelta(hours=36), periods=5, dataset="now") as watching:
        with pytest.raises(InvalidArgument, match="a time in the past"):
            list(watching.run(until=now + dt.timedelta(days=3)))
        assert len(list(watching.run())) == 1


def test_a_long_list_is_found_among_as_many_items_as_a_question_may_ask_for(table: Path) -> None:
    with monitor(table, periods=1, window=None, k=MAX_K // 10 + 1, epsilon=100) as watching:
        (release,) = watching.run()
    assert set(release.items) <= set(monitoring.USERS)
    assert release.items


def test_without_a_ledger_there_is_only_a_plan(table: Path) -> None:
    with monitor(table, ledger=None) as watching:
        assert watching.plan().k == 3
        with pytest.raises(InvalidArgument, match="ledger=None"):
            list(watching.run())


def test_another_budget_for_the_same_schedule_is_refused(table: Path) -> None:
    with monitor(table, periods=1) as watching:
        list(watching.run())
    with monitor(table, periods=1, epsilon=6) as watching, pytest.raises(DatasetExists):
        list(watching.run())
    with monitor(table, periods=1, epsilon=None) as watching:
        assert [release.items for release in watching.run()] == [FIRST]
