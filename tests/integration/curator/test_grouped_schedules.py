"""Schedules with a list for each group: what every period releases, what it is charged, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.monitoring import interrupt_rounds

import podium
from podium.errors import InvalidArgument
from podium.ledger import open_ledger
from podium.planning.schedule.group_plan import GroupedSchedulePlan
from podium.present.plots import plot_lists
from podium.release import GroupedRelease, Release
from podium.sources.parquet import write_parquet

START = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - all times are UTC
ITEMS = {"a": 300, "b": 200, "c": 100}
"""So many users that at these budgets the order is certain."""
Row = tuple[int, str, str, int]
"""User, country, item, day."""


def readers(country: str, days: Iterable[int], first: int = 0) -> list[Row]:
    return [(first + user, country, item, day) for day in days for item, n in ITEMS.items() for user in range(n)]


def table(target: Path, rows: Iterable[Row]) -> Path:
    found = [(user, country, item, START + dt.timedelta(days=day, hours=12)) for user, country, item, day in rows]
    names = ("user_id", "country", "item", "at")
    write_parquet(dict(zip(names, map(list, zip(*found, strict=True)), strict=True)), target)
    return target


def watching(source: Path, ledger: str = "ledger.db", **changes: Any) -> podium.TopKMonitor:
    options: dict[str, Any] = {
        "item": "item", "user": "user_id", "time": "at", "start": START, "periods": 3, "k": 3, "per": "country",
        "epsilon": 50, "delta": "1e-6", "ledger": source.parent / ledger, "dataset": "daily",
    }  # fmt: skip
    return podium.TopKMonitor(source, **{**options, **changes})


def plan_of(monitor: podium.TopKMonitor) -> GroupedSchedulePlan:
    plan = monitor.plan()
    assert isinstance(plan, GroupedSchedulePlan)
    return plan


def found(releases: Iterable[Release]) -> list[dict[object, tuple[object, ...]]]:
    releases = list(releases)
    assert {type(release) for release in releases} == {GroupedRelease}
    return [{group: one.items for group, one in release.lists.items()} for release in releases]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two countries over four days."""
    target = tmp_path_factory.mktemp("two") / "events.parquet"
    return table(target, [*readers("DE", range(4)), *readers("FR", range(4), 1_000)])


BOTH = {"DE": ("a", "b", "c"), "FR": ("a", "b", "c")}


