"""Ball arithmetic has one precision per process: threads must not disturb each other's numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from podium.errors import BudgetExceeded
from podium.privacy import Filter, Guarantee, PureMechanism, Selection, adaptive_optimum, optimal_pure
from podium.privacy.theorems.conversion import renyi_epsilon


def totals(number: int) -> tuple[Fraction, Fraction, Fraction]:
    single = Fraction(10 + number % 4, 100)
    curve = renyi_epsilon(lambda excess: 20 * Selection(single).renyi_ball(excess), Fraction(1, 10**6))
    return curve, optimal_pure(single, 20, "1e-6"), adaptive_optimum(single, 20, "1e-6", resolution=12)


def test_conversions_agree_across_threads() -> None:
    expected = [totals(number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(totals, range(24)))
    assert found == [expected[number % 4] for number in range(24)]


def test_a_filter_shared_by_threads_never_passes_its_total() -> None:
    budget = Filter(Guarantee.pure(1))

    def try_to_spend(_: int) -> bool:
        try:
            budget.spend(PureMechanism("0.01"))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        paid = sum(pool.map(try_to_spend, range(150)))
    assert paid == 100
    assert budget.spent.epsilon == 1
