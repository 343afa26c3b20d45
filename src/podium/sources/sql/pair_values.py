"""From rows to pair values: integer units, clipped per row and per pair; and from pair values to counts.

    value ──> units (CASE: NaN, too large, too small, else a quotient) ──> SUM per pair ──> clip ──> SUM per item

Every step but the last sees the rows of one user only. The last is in 128 bits, and is cut at 2^62, which moves no
count further than the user does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.query.schema import Column, Kind, Schema
from podium.sources.protocol import CountQuery, PairValue
from podium.sources.sql.arithmetic import Arithmetic
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import VALUE, WEIGHT, column, rows
from podium.user_columns import is_user_column

__all__ = [
    "bucket_of",
    "check_value",
    "clipped",
    "float_ceiling",
    "listed_count",
    "pair_count",
    "pair_sum",
    "size_bucket",
    "wide_number",
]

_NUMERIC = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_MAX_COUNT, _MAX_BIGINT, _MAX_INTEGER = 2**62, 2**63 - 1, 2**64 - 1
_SMALLEST, _LARGEST = Fraction(1, 10**100), Fraction(10**100)
_DIGITS = Context(prec=100)
_ZERO = exp.Literal.number(0)


def check_value(query: CountQuery, value: PairValue, schema: Schema, dialect: Dialect) -> None:
    """Raise unless the engine computes these values exactly: called before anything is paid."""
    arithmetic = dialect.arithmetic
    if value.reach > arithmetic.max_clip:
        hint = "Give a smaller clip, or a larger unit."
        raise InvalidArgument("clip", value.reach, allowed=f"at most {arithmetic.max_clip} on this engine", hint=hint)
    if query.weights is not None and query.weights[0][1] * value.clip > arithmetic.max_term:
        allowed = f"a clip times the largest weight of at most {arithmetic.max_term} on this engine"
        raise InvalidArgument("clip", value.clip, allowed=allowed, hint="Give a smaller clip, or a larger unit.")
    if value.column is None:
        return
    measured = schema.column(value.column, role="by")
    if measured.kind not in _NUMERIC:
        hint = f"Column {measured.name!r} is of kind {measured.kind.value}: name another, or declare its type."
        raise InvalidArgument("by", measured.name, allowed="a column of kind integer, decimal or float", hint=hint)
    if is_user_column(measured.name, query.user):
        raise InvalidArgument("by", measured.name, allowed="another column than the user's", hint="Name the measure.")
    _check_unit(value, measured, arithmetic)


def _check_unit(value: PairValue, measured: Column, arithmetic: Arithmetic) -> None:
    if measured.kind is Kind.FLOAT:
        fits, allowed = _SMALLEST <= value.unit <= _LARGEST, "from 1e-100 to 1e100 for a float column"
    else:
        step = value.unit * 10**measured.scale
        whole = step.denominator == 1 or value.reach * step.numerator + step.denominator <= arithmetic.max_product
        fits = whole and step.numerator <= arithmetic.max_product
        allowed = f"a multiple of 1e-{measured.scale}, the column's last digit, or a fraction of it with few digits"
    if not fits:
        raise InvalidArgument("unit", str(value.unit), allowed=allowed, hint="Give a rounder unit, or a smaller clip.")


def pair_sum(raw: exp.Expr | None, measured: Column | None, value: PairValue, dialect: Dialect) -> exp.Expr:
    """The units of all rows of a pair, before they are clipped; NULL if no row counts."""
    if raw is None or measured is None:
        return rows()
    return dialect.arithmetic.total(_units(raw, measured, value, dialect))


def clipped(summed: exp.Expr, value: PairValue, dialect: Dialect) -> exp.Expr:
    """The value of a pair; no NULL arrives here."""
    ifs = [_when(exp.GTE(this=summed, expression=_number(value.clip)), _number(value.clip))]
    if value.floor:
        ifs.append(_when(exp.LTE(this=summed.copy(), expression=_number(value.floor)), _number(value.floor)))
    return dialect.arithmetic.narrow(exp.Case(ifs=ifs, default=summed.copy()))


def pair_count(query: CountQuery, value: PairValue, dialect: Dialect) -> exp.Expr:
    """The count of an item, from the values and weights of its pairs; a count of 0 or less means that it has none."""
    arithmetic, term = dialect.arithmetic, column(VALUE)
    if query.norm is not None:
        total = arithmetic.total(exp.Mul(this=term, expression=column(WEIGHT)))
    elif query.weights is not None:
        total = arithmetic.total(exp.Mul(this=arithmetic.wide(term), expression=column(WEIGHT)))
    else:
        total = arithmetic.total(term)
    if value.grid_bits is None:
        return listed_count(total, dialect)
    clip, grid = _number(value.clip), _number(2**value.grid_bits)
    whole = exp.Mul(this=arithmetic.quotient(total, clip), expression=grid)
    rest = exp.Mul(this=exp.paren(arithmetic.remainder(total.copy(), clip.copy())), expression=grid.copy())
    return listed_count(exp.Add(this=whole, expression=arithmetic.quotient(rest, clip.copy())), dialect)


def listed_count(total: exp.Expr, dialect: Dialect) -> exp.Expr:
    """A sum as a count: at most 2^62. One user moves it no more than the sum itself."""
    most = _number(_MAX_COUNT)
    over = _when(exp.GT(this=exp.paren(total), expression=most), most.copy())
    return dialect.arithmetic.narrow(exp.Case(ifs=[over], default=total.copy()))


def size_bucket(size: exp.Expr, buckets: int) -> exp.Expr:
    """The bucket of a positive integer: 0 up to 1, j above 2^(j-1) and up to 2^j, the last open; a binary tree."""
    return bucket_of(size, 0, buckets - 1, lambda j: _number(2**j))


def bucket_of(size: exp.Expr, first: int, last: int, end: Callable[[int], exp.Expr]) -> exp.Expr:
    """The first bucket from ``first`` on whose end is not exceeded; ``last`` has none. A binary tree."""
    if first == last:
        return exp.Literal.number(first)
    middle = (first + last) // 2
    below = exp.LTE(this=size.copy(), expression=end(middle))
    low, high = bucket_of(size, first, middle, end), bucket_of(size, middle + 1, last, end)
    return exp.Case(ifs=[_when(below, low)], default=high)


def _units(raw: exp.Expr, measured: Column, value: PairValue, dialect: Dialect) -> exp.Expr:
    """floor(value / unit) of one row, clipped."""
    if measured.kind is Kind.FLOAT:
        return _float_units(raw, value, dialect.arithmetic)
    return _exact_units(raw, measured, value, dialect)


def _exact_units(raw: exp.Expr, measured: Column, value: PairValue, dialect: Dialect) -> exp.Expr:
    """The column is an integer m in steps of its last digit, the unit a/b such steps: this is floor(m * b / a)."""
    arithmetic, reach = dialect.arithmetic, value.reach
    step = value.unit * 10**measured.scale
    # From here on m * b / a is at least the row's clip; below it, m * b is at most clip * a.
    ceiling = _ceiling(reach, step)
    ifs = []
    if _reached(ceiling, measured, dialect):
        ifs.append(_when(exp.GTE(this=raw.copy(), expression=_bound(ceiling, measured, dialect)), _number(reach)))
        if value.floor:
            low = exp.LTE(this=raw.copy(), expression=_bound(-ceiling, measured, dialect))
            ifs.append(_when(low, _number(-reach)))
    if not value.floor:
        ifs.append(_when(exp.LT(this=raw.copy(), expression=_bound(1, measured, dialect)), _ZERO.copy()))
    whole = _whole(raw, measured, value, dialect)
    quotient = _floor_division(whole, step, arithmetic)
    if value.floor:
        negated = exp.Neg(this=exp.paren(whole.copy()))
        up = exp.Neg(this=exp.paren(_floor_division(negated, step, arithmetic, upwards=True)))
        below = exp.LT(this=raw.copy(), expression=_bound(0, measured, dialect))
        ifs.append(_when(below, arithmetic.narrow(up)))
    return exp.Case(ifs=ifs, default=arithmetic.narrow(quotient))


def _reached(ceiling: int, measured: Column, dialect: Dialect) -> bool:
    """Whether the column's type has values of that many steps; a constant that is larger could not be written."""
    if measured.kind is Kind.DECIMAL:
        return dialect.decimal_digits is None or ceiling < 10**dialect.decimal_digits
    return ceiling <= _MAX_INTEGER


