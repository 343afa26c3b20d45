"""Errors about budgets that are too small, or of the wrong kind."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from podium.errors.root import PodiumError

__all__ = ["BudgetError", "BudgetExceeded", "BudgetMismatch"]

_WHAT: Final = {"delta": "delta"}
"""What a total is called, other than the budget."""


class BudgetError(PodiumError):
    """A budget does not cover what was asked of it. Nothing was charged and nothing was released."""


class BudgetExceeded(BudgetError):
    """A release may cost more than the budget has left.

    ``measure`` is "epsilon", "rho" or "delta", or what a plan counts: "selections", "calls". The amounts are exact;
    where the ``total`` is known, the text has percentages of it.
    """

    def __init__(
        self,
        measure: str,
        requested: Fraction,
        remaining: Fraction,
        *,
        budget: str = "the budget",
        hint: str = "",
        total: Fraction | None = None,
    ) -> None:
        self.measure = measure
        self.requested = requested
        self.remaining = remaining
        self.short_by: Fraction = requested - remaining
        self.budget = budget
        self.hint = hint
        self.total = total
        super().__init__(f"{self._text()} {hint}".rstrip())

    def _text(self) -> str:
        if self.measure == "questions":
            return f"{self.budget} has no question left."
        if self.total:
            # Rounded apart: what is missing is never rounded away.
            needed, left = (100 * part / self.total for part in (self.requested, self.remaining))
            whose = f"the {_WHAT.get(self.measure, 'budget')} of {self.budget.rstrip(',')}"
            return f"This answer may cost {math.ceil(needed)} % of {whose}, and {math.floor(left)} % is left."
        return (
            f"this release may cost {self.measure}={float(self.requested):.6g} but {self.budget} has "
            f"{self.measure}={float(self.remaining):.6g} left (short by {float(self.short_by):.3g})."
        )


class BudgetMismatch(BudgetError):
    """A loss of one kind was charged to a budget of another, for example a Gaussian to a pure one."""
