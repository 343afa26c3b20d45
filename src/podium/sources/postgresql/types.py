"""PostgreSQL's types and podium's kinds, conversions that raise on no value, and which columns are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.sql.dialect import MAX_SCALE

__all__ = ["Cleaner", "NativeType", "column_of", "computed_query"]

_KINDS = {
    "text": Kind.TEXT,
    "varchar": Kind.TEXT,
    "bpchar": Kind.TEXT,
    "name": Kind.TEXT,
    "uuid": Kind.TEXT,
    "enum": Kind.TEXT,
    "bool": Kind.BOOLEAN,
    "int2": Kind.INTEGER,
    "int4": Kind.INTEGER,
    "int8": Kind.INTEGER,
    "numeric": Kind.DECIMAL,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamptz": Kind.TIMESTAMP,
    "float4": Kind.FLOAT,
    "float8": Kind.FLOAT,
}
_BASE = {
    Kind.INTEGER: "BIGINT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.FLOAT: "DOUBLE PRECISION",
}

# Every table that a query of this one reads, down to the last partition.
_COMPUTED = """
WITH RECURSIVE below AS (
    SELECT CAST({oid} AS pg_catalog.oid) AS oid
    UNION
    SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN below b ON b.oid = i.inhparent
), kinds AS (
    SELECT pg_catalog.bool_or(c.relkind NOT IN ('r', 'p', 'm')) OR pg_catalog.row_security_active({oid}) AS every
    FROM below b JOIN pg_catalog.pg_class c ON c.oid = b.oid
)
SELECT DISTINCT a.attname::text
FROM below b JOIN pg_catalog.pg_attribute a ON a.attrelid = b.oid CROSS JOIN kinds k
WHERE a.attnum > 0 AND NOT a.attisdropped AND (k.every OR a.attgenerated NOT IN ('', 's'))
"""


@dataclass(frozen=True, slots=True)
class NativeType:
    """The base type of a column or of its elements, "enum" for any enumeration; what lies around it.

    ``scale`` is None for a numeric that may have any number of digits after the point.
    """

    name: str
    scale: int | None = None
    domain: bool = False
    lists: int = 0


def column_of(name: str, type_: NativeType) -> Column:
    """The column as the catalogue describes it."""
    kind = _KINDS.get(type_.name, Kind.OTHER)
    scale = MAX_SCALE if type_.scale is None else max(type_.scale, 0)
    column = Column(name, kind, scale=scale if kind is Kind.DECIMAL else 0)
    if type_.lists:
        column = replace(column, kind=Kind.LIST, element=kind if type_.lists == 1 else Kind.OTHER)
    return column


def computed_query(oid: str) -> str:
    """The query for the columns computed on read; ``oid`` is how the driver writes the parameter.

    These are all columns of a view, a foreign table, a table with such a partition or a table with row policies, and
    the generated columns of another table that are not stored.
    """
    return _COMPUTED.format(oid=oid)


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Converts a value of a column, or an element of its list, to its kind."""

    types: Mapping[str, NativeType]

    def __call__(self, value: exp.Expr, column: Column) -> exp.Expr:
        """No cast here can fail on any value."""
        type_ = self.types.get(column.name)
        if type_ is None or column.kind is Kind.LIST:
            return value
        if column.kind is Kind.TEXT:
            plain = type_.name in ("text", "varchar") and not type_.domain
            return value if plain else exp.cast(value, "TEXT")
        if column.kind is Kind.DECIMAL:
            return _finite(exp.cast(value, "DECIMAL") if type_.domain else value)
        if type_.name == "timestamptz":
            return exp.AtTimeZone(this=value, zone=exp.Literal.string("UTC"))
        return exp.cast(value, _BASE[column.kind]) if type_.domain else value


def _finite(value: exp.Expr) -> exp.Expr:
    """The number, or NULL if it is infinite or NaN, which this engine orders after infinity."""
    low, high = (exp.cast(exp.Literal.string(text), "DECIMAL") for text in ("-Infinity", "Infinity"))
    within = exp.and_(exp.GT(this=value, expression=low), exp.LT(this=value.copy(), expression=high))
    return exp.Case(ifs=[exp.If(this=within, true=value.copy())])