def _ceiling(reach: int, step: Fraction) -> int:
    return math.ceil(reach * step)


def _whole(raw: exp.Expr, measured: Column, value: PairValue, dialect: Dialect) -> exp.Expr:
    """The column as an integer number of steps, below the ceiling."""
    step = value.unit * 10**measured.scale
    if measured.kind is Kind.DECIMAL:
        return dialect.arithmetic.unscaled(raw.copy(), measured.scale, _ceiling(value.reach, step))
    small = value.reach * step.numerator <= _MAX_BIGINT
    return dialect.arithmetic.narrow(raw.copy()) if small else dialect.arithmetic.wide(raw.copy())


def _floor_division(whole: exp.Expr, step: Fraction, arithmetic: Arithmetic, *, upwards: bool = False) -> exp.Expr:
    """m * b / a of an integer m >= 0, rounded down; or, if m >= 1, up."""
    if step.denominator != 1:
        whole = exp.Mul(this=exp.paren(whole), expression=wide_number(step.denominator, arithmetic))
    if step.numerator == 1:
        return whole
    divisor = wide_number(step.numerator, arithmetic)
    if not upwards:
        return arithmetic.quotient(whole, divisor)
    below = exp.Sub(this=whole, expression=exp.Literal.number(1))
    return exp.Add(this=arithmetic.quotient(below, divisor), expression=exp.Literal.number(1))


