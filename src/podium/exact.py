"""Exact numbers: what callers write becomes a rational, and real functions are computed in balls.

Two guarantees rest on this module. A budget of 0.3 is spent exactly by 0.1 and 0.2, because every
parameter is a ``Fraction``. And whatever is transcendental (a logarithm in a threshold, a conversion
between kinds of privacy loss) is enclosed by ``flint.arb`` balls and then rounded in the direction that
cannot understate the loss.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

import flint

from podium.errors import InvalidArgument

__all__ = [
    "Number",
    "ShownFraction",
    "ball",
    "ball_precision",
    "display",
    "dyadic_above",
    "dyadic_below",
    "exact_fraction",
    "exact_integer",
    "flag",
    "float_above",
    "float_above_ball",
    "float_below",
    "is_writable",
    "positive_fraction",
    "positive_integer",
    "probability",
    "rational_bounds",
]

Number: TypeAlias = int | Fraction | Decimal | str | float

_DIGITS = 2000
_MAX_BITS = 1 << 20
_MIN_MAGNITUDE, _MAX_MAGNITUDE = flint.arb(2) ** -_MAX_BITS, flint.arb(2) ** _MAX_BITS
_PLAIN_BITS = 1000
"""Numbers within 2^-1000 and 2^1000 are neither too long to be written out nor too large for a float."""
_KINDS = "an int, Fraction, Decimal, str or finite float"
_SHORT = f"at most {_DIGITS} digits before or after the point"


class ShownFraction(Fraction):
    """A rational that a person meets: it shows itself as a decimal, never smaller than it is.

    What is computed from it is a plain fraction, and ``str`` has all of it.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return display(self)


