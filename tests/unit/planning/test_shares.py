"""Shares of a schedule: which periods measure and search, and that the shares are never more than there is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.errors import BudgetExceeded
from podium.planning.schedule.calendar import Schedule
from podium.planning.schedule.refresh import list_weight
from podium.planning.schedule.schedule_plan import SchedulePlan, plan_schedule
from podium.planning.schedule.shares import RemainingBudget, Sharing
from podium.privacy import bounded_range_rho

TOTAL, DELTA, K = Fraction(1, 40), Fraction(1, 10**6), 10


def numbers(periods: tuple[int, ...]) -> list[int]:
    return [period + 1 for period in periods]


def test_a_growing_window_is_measured_less_and_less_often() -> None:
    sharing = Sharing(12, span=None)
    assert numbers(sharing.lists) == [1, 2, 3, 4, 5, 7, 9, 12]
    assert numbers(sharing.finding) == [1, 2, 4, 7]
    year = Sharing(365, span=None)
    assert len(year.lists) == 23
    assert numbers(year.lists)[-3:] == [233, 292, 365]
    # A list is repeated while the window grows by a quarter, give or take one period.
    assert all(4 * after <= 5 * before + 8 for before, after in zip(year.lists, year.lists[1:], strict=False))


@pytest.mark.parametrize("periods", [1, 5, 13, 59, 365, 1_000, 8_760, 100_000])
def test_the_weights_of_a_growing_schedule_have_a_bound_that_does_not_grow(periods: int) -> None:
    sharing = Sharing(periods, span=None)
    weights = [list_weight(period, periods, growing=True) for period in sharing.lists]
    assert sum(weights) <= 18
    assert weights == sorted(weights)
    assert weights[-1] == 1


@pytest.mark.parametrize(("span", "step"), [(1, 1), (7, 1), (12, 1), (14, 2), (30, 4), (90, 13)])
def test_a_sliding_window_is_measured_when_a_part_of_it_is_new(span: int, step: int) -> None:
    sharing = Sharing(100, span=span)
    assert sharing.lists == tuple(sorted({0, *range(99, -1, -step)}))
    assert Sharing(100, span=span, remeasure=1).lists == tuple(range(100))
    assert set(sharing.finding) <= set(sharing.lists)


def test_the_owner_may_say_how_often() -> None:
    sharing = Sharing(10, span=None, remeasure=3, rediscover=5)
    assert numbers(sharing.lists) == [1, 4, 7, 10]
    assert numbers(sharing.finding) == [1, 7]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("span", [None, 30])
def test_a_list_that_an_earlier_plan_began_leaves_the_later_ones_their_shares(span: int | None, known: bool) -> None:
    """Its attempt failed, and then the owner said remeasure=5: the ninth period is asked again, the tenth planned."""
    sharing = Sharing(10, span=span, remeasure=5, known=known)
    assert numbers(sharing.lists) == [1, 5, 10]
    left = RemainingBudget(Fraction(1), Fraction(1), Fraction(1, 10**6))
    rho = bounded_range_rho(sharing.per_item(8, RemainingBudget(None, left.rho, left.delta), 1))
    assert Fraction(2, 5) < rho <= Fraction(1, 2)
    if known:
        assert sharing.per_item(8, RemainingBudget(left.epsilon, None, left.delta), 1) <= Fraction(1, 2)
    else:
        assert sharing.for_finding(8, left)[0] < sharing.for_finding(9, left)[0]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("span", [None, 1, 30])
@pytest.mark.parametrize("periods", [1, 2, 12, 52])
def test_the_shares_add_up_to_the_total(periods: int, span: int | None, known: bool) -> None:
    """Every list and every round of finding in turn, with what the others left."""
    sharing = Sharing(periods, span=span, known=known)
    rho, delta, lists = TOTAL, DELTA, []
    for period in sharing.lists:
        if sharing.searches(period, done=99, short=False):
            share, part = sharing.for_finding(period, RemainingBudget(None, rho, delta))
            rho, delta = rho - share, delta - part
        planned = sharing.before_list(period, RemainingBudget(None, TOTAL, DELTA)).rho
        assert planned is not None
        assert abs(rho - planned) <= TOTAL / 10**6
        lists.append(K * bounded_range_rho(sharing.per_item(period, RemainingBudget(None, rho, delta), K)))
        rho -= lists[-1]
    assert 0 <= rho <= TOTAL / 10**6
    assert delta >= 0
    searched = 0 if known else 0.6 if span is None else 0.25
    assert float(sum(lists, Fraction(0)) / TOTAL) == pytest.approx(1 - searched, abs=1e-5)


def test_the_sums_of_epsilon_and_rho_keep_their_ratio_in_a_growing_schedule() -> None:
    """One of them allows more in all periods: lists by turns of one and the other would keep neither."""
    sharing = Sharing(52, span=None, known=True)
    left = RemainingBudget(Fraction(1), TOTAL, DELTA)
    ratios = []
    for period in sharing.lists:
        now = sharing.before_list(period, left)
        by_epsilon = sharing.per_item(period, RemainingBudget(now.epsilon, None, DELTA), K)
        ratios.append(float(by_epsilon / sharing.per_item(period, RemainingBudget(None, now.rho, DELTA), K)))
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-3)


def test_where_nothing_is_found_searches_do_not_use_up_the_budget() -> None:
    """Only the searches are paid for, since there is nothing to choose from."""
    sharing = Sharing(365)
    rho, delta, done = TOTAL, DELTA, 0
    for period in range(365):
        if sharing.searches(period, done=done, short=True):
            share, part = sharing.for_finding(period, RemainingBudget(None, rho, delta))
            rho, delta, done = rho - share, delta - part, done + 1
    assert done == 2 * sharing.rounds - 1
    assert rho > 0
    growing = Sharing(365, span=None)
    assert not any(growing.searches(period, done=0, short=True) for period in set(growing.lists) - set(growing.finding))


def test_windows_that_do_not_overlap_are_asked_about_in_rounds_while_these_bring_back_enough() -> None:
    sharing = Sharing(4, in_rounds=True)
    assert sharing.asks_in_rounds(K, searches=0, lists=0, items=0)
    assert sharing.asks_in_rounds(K, searches=0, lists=2, items=10)
    assert not sharing.asks_in_rounds(K, searches=0, lists=2, items=9)
    # After a round of finding lists are chosen: so go on schedules that began before lists had rounds.
    assert not sharing.asks_in_rounds(K, searches=1, lists=0, items=0)
    others = [Sharing(4), Sharing(4, in_rounds=True, known=True), Sharing(4, in_rounds=True, rediscover=2)]
    others += [Sharing(4, in_rounds=True, span=span) for span in (2, None)]
    assert not any(one.asks_in_rounds(K, searches=0, lists=0, items=0) for one in others)


def test_lists_in_rounds_share_what_is_left_equally() -> None:
    sharing = Sharing(4, in_rounds=True)
    rho, delta = TOTAL, DELTA
    for period in range(4):
        share, part = sharing.for_rounds(period, RemainingBudget(None, rho, delta))
        assert float(share / TOTAL) == pytest.approx(0.25, rel=1e-5)
        assert float(part / DELTA) == pytest.approx(0.25, rel=1e-2)
        rho, delta = rho - share, delta - part
    assert rho >= 0
    assert delta >= 0
    # The third was half as dear: two share what it left.
    share, _ = sharing.for_rounds(2, RemainingBudget(None, TOTAL * 3 / 8, DELTA))
    assert float(share / TOTAL) == pytest.approx(3 / 16, rel=1e-5)
    with pytest.raises(BudgetExceeded):
        sharing.for_rounds(3, RemainingBudget(None, TOTAL / 100, DELTA), minimum=TOTAL / 99)
    with pytest.raises(BudgetExceeded):
        sharing.for_rounds(3, RemainingBudget(None, TOTAL, Fraction(0)))


def planned(window: str | None, periods: int = 52) -> SchedulePlan:
    schedule = Schedule.of(start="2026-01-05", every="week", periods=periods, window=window)
    return plan_schedule(schedule, k=K, epsilon=1, delta=DELTA)


def test_a_plan_says_which_periods_measure_a_list_and_what_the_last_ones_get() -> None:
    plan = planned("growing")
    facts = dict(plan.facts())
    assert facts["measured"] == (
        "in 14 of 52 weeks (1, 2, 3, 4, 5, 7, 9, 12, 16, 20, 25, ..., 52); the others repeat the last list, which "
        "costs nothing"
    )
    assert "in the last list" in facts["lists"]
    assert "7 times, when lists are measured" in facts["finding"]
    assert "for the first list and more for later ones" in facts["cost"]
    assert plan.last_lead < plan.lead
    assert plan.to_dict()["lists"] == 14
    assert "measured" not in dict(planned(None).facts())
    assert "in rounds" not in facts
    assert "while these lists have half of their items" in dict(planned(None).facts())["in rounds"]
    assert planned(None).planned_epsilon(51) == planned(None).epsilon_per_item
