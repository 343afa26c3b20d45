"""Plans of schedules: which lists can be asked for, and what they promise to somebody who appears in many periods."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.planning.facts import MAX_K
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.schedule_plan import SchedulePlan, plan_schedule
from podium.privacy.theorems.adaptive_optimum import adaptive_optimum_delta


def planned(k: int, *, window: str | None = None, domain_size: int | None = 50, delta: str = "1e-6") -> SchedulePlan:
    schedule = Schedule.of(start="2026-01-01", every="day", periods=30, window=window)
    return plan_schedule(schedule, k=k, epsilon=1, delta=delta, unit="user-period", domain_size=domain_size)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("periods", [2, 7, 30])
def test_who_appears_in_many_periods_has_not_lost_more_than_is_said(k: int, periods: int) -> None:
    """Against the exact loss of that many lists of k selections, which an adversary can attain."""
    plan = planned(k)
    epsilon, delta = plan.loss(periods)
    assert adaptive_optimum_delta(plan.epsilon_per_item, periods * k, epsilon) <= delta


def test_lists_that_keep_the_total_by_epsilon_cost_more_rho_than_the_total_has() -> None:
    few, many = planned(1), planned(20)
    assert few.limits.rho is not None
    assert few.by_epsilon
    assert few.list_rho > 5 * few.limits.rho
    assert not many.by_epsilon
    assert "at most epsilon 1 for each day's rows" in dict(few.facts())["cost"]
    assert "at most rho " in dict(many.facts())["cost"]
    assert few.loss(1) == (Fraction(1), Fraction(1, 10**6))


def test_a_window_spreads_a_row_over_several_lists() -> None:
    plan = planned(1, window="7 days")
    assert plan.parts == 7
    lists = 7 + 7 - 1
    assert plan.loss(7)[0] <= lists * plan.epsilon_per_item
    assert plan.loss(1)[0] == 1


@pytest.mark.parametrize(("k", "candidates"), [(1, 100), (10, 100), (1_000, 10_000), (1_001, 10_000), (10_000, 10_000)])
def test_a_round_of_finding_asks_for_no_more_items_than_any_question(k: int, candidates: int) -> None:
    plan = planned(k, domain_size=None)
    assert plan.stage is not None
    assert plan.domain_size == plan.stage.k == candidates <= MAX_K


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 20_000, "domain_size": None}, "k=20000 is not valid. Allowed: an integer from 1 to 10000."),
        ({"k": 20_000, "domain_size": 50_000}, "k=20000 is not valid. Allowed: an integer from 1 to 10000."),
        ({"k": 20, "domain_size": 9}, "k=20 is not valid. Allowed: an integer from 1 to 9."),
        ({"domain_size": 0}, "domain_size=0 is not valid. Allowed: an integer, 1 or more."),
    ],
)
def test_the_limits_that_a_refusal_names_are_those_that_hold(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        planned(**{"k": 10, **changes})
    assert str(caught.value) == message
