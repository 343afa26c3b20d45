"""Dialects: how each engine writes a collation, a hash, a length, a literal, an encoded value.

There is one small class per dialect; the rest of this package builds the SQL once for all.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce

from sqlglot import exp

from podium.query.predicate import Literal, Wildcard
from podium.query.schema import Column, Kind
from podium.sources.sql import arithmetic as sums
from podium.sources.sql.expressions import ROWS, USER, column, row_column, rows

__all__ = ["MAX_BIGINT", "MAX_SCALE", "MIN_BIGINT", "Dialect", "DuckDB", "Postgres", "Spark", "escape_pattern"]

MAX_SCALE = 38
"""The scale of a decimal column whose engine does not limit it."""

_ESCAPE = "!"
MIN_BIGINT, MAX_BIGINT = -(2**63), 2**63 - 1
_MAX_FAST_WEIGHT = 2**22
_FIRST_DAY, _LAST_DAY = dt.date(1, 1, 1), dt.date(9999, 12, 31)


class Dialect:
    """The common case, close to standard SQL."""

    name = "postgres"
    """sqlglot's name of the dialect."""

    decimal_digits: int | None = 38
    """The maximum number of digits of a decimal; None where decimals of any scale compare exactly."""

    computes_once = False
    """Whether a subquery with a name is computed once, and a join with it is cheaper than a window."""

    materializes = False
    """Whether a subquery with a name can be told to be computed once, and joins with it are planned well."""

    keeps_sizes = False
    """Whether kept pairs have their user's number of items, because a window costs less then than in a later query."""

    collects_items = False
    """Whether a list of each user's items is cheaper than a window over pairs."""

    limits_groups = False
    """Whether there is LIMIT BY, which keeps the first rows of each group."""

    holds_nul = False
    """Whether text may contain NUL."""

    own_hash = False
    """Whether ``text_hash`` is a hash of the engine's own, because MD5 takes much longer there."""

    keeps_rows = False
    """Whether a fence must be a table that keeps the rows, because a subquery is no fence."""

    arithmetic: sums.Arithmetic = sums.Arithmetic()
    """How this engine computes sums of values."""

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text, grouped, compared and ordered by its bytes."""
        return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))

    def length(self, text: exp.Expr) -> exp.Expr:
        """The number of code points."""
        return exp.Length(this=text)

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        """The hash of a text by which a user's items are ordered: MD5 as 32 lower-case hex digits, in binary order.

        An engine may have another one: the bound holds for any hash.
        """
        return self.binary(exp.MD5(this=text))

    def concat(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        """The concatenated texts, none of them NULL."""
        return reduce(lambda whole, part: exp.DPipe(this=whole, expression=part, safe=False), parts)

    def explode(self, values: exp.Expr) -> exp.Expr:
        """One row per element of a list; none for an empty or missing list."""
        return exp.Explode(this=values)

    def list_length(self, values: exp.Expr) -> exp.Expr:
        """How many elements a list has; only where ``collects_items``."""
        raise NotImplementedError

    def first_elements(self, values: exp.Expr, most: int, key: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """A list cut to at most that many elements, the first by (key, element); only where ``collects_items``.

        A list that is not cut stays as it is, and no key of it is computed.
        """
        raise NotImplementedError

    def part(self, row: exp.Expr, number: int) -> exp.Expr:
        """The part of a row of values with that number, from 1; only where ``collects_items``."""
        raise NotImplementedError

    def distinct_parts(self, values: exp.Expr, width: int) -> exp.Expr:
        """Of a list of rows the distinct first parts: values, or rows of that width; only where ``collects_items``."""
        raise NotImplementedError

    def elements_among(self, values: exp.Expr, chosen: exp.Expr, width: int) -> exp.Expr:
        """The rows of a list whose first parts are among those that were chosen; only where ``collects_items``."""
        raise NotImplementedError

    def text(self, value: exp.Expr) -> exp.Expr:
        """The value as the engine writes it."""
        return exp.cast(value, "TEXT")

    def decimal_text(self, value: exp.Expr, scale: int) -> exp.Expr:
        """A decimal in plain digits without trailing zeros; the engine writes all digits of the scale."""
        if scale == 0:
            return self.text(value)
        text = self.text(value)
        for tail in ("0", "."):
            text = exp.Trim(this=text, expression=exp.Literal.string(tail), position="TRAILING")
        return text

    def date_text(self, value: exp.Expr) -> exp.Expr:
        """A date as YYYY-MM-DD."""
        return self.text(value)

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer."""
        raise NotImplementedError

    def encode(self, value: exp.Expr, column: Column) -> exp.Expr:
        """The value as text, in the encoding of ``item_text``."""
        if column.kind is Kind.TEXT:
            return value
        if column.kind is Kind.DECIMAL:
            return self.decimal_text(value, column.scale)
        if column.kind is Kind.BOOLEAN:
            return exp.Case(
                ifs=[exp.If(this=value, true=exp.Literal.string("true"))], default=exp.Literal.string("false")
            )
        if column.kind is Kind.DATE:
            return self.date_text(value)
        if column.kind is Kind.TIMESTAMP:
            return self.text(self.microseconds(value))
        return self.text(value)

    def literal(self, value: Literal, column: Column) -> exp.Expr:
        """A constant of exactly the column's kind."""
        if column.kind is Kind.BOOLEAN:
            return exp.true() if value else exp.false()
        if column.kind is Kind.INTEGER and isinstance(value, int):
            return self.integer(value)
        if column.kind is Kind.DECIMAL:
            return self.decimal(Decimal(value), column.scale)  # type: ignore[arg-type]
        if column.kind is Kind.DATE and isinstance(value, dt.date):
            return self.date(value)
        if column.kind is Kind.TIMESTAMP and isinstance(value, dt.datetime):
            return self.timestamp(value)
        return exp.Literal.string(str(value))

    def integer(self, value: int) -> exp.Expr:
        """An integer of up to 38 digits; of 64 bits where they suffice."""
        fits = MIN_BIGINT <= value <= MAX_BIGINT
        # As text: the smallest 64-bit integer would be parsed as a minus and a number that does not fit.
        return exp.cast(exp.Literal.string(str(value)), "BIGINT" if fits else "DECIMAL(38, 0)")

    def decimal(self, value: Decimal, scale: int) -> exp.Expr:
        """A decimal that has the scale of the column it is compared with."""
        kind = "DECIMAL" if self.decimal_digits is None else f"DECIMAL({self.decimal_digits}, {scale})"
        return exp.cast(exp.Literal.string(format(value, "f")), kind)

    def date(self, value: dt.date) -> exp.Expr:
        """A date."""
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")

    def timestamp(self, value: dt.datetime) -> exp.Expr:
        """A timestamp without time zone."""
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ", timespec="microseconds")), "TIMESTAMP")

    def like(self, text: exp.Expr, parts: Sequence[str | Wildcard]) -> exp.Expr:
        """A pattern in which every special character of a literal piece is escaped, and nothing else."""
        pattern = "".join(part.value if isinstance(part, Wildcard) else escape_pattern(part) for part in parts)
        return exp.Escape(
            this=exp.Like(this=text, expression=exp.Literal.string(pattern)), expression=exp.Literal.string(_ESCAPE)
        )

    def usable(self, value: exp.Expr, column: Column) -> list[exp.Expr]:
        """The conditions under which a value can be an item or a user: not NULL, and representable in Python.

        Engines have dates before the year 1 and after 9999, and infinity; they count as missing.
        """
        if column.kind is Kind.DATE:
            return [exp.Between(this=value, low=self.date(_FIRST_DAY), high=self.date(_LAST_DAY))]
        if column.kind is Kind.TIMESTAMP:
            first, last = dt.datetime.combine(_FIRST_DAY, dt.time.min), dt.datetime.combine(_LAST_DAY, dt.time.max)
            return [exp.Between(this=value, low=self.timestamp(first), high=self.timestamp(last))]
        return [value.is_(exp.null()).not_()]

    def usable_together(self, text: exp.Expr) -> list[exp.Expr]:
        """What must hold of several user columns that are joined to one text, beside what each must fulfil."""
        return []

    def absent(self, values: Sequence[exp.Expr], listed: Sequence[exp.Expr], table: exp.Expr) -> exp.Expr:
        """Whether no row of the table has these values; ``listed`` are its columns, none of them NULL."""
        same = exp.and_(*(there.eq(here) for there, here in zip(listed, values, strict=True)))
        return exp.not_(exp.Exists(this=exp.select("1").from_(table).where(same)))

    def total(self, value: exp.Expr) -> exp.Expr:
        """The sum of integers, exact up to 64 bits; NULL, or 0, if there are none."""
        # Without copies and without parsing the name of the type: weights are long, and there are many sums.
        summed = exp.Sum(this=exp.cast(value, exp.DType.BIGINT, copy=False))
        return exp.cast(summed, exp.DType.BIGINT, copy=False)

    def total_of_weights(self, weight: exp.Expr, largest: int) -> exp.Expr:
        """The same for weights of which none is larger."""
        return self.total(weight)

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """A fence: these columns of a table aliased ``rows_``, in a subquery that no outer condition changes.

        Every column is computed for every row, so that success depends on the columns and on nothing else in the
        question; tests check it by each engine's EXPLAIN.
        """
        values = (exp.alias_(self.opaque(row_column(name)), name, quoted=True) for name in names)
        return exp.select(*values).from_(table).offset(0)

    def opaque(self, value: exp.Expr) -> exp.Expr:
        """The value, hidden from the engine's planner."""
        return value

    def join_few(self, query: exp.Select, table: str) -> exp.Select:
        """The query, told that this table of its join has few rows, where the engine would not know."""
        return query

    def by_user(self, pairs: exp.Query) -> exp.Query:
        """Distinct pairs, of which those of a user are together: told to an engine that would move them once more."""
        return pairs

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """The statement that keeps the rows of a query until the session ends."""
        return exp.Create(
            this=exp.to_table(name),
            kind="TABLE",
            expression=query,
            properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
        )

    def sql(self, expression: exp.Expr) -> str:
        """The text to send; writing it may change the expression, which is used for nothing else."""
        return expression.sql(self.name, comments=False, copy=False)


