"""Accounts that add up rho and delta, or epsilon (docs/proofs/accounting.md, section 7).

Costs alone decide: an entry has no further terms. What is settled is what came out, and what is not executed was
never spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from podium.errors import BudgetExceeded
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.held import Charged, Sum, Terms, plus
from podium.ledger.bookkeeping.remaining import Remaining
from podium.privacy import Limits, bounded_range_rho
from podium.storage.labels import exact_text

__all__ = ["ZcdpBooks"]


@dataclass(frozen=True, slots=True)
class ZcdpBooks:
    """Sums of epsilon, rho and delta against their limits."""

    limits: Limits

    @property
    def filter(self) -> str:
        """The kind."""
        return "zcdp"

    def check_kind(self, charge: Charged) -> None:
        """Refuse a loss that this kind of total can never carry."""
        self.limits.check_kind(charge.cost)

    def refusal(self, charge: Charged, held: Sum, *, session: bool = False) -> BudgetExceeded | None:
        """Why a cost does not fit on top of what is held; None if it does."""
        limits, cost = self.limits, charge.cost
        # Most questions fit by rho: then nothing else has to be added up.
        fits = limits.rho is not None and plus(held.rho, cost.rho) <= limits.rho
        if fits and plus(held.delta, cost.delta) <= limits.delta:
            return None
        return limits.excess(cost, held.cost)

    def reserve(self, charge: Charged, held: Sum, *, session: bool = False) -> Terms:
        """None: the cost says it all."""
        return {}

    def settle(self, terms: Terms, reserved: Charged, actual: Charged) -> Terms:
        """None: the cost of what came out says it all."""
        return {}

    def remaining(self, held: Sum) -> Remaining:
        """The limits less what is held."""
        limits, cost = self.limits, held.cost
        epsilon = None if limits.epsilon is None or cost.epsilon is None else limits.epsilon - cost.epsilon
        rho = None if limits.rho is None else limits.rho - cost.rho
        return Remaining(
            None if epsilon is None else max(Fraction(0), epsilon),
            None if rho is None else max(Fraction(0), rho),
            max(Fraction(0), limits.delta - cost.delta),
        )

    def items_left(self, epsilon_per_item: Fraction, held: Sum) -> int:
        """What is left of epsilon or of rho, over what one selection costs."""
        left = self.remaining(held)
        by_epsilon = 0 if left.epsilon is None else math.floor(left.epsilon / epsilon_per_item)
        by_rho = 0 if left.rho is None else math.floor(left.rho / bounded_range_rho(epsilon_per_item))
        return max(by_epsilon, by_rho)

    def holds_noise(self, items: int, epsilon_per_item: Fraction) -> bool:
        """Whether so many selections fit as rho, or epsilon is all that there is."""
        return self.limits.rho is None or items * bounded_range_rho(epsilon_per_item) <= self.limits.rho

    def covers(self, other: Books) -> bool:
        """Whether every limit is at least the other's."""
        if not isinstance(other, ZcdpBooks):
            return False
        large, small = self.limits, other.limits
        return large.delta >= small.delta and all(
            (mine is None) == (theirs is None) and (mine or 0) >= (theirs or 0)
            for mine, theirs in ((large.epsilon, small.epsilon), (large.rho, small.rho))
        )

    def to_dict(self) -> dict[str, Any]:
        """The limits as stored."""
        limits = self.limits
        return {"epsilon": exact_text(limits.epsilon), "rho": exact_text(limits.rho), "delta": str(limits.delta)}
