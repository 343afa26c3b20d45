"""Plans of schedules with a list for each group: what each period may cost, and what is promised."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.planning.facts import Facts, GroupFacts
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.group_plan import GroupedSchedulePlan, plan_grouped_schedule
from podium.planning.schedule.refresh import list_weight
from podium.planning.schedule.shares import RemainingBudget, Unit
from podium.privacy import actual_cost, zcdp_epsilon


def planned(window: str | None = None, *, unit: str = Unit.USER, most: int | None = 1) -> GroupedSchedulePlan:
    schedule = Schedule.of(start="2026-01-01", every="day", periods=30, window=window)
    facts = Facts(k=3, groups=GroupFacts(most))
    return plan_grouped_schedule(schedule, facts, epsilon=2, delta="1e-6", groups="one for each country", unit=unit)


@pytest.mark.parametrize("window", [None, "7 days", "growing"])
def test_the_lists_of_all_periods_share_the_total(window: str | None) -> None:
    plan = planned(window)
    sharing, limits = plan.sharing, plan.limits
    assert sharing.finding == ()
    left = RemainingBudget(None, limits.rho, limits.delta)
    shares = []
    for index in sharing.lists:
        assert left.rho is not None
        rho, delta = sharing.for_rounds(index, left)
        # If all before it used theirs.
        assert float(rho) == pytest.approx(float(plan.share(index)[0]), rel=1e-6)
        assert float(delta) == pytest.approx(float(plan.share(index)[1]), rel=1e-3)
        left = RemainingBudget(None, left.rho - rho, left.delta - delta)
        shares.append(rho)
        assert left.rho is not None
        assert left.rho >= 0
        assert left.delta >= 0
    assert limits.rho is not None
    assert float(sum(shares)) == pytest.approx(float(limits.rho), rel=1e-6)
    assert float(left.delta) < float(limits.delta) / 100
    weights = [list_weight(index, 30, growing=window == "growing") for index in sharing.lists]
    assert [float(share / shares[-1]) for share in shares] == pytest.approx([float(w / weights[-1]) for w in weights])


def test_a_period_that_left_something_leaves_it_to_later_ones() -> None:
    plan = planned()
    rho, delta = plan.share(0)
    assert plan.limits.rho is not None
    left = RemainingBudget(None, plan.limits.rho - rho / 2, plan.limits.delta - delta / 2)
    later = plan.sharing.for_rounds(1, left)
    assert later[0] > plan.share(1)[0] > 0
    assert later[1] > plan.share(1)[1] > 0


@pytest.mark.parametrize("most", [1, 3, None])
def test_the_lists_of_a_period_cost_its_share_however_many_groups_a_user_is_in(most: int | None) -> None:
    plan = planned(most=most)
    paid = actual_cost(plan.first.worst_case)
    share = plan.share(0)
    assert float(paid.rho) == pytest.approx(float(share[0]))
    assert paid.delta == share[1]
    assert ("In the last list" in dict(plan.facts())["lists"]) is False
    assert "In the last list" in dict(planned("growing").facts())["lists"]


def test_who_appears_in_several_periods_loses_in_each() -> None:
    alone = planned(unit=Unit.USER_PERIOD)
    limits, guarantee = alone.limits, alone.guarantee
    assert limits.rho is not None
    assert alone.share(5) == alone.share(0)
    assert float(alone.share(0)[0]) == pytest.approx(float(limits.rho))
    assert alone.loss(1) == (guarantee.epsilon(), guarantee.cost.delta)
    converted = guarantee.cost.delta - limits.delta
    assert alone.loss(4) == (zcdp_epsilon(4 * limits.rho, converted), converted + 4 * limits.delta)
    assert alone.loss(100) == alone.loss(30)
    together = planned()
    assert together.loss(30) == (guarantee.epsilon(), guarantee.cost.delta)
    assert Fraction(alone.to_dict()["every_period"]["epsilon"]) == alone.loss(30)[0]
