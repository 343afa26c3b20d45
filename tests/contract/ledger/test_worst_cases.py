"""What is reserved is the worst that can come out; what is settled is what did."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.errors import BudgetExceeded, InvalidArgument
from podium.ledger import Budget, Ledger
from podium.privacy import Cost, PureMechanism

PURE = Budget(epsilon=1, items=3, questions=3)
HALF = Fraction(1, 2)


def test_an_outcome_that_may_cost_less_is_reserved_in_full(ledger: Ledger) -> None:
    ledger.register("clicks", PURE, source="s")
    may_cost = PureMechanism("1/8", reserved=HALF)
    reservation = ledger.reserve("clicks", (may_cost,), "q")
    assert reservation.cost == Cost(epsilon=HALF, rho=HALF**2 / 2)
    assert ledger.status("clicks").reserved.epsilon == HALF
    # A second one fits beside the worst case of the first, and a third does not, whatever they will cost.
    ledger.reserve("clicks", (may_cost,), "r")
    with pytest.raises(BudgetExceeded):
        ledger.reserve("clicks", (may_cost,), "s")
    ledger.settle(reservation, "{}", (may_cost,))
    assert ledger.status("clicks").spent.epsilon == Fraction(1, 8)
    assert ledger.verify().sound


def test_a_key_belongs_to_a_question_at_its_price(ledger: Ledger) -> None:
    """The first attempt pays for what it reserved: a dearer plan for the same words is not covered by it."""
    ledger.register("clicks", PURE, source="s")
    first = ledger.reserve("clicks", (PureMechanism("1/8"),), "q", idempotency_key="key")
    with pytest.raises(InvalidArgument, match="a key that was not used for another question"):
        ledger.reserve("clicks", (PureMechanism("1/4"),), "q", idempotency_key="key")
    again = ledger.reserve("clicks", (PureMechanism("1/8"),), "q", idempotency_key="key")
    assert (again.number, again.cost, again.fresh) == (first.number, first.cost, False)
