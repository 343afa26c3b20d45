"""Rounding that cannot understate a loss: every real number leaves as a rational on the safe side.

A conversion is computed in balls; the ball's ends are rounded to a public grid, and the precision grows until
both ends round to the same point. Then the answer does not depend on the precision, so conversions stay
monotone: a larger budget never becomes a smaller number by an accident of rounding.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from podium.exact import ball, ball_precision, display, dyadic_above, dyadic_below, is_writable, rational_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    import flint

__all__ = [
    "GRID_BITS",
    "above",
    "below",
    "certified_bound",
    "decimal_repr",
    "display",
    "first_number",
    "significant_above",
    "significant_below",
    "smallest_integer",
]

GRID_BITS = 64
"""Losses are reported as multiples of 2^-64."""

_REACH = 1 << 24
"""How far off a guess may be: what floats compute has errors of this many steps among 2^64."""
_PRECISIONS = (128, 256, 1024, 4096)
_MAX_PLACES = 4096
_TINY = Fraction(1, 2 ** (_MAX_PLACES + 64))
"""Smaller positive numbers are treated as this one: an exact e^-1000000 would be a fraction of megabytes."""


def above(value: Fraction) -> Fraction:
    """The smallest multiple of 2^-64 that is not below ``value``."""
    return dyadic_above(value, GRID_BITS)


def below(value: Fraction) -> Fraction:
    """The largest multiple of 2^-64 that is not above ``value``."""
    return dyadic_below(value, GRID_BITS)


def significant_above(value: Fraction) -> Fraction:
    """``value`` rounded up to 64 significant bits (or 2^-4096): a delta of 1e-30 must not become 2^-64."""
    return dyadic_above(value, _places(value))


def significant_below(value: Fraction) -> Fraction:
    """``value`` rounded down to 64 significant bits; 0 below 2^-4096."""
    return dyadic_below(value, _places(value))


def _places(value: Fraction) -> int:
    size = abs(value.numerator).bit_length() - value.denominator.bit_length()
    return min(_MAX_PLACES, max(0, GRID_BITS - size))


def certified_bound(compute: Callable[[], flint.arb], grid: Callable[[Fraction], Fraction]) -> Fraction:
    """The grid point of a real number that ``compute`` encloses at the current ball precision.

    ``grid`` is one of the rounding functions above. If even the largest precision cannot decide (the number
    is, as far as anyone can tell, a grid point itself), the ball's end on the safe side is used.
    """
    last: tuple[Fraction, Fraction] | None = None
    for bits in _PRECISIONS:
        with ball_precision(bits):
            value = compute()
            # Too few bits can make the ball of a moderate number immense.
            if not is_writable(value):
                continue
            low, high = _ends(value)
        last = grid(low), grid(high)
        if last[0] == last[1]:
            return last[0]
    if last is None:
        raise ArithmeticError("the value has no finite enclosure")
    return last[1] if grid in (above, significant_above) else last[0]


def first_number(holds: Callable[[int], bool], low: int, high: int, guess: int = 0) -> int:
    """The first number above ``low`` with a property that ``high`` and everything after the first has.

    ``guess`` may be anything: a good one saves most steps of the bisection.
    """
    for end in (guess - _REACH, guess + _REACH):
        if low < end < high:
            low, high = (low, end) if holds(end) else (end, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def smallest_integer(holds: Callable[[int], bool]) -> int:
    """The smallest integer from 0 with a property that everything after the first has."""
    high = 1
    while not holds(high):
        high *= 2
    return first_number(holds, high // 2 if high > 1 else -1, high)


def _ends(value: flint.arb) -> tuple[Fraction, Fraction]:
    """The ball's ends. Where a ball is tiny, ``_TINY`` of the same sign stands for it: all grids round it alike."""
    tiny = ball(_TINY)
    if value.is_zero() or not abs(value) < tiny:
        return rational_bounds(value)
    return (_TINY if value > 0 else -_TINY), (-_TINY if value < 0 else _TINY)


def decimal_repr(value: Any) -> str:
    """A dataclass as ``Name(field=value, ...)``: ratios as decimals that round up, without the fields that are None."""
    parts = {each.name: getattr(value, each.name) for each in fields(value) if each.repr}
    shown = [f"{name}={_decimal_part(part)}" for name, part in parts.items() if part is not None]
    return f"{type(value).__name__}({', '.join(shown)})"


def _decimal_part(part: object) -> str:
    if isinstance(part, Fraction):
        return display(part)
    if type(part) is tuple:
        return f"({', '.join(map(_decimal_part, part))}{',' * (len(part) == 1)})"
    return repr(part)
