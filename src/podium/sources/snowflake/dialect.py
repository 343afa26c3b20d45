"""How Snowflake writes SQL, as its documentation says; an emulator has run it, the real service has not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.sql.arithmetic import Arithmetic, RoundedDivision
from podium.sources.sql.dialect import MAX_BIGINT, MIN_BIGINT, Dialect

__all__ = ["Snowflake", "convert", "kind_of", "type_of"]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - podium's timestamps are without zone and mean UTC
_MICROS = "TIMESTAMP_NTZ(6)"


class SnowflakeArithmetic(RoundedDivision):
    """Snowflake: numbers have 38 digits, of which a division takes some for its scale; NaN equals itself."""

    max_product = 10**30
    typed_division = False

    def is_nan(self, value: exp.Expr) -> exp.Expr | None:
        """NaN equals itself here."""
        return exp.EQ(this=value, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE"))


class Snowflake(Dialect):
    """Snowflake. What a view shows is kept in a table first: nobody has seen what its planner does to a fence."""

    name = "snowflake"
    arithmetic: Arithmetic = SnowflakeArithmetic()
    keeps_rows = True
    keeps_sizes = True

    def binary(self, text: exp.Expr) -> exp.Expr:
        """The text, grouped, compared and ordered by its bytes, whatever collation its column or schema has."""
        return exp.Collate(this=text, expression=exp.Literal.string("utf8"))

    def fence(self, table: exp.Expr, names: Sequence[str]) -> exp.Select:
        """Only the columns: the rows are kept in a table, which is the fence."""
        query = super().fence(table, names)
        query.set("offset", None)
        return query

    def integer(self, value: int) -> exp.Expr:
        """An integer of up to 38 digits; as a plain number where a column of the kind could not hold it."""
        if MIN_BIGINT <= value <= MAX_BIGINT:
            return super().integer(value)
        return exp.paren(exp.Literal.number(value)) if value < 0 else exp.Literal.number(value)

    def microseconds(self, value: exp.Expr) -> exp.Expr:
        """A timestamp as microseconds since 1970, an integer."""
        parts = [exp.var("MICROSECOND"), self.timestamp(_EPOCH), value]
        return exp.Anonymous(this="DATEDIFF", expressions=parts)

    def timestamp(self, value: dt.datetime) -> exp.Expr:
        """A timestamp without time zone, whatever TIMESTAMP means in the session."""
        text = exp.Literal.string(value.isoformat(sep=" ", timespec="microseconds"))
        return exp.cast(text, exp.DataType.build(_MICROS, dialect=self.name))

    def sql(self, expression: exp.Expr) -> str:
        """The text to send, all names in quotes: without them this engine writes names in capitals."""
        return expression.sql(self.name, comments=False, copy=False, identify=True)


def kind_of(name: str, type_: str) -> Column:
    """The column as DESCRIBE TABLE shows it. Times with a zone are none of podium's kinds."""
    base, _, inside = type_.upper().partition("(")
    digits = inside.partition(")")[0].split(",")
    if base == "NUMBER":
        scale = int(digits[1]) if len(digits) > 1 else 0
        return Column(name, Kind.INTEGER) if scale == 0 else Column(name, Kind.DECIMAL, scale=scale)
    return Column(name, _KINDS.get(base.strip(), Kind.OTHER))


_KINDS = {
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP_NTZ": Kind.TIMESTAMP,
    "FLOAT": Kind.FLOAT,
}


def convert(value: exp.Expr, column: Column) -> exp.Expr:
    """The value as podium's kinds have it: integers beyond 64 bits are missing, times end at the microsecond."""
    if column.kind is Kind.INTEGER:
        least, most = (exp.Literal.number(limit) for limit in (MIN_BIGINT, MAX_BIGINT))
        inside = exp.Between(this=value.copy(), low=least, high=most)
        return exp.Case(ifs=[exp.If(this=inside, true=value)])
    if column.kind is Kind.TIMESTAMP:
        return exp.cast(value, exp.DataType.build(_MICROS, dialect="snowflake"))
    return value


def type_of(column: Column) -> str:
    """The type for values of a countable kind."""
    if column.kind is Kind.DECIMAL:
        return f"NUMBER(38, {column.scale})"
    return {
        Kind.TEXT: "VARCHAR COLLATE 'utf8'",
        Kind.INTEGER: "NUMBER(38, 0)",
        Kind.BOOLEAN: "BOOLEAN",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: _MICROS,
    }[column.kind]
