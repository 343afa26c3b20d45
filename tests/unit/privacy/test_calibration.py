"""Calibration: what comes out fits, and a little more does not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.errors import InvalidArgument
from podium.privacy import (
    Event,
    Filter,
    GaussianNoise,
    Guarantee,
    LimitedDomainCall,
    Selection,
    Theorem,
    adaptive_optimum,
    best_bound,
    bounded_range_rho,
    calibrate_epsilon,
    calibrate_items,
    calibrate_sigma,
    largest_rho,
    largest_selection_epsilon,
    limited_domain_events,
    split_budget,
)


@pytest.mark.parametrize("items", [1, 2, 10, 200])
@pytest.mark.parametrize(("epsilon", "delta", "calls"), [(3, "1e-6", 20), ("0.5", "1e-9", 1)])
def test_epsilon_per_item_fits_and_a_hundredth_more_does_not(items: int, epsilon: str, delta: str, calls: int) -> None:
    plan = calibrate_epsilon(items, epsilon=epsilon, delta=delta, calls=calls)

    def reached(single: Fraction) -> Fraction:
        events: list[Event] = [*[LimitedDomainCall(plan.delta_per_call)] * calls, *[Selection(single)] * items]
        return best_bound(events, delta).epsilon

    assert reached(plan.epsilon_per_item) <= plan.epsilon
    assert reached(plan.epsilon_per_item * Fraction(101, 100)) > plan.epsilon


def test_the_calls_share_is_spent_exactly() -> None:
    plan = calibrate_epsilon(10, epsilon=1, delta="1e-6", calls=7)
    per_call = plan.delta_per_call / (1 + plan.delta_per_call)
    assert 7 * per_call == Fraction(1, 2 * 10**6)


def test_a_filter_plan_is_kept_by_the_filter() -> None:
    """k items in l calls, each with the planned parameters, go through the filter of the same total; no more."""
    plan = calibrate_epsilon(12, epsilon=2, delta="1e-6", calls=3, fixed_in_advance=False)
    budget = Filter(Guarantee.approximate(2, "1e-6"))
    for _ in range(3):
        receipt = limited_domain_events(plan.epsilon_per_item, plan.delta_per_call, items=3, bottom=True)
        assert budget.can_afford(receipt)
        budget.spend(receipt)
    assert budget.spent.delta == budget.limits.delta
    assert not budget.can_afford(Selection(plan.epsilon_per_item))
    assert plan.theorem is Theorem.ZCDP


def test_a_fixed_plan_is_larger_than_a_filter_plan() -> None:
    fixed = calibrate_epsilon(100, epsilon=3, delta="1e-6")
    flexible = calibrate_epsilon(100, epsilon=3, delta="1e-6", fixed_in_advance=False)
    assert fixed.theorem is Theorem.ADAPTIVE_OPTIMUM
    assert flexible.epsilon_per_item < fixed.epsilon_per_item < flexible.epsilon_per_item * Fraction(11, 10)


def test_a_pure_budget_is_divided() -> None:
    plan = calibrate_epsilon(10, epsilon=1, delta=0)
    assert plan.epsilon_per_item == Fraction(1, 10)
    assert plan.theorem is Theorem.BASIC
    assert plan.delta_per_call == 0


def test_known_domains_use_all_of_delta() -> None:
    plan = calibrate_epsilon(50, epsilon=1, delta="1e-6", delta_for_calls=0)
    assert plan.delta_per_call == 0
    assert plan.epsilon_per_item > calibrate_epsilon(50, epsilon=1, delta="1e-6").epsilon_per_item


@pytest.mark.parametrize("single", ["0.5", "0.1", "0.06"])
def test_items_fit_and_a_few_more_do_not(single: str) -> None:
    plan = calibrate_items(single, epsilon=3, delta="1e-6")
    left = (Fraction(1, 10**6) - Fraction(1, 2 * 10**6)) / (1 - Fraction(1, 2 * 10**6))
    assert adaptive_optimum(single, plan.items, left) <= 3
    # Two in a hundred more, because the search uses a coarser grid than a single bound.
    assert best_bound([Selection(single)] * (plan.items + 1 + plan.items // 50), left).epsilon > 3


def test_items_for_a_filter_are_counted_in_rho() -> None:
    plan = calibrate_items("0.1", epsilon=3, delta="1e-6", fixed_in_advance=False)
    left = (Fraction(1, 10**6) - Fraction(1, 2 * 10**6)) / (1 - Fraction(1, 2 * 10**6))
    assert plan.items == largest_rho(3, left) // bounded_range_rho("0.1")
    assert calibrate_items("0.1", epsilon=1, delta=0).items == 10


def test_an_epsilon_per_item_above_the_total_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="epsilon_per_item="):
        calibrate_items(5, epsilon=1, delta=0)


def test_many_items_need_no_recursion() -> None:
    plan = calibrate_items("0.001", epsilon=3, delta="1e-6")
    assert plan.theorem is Theorem.RENYI
    assert plan.items > 10**6


@pytest.mark.parametrize("rho", ["1e-6", "0.01", "0.5", "1/3", "40"])
@pytest.mark.parametrize("squared", [1, 7])
def test_sigma_is_the_smallest_on_its_grid(rho: str, squared: int) -> None:
    sigma = calibrate_sigma(rho, sensitivity_squared=squared)
    assert GaussianNoise(sigma, sensitivity_squared=squared).rho <= Fraction(rho)
    assert GaussianNoise(sigma - Fraction(1, 2**32), sensitivity_squared=squared).rho > Fraction(rho)


@pytest.mark.parametrize("rho", ["1e-12", "1e-6", "0.01", "1", "30", "1000"])
def test_selection_epsilon_inverts_rho(rho: str) -> None:
    found = largest_selection_epsilon(rho)
    assert bounded_range_rho(found) <= Fraction(rho) < bounded_range_rho(found * (1 + Fraction(1, 10**7)))


def test_no_selection_is_cheaper_than_the_grid() -> None:
    assert largest_selection_epsilon("1e-30") == 0


@pytest.mark.parametrize("share", ["0.1", "0.5", "0.9"])
def test_split_keeps_the_filter(share: str) -> None:
    plan = split_budget(10, epsilon=1, delta="1e-6", share_for_counts=share)
    budget = Filter(Guarantee.approximate(1, "1e-6"))
    receipt: list[Event] = [LimitedDomainCall(plan.delta_per_call)]
    receipt += [event for _ in range(10) for event in (Selection(plan.epsilon_per_item), GaussianNoise(plan.sigma))]
    budget.spend(receipt)
    assert budget.spent.rho > Fraction(999, 1000) * plan.rho
    counts = 10 * GaussianNoise(plan.sigma).rho
    assert float(counts / plan.rho) == pytest.approx(float(share), rel=1e-6)


def test_counts_need_some_delta() -> None:
    with pytest.raises(InvalidArgument, match="delta="):
        split_budget(10, epsilon=1, delta=0)


@pytest.mark.parametrize(
    ("items", "epsilon", "delta", "calls"),
    [(0, 1, "1e-6", 1), (1, 0, "1e-6", 1), (1, 1, 1, 1), (1, 1, "1e-6", 0), (1, "nan", "1e-6", 1), (1.5, 1, "1e-6", 1)],
)
def test_bad_input(items: int, epsilon: str, delta: str, calls: int) -> None:
    with pytest.raises(InvalidArgument):
        calibrate_epsilon(items, epsilon=epsilon, delta=delta, calls=calls)


def test_delta_for_calls_must_leave_something() -> None:
    with pytest.raises(InvalidArgument, match="delta_for_calls="):
        calibrate_epsilon(1, epsilon=1, delta="1e-6", delta_for_calls="1e-6")


def test_a_delta_that_pays_for_nearly_everything_is_no_obstacle() -> None:
    """The totals that the search meets are then zero, and a zero has no logarithm."""
    plan = calibrate_epsilon(10, epsilon="1e-4", delta="1e-3")
    assert plan.epsilon_per_item >= Fraction("1e-5")
    assert best_bound([Selection(plan.epsilon_per_item)] * 10, plan.delta / 2).epsilon <= Fraction("1e-4")
    assert calibrate_items("1e-6", epsilon="1e-4", delta="1e-3").items >= 100
