"""Schedules by events and amounts: the clip is stated once, and every list and every search counts in units of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import podium, succeeded
from tests.support.curator.monitoring import START, monitor, plan_of

from podium.errors import InvalidArgument
from podium.mechanisms import GaussianSparseHistogram
from podium.sources.parquet import write_parquet

SHARES = {"a": (3_000, 1), "b": (2_000, 4), "c": (1_000, 2)}
"""How many users each item has, and how many rows of it each of them."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days; one user has 50,000 rows of d."""
    rows: list[tuple[int, str, dt.datetime, float]] = []
    for day in range(3):
        at = START + dt.timedelta(days=day, hours=12)
        for item, (users, times) in SHARES.items():
            rows += [(user, item, at, 0.3) for user in range(users) for _ in range(times)]
        rows += [(0, "d", at, 1e300)] * 50_000
    target = tmp_path_factory.mktemp("measured") / "events.parquet"
    names = ("user_id", "item", "at", "amount")
    write_parquet(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), target)
    return target


def lists(table: Path, ledger: Path, **changes: Any) -> list[tuple[object, ...]]:
    with monitor(table, periods=3, window=None, ledger=ledger, **changes) as watching:
        return [release.items for release in watching.run()]


@pytest.mark.parametrize(
    ("changes", "order"),
    [
        ({}, ("a", "b", "c")),
        ({"by": "events", "clip": 4}, ("b", "a", "c")),
        ({"by": "events", "clip": 1}, ("a", "b", "c")),
        ({"by": "sum(amount)", "clip": 2, "value_unit": "0.1", "unit": "user-period"}, ("b", "a", "c")),
        ({"by": "events", "clip": 4, "delta": 0, "domain": ["a", "b", "c", "d"]}, ("b", "a", "c")),
    ],
)
def test_the_lists_are_ranked_by_clipped_amounts(
    table: Path, tmp_path: Path, changes: dict[str, Any], order: tuple[str, ...]
) -> None:
    assert lists(table, tmp_path / "ledger.db", **changes) == [order] * 3
    # Answered periods are free, and another clip is another schedule.
    assert lists(table, tmp_path / "ledger.db", **changes) == [order] * 3


def test_a_search_and_a_list_count_in_units_of_the_clip(table: Path, tmp_path: Path) -> None:
    with monitor(table, by="events", clip=4, window=None, ledger=tmp_path / "ledger.db") as watching:
        plan = plan_of(watching)
        release = next(watching.run(START + dt.timedelta(days=1)))
    with monitor(table, window=None) as plain:
        users = plan_of(plain)
    assert isinstance(plan.stage, GaussianSparseHistogram)
    assert plan.stage.clip == 4
    assert users.found_from is not None
    assert plan.found_from == 4 * users.found_from
    assert plan.lead > 4 * users.lead
    assert dict(plan.facts())["by"] == "events, counting at most 4 per `user_id`, item and list, as stated (the clip)"
    assert plan.to_dict()["clip"] == "4"
    assert release.parameters["clip"] == "4"
    assert release.parameters["by"] == "events"


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({"by": "events"}, "clip", "podium top chooses"),
        ({"by": "events", "clip": (-1, 2)}, "clip", "one number above 0"),
        ({"by": "sum(amount)", "clip": 1}, "value_unit", "such as '0.01'"),
        ({"by": "sum(amount)", "clip": 1, "unit": "0.1"}, "unit", "--value-unit"),
        ({"by": "events", "clip": 2**41}, "clip", "at most"),
        ({"clip": 3}, "clip", "by='users'"),
        ({"by": "sum(item)", "clip": 3}, "by", "numeric column"),
    ],
)
def test_what_no_schedule_can_keep_is_refused_first(
    table: Path, tmp_path: Path, changes: dict[str, Any], name: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        monitor(table, ledger=tmp_path / "ledger.db", **changes)
    assert refused.value.name == name
    assert said in str(refused.value)
    assert not (tmp_path / "ledger.db").exists()


def test_the_command(table: Path, tmp_path: Path) -> None:
    ask = (
        "watch", str(table), "--item", "item", "--user", "user_id", "--time", "at", "--start", "2026-01-01",
        "--periods", "3", "-k", "3", "--epsilon", "5", "--delta", "1e-6", "--by", "sum(amount)",
    )  # fmt: skip
    unit = ("--value-unit", "0.1")
    assert "counting at most 2 per `user_id`, item and list" in succeeded(*ask, *unit, "--clip", "2", "--dry-run")
    text = succeeded(*ask, *unit, "--clip", "2", "--ledger", str(tmp_path / "ledger.db"))
    assert text.splitlines() == [f"2026-01-0{day}  b, a, c" for day in (1, 2, 3)]
    refused = podium(*ask, *unit, "--dry-run")
    assert refused.exit_code == 2
    assert "clip=None is not valid" in refused.stderr
