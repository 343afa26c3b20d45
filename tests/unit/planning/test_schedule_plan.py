"""Plans of schedules: which lists can be asked for, and from how many items they are chosen."""

from __future__ import annotations

from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.planning.facts import LARGEST_K
from podium.planning.schedule import Schedule
from podium.planning.schedule_plan import SchedulePlan, plan_schedule


def planned(**changes: Any) -> SchedulePlan:
    schedule = Schedule.of(start="2026-01-01", every="day", periods=10, window=None)
    return plan_schedule(schedule, **{"k": 10, "epsilon": 5, "delta": "1e-6", **changes})


@pytest.mark.parametrize(("k", "candidates"), [(1, 100), (10, 100), (1_000, 10_000), (1_001, 10_000), (10_000, 10_000)])
def test_a_round_of_finding_asks_for_no_more_items_than_any_question(k: int, candidates: int) -> None:
    plan = planned(k=k)
    assert plan.stage is not None
    assert plan.domain_size == plan.stage.k == candidates <= LARGEST_K


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 20_000}, "k=20000 is not valid. Allowed: a whole number from 1 to 10000."),
        ({"k": 20_000, "domain_size": 50_000}, "k=20000 is not valid. Allowed: a whole number from 1 to 10000."),
        ({"k": 20, "domain_size": 9}, "k=20 is not valid. Allowed: a whole number from 1 to 9."),
        ({"domain_size": 0}, "domain_size=0 is not valid. Allowed: a whole number, 1 or more."),
    ],
)
def test_the_limits_that_a_refusal_names_are_those_that_hold(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        planned(**changes)
    assert str(caught.value) == message
