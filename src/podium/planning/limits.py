"""Limits on parameters derived from a budget, checked while planning so that no sampler has to refuse later.

``Guarantee.of`` checks epsilon and delta themselves.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.privacy import split_budget

__all__ = ["min_epsilon_for_counts", "require_noise"]

_PER_ITEM = (Fraction(1, 10**105), Fraction(10**100))
_GAUSSIAN = (Fraction(1, 10**60), Fraction(10**30))
"""The range of mu^2: the rounds of a small question use a small part of it."""


def require_noise(*, epsilon_per_item: Fraction | None = None, mu_squared: Fraction | None = None) -> None:
    """Raise unless the noise for a budget can be drawn and accounted for."""
    for name, value, (minimum, maximum) in (
        ("epsilon_per_item", epsilon_per_item, _PER_ITEM),
        ("mu_squared", mu_squared, _GAUSSIAN),
    ):
        if value is not None and not minimum <= value <= maximum:
            allowed = f"a number from {_power(minimum)} to {_power(maximum)}"
            raise InvalidArgument(name, value, allowed=allowed, hint=f"It follows from the budget. {_USUAL}")


def min_epsilon_for_counts(k: int, delta: Fraction, share: Fraction | int | None) -> Fraction:
    """The smallest power of ten that, as epsilon, is enough to select and measure k counts."""
    for exponent in range(12, 0, -1):
        epsilon = Fraction(1, 10**exponent)
        with suppress(InvalidArgument):
            if split_budget(k, epsilon=epsilon, delta=delta, delta_for_calls=share).epsilon_per_item:
                return epsilon
    return Fraction(1)


_USUAL = "A usual choice is epsilon=1."


def _power(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.0e}".lower().replace("+", "")
