"""SQLite's SQL. Any column can hold any value there, so a value counts only if it has its column's declared type.

Dates and timestamps are texts. Podium converts them to YYYY-MM-DD and YYYY-MM-DD HH:MM:SS.ffffff, whose binary order
is chronological; anything else counts as NULL. Decimals are floating-point numbers in this engine, so they cannot be
items.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Sequence

from sqlglot import exp

from podium.query.predicate import Wildcard
from podium.query.schema import Column, Kind
from podium.sources.sql.arithmetic import Arithmetic
from podium.sources.sql.dialect import Dialect

__all__ = ["FUNCTIONS", "SQLite", "clean"]

_BIGINT = range(-(2**63), 2**63)
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_SECOND = f"{_DAY}[ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]"
# Without a modifier April 31 would come back unchanged; with one it becomes May 1.
_NORMAL = exp.Literal.string("+0 days")


class SQLiteArithmetic(Arithmetic):
    """SQLite: integers have 64 bits, and a sum that does not fit raises, so clips and units are smaller here."""

    max_clip = 2**31
    max_product = 2**62
    max_term = 2**31
    # Halves of 15 bits: 2^32 products of two of them fit.
    max_factor = 2**30
    half_bits: int = 15

    def wide(self, value: exp.Expr) -> exp.Expr:
        """An integer of 64 bits."""
        return exp.cast(value, "BIGINT")

    def quotient(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The quotient of two integers is an integer."""
        return exp.Div(this=exp.paren(value), expression=divisor, typed=True)

    def double(self, value: exp.Expr) -> exp.Expr:
        """A number as a double; whatever else the column holds counts as missing."""
        number = exp.In(this=_call("TYPEOF", value.copy()), expressions=[*map(exp.Literal.string, ("real", "integer"))])
        return exp.Case(ifs=[exp.If(this=number, true=exp.cast(value.copy(), "DOUBLE"))])

    def constant(self, number: float) -> exp.Expr:
        """Exactly this double, from integers and powers of two: this engine may read digits with an error."""
        above, below = number.as_integer_ratio()
        shift = max(abs(above).bit_length() - 53, 0)
        value: exp.Expr = exp.cast(exp.Literal.string(str(above >> shift)), "DOUBLE")
        for left in _halves(shift):
            value = exp.Mul(this=value, expression=exp.cast(exp.Literal.number(2**left), "DOUBLE"))
        for left in _halves(below.bit_length() - 1):
            value = exp.Div(this=value, expression=exp.cast(exp.Literal.number(2**left), "DOUBLE"), typed=True)
        return exp.paren(value)

    def floor(self, value: exp.Expr) -> exp.Expr:
        """By a cast, which rounds towards 0: not every build has the function."""
        whole = exp.cast(value, "BIGINT")
        less = exp.paren(exp.GT(this=whole.copy(), expression=value.copy()))
        return exp.paren(exp.Sub(this=whole, expression=less))

    def is_nan(self, value: exp.Expr) -> exp.Expr | None:
        """NaN is NULL here."""
        return None


class SQLite(Dialect):
    """SQLite 3.30 or later, with the functions that podium registers."""

    name = "sqlite"
    arithmetic: Arithmetic = SQLiteArithmetic()

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text, grouped, compared and ordered by its bytes."""
        return exp.Collate(this=text, expression=exp.to_identifier("BINARY"))

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """A fence made of LIMIT, which OFFSET needs here: such a subquery is neither merged nor given conditions."""
        return super().fence(table, names).limit(-1)

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        """MD5 of the text's bytes."""
        return exp.MD5(this=exp.cast(text, "BLOB"))

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp in podium's form as microseconds since 1970, an integer."""
        seconds = exp.cast(_call("STRFTIME", exp.Literal.string("%s"), _part(value, 1, 19)), "BIGINT")
        millions = exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000))
        return exp.paren(exp.Add(this=millions, expression=exp.cast(_part(value, 21, 6), "BIGINT")))

    def integer(self, value: int) -> exp.Expr:
        """An integer; beyond 64 bits an infinity, because this engine would round it to a float."""
        if value in _BIGINT:
            return super().integer(value)
        infinite = exp.Literal.number("9e999")
        return infinite if value > 0 else exp.Neg(this=infinite)

    def date(self, value: dt.date) -> exp.Expr:
        """A date in podium's form."""
        return exp.Literal.string(value.isoformat())

    def timestamp(self, value: dt.datetime) -> exp.Expr:
        """A timestamp in podium's form."""
        return exp.Literal.string(value.isoformat(sep=" ", timespec="microseconds"))

    def like(self, text: exp.Expr, parts: Sequence[str | Wildcard]) -> exp.Expr:
        """A pattern for GLOB, because LIKE ignores case here."""
        wildcards = {Wildcard.MANY: "*", Wildcard.ONE: "?"}
        pattern = "".join(wildcards[part] if isinstance(part, Wildcard) else _literal(part) for part in parts)
        return _glob(text, pattern)

    def usable(self, value: exp.Expr, column: Column) -> list[exp.Expr]:
        """Not NULL, representable in Python, and valid text."""
        if column.kind is Kind.TEXT:
            return [_call("PODIUM_IS_TEXT", exp.cast(value, "BLOB"))]
        return super().usable(value, column)


