"""A filter against a bookkeeper that only adds fractions, over arbitrary sequences of questions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.privacy_worlds import events

from podium.errors import BudgetExceeded, BudgetMismatch
from podium.privacy import Event, Filter, Guarantee, PureMechanism, zcdp_epsilon


class FilterMachine(RuleBasedStateMachine):
    """Charges events to one filter and checks every decision by hand."""

    @initialize(kind=st.sampled_from(["pure", "zcdp", "approximate"]), size=st.integers(1, 40))
    def start(self, kind: str, size: int) -> None:
        self.kind = kind
        self.size = Fraction(size, 2)
        self.delta = Fraction(1, 5)
        if kind == "pure":
            self.filter = Filter(Guarantee.pure(self.size))
        elif kind == "zcdp":
            self.filter = Filter(Guarantee.approximate_zcdp(self.size, self.delta))
        else:
            self.filter = Filter(Guarantee.approximate(self.size, self.delta))
        self.epsilon: Fraction | None = Fraction(0)
        self.rho = self.failures = Fraction(0)

    def allowed(self, pure: Fraction | None, rho: Fraction, failures: Fraction) -> bool:
        if self.kind == "pure":
            return pure is not None and pure <= self.size and failures == 0
        if self.kind == "zcdp":
            return rho <= self.size and failures <= self.delta
        limits = self.filter.limits
        assert limits.rho is not None
        within = (pure is not None and pure <= self.size) or rho <= limits.rho
        return within and failures <= limits.delta

    @rule(event=events)
    def charge(self, event: Event) -> None:
        pure = None if self.epsilon is None or event.epsilon is None else self.epsilon + event.epsilon
        rho, failures = self.rho + event.rho, self.failures + event.delta
        if self.allowed(pure, rho, failures):
            self.filter.spend(event)
            self.epsilon, self.rho, self.failures = pure, rho, failures
        else:
            with pytest.raises((BudgetExceeded, BudgetMismatch)):
                self.filter.spend(event)

    @rule(event=events)
    def ask(self, event: Event) -> None:
        worst = event.reserved if isinstance(event, PureMechanism) else event.epsilon
        pure = None if self.epsilon is None or worst is None else self.epsilon + worst
        expected = self.allowed(pure, self.rho + event.rho, self.failures + event.delta)
        try:
            assert self.filter.can_afford(event) == expected
        except BudgetMismatch:
            assert self.kind == "pure"
            assert not expected

    @invariant()
    def sums_are_exact(self) -> None:
        if hasattr(self, "filter"):
            held = self.filter.spent
            assert (held.epsilon, held.rho, held.delta) == (self.epsilon, self.rho, self.failures)


FilterMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=20)
TestFilterMachine = FilterMachine.TestCase


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=12), st.sampled_from([float, str, Fraction]))
def test_any_split_of_a_decimal_budget_is_spendable_to_the_last_digit(parts: list[int], kind: type) -> None:
    """Thousandths, written as floats, texts or fractions, in any order."""
    budget = Filter(Guarantee.pure(kind(str(Fraction(sum(parts), 1000))) if kind is not float else sum(parts) / 1000))
    for part in parts:
        amount = part / 1000 if kind is float else kind(str(Fraction(part, 1000)))
        budget.spend(PureMechanism(amount))
    assert budget.spent.epsilon == Fraction(sum(parts), 1000)
    with pytest.raises(BudgetExceeded):
        budget.spend(PureMechanism("1e-15"))


@given(st.integers(1, 60), st.integers(3, 12))
def test_approximate_limits_keep_the_total(halves: int, digits: int) -> None:
    total = Guarantee.approximate(Fraction(halves, 2), Fraction(1, 10**digits))
    limits = Filter(total).limits
    assert limits.rho is not None
    left = (total.cost.delta - limits.delta) / (1 - limits.delta)
    assert zcdp_epsilon(limits.rho, left) <= Fraction(halves, 2)
