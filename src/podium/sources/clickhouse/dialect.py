"""How ClickHouse writes SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from podium.query.predicate import Wildcard
from podium.query.schema import Column, Kind
from podium.sources.sql import arithmetic as sums
from podium.sources.sql.dialect import MAX_BIGINT, MIN_BIGINT, Dialect, escape_pattern

__all__ = ["ClickHouse"]

_UTC = exp.Literal.string("UTC")
_ELEMENT = "element"
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - podium's timestamps are without zone and mean UTC


class ClickHouse(Dialect):
    """ClickHouse 24 or later: text is bytes and has no collation; Date32 for dates, DateTime64(6) for timestamps."""

    name = "clickhouse"
    arithmetic: sums.Arithmetic = sums.ClickHouseArithmetic()
    holds_nul = True
    keeps_rows = True
    keeps_sizes = True
    collects_items = True
    limits_groups = True

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """Only the columns: this engine moves conditions into subqueries, so the rows are kept in a table instead."""
        query = super().fence(table, names)
        query.set("offset", None)
        return query

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text itself: it is compared by its bytes."""
        return text

    def length(self, text: exp.Expr) -> exp.Expr:
        """The number of code points."""
        return exp.Anonymous(this="lengthUTF8", expressions=[text])

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        """The 16 bytes of MD5, which are in the order of their hex digits."""
        return exp.Anonymous(this="MD5", expressions=[text])

    def explode(self, values: exp.Expr) -> exp.Expr:
        """One row per element of a list; none for an empty list."""
        return exp.Anonymous(this="arrayJoin", expressions=[values])

    def list_length(self, values: exp.Expr) -> exp.Expr:
        """How many elements a list has."""
        return exp.Anonymous(this="length", expressions=[values])

    def first_elements(self, values: exp.Expr, most: int, key: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """By sorting a list of its own, which is empty for users who keep all: an IF might compute both sides."""
        length = self.list_length(values)
        short, long = (_call("if", compared, length.copy(), exp.Literal.number(0)) for compared in (
            exp.LTE(this=length.copy(), expression=exp.Literal.number(most)),
            exp.GT(this=length.copy(), expression=exp.Literal.number(most)),
        ))  # fmt: skip
        order = exp.Tuple(expressions=[key(exp.column(_ELEMENT)), exp.column(_ELEMENT)])
        by_key = exp.Lambda(this=order, expressions=[exp.to_identifier(_ELEMENT)])
        ordered = _call("arraySort", by_key, _first(values.copy(), long))
        return _call("arrayConcat", _first(values, short), _first(ordered, exp.Literal.number(most)))

    def part(self, row: exp.Expr, number: int) -> exp.Expr:
        """The part of a tuple with that number, from 1."""
        return _call("tupleElement", row, exp.Literal.number(number))

    def distinct_parts(self, values: exp.Expr, width: int) -> exp.Expr:
        """Of a list of tuples the distinct first parts: values, or tuples of that width."""
        return _call("arrayDistinct", _call("arrayMap", self._first_parts(width), values))

    def elements_among(self, values: exp.Expr, chosen: exp.Expr, width: int) -> exp.Expr:
        """The tuples of a list whose first parts are among those that were chosen."""
        parts = self._first_parts(width)
        parts.set("this", _call("has", chosen, parts.this))
        return _call("arrayFilter", parts, values)

    def _first_parts(self, width: int) -> exp.Lambda:
        parts = [self.part(exp.column(_ELEMENT), number) for number in range(1, width + 1)]
        first = parts[0] if width == 1 else exp.Tuple(expressions=parts)
        return exp.Lambda(this=first, expressions=[exp.to_identifier(_ELEMENT)])

    def text(self, value: exp.Expr) -> exp.Expr:
        """The value as the engine writes it."""
        return exp.Anonymous(this="toString", expressions=[value])

    def decimal_text(self, value: exp.Expr, scale: int) -> exp.Expr:
        """A decimal in plain digits: this engine omits trailing zeros itself."""
        return self.text(value)

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer."""
        return exp.Anonymous(this="toUnixTimestamp64Micro", expressions=[value])

    def integer(self, value: int) -> exp.Expr:
        """An integer of up to 256 bits."""
        fits = MIN_BIGINT <= value <= MAX_BIGINT
        name = "toInt64" if fits else "toInt256"
        return exp.Anonymous(this=name, expressions=[exp.Literal.string(str(value))])

    def decimal(self, value: Decimal, scale: int) -> exp.Expr:
        """A decimal that has the scale of the column it is compared with."""
        text = exp.Literal.string(format(value, "f"))
        return exp.Anonymous(this="toDecimal128", expressions=[text, exp.Literal.number(scale)])

    def date(self, value: dt.date) -> exp.Expr:
        """A Date32; older servers move it to the nearest date that they support."""
        return exp.Anonymous(this="toDate32", expressions=[exp.Literal.string(value.isoformat())])

    def timestamp(self, value: dt.datetime) -> exp.Expr:
        """A timestamp with microseconds: by its number, because the years that can be written differ by version."""
        micros = (value - _EPOCH) // dt.timedelta(microseconds=1)
        return exp.Anonymous(this="fromUnixTimestamp64Micro", expressions=[self.integer(micros), _UTC.copy()])

    def like(self, text: exp.Expr, parts: Sequence[str | Wildcard]) -> exp.Expr:
        """A pattern escaped by backslashes: the only escape that this engine knows."""
        pattern = "".join(part.value if isinstance(part, Wildcard) else escape_pattern(part, "\\") for part in parts)
        return exp.Like(this=text, expression=exp.Literal.string(pattern))

    def usable(self, value: exp.Expr, column: Column) -> list[exp.Expr]:
        """Known, something that Python can hold, and not bytes in the place of text."""
        if column.kind is Kind.TEXT:
            return [exp.Anonymous(this="isValidUTF8", expressions=[value])]
        return super().usable(value, column)

    def absent(self, values: Sequence[exp.Expr], listed: Sequence[exp.Expr], table: exp.Expr) -> exp.Expr:
        """By a set: this engine's subqueries do not see the row outside."""
        row = values[0] if len(values) == 1 else exp.Tuple(expressions=list(values))
        return exp.not_(exp.In(this=row, query=exp.select(*listed).from_(table).subquery()))

    def total(self, value: exp.Expr) -> exp.Expr:
        """The sum of integers, in 64 bits."""
        return exp.Sum(this=value)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _first(values: exp.Expr, length: exp.Expr) -> exp.Expr:
    return _call("arraySlice", values, exp.Literal.number(1), length)
