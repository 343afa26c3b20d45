"""The two kinds of books side by side: what each holds, and which is chosen for an owner's plan."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.errors import InvalidArgument
from podium.ledger import Budget, Totals
from podium.ledger.bookkeeping.gaussian_books import GaussianBooks
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.ledger.bookkeeping.kinds import books_of, limits_of
from podium.ledger.bookkeeping.zcdp_books import ZcdpBooks
from podium.privacy import Guarantee, Limits, Selection
from podium.privacy.gaussian import GaussianLimits
from podium.privacy.gaussian.certified import grid

SINGLE = Fraction("0.05")


def held(kind: str, single: Fraction, *, epsilon: str = "1", delta: str = "1e-6") -> int:
    return books_of(limits_of(kind, Fraction(epsilon), Fraction(delta))).items_left(single, Sum())


def test_an_account_for_small_selections_holds_a_seventh_more() -> None:
    """With all of delta for the conversion; a plan with limited domains needs half of it for its calls, in both."""
    sums = ZcdpBooks(Limits.of(Guarantee.approximate(1, "1e-6"), delta_for_calls=0)).items_left(SINGLE, Sum())
    gaussian = GaussianBooks(GaussianLimits.of(1, "1e-6", 0)).items_left(SINGLE, Sum())
    assert (sums, gaussian) == (77, 88)
    assert gaussian >= Fraction(114, 100) * sums
    assert (held("zcdp", SINGLE), held("gaussian", SINGLE)) == (73, 82)


def test_few_large_steps_are_better_in_sums() -> None:
    single = Totals.of(Budget(epsilon=3, delta="1e-6", items=8, questions=2)).epsilon_per_item
    assert (held("zcdp", single, epsilon="3"), held("gaussian", single, epsilon="3")) == (8, 7)


@pytest.mark.parametrize("cap", [None, "0.4"])
@pytest.mark.parametrize("items", [1, 6, 12, 20, 60, 300, 2000, 50_000])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_what_is_chosen_never_holds_less_of_the_plan(epsilon: str, items: int, cap: str | None) -> None:
    budget = Budget(epsilon=epsilon, delta="1e-6", items=items, questions=6, filter="auto", epsilon_per_analyst=cap)
    single = Totals.of(Budget(epsilon=epsilon, delta="1e-6", items=items, questions=6)).epsilon_per_item
    chosen = budget.choice.filter
    assert held(chosen, single, epsilon=epsilon) >= held("zcdp", single, epsilon=epsilon) >= items
    if cap is not None:
        assert held(chosen, single, epsilon=cap) >= held("zcdp", single, epsilon=cap)
    totals = Totals.of(budget)
    assert totals.budget.filter == chosen
    assert totals.epsilon_per_item >= single
    plan = Charged.of((Selection(totals.epsilon_per_item),) * items, reserve=True)
    assert totals.books.refusal(plan, Sum()) is None
    assert Totals.from_dict(totals.to_dict()) == totals


@pytest.mark.parametrize(("epsilon", "items"), [("1", 77), ("3", 130), ("2", 1000), ("0.8", 400)])
def test_a_plan_leaves_little_over(epsilon: str, items: int) -> None:
    """The epsilon per item is one of the list, whose next one is at most a hundredth larger."""
    totals = Totals.of(Budget(epsilon=epsilon, delta="1e-6", items=items, questions=7, filter="gaussian"))
    assert totals.epsilon_per_item in set(grid())
    assert items <= totals.books.items_left(totals.epsilon_per_item, Sum()) <= Fraction("1.03") * items


def test_a_larger_epsilon_may_be_a_smaller_total() -> None:
    """Where more of delta is for failures, less noise is hidden: mu^2 and that part of delta are compared."""
    small = GaussianBooks(GaussianLimits.of(1, "1e-6", "1e-7"))
    larger = GaussianBooks(GaussianLimits.of("1.001", "1.1e-6", "1.09e-6"))
    assert larger.limits.mu_squared < small.limits.mu_squared
    assert not larger.covers(small)
    assert not small.covers(larger)
    assert not GaussianBooks(GaussianLimits.of(2, "1e-6", "1e-8")).covers(small)
    assert GaussianBooks(GaussianLimits.of(2, "1e-5", "1e-6")).covers(small)
    assert not ZcdpBooks(Limits.of(Guarantee.approximate(9, "0.1"))).covers(small)


@pytest.mark.parametrize(("kind", "delta"), [("gaussian", 0), ("rho", "1e-6"), ("", "1e-6"), (None, "1e-6")])
def test_kinds_that_cannot_be(kind: str, delta: str | int) -> None:
    with pytest.raises(InvalidArgument, match="filter="):
        Budget(epsilon=1, delta=delta, filter=kind)
    assert Budget(epsilon=1, filter="auto").choice.filter == "zcdp"
