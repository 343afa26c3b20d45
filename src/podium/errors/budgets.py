"""Errors about budgets that are too small, or of the wrong kind."""

from __future__ import annotations

from fractions import Fraction

from podium.errors.root import PodiumError

__all__ = ["BudgetError", "BudgetExceeded", "BudgetMismatch"]


class BudgetError(PodiumError):
    """A budget does not cover what was asked of it. Nothing was charged and nothing was released."""


class BudgetExceeded(BudgetError):
    """A release may cost more than the budget has left.

    ``measure`` is "epsilon", "rho" or "delta", or what a plan counts: "selections", "calls". The amounts are exact.
    """

    def __init__(
        self, measure: str, requested: Fraction, remaining: Fraction, *, budget: str = "the budget", hint: str = ""
    ) -> None:
        self.measure = measure
        self.requested = requested
        self.remaining = remaining
        self.short_by: Fraction = requested - remaining
        self.budget = budget
        self.hint = hint
        text = (
            f"this release may cost {measure}={float(requested):.6g} but {budget} has "
            f"{measure}={float(remaining):.6g} left (short by {float(self.short_by):.3g})."
        )
        super().__init__(f"{text} {hint}".rstrip())

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_exceeded, (self.measure, self.requested, self.remaining, self.budget, self.hint))


class BudgetMismatch(BudgetError):
    """A loss of one kind was charged to a budget of another, for example a Gaussian to a pure one."""


def _rebuild_exceeded(measure: str, requested: Fraction, remaining: Fraction, budget: str, hint: str) -> BudgetExceeded:
    return BudgetExceeded(measure, requested, remaining, budget=budget, hint=hint)