def display(value: Fraction, *, digits: int = 4) -> str:
    """Decimal text that never shows less than ``value``; exact where a few digits suffice."""
    exact = _short_decimal(value)
    if exact is not None:
        return exact
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return _plain(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _short_decimal(value: Fraction) -> str | None:
    """The exact decimal if it has at most nine digits."""
    context = Context(prec=9)
    decimal = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return _plain(decimal) if Fraction(decimal) == value else None


def _plain(decimal: Decimal) -> str:
    if decimal == 0:
        return "0"
    if -4 <= decimal.adjusted() < 15:
        text = format(decimal, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = format(decimal.normalize(), "e").partition("e")
    return f"{mantissa}e{int(exponent)}"


def exact_fraction(value: object, name: str) -> Fraction:
    """The exact rational that ``value`` stands for; a float means the decimal that ``repr`` prints."""
    if isinstance(value, bool):
        raise InvalidArgument(name, value, allowed=_KINDS)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(name, value, allowed=_KINDS)
        return Fraction(float.__repr__(value))
    if isinstance(value, (str, Decimal)):
        return _from_text(value, name)
    try:
        return Fraction(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        raise InvalidArgument(name, value, allowed=_KINDS) from None


def _from_text(value: str | Decimal, name: str) -> Fraction:
    if isinstance(value, str) and "/" in value:
        top, _, bottom = value.partition("/")
        try:
            if len(value) > 2 * _DIGITS:
                raise InvalidArgument(name, value, allowed=_SHORT)
            return Fraction(int(top), int(bottom))
        except (ValueError, ZeroDivisionError):
            raise InvalidArgument(name, value, allowed=_KINDS, hint="Write a ratio like '1/3'.") from None
    try:
        decimal = Decimal(value)
    except InvalidOperation:
        raise InvalidArgument(name, value, allowed=_KINDS, hint="Write a number like '0.1' or '1e-6'.") from None
    if not decimal.is_finite():
        raise InvalidArgument(name, value, allowed=_KINDS)
    exponent = decimal.as_tuple().exponent
    # A short text such as '1e999999999' would otherwise become a number that fills the memory.
    if decimal.adjusted() > _DIGITS or (isinstance(exponent, int) and exponent < -_DIGITS):
        raise InvalidArgument(name, value, allowed=_SHORT)
    return Fraction(decimal)


def positive_fraction(value: object, name: str, *, hint: str = "") -> Fraction:
    """An exact rational above zero."""
    number = exact_fraction(value, name)
    if number <= 0:
        raise InvalidArgument(name, value, allowed="a number above 0", hint=hint)
    return ShownFraction(number)


def flag(value: object, name: str) -> bool:
    """A bool, and nothing that merely looks true."""
    if not isinstance(value, bool):
        raise InvalidArgument(name, value, allowed="True or False")
    return value


def probability(value: object, name: str, *, zero: bool = False, hint: str = "") -> Fraction:
    """An exact rational in (0, 1), or in [0, 1) where ``zero`` is allowed."""
    number = exact_fraction(value, name)
    if number >= 1 or number < 0 or (number == 0 and not zero):
        allowed = "a number with 0 <= value < 1" if zero else "a number with 0 < value < 1"
        raise InvalidArgument(name, value, allowed=allowed, hint=hint)
    return ShownFraction(number)


def exact_integer(value: object, name: str, *, minimum: int | None = None) -> int:
    """An integer (NumPy integers too; no bool, no float), at least ``minimum`` where given."""
    allowed = "an integer" if minimum is None else f"an integer, {minimum} or more"
    if isinstance(value, (bool, float, str)):
        raise InvalidArgument(name, value, allowed=allowed)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidArgument(name, value, allowed=allowed) from None
    if minimum is not None and number < minimum:
        raise InvalidArgument(name, value, allowed=allowed)
    return number


def positive_integer(value: object, name: str) -> int:
    """An integer, 1 or more."""
    return exact_integer(value, name, minimum=1)


_precision_lock = threading.RLock()


@contextmanager
def ball_precision(bits: int) -> Iterator[None]:
    """Work with ``flint.arb`` at this precision, alone.

    python-flint keeps one precision for the whole process, so two threads that compute in balls must take
    turns: a thread that lowered another's precision would make it slow, never wrong, but a thread that
    relies on a precision to terminate must own it.
    """
    with _precision_lock:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def ball(value: Fraction | int) -> flint.arb:
    """The smallest ball around a rational at the current precision."""
    if isinstance(value, int):
        return flint.arb(flint.fmpz(value))
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def is_writable(value: flint.arb) -> bool:
    """Whether a ball is finite, and small enough that its ends do not fill the memory."""
    return bool(value.is_finite() and abs(value) < _MAX_MAGNITUDE)


def rational_bounds(value: flint.arb) -> tuple[Fraction, Fraction]:
    """Rationals below and above everything in a finite ball."""
    if not value.is_finite():
        raise ArithmeticError("a ball without finite ends has no rational bounds")
    if abs(value) < _MIN_MAGNITUDE:
        # Written out, the exponential of a large number alone would fill the memory.
        tiny = Fraction(1, 1 << _MAX_BITS)
        return Fraction(0) if value >= 0 else -tiny, Fraction(0) if value <= 0 else tiny
    if not is_writable(value):
        raise ArithmeticError("a number too large to be written out has no rational bounds")
    middle, exponent = value.mid().man_exp()
    radius, radius_exponent = value.rad().man_exp()
    shared = min(int(exponent), int(radius_exponent))
    whole, width = int(middle) << (int(exponent) - shared), int(radius) << (int(radius_exponent) - shared)
    return _dyadic(whole - width, shared), _dyadic(whole + width, shared)


def _dyadic(mantissa: int, exponent: int) -> Fraction:
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def dyadic_above(value: Fraction, bits: int) -> Fraction:
    """The smallest multiple of 2^-bits that is not below ``value``."""
    return Fraction(-((-value.numerator << bits) // value.denominator), 1 << bits)


def dyadic_below(value: Fraction, bits: int) -> Fraction:
    """The largest multiple of 2^-bits that is not above ``value``."""
    return Fraction((value.numerator << bits) // value.denominator, 1 << bits)


def float_above(value: Fraction) -> float:
    """A float that is not below ``value``, for display and for first-pass bounds."""
    near = _nearest(value)
    return near if math.isinf(near) or Fraction(near) >= value else math.nextafter(near, math.inf)


def float_below(value: Fraction) -> float:
    """A float that is not above ``value``."""
    return -float_above(-value)


def float_above_ball(value: flint.arb) -> float:
    """``float_above`` of the upper end of a finite ball; for moderate exponents in integers, which is faster."""
    if value.is_finite():
        (middle, exponent), (radius, radius_exponent) = value.mid().man_exp(), value.rad().man_exp()
        places = -min(int(exponent), int(radius_exponent))
        if 0 <= places <= _PLAIN_BITS and max(exponent, radius_exponent) <= _PLAIN_BITS:
            end = (int(middle) << (int(exponent) + places)) + (int(radius) << (int(radius_exponent) + places))
            if end.bit_length() <= places + _PLAIN_BITS:
                near = end / (1 << places)  # correctly rounded
                numerator, denominator = near.as_integer_ratio()
                return near if numerator << places >= end * denominator else math.nextafter(near, math.inf)
    return float_above(rational_bounds(value)[1])


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0.0)
