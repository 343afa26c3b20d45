"""What the epsilon and the delta of a question may be: checked while planning, so that no sampler has to refuse later.

Within these limits every mechanism that a plan picks can be calibrated, drawn and written down, at a cost that depends
on public numbers only. Beyond them an answer would be noise alone, or protect nobody.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.privacy import split_budget

__all__ = ["least_for_counts", "require_epsilon", "require_noise"]

_PURE = (Fraction(1, 10**100), Fraction(10**100))
_APPROXIMATE = (Fraction(1, 10**12), Fraction(10**9))
_LEAST_DELTA = Fraction(1, 10**300)
_PER_ITEM = (_PURE[0] / 10**5, _PURE[1])
_GAUSSIAN = (Fraction(1, 10**60), Fraction(10**30))
"""What mu^2 may be: the rounds of a small question use a part of a part of it."""


def require_epsilon(epsilon: Fraction, delta: Fraction, *, stated: Number, slack: Number) -> None:
    """Raise unless a question of this total can be planned and drawn; ``stated`` and ``slack`` are as written."""
    least, most = _APPROXIMATE if delta else _PURE
    if not least <= epsilon <= most:
        kind = "where delta is above 0" if delta else "where delta is 0"
        raise InvalidArgument(
            "epsilon", stated, allowed=f"a number from {_power(least)} to {_power(most)} {kind}", hint=_USUAL
        )
    if 0 < delta < _LEAST_DELTA:
        raise InvalidArgument("delta", slack, allowed=f"0, or a number from {_power(_LEAST_DELTA)} to 1", hint=_SLACK)


def require_noise(*, epsilon_per_item: Fraction | None = None, mu_squared: Fraction | None = None) -> None:
    """Raise unless noise that follows from a budget can be drawn and accounted for."""
    for name, value, (least, most) in (
        ("epsilon_per_item", epsilon_per_item, _PER_ITEM),
        ("mu_squared", mu_squared, _GAUSSIAN),
    ):
        if value is not None and not least <= value <= most:
            allowed = f"a number from {_power(least)} to {_power(most)}"
            raise InvalidArgument(name, value, allowed=allowed, hint=f"It follows from the budget. {_USUAL}")


def least_for_counts(k: int, delta: Fraction, share: Number | None) -> Fraction:
    """The least power of ten that, as epsilon, leaves something for selecting and for measuring each of k counts."""
    for exponent in range(12, 0, -1):
        epsilon = Fraction(1, 10**exponent)
        with suppress(InvalidArgument):
            if split_budget(k, epsilon=epsilon, delta=delta, delta_for_calls=share).epsilon_per_item:
                return epsilon
    return Fraction(1)


_USUAL = "A usual choice is epsilon=1."
_SLACK = "A usual choice is one over the square of the number of users."


def _power(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.0e}".lower().replace("+", "")