@pytest.mark.parametrize(
    ("number", "changes", "expected"),
    [
        (0, {}, BOTH),
        (1, {"window": "growing", "periods": 4, "remeasure": 2}, BOTH),
        (2, {"window": "2 days", "groups": ("IT", "FR")}, {"FR": BOTH["FR"], "IT": ()}),
        (3, {"groups_per_user": "all"}, BOTH),
        (4, {"groups_per_user": 2, "max_items_per_user": 3, "by": "events", "clip": 3}, BOTH),
    ],
)
def test_every_period_has_the_lists_of_all_groups(
    two: Path, number: int, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    with watching(two, f"{number}.db", **changes) as monitor:
        plan = plan_of(monitor)
        lists = list(monitor.run())
        assert found(lists) == [expected] * plan.schedule.periods
        measured = [release for release in lists if "measured" not in release.parameters]
        assert len(measured) == len(plan.sharing.lists)
        assert plan.limits.rho is not None
        # What a list leaves is carried forward, so all of it may be used; no more than that is.
        assert plan.limits.rho * Fraction(9, 10) < sum(release.paid.rho for release in lists) <= plan.limits.rho
        assert sum(release.paid.delta for release in lists) <= plan.limits.delta
        history = monitor.history()
        again = list(monitor.run())
        assert monitor.history() == history
        for others in (again, list(monitor.releases.values())):
            assert found(others) == found(lists)
            assert [one.parameters["period"] for one in others] == [one.parameters["period"] for one in lists]
            assert {one.paid.rho for one in others} == {0}
    with open_ledger(two.with_name(f"{number}.db")) as ledger:
        assert ledger.verify(receipts=measured).sound
        assert ledger.status("daily").spent.rho <= plan.limits.rho


def test_a_period_of_its_own_has_the_whole_budget(two: Path) -> None:
    with watching(two, "alone.db", unit="user-period", periods=2) as monitor:
        plan = plan_of(monitor)
        lists = list(monitor.run())
    assert found(lists) == [BOTH] * 2
    assert plan.limits.rho is not None
    for release in lists:
        assert plan.limits.rho * Fraction(9, 10) < release.paid.rho <= plan.limits.rho
    assert plan.loss(1) == (plan.guarantee.epsilon(), plan.guarantee.cost.delta)
    assert plan.loss(2)[0] > plan.loss(1)[0]
    assert plan.loss(9) == plan.loss(2)


def test_whoever_moves_counts_in_every_period_and_every_period_is_charged(tmp_path: Path) -> None:
    """In one group today and in another tomorrow: no account of a group would see both."""
    moving = table(tmp_path / "moving.parquet", [*readers("DE", [0]), *readers("FR", [1])])
    with watching(moving, periods=2) as monitor:
        plan = plan_of(monitor)
        lists = list(monitor.run())
    assert found(lists) == [{"DE": BOTH["DE"]}, {"FR": BOTH["FR"]}]
    share, _ = plan.share(0)
    assert all(share * Fraction(9, 10) < release.paid.rho for release in lists)


def test_a_hidden_group_does_not_show_in_the_charges(tmp_path: Path) -> None:
    plain = readers("DE", range(2))
    spent = []
    for name, rows in (("plain", plain), ("hidden", [*plain, (9_999, "LI", "a", 0), (9_998, "LU", "z", 1)])):
        # So small a delta that nobody stands out alone.
        with watching(table(tmp_path / f"{name}.parquet", rows), f"{name}.db", periods=2, delta="1e-12") as monitor:
            assert found(monitor.run()) == [{"DE": BOTH["DE"]}] * 2
            spent.append([entry.cost for entry in monitor.history()])
    assert spent[0] == spent[1]


def test_rounds_that_were_interrupted_stay_charged(two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watching(two, str(tmp_path / "ledger.db"), periods=2) as monitor:
        reserved = interrupt_rounds(monitor, monkeypatch)
        assert reserved.cost is not None
        lists = list(monitor.run())
        limits = plan_of(monitor).limits
    assert found(lists) == [BOTH] * 2
    assert limits.rho is not None
    assert reserved.cost.rho + sum(release.paid.rho for release in lists) <= limits.rho


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"unit": "user-period", "window": "2 days"}, "unit"),
        ({"unit": "user-period", "window": "growing"}, "unit"),
        ({"unit": "user-period", "remeasure": 2}, "remeasure"),
        ({"domain": ["a", "b"]}, "domain"),
        ({"domain_size": 5}, "domain_size"),
        ({"rediscover": 2}, "rediscover"),
        ({"delta": 0}, "delta"),
        ({"per": (), "groups": ["DE"]}, "groups"),
        ({"per": "user_id"}, "per"),
        ({"per": "item"}, "per"),
        ({"groups": []}, "groups"),
        ({"groups": [1]}, "groups"),
        ({"groups_per_user": 0}, "groups_per_user"),
        ({"groups_per_user": 5_000}, "groups_per_user"),
        ({"by": "sum(user_id)"}, None),
        ({"by": "events"}, "clip"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_anything_is_registered(
    two: Path, tmp_path: Path, changes: dict[str, Any], name: str | None
) -> None:
    with pytest.raises(InvalidArgument, match=None if name is None else rf"^{name}=") as refused:
        watching(two, str(tmp_path / "ledger.db"), **changes)
    assert "podium." not in str(refused.value)
    assert not (tmp_path / "ledger.db").exists()


def test_other_groups_are_another_schedule(two: Path) -> None:
    keys = set()
    for changes in ({"per": ()}, {}, {"groups": ["DE"]}, {"groups": ["FR"]}, {"groups_per_user": 2}):
        with watching(two, **changes) as monitor:
            keys.add(monitor._key)
    assert len(keys) == 5


def test_a_picture_shows_one_list_over_time(two: Path, tmp_path: Path) -> None:
    with watching(two, str(tmp_path / "ledger.db"), periods=1) as monitor:
        (release,) = monitor.run()
    with pytest.raises(InvalidArgument, match=r"^lists="):
        plot_lists({"2026-01-01": release})
