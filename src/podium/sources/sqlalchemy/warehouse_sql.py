"""Trino's, BigQuery's and Databricks' SQL, as their documentation says. Nothing here has been run by those engines.

``podium check`` says whether one of them does with it what podium needs; their golden SQL is what it would be sent.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from podium.query.predicate import Wildcard
from podium.sources.sql.arithmetic import Arithmetic, RoundedDivision
from podium.sources.sql.dialect import MAX_BIGINT, MIN_BIGINT, Dialect, Spark, escape_pattern

__all__ = ["BigQuery", "Databricks", "Trino"]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - podium's timestamps are without zone and mean UTC
_MILLION = 1_000_000


class TrinoArithmetic(RoundedDivision):
    """Trino: decimals have 38 digits; their quotient is rounded, and NaN equals nothing."""


class Trino(Dialect):
    """Trino: text is compared by code point; there are no temporary tables."""

    name = "trino"
    arithmetic: Arithmetic = TrinoArithmetic()
    keeps_rows = True

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text itself: there are no collations."""
        return text

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        """MD5 as 32 lower-case hex digits: the engine hashes bytes, and writes capitals."""
        hashed = exp.Anonymous(this="MD5", expressions=[exp.Anonymous(this="TO_UTF8", expressions=[text])])
        return exp.Lower(this=exp.Anonymous(this="TO_HEX", expressions=[hashed]))

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """Only the columns: the rows are kept in a table, which is the fence."""
        return _without_offset(super().fence(table, names))

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """The seconds, which are exact, and the last six digits of the text: no function gives less than 1/1000 s."""
        micros = exp.cast(value, exp.DataType.build("TIMESTAMP(6)", dialect=self.name))
        whole = exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string("second"), micros])
        seconds = exp.Anonymous(
            this="DATE_DIFF", expressions=[exp.Literal.string("second"), self.timestamp(_EPOCH), whole]
        )
        digits = exp.Anonymous(this="SUBSTR", expressions=[self.text(micros.copy()), exp.Literal.number(-6)])
        return exp.Add(
            this=exp.Mul(this=seconds, expression=exp.Literal.number(_MILLION)), expression=exp.cast(digits, "BIGINT")
        )

    def timestamp(self, value: dt.datetime) -> exp.Expr:
        """A timestamp with its microseconds: the type has milliseconds unless it says so."""
        text = exp.Literal.string(value.isoformat(sep=" ", timespec="microseconds"))
        return exp.cast(text, exp.DataType.build("TIMESTAMP(6)", dialect=self.name))

    def keep(self, name: str, query: exp.Query) -> exp.Expr:
        """A table: this engine has no temporary ones, so what has to be kept is refused before this is sent."""
        return exp.Create(this=exp.to_table(name), kind="TABLE", expression=query)


class BigQueryArithmetic(Arithmetic):
    """BigQuery: BIGNUMERIC has 38 digits before the point and 38 behind it."""

    def wide(self, value: exp.Expr) -> exp.Expr:
        """An integer of 38 digits."""
        return exp.cast(value, exp.DType.BIGDECIMAL)

    def quotient(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The quotient, which this function computes exactly."""
        return exp.Anonymous(this="DIV", expressions=[self.wide(value), self.wide(divisor)])

    def remainder(self, value: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The rest of that division."""
        return exp.Anonymous(this="MOD", expressions=[self.wide(value), self.wide(divisor)])

    def distinct_elements(self, values: exp.Expr) -> exp.Expr:
        """A list without repetitions: this engine has no function for it."""
        element = exp.to_identifier("element")
        unnested = exp.Unnest(expressions=[values], alias=exp.TableAlias(columns=[element]))
        distinct = exp.select(exp.column(element.copy())).from_(unnested).distinct()
        return exp.Anonymous(this="ARRAY", expressions=[distinct])

    def unscaled(self, value: exp.Expr, scale: int, below: int) -> exp.Expr:
        """The product, which has room: a text would have lost its zeros."""
        return exp.Mul(this=self.wide(value), expression=self.wide(exp.Literal.string(str(10**scale))))


class BigQuery(Dialect):
    """BigQuery: texts by bytes if no collation says otherwise; DATETIME is a time without zone."""

    name = "bigquery"
    arithmetic: Arithmetic = BigQueryArithmetic()
    decimal_digits: int | None = None
    keeps_rows = True

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text without its collation."""
        return exp.Anonymous(this="COLLATE", expressions=[text, exp.Literal.string("")])

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        """MD5 as 32 lower-case hex digits: the engine gives bytes."""
        hashed = exp.Anonymous(this="MD5", expressions=[text])
        return exp.Anonymous(this="TO_HEX", expressions=[hashed])

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """Only the columns: the rows are kept in a table, which is the fence."""
        return _without_offset(super().fence(table, names))

    def decimal_text(self, value: exp.Expr, scale: int) -> exp.Expr:
        """A decimal in plain digits: this engine omits trailing zeros itself."""
        return self.text(value)

    def integer(self, value: int) -> exp.Expr:
        """An integer of up to 38 digits."""
        fits = MIN_BIGINT <= value <= MAX_BIGINT
        return exp.cast(exp.Literal.string(str(value)), exp.DType.BIGINT if fits else exp.DType.BIGDECIMAL)

    def decimal(self, value: Decimal, scale: int) -> exp.Expr:
        """A decimal of any scale: NUMERIC rounds at the ninth place."""
        return exp.cast(exp.Literal.string(format(value, "f")), exp.DType.BIGDECIMAL)

    def like(self, text: exp.Expr, parts: Sequence[str | Wildcard]) -> exp.Expr:
        """A pattern escaped by backslashes: the only escape that this engine knows."""
        pattern = "".join(part.value if isinstance(part, Wildcard) else escape_pattern(part, "\\") for part in parts)
        return exp.Like(this=text, expression=exp.Literal.string(pattern))

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A time as microseconds since 1970, an integer."""
        return exp.Anonymous(this="DATETIME_DIFF", expressions=[value, self.timestamp(_EPOCH), exp.var("MICROSECOND")])


class Databricks(Spark):
    """Databricks SQL: Spark's, in which a table that is kept is a temporary one of the session."""

    name = "databricks"

    def sql(self, expression: exp.Expr) -> str:
        """As Spark has it, but a temporary table is no view, which would be computed each time that it is read."""
        text, view = super().sql(expression), "CREATE TEMPORARY VIEW "
        return f"CREATE TEMPORARY TABLE {text.removeprefix(view)}" if text.startswith(view) else text


def _without_offset(query: exp.Select) -> exp.Select:
    query.set("offset", None)
    return query
