"""MariaDB's SQL: text by its bytes, integers of 65 digits, and nothing that raises for a row.

Sessions are not strict, so that a value never makes a statement fail; what would be changed silently instead is kept
out by conditions. Sorting is the trap here: windows and ranks look at the first ``max_sort_length`` bytes of a text,
and short texts are padded with NULs. So texts that are longer, or hold a NUL, count as missing: otherwise two users
could be taken for one, or one for two.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.sql.arithmetic import Arithmetic, RoundedDivision
from podium.sources.sql.dialect import Dialect

__all__ = ["MAX_TEXT_BYTES", "NOT_STRICT", "MariaDB", "clean"]

MAX_TEXT_BYTES = 16_384
"""The longest text that can be an item, a user or a group."""

# A sort needs room for fifteen keys, or it fails: this is enough for 65 columns of such texts.
_SORT_BUFFER = 16 * 1024 * 1024
_DIGITS = 65

NOT_STRICT = (
    "SET SESSION sql_mode = 'NO_UNSIGNED_SUBTRACTION'",
    "SET SESSION time_zone = '+00:00'",
    f"SET SESSION max_sort_length = {MAX_TEXT_BYTES}",
    f"SET SESSION sort_buffer_size = {_SORT_BUFFER}",
    # What an account or a server may have set otherwise: rows beyond a limit would be missing without a word.
    "SET SESSION sql_select_limit = 18446744073709551615",
    "SET SESSION sql_safe_updates = 0",
    "SET SESSION sql_auto_is_null = 0",
)
"""The settings of a session, whatever its server and account have as theirs."""

# A derived table with a limit is neither merged nor given conditions: see the tests of fences.
_NO_LIMIT = 2**64 - 1
_NUL = exp.Anonymous(this="UNHEX", expressions=[exp.Literal.string("00")])


class MariaDBArithmetic(RoundedDivision):
    """MariaDB: sums of integers are decimals, which have 65 digits; products of integers have 64 bits, and raise.

    DIV raises for quotients beyond 64 bits, and / rounds. MOD is of decimals, because integers and decimals are brought
    together as doubles.
    """

    max_product = 10**60
    max_term = 2**62
    max_square = 10**60

    def wide(self, value: exp.Expr) -> exp.Expr:
        """An integer of 65 digits."""
        return exp.cast(value, f"DECIMAL({_DIGITS}, 0)")

    def total(self, value: exp.Expr) -> exp.Expr:
        """The sum of integers: a decimal of 65 digits, whatever their type."""
        return exp.Sum(this=value)

    def unscaled(self, value: exp.Expr, scale: int, below: int) -> exp.Expr:
        """The digits of its text, of which a decimal has at most 65."""
        text = exp.cast(value, "TEXT")
        digits = exp.Anonymous(this="REPLACE", expressions=[text, exp.Literal.string("."), exp.Literal.string("")])
        return self.wide(digits)

    def is_nan(self, value: exp.Expr) -> exp.Expr | None:
        """There are no such values, and no infinities."""
        return None


class MariaDB(Dialect):
    """MariaDB 10.6 or later."""

    name = "mysql"
    arithmetic: Arithmetic = MariaDBArithmetic()
    decimal_digits: int | None = _DIGITS

    collation = "utf8mb4_nopad_bin"
    """By code point, in which blanks at the end count."""

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text in one character set, by code points: the order of its bytes in UTF-8."""
        return exp.Collate(this=_utf8(text), expression=exp.to_identifier(self.collation))

    def concat(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        """The concatenated texts: || is a logical OR here."""
        return exp.Anonymous(this="CONCAT", expressions=list(parts))

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer."""
        epoch = self.timestamp(dt.datetime(1970, 1, 1))  # noqa: DTZ001 - podium's timestamps are without zone
        return exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var("MICROSECOND"), epoch, value])

    def timestamp(self, value: dt.datetime) -> exp.Expr:
        """A timestamp with its microseconds."""
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ", timespec="microseconds")), "DATETIME(6)")

    def usable(self, value: exp.Expr, column: Column) -> list[exp.Expr]:
        """Of texts only those that a sort tells apart."""
        if column.kind is not Kind.TEXT:
            return super().usable(value, column)
        place = exp.Anonymous(this="LOCATE", expressions=[_NUL.copy(), value.copy()])
        return [*self.usable_together(value), place.eq(0)]

    def usable_together(self, text: exp.Expr) -> list[exp.Expr]:
        """Short enough for a sort to see all of it."""
        length = exp.Anonymous(this="OCTET_LENGTH", expressions=[text])
        return [exp.LTE(this=length, expression=exp.Literal.number(MAX_TEXT_BYTES))]

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """A fence made of LIMIT, which OFFSET needs here: such a subquery is neither merged nor given conditions."""
        return super().fence(table, names).limit(_NO_LIMIT)

    def sql(self, expression: exp.Expr) -> str:
        """The text to send. NULL comes first in this engine, and where none can be that need not be stated again."""
        for ordered in expression.find_all(exp.Ordered):
            ordered.set("nulls_first", not ordered.args.get("desc"))
        return super().sql(expression)


class MySQL(MariaDB):
    """MySQL 8.0.17 or later."""

    collation = "utf8mb4_0900_bin"


def clean(value: exp.Expr, column: Column, type_name: str) -> exp.Expr:
    """The value of a column of that type as its kind; no value of any type raises here."""
    if column.kind is Kind.BOOLEAN:
        number = exp.cast(value.copy(), "BIGINT") if type_name == "BIT" else value.copy()
        truth = exp.In(this=number, expressions=[exp.Literal.number(0), exp.Literal.number(1)])
        return exp.Case(ifs=[exp.If(this=truth, true=number.copy())])
    if column.kind is Kind.INTEGER and type_name in _AS_UNSIGNED:
        return exp.cast(value, exp.DType.UBIGINT)
    if column.kind is Kind.DATE:
        return _real(value, value)
    if column.kind is Kind.TIMESTAMP:
        return _real(exp.Anonymous(this="DATE", expressions=[value.copy()]), value)
    return value


_AS_UNSIGNED = ("BIT", "ZEROFILL", "YEAR")
"""Types whose texts are no digits, or too many."""


def _real(day: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The value if its day is in the calendar: this engine can store a month 0, a day 0, and February 31."""
    number = exp.Anonymous(this="TO_DAYS", expressions=[day.copy()])
    same = exp.EQ(this=exp.Anonymous(this="FROM_DAYS", expressions=[number]), expression=day.copy())
    return exp.Case(ifs=[exp.If(this=same, true=value.copy())])


def _utf8(text: exp.Expr) -> exp.Expr:
    return exp.Cast(this=text, to=exp.DataType(this=exp.DType.CHARACTER_SET, kind=exp.var("utf8mb4")))