class DuckDB(Dialect):
    """DuckDB 2."""

    name = "duckdb"
    arithmetic: sums.Arithmetic = sums.DuckDBArithmetic()
    computes_once = True
    materializes = True
    holds_nul = True
    own_hash = True

    def opaque(self, value: exp.Expr) -> exp.Expr:
        """A volatile value: otherwise table statistics would answer for users outside their minimum and maximum."""
        return sums.unless_negative(exp.Rand(), value)

    def decimal_text(self, value: exp.Expr, scale: int) -> exp.Expr:
        """The same; where all digits of a type are after the point, this engine writes none before it, and 0 as .00."""
        text = super().decimal_text(value, scale)
        if scale == 0:
            return text
        zero = exp.EQ(this=value.copy(), expression=exp.Literal.number(0))
        return exp.Case(ifs=[exp.If(this=zero, true=exp.Literal.string("0"))], default=text)

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        """A number of 64 bits, which takes much less time than MD5.

        A salt is used for one question only, so no choice need equal that of another engine, or of another version.
        """
        return exp.Anonymous(this="HASH", expressions=[text])

    def concat(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        """The concatenated texts, in one step."""
        return exp.Anonymous(this="CONCAT", expressions=list(parts))

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer."""
        return exp.Anonymous(this="EPOCH_US", expressions=[value])


class Postgres(Dialect):
    """PostgreSQL 14 or later."""

    name = "postgres"
    arithmetic: sums.Arithmetic = sums.PostgresArithmetic()
    decimal_digits: int | None = None
    materializes = True
    keeps_sizes = True

    def total_of_weights(self, weight: exp.Expr, largest: int) -> exp.Expr:
        """Integers of 32 bits, such as small weights, are added up in half the time; the sum has 64."""
        if largest > _MAX_FAST_WEIGHT:
            return self.total(weight)
        # It would wrap around, but no table has the 2^41 rows for that.
        return exp.Sum(this=weight)

    def decimal_text(self, value: exp.Expr, scale: int) -> exp.Expr:
        """A decimal in plain digits without trailing zeros."""
        return self.text(exp.Anonymous(this="TRIM_SCALE", expressions=[value]))

    def date_text(self, value: exp.Expr) -> exp.Expr:
        """A date as YYYY-MM-DD, whatever the session's DateStyle."""
        return exp.Anonymous(this="TO_CHAR", expressions=[value, exp.Literal.string("YYYY-MM-DD")])

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """A window that counts all rows first: OFFSET 0 alone keeps conditions out, but a plan may stop early.

        It does so where all distinct values are constants of a condition, and where a merge join runs out of rows.
        """
        inner = super().fence(table, names).subquery(ROWS)
        counted = exp.Window(this=rows()) > 0
        values = (exp.Case(ifs=[exp.If(this=counted.copy(), true=row_column(name))]) for name in names)
        outer = exp.select(*(exp.alias_(value, name, quoted=True) for value, name in zip(values, names, strict=True)))
        return outer.from_(inner).offset(0)

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer: EXTRACT is an exact numeric here."""
        seconds = exp.Extract(this=exp.var("EPOCH"), expression=value)
        return exp.cast(exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000)), "BIGINT")


class Spark(Dialect):
    """Spark 4, ANSI mode, time zone UTC."""

    name = "spark"
    arithmetic: sums.Arithmetic = sums.SparkArithmetic()
    holds_nul = True
    keeps_sizes = True

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text, grouped, compared and ordered by its bytes."""
        return exp.Collate(this=text, expression=exp.to_identifier("UTF8_BINARY"))

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """A fence made of values that depend on a row's position: no condition moves below them.

        OFFSET 0 is optimised away here, and a large LIMIT would bring all rows to one executor.
        """
        query = super().fence(table, names)
        query.set("offset", None)
        return query

    def join_few(self, query: exp.Select, table: str) -> exp.Select:
        """The few rows go to where the others are, which then need not move."""
        return query.hint(f"BROADCAST({table})", dialect=self.name)

    def by_user(self, pairs: exp.Query) -> exp.Query:
        """Made after all rows of a user are in one place: rows move once, and not once more by pair."""
        if not pairs.args.get("distinct"):
            # Pairs of kept pairs, which stay where they are, and pairs that a join chose.
            return pairs
        pairs.set("distinct", None)
        pairs.set("distribute", exp.Distribute(expressions=[column(USER)]))
        return exp.select("*").distinct().from_(pairs.subquery("moved", copy=False), copy=False)

    def opaque(self, value: exp.Expr) -> exp.Expr:
        """A value that is not deterministic; the engine knows that random numbers are not negative."""
        return sums.unless_negative(exp.Anonymous(this="MONOTONICALLY_INCREASING_ID"), value)

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer."""
        return exp.Anonymous(this="UNIX_MICROS", expressions=[value])

    def usable(self, value: exp.Expr, column: Column) -> list[exp.Expr]:
        """Known, something that Python can hold, and not bytes in the place of text."""
        if column.kind is Kind.TEXT:
            return [exp.Anonymous(this="IS_VALID_UTF8", expressions=[value])]
        return super().usable(value, column)


def escape_pattern(piece: str, escape: str = _ESCAPE) -> str:
    """Text in which the special characters of LIKE stand for themselves."""
    return "".join(escape + character if character in f"{escape}%_" else character for character in piece)