def clean(value: exp.Expr, column: Column) -> exp.Expr:
    """The value if it is of the column's kind, else NULL."""
    if column.kind is Kind.TEXT:
        return _where(_stored_as("text", value), value)
    if column.kind is Kind.INTEGER:
        return _where(_stored_as("integer", value), value)
    if column.kind is Kind.BOOLEAN:
        truth = exp.In(this=value.copy(), expressions=[exp.Literal.number(0), exp.Literal.number(1)])
        return _where(exp.and_(_stored_as("integer", value), truth), value)
    if column.kind is Kind.DATE:
        real = exp.EQ(this=_call("DATE", value.copy(), _NORMAL.copy()), expression=value.copy())
        return _where(exp.and_(_stored_as("text", value), _glob(value, _DAY), real), value)
    if column.kind is Kind.TIMESTAMP:
        return _timestamp(value)
    return value


def _timestamp(value: exp.Expr) -> exp.Expr:
    """A text like 2026-01-31 23:59:59, with T or a blank in the middle and up to six digits after a point."""
    second, fraction = _part(value, 1, 19), _part(value, 21)
    written = _call("STRFTIME", exp.Literal.string("%Y-%m-%d %H:%M:%S"), second, _NORMAL.copy())
    spaced = _call("REPLACE", second.copy(), exp.Literal.string("T"), exp.Literal.string(" "))
    length = exp.Length(this=value.copy())
    ending = exp.or_(
        exp.EQ(this=length, expression=exp.Literal.number(19)),
        exp.and_(
            exp.EQ(this=_part(value, 20, 1), expression=exp.Literal.string(".")),
            exp.Between(this=length.copy(), low=exp.Literal.number(21), high=exp.Literal.number(26)),
            exp.not_(_glob(fraction, "*[^0-9]*")),
        ),
    )
    conditions = (_stored_as("text", value), _glob(second, _SECOND), exp.EQ(this=written, expression=spaced), ending)
    padded = exp.paren(exp.DPipe(this=fraction, expression=exp.Literal.string("000000"), safe=False))
    whole = exp.DPipe(this=written.copy(), expression=exp.Literal.string("."), safe=False)
    return _where(exp.and_(*conditions), exp.DPipe(this=whole, expression=_part(padded, 1, 6), safe=False))


def _md5(data: bytes | None) -> str | None:
    return None if data is None else hashlib.md5(data, usedforsecurity=False).hexdigest()


def _is_text(data: bytes | None) -> bool:
    """Whether the bytes are UTF-8 without NUL, at which SQLite's own functions would stop."""
    if data is None or b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


FUNCTIONS: dict[str, Callable[[bytes | None], str | bool | None]] = {"MD5": _md5, "PODIUM_IS_TEXT": _is_text}
"""The functions to register with a connection: deterministic, with one argument."""


def _halves(power: int) -> list[int]:
    """The exponents of powers of two that 64 bits hold, whose product is that power."""
    return [min(62, power - done) for done in range(0, power, 62)]


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value.copy())])


def _stored_as(storage: str, value: exp.Expr) -> exp.Expr:
    return exp.EQ(this=_call("TYPEOF", value.copy()), expression=exp.Literal.string(storage))


def _glob(value: exp.Expr, pattern: str) -> exp.Expr:
    return exp.Glob(this=value.copy(), expression=exp.Literal.string(pattern))


def _part(value: exp.Expr, start: int, length: int | None = None) -> exp.Expr:
    numbers = [exp.Literal.number(start)] if length is None else [exp.Literal.number(start), exp.Literal.number(length)]
    return _call("SUBSTR", value.copy(), *numbers)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _literal(piece: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in piece)
