"""What sums need of an engine: 128-bit integers, decimals as integers, doubles that are the same on each engine.

Nothing here may raise for any value of a row, so whatever could overflow is only evaluated below a bound.
"""

from __future__ import annotations

import struct

from sqlglot import exp

from podium.sources.protocol import MAX_CLIP

__all__ = [
    "Arithmetic", "ClickHouseArithmetic", "DuckDBArithmetic", "PostgresArithmetic", "RoundedDivision",
    "SparkArithmetic",
]  # fmt: skip

_MAX_DIGITS = 38


class Arithmetic:
    """The common case: 128-bit integers are decimals of 38 digits."""

    max_clip = MAX_CLIP
    """The largest clip; sums of clipped rows of any table fit."""

    max_product = 10**37
    """The largest product that ``wide`` integers hold."""

    max_term = 2**71
    """The largest value of one pair times its weight, of which there may be 2^32 in a sum."""

    max_factor = MAX_CLIP
    """The largest value whose square is added up, 2^32 times."""

    max_square = 10**37
    """The largest constant that sums of squares are compared with."""

    half_bits: int | None = None
    """Where such sums do not fit: how many bits the lower half of a factor has."""

    def distinct_elements(self, values: exp.Expr) -> exp.Expr:
        """A list without repetitions."""
        return exp.Anonymous(this="ARRAY_DISTINCT", expressions=[values])

    def wide(self, value: exp.Expr) -> exp.Expr:
        """An integer in the widest type."""
        return exp.cast(value, "DECIMAL(38, 0)")

    def narrow(self, value: exp.Expr) -> exp.Expr:
        """An integer that is known to fit into 64 bits."""
        return exp.cast(value, "BIGINT")

    def quotient(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The quotient of two integers that are not negative, rounded down."""
        return exp.IntDiv(this=exp.paren(value), expression=divisor)

    def remainder(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The rest of that division."""
        return exp.Mod(this=exp.paren(value), expression=divisor)

    def total(self, value: exp.Expr) -> exp.Expr:
        """The sum of integers in the widest type."""
        return exp.Sum(this=self.wide(value))

    def unscaled(self, value: exp.Expr, scale: int, below: int) -> exp.Expr:
        """A decimal times 10^scale, a wide integer whose size is less than ``below``: its text without the point."""
        text = exp.cast(exp.cast(value, f"DECIMAL({_MAX_DIGITS}, {scale})"), "TEXT")
        digits = exp.Anonymous(this="REPLACE", expressions=[text, exp.Literal.string("."), exp.Literal.string("")])
        return self.wide(digits)

    def double(self, value: exp.Expr) -> exp.Expr:
        """A number of a float column as a double."""
        return exp.cast(value, "DOUBLE")

    def constant(self, number: float) -> exp.Expr:
        """Exactly this double."""
        return exp.cast(exp.Literal.string(repr(number)), "DOUBLE")

    def floor(self, value: exp.Expr) -> exp.Expr:
        """A double rounded down."""
        return exp.Floor(this=value)

    def is_nan(self, value: exp.Expr) -> exp.Expr | None:
        """Whether a double is NaN; None where the engine has no such value."""
        return exp.IsNan(this=value)


def unless_negative(number: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The value, always: the number is never negative, which the engine must not know."""
    return exp.Case(ifs=[exp.If(this=number >= 0, true=value)])


class RoundedDivision(Arithmetic):
    """Engines whose division of decimals rounds: without the rest it is exact."""

    typed_division = True
    """What sqlglot calls a division whose type is that of its operands."""

    def quotient(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """What is divided is a multiple of the divisor."""
        number, by = self.wide(value), self.wide(divisor)
        multiple = exp.paren(exp.Sub(this=number, expression=self.remainder(number.copy(), by.copy())))
        return self.wide(exp.Div(this=multiple, expression=by, typed=self.typed_division))

    def remainder(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The rest of that division, of decimals."""
        return exp.Anonymous(this="MOD", expressions=[self.wide(value), self.wide(divisor)])


class DuckDBArithmetic(Arithmetic):
    """DuckDB: HUGEINT has 128 bits, and a sum of BIGINT is one."""

    def distinct_elements(self, values: exp.Expr) -> exp.Expr:
        """A list without repetitions."""
        return exp.Anonymous(this="LIST_DISTINCT", expressions=[values])

    def wide(self, value: exp.Expr) -> exp.Expr:
        """An integer of 128 bits."""
        return exp.cast(value, "INT128")

    def total(self, value: exp.Expr) -> exp.Expr:
        """The sum of integers, of 128 bits."""
        return exp.Sum(this=value)

    def unscaled(self, value: exp.Expr, scale: int, below: int) -> exp.Expr:
        """By multiplication where the product has at most 38 digits."""
        if scale == 0:
            return self.wide(value)
        factor = 10**scale
        if below * factor >= 10**_MAX_DIGITS:
            return super().unscaled(value, scale, below)
        ten = exp.cast(exp.Literal.number(factor), f"DECIMAL({scale + 1}, 0)")
        product = exp.Mul(this=exp.cast(value, f"DECIMAL({_MAX_DIGITS}, {scale})"), expression=ten)
        return self.wide(exp.paren(product))

    def is_nan(self, value: exp.Expr) -> exp.Expr | None:
        """Neither finite nor infinite.

        This engine takes ISNAN for false where the least and the largest value of a Parquet file say so, and in some
        places the other two for true. They leave NaN out, and are those of all rows: others would decide whether a
        user's NaN counts, or makes the question fail. So the value is hidden from the planner.
        """
        known = (
            exp.Anonymous(this=name, expressions=[unless_negative(exp.Rand(), value.copy())])
            for name in ("ISFINITE", "ISINF")
        )
        return exp.not_(exp.or_(*known))


class PostgresArithmetic(Arithmetic):
    """PostgreSQL: numerics have any number of digits, and a sum of BIGINT is one."""

    max_product = 10**1000

    def distinct_elements(self, values: exp.Expr) -> exp.Expr:
        """A list without repetitions: this engine has no function for it."""
        distinct = exp.select(exp.Explode(this=values)).distinct()
        return exp.Anonymous(this="ARRAY", expressions=[distinct])

    def wide(self, value: exp.Expr) -> exp.Expr:
        """A numeric without limit."""
        return exp.cast(value, "DECIMAL")

    def quotient(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The quotient of numerics, which this function computes exactly."""
        return exp.Anonymous(this="DIV", expressions=[self.wide(value), self.wide(divisor)])

    def remainder(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The rest of that division."""
        return exp.Anonymous(this="MOD", expressions=[self.wide(value), self.wide(divisor)])

    def total(self, value: exp.Expr) -> exp.Expr:
        """The sum of integers, a numeric."""
        return exp.Sum(this=value)

    def unscaled(self, value: exp.Expr, scale: int, below: int) -> exp.Expr:
        """The product, rounded down: a numeric may have more digits than its column's scale says."""
        factor = self.wide(exp.Literal.string(str(10**scale)))
        return exp.Floor(this=exp.Mul(this=value, expression=factor))

    def is_nan(self, value: exp.Expr) -> exp.Expr | None:
        """NaN equals itself here."""
        return exp.EQ(this=value, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE"))


class SparkArithmetic(Arithmetic):
    """Spark in ANSI mode: decimals have 38 digits, and their texts have no exponent."""


class ClickHouseArithmetic(Arithmetic):
    """ClickHouse: Int128, and Decimal256 for what does not fit; parsing a double from text is not exact here."""

    def distinct_elements(self, values: exp.Expr) -> exp.Expr:
        """A list without repetitions."""
        return exp.Anonymous(this="arrayDistinct", expressions=[values])

    def wide(self, value: exp.Expr) -> exp.Expr:
        """An integer of 128 bits."""
        return exp.Anonymous(this="toInt128", expressions=[value])

    def narrow(self, value: exp.Expr) -> exp.Expr:
        """An integer that is known to fit into 64 bits."""
        return exp.Anonymous(this="toInt64", expressions=[value])

    def quotient(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The quotient of two integers."""
        return exp.Anonymous(this="intDiv", expressions=[value, divisor])

    def unscaled(self, value: exp.Expr, scale: int, below: int) -> exp.Expr:
        """By multiplication in 76 digits."""
        places = exp.Literal.number(scale)
        wide = exp.Anonymous(this="toDecimal256", expressions=[value, places])
        factor = exp.Literal.string(str(10**scale))
        ten = exp.Anonymous(this="toDecimal256", expressions=[factor, exp.Literal.number(0)])
        return self.wide(exp.Mul(this=wide, expression=ten))

    def double(self, value: exp.Expr) -> exp.Expr:
        """A number of a float column as a double."""
        return exp.Anonymous(this="toFloat64", expressions=[value])

    def constant(self, number: float) -> exp.Expr:
        """Exactly this double, by its bits."""
        bits = exp.Anonymous(this="toUInt64", expressions=[exp.Literal.string(str(_bits(number)))])
        return exp.Anonymous(this="reinterpretAsFloat64", expressions=[bits])


def _bits(number: float) -> int:
    return int.from_bytes(struct.pack(">d", number), "big")
