"""What a total has left, in the measures that it is kept in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from podium.ledger.bookkeeping.held import Sum
from podium.privacy.documents import Document
from podium.privacy.rounding import display
from podium.storage.labels import exact_text

__all__ = ["Remaining"]


@dataclass(frozen=True, slots=True)
class Remaining(Document):
    """What the limits leave. With both ``rho`` and ``epsilon`` a question must fit one of them, and ``delta``.

    ``mu_squared`` takes the place of ``rho`` in an account with a Gaussian filter.
    """

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction
    mu_squared: Fraction | None = None

    def __repr__(self) -> str:
        shown = [f"{name}={_at_most(value)}" for name, value in self._amounts if value is not None]
        return f"Remaining({', '.join(shown)})"

    @property
    def _amounts(self) -> tuple[tuple[str, Fraction | None], ...]:
        return (
            ("epsilon", self.epsilon),
            ("rho", self.rho),
            ("mu_squared", self.mu_squared),
            ("delta", self.delta),
        )

    def to_dict(self) -> dict[str, Any]:
        """Exact numbers as text. Beside rho or mu^2, the sum of epsilons is named after its theorem."""
        if self.mu_squared is not None:
            loss = {"mu_squared": str(self.mu_squared)}
        elif self.rho is not None:
            loss = {"rho": str(self.rho)}
        else:
            return {"epsilon": exact_text(self.epsilon)}
        return {**loss, "delta": str(self.delta), "basic_epsilon": exact_text(self.epsilon)}

    def share(self, held: Sum) -> Fraction:
        """The part of this that an amount takes: delta, or the loss in the measure that it fits best."""
        losses = ((self.epsilon, held.cost.epsilon), (self.rho, held.rho), (self.mu_squared, held.mu_squared))
        parts = [paid / most for most, paid in losses if most and paid is not None]
        return max(min(parts, default=Fraction(0)), held.cost.delta / self.delta if self.delta else Fraction(0))

    def used(self, left: Remaining) -> Fraction:
        """The part of this that is gone if so much is left."""
        losses = ((self.epsilon, left.epsilon), (self.rho, left.rho), (self.mu_squared, left.mu_squared))
        parts = [1 - rest / most for most, rest in losses if most and rest is not None]
        return max(min(parts, default=Fraction(0)), 1 - left.delta / self.delta if self.delta else Fraction(0))


def _at_most(value: Fraction) -> str:
    """What is left, never shown as more than it is: the opposite number rounds up."""
    return display(-value).removeprefix("-")
