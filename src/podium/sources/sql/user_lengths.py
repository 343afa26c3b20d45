"""How many users have which length and which sum of their values: both of integers, so that no order of rows matters.

A length is the root of a sum of squares, which is compared with powers of four. Where an engine's integers have 64 bits
a value is split in two halves, and the squares are added up in three sums.
"""

from __future__ import annotations

from sqlglot import exp

from podium.sources.sql.arithmetic import Arithmetic
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import COUNT, MEMBERS, PAIRS, SIZE, USER, VALUE, column, rows
from podium.sources.sql.pair_values import bucket_of, size_bucket, wide_number

__all__ = ["users_by_amounts"]

_COUNTED, _TALLIED, _BUCKET = "counted", "tallied", "j"
_MIXED, _LOW = "m", "l"


def users_by_amounts(pairs: exp.Select, buckets: int, dialect: Dialect) -> exp.Select:
    """How many users have which sum of squares and which sum of their values: bucket j is up to 4^j, and 2^j."""
    value, arithmetic = column(VALUE, PAIRS), dialect.arithmetic
    most = exp.Literal.number(arithmetic.max_factor)
    over = exp.If(this=exp.GT(this=value.copy(), expression=most), true=most.copy())
    factor = arithmetic.wide(exp.Case(ifs=[over], default=value.copy()))
    users = exp.select(*_squares(factor, arithmetic), arithmetic.total(value).as_(VALUE)).from_(pairs.subquery(PAIRS))
    users = users.group_by(column(USER, PAIRS))
    length = _length_bucket(buckets, arithmetic).as_(SIZE)
    total = size_bucket(column(VALUE, _COUNTED), buckets).as_(_BUCKET)
    keyed = exp.select(length, total).from_(users.subquery(_COUNTED))
    keys = [column(SIZE, _TALLIED), column(_BUCKET, _TALLIED)]
    tallied = exp.select(*keys, rows().as_(MEMBERS)).from_(keyed.subquery(_TALLIED))
    return tallied.group_by(*(key.copy() for key in keys))


def _squares(factor: exp.Expr, arithmetic: Arithmetic) -> list[exp.Expr]:
    """The sum of squares; or, of factors h 2^b + l, those of h h, h l and l l."""
    bits = arithmetic.half_bits
    if bits is None:
        return [arithmetic.total(_times(factor, factor)).as_(COUNT)]
    half = exp.Literal.number(2**bits)
    high, low = arithmetic.quotient(factor, half), arithmetic.remainder(factor.copy(), half.copy())
    named = ((COUNT, high, high), (_MIXED, high, low), (_LOW, low, low))
    return [arithmetic.total(_times(one, other)).as_(name) for name, one, other in named]


def _length_bucket(buckets: int, arithmetic: Arithmetic) -> exp.Expr:
    """The bucket of the root of the sum of squares: 0 up to 1, j above 2^(j-1) and up to 2^j, the last open."""
    square, last, bits = column(COUNT, _COUNTED), buckets - 1, arithmetic.half_bits
    if bits is None:
        # No square is larger than the widest numbers of the engine, and neither is a constant.
        ends = min(last, arithmetic.max_square.bit_length() // 2)
        return bucket_of(square, 0, ends, lambda j: wide_number(4**j, arithmetic))
    mixed, low = column(_MIXED, _COUNTED), column(_LOW, _COUNTED)
    # The whole is hh 4^b + 2 hl 2^b + ll; in units of 4^b, rounded up, it is compared with powers of four as exactly.
    step, above = exp.Literal.number(2 ** (bits - 1)), exp.Literal.number(2 ** (bits + 1))
    unit, rounding = exp.Literal.number(4**bits), exp.Literal.number(4**bits - 1)
    rest = _times(exp.paren(arithmetic.remainder(mixed, step)), above) + low + rounding
    units = square + arithmetic.quotient(mixed.copy(), step.copy()) + arithmetic.quotient(rest, unit)
    whole = _times(square.copy(), unit.copy()) + _times(mixed.copy(), above.copy()) + low.copy()
    small = bucket_of(exp.paren(whole), 0, min(last, bits), lambda j: exp.Literal.number(4**j))
    if last <= bits:
        large: exp.Expr = exp.Literal.number(last)
    else:
        large = bucket_of(exp.paren(units), bits + 1, last, lambda j: exp.Literal.number(4 ** (j - bits)))
    few = exp.LTE(this=exp.paren(units.copy()), expression=exp.Literal.number(1))
    return exp.Case(ifs=[exp.If(this=few, true=small)], default=large)


def _times(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Mul(this=exp.paren(one.copy()), expression=exp.paren(other.copy()))