def _float_units(raw: exp.Expr, value: PairValue, arithmetic: Arithmetic) -> exp.Expr:
    """The quotient of doubles, never where it could overflow or underflow: PostgreSQL raises then."""
    unit = float(value.unit)
    ceiling = float_ceiling(value.reach, value.unit)
    number, least, reach = arithmetic.double(raw), arithmetic.constant(unit), _number(value.reach)
    nan = arithmetic.is_nan(number.copy())
    ifs = [] if nan is None else [_when(nan, exp.null())]
    ifs.append(_when(exp.GTE(this=number.copy(), expression=arithmetic.constant(ceiling)), reach))
    if value.floor:
        low = exp.LTE(this=number.copy(), expression=arithmetic.constant(-ceiling))
        small = exp.GTE(this=number.copy(), expression=arithmetic.constant(-unit))
        negative = exp.LT(this=number.copy(), expression=arithmetic.constant(0.0))
        ifs.append(_when(low, _number(-value.reach)))
        ifs.append(_when(exp.and_(small, negative), _number(-1)))
        below = exp.and_(exp.GTE(this=number.copy(), expression=arithmetic.constant(0.0)), number.copy() < least.copy())
    else:
        below = exp.LT(this=number.copy(), expression=least.copy())
    ifs.append(_when(below, _ZERO.copy()))
    quotient = arithmetic.floor(exp.Div(this=number.copy(), expression=least.copy(), typed=True))
    return exp.Case(ifs=ifs, default=arithmetic.narrow(quotient))


def float_ceiling(reach: int, unit: Fraction) -> float:
    """The smallest double whose quotient by the unit, rounded, is at least ``reach``: division is monotone."""
    divisor = float(unit)
    ceiling = float(reach * unit)
    while ceiling / divisor < reach:
        ceiling = math.nextafter(ceiling, math.inf)
    while math.nextafter(ceiling, 0.0) / divisor >= reach:
        ceiling = math.nextafter(ceiling, 0.0)
    return ceiling


def _bound(steps: int, measured: Column, dialect: Dialect) -> exp.Expr:
    """This many steps of the column's last digit, to compare the column with."""
    if measured.kind is Kind.DECIMAL:
        return dialect.decimal(Decimal(steps).scaleb(-measured.scale, _DIGITS), measured.scale)
    return dialect.integer(steps)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def wide_number(value: int, arithmetic: Arithmetic) -> exp.Expr:
    """A positive constant; as text where no 64 bits hold it."""
    if value <= _MAX_BIGINT:
        return exp.Literal.number(value)
    return arithmetic.wide(exp.Literal.string(str(value)))


def _when(condition: exp.Expr, result: exp.Expr) -> exp.If:
    return exp.If(this=condition, true=result)
