"""DuckDB's types and podium's kinds, and conversions between them that raise on no value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.query.schema import Column, Kind
from podium.sources.sql.dialect import DuckDB

__all__ = ["check_declared", "column_of", "convert"]

_KINDS = {
    "varchar": Kind.TEXT,
    "enum": Kind.TEXT,
    "uuid": Kind.TEXT,
    "boolean": Kind.BOOLEAN,
    "tinyint": Kind.INTEGER,
    "smallint": Kind.INTEGER,
    "integer": Kind.INTEGER,
    "bigint": Kind.INTEGER,
    "utinyint": Kind.INTEGER,
    "usmallint": Kind.INTEGER,
    "uinteger": Kind.INTEGER,
    "ubigint": Kind.INTEGER,
    "decimal": Kind.DECIMAL,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_s": Kind.TIMESTAMP,
    "timestamp_ms": Kind.TIMESTAMP,
    "timestamp_ns": Kind.TIMESTAMP,
    "timestamp with time zone": Kind.TIMESTAMP,
    "float": Kind.FLOAT,
    "double": Kind.FLOAT,
    "list": Kind.LIST,
    "array": Kind.LIST,
}
_LISTS = ("list", "array")
_NESTED = (*_LISTS, "struct", "map", "union")
_WHOLE_NUMBER = "[+-]?[0-9]+"
# Podium's years. Beyond them microseconds may overflow, and a timestamp may have no text form: a cast raises, and some
# of DuckDB's TRY_CASTs crash the database.
_WIDE = {"timestamp_s": "TIMESTAMP_S", "timestamp_ms": "TIMESTAMP_MS"}
_TIMES = {**_WIDE, "timestamp": "TIMESTAMP", "timestamp with time zone": "TIMESTAMPTZ"}
_FIRST, _BEYOND = "0001-01-01", "10000-01-01"
_OPAQUE = DuckDB().opaque
_TARGETS = {Kind.TEXT: "VARCHAR", Kind.INTEGER: "BIGINT", Kind.BOOLEAN: "BOOLEAN", Kind.DATE: "DATE"}


def column_of(name: str, type_: Any) -> Column:
    """The column as DuckDB's catalogue describes it."""
    kind = _KINDS.get(type_.id, Kind.OTHER)
    if kind is Kind.DECIMAL:
        return Column(name, kind, scale=int(dict(type_.children)["scale"]))
    if kind is Kind.LIST:
        element = column_of(name, _child(type_))
        return replace(element, kind=kind, element=Kind.OTHER if element.kind is Kind.LIST else element.kind)
    return Column(name, kind, unsigned=type_.id == "ubigint")


def _child(type_: Any) -> Any:
    return dict(type_.children)["child"]


def check_declared(column: Column, type_: Any) -> None:
    """Raise if a declaration turns a list into a single value, or anything but text into a list."""
    if (column.kind is Kind.LIST) != (type_.id in _LISTS) and not (column.kind is Kind.LIST and type_.id == "varchar"):
        raise InvalidArgument(
            f"types[{column.name!r}]",
            column.kind.value,
            allowed="a list for a list or for text, a single value for a single value",
            hint=f"The table keeps the column as {'a list' if type_.id in _LISTS else 'a single value'}.",
        )
    value = _child(type_) if type_.id in _LISTS else type_
    if any(_is_unsafe(inner) for inner in _inner_types(value)):
        raise InvalidArgument(
            f"types[{column.name!r}]",
            column.kind.value,
            allowed="nothing for values that hold times or numbers of any size inside",
            hint="Their text does not exist for every value. Make a column of what you need, in the table or a view.",
        )


def _inner_types(type_: Any) -> Iterator[Any]:
    """The types that a value of this type is made of, itself left out."""
    if type_.id in _NESTED:
        for _, inner in type_.children:
            # A fixed-size list has its size among its children.
            if hasattr(inner, "id"):
                yield inner
                yield from _inner_types(inner)


def _is_unsafe(type_: Any) -> bool:
    """Whether some value of the type makes a cast to text raise, TRY_CAST or not."""
    name: str = type_.id
    return name == "bignum" or name.startswith(("time", "interval"))


def convert(value: exp.Expr, column: Column, type_: Any) -> exp.Expr:
    """A value of DuckDB's type converted to the column's kind; NULL where it does not parse.

    If the type is a list and the column a single value, the value is an element of that list.
    """
    if column.kind is Kind.LIST:
        # A list written as text becomes a list of texts, so that one bad element does not lose the others.
        return value if type_.id in _LISTS else _try(value, "VARCHAR[]")
    if type_.id in _LISTS:
        type_ = _child(type_)
    if type_.id in _WIDE:
        value = exp.cast(_within_years(value, type_.id), "TIMESTAMP")
    elif type_.id in _TIMES and column.kind is Kind.TEXT:
        value = _within_years(value, type_.id)
    if column_of(column.name, type_) == column:
        return _native(value, type_.id)
    if column.kind is Kind.INTEGER and type_.id in ("varchar", "bignum"):
        # What does not fit into 64 bits raises, if it is a number before the cast.
        value = value if type_.id == "varchar" else exp.cast(value, "VARCHAR")
        # A cast alone would round 1.6 to 2.
        whole = exp.Anonymous(this="REGEXP_FULL_MATCH", expressions=[value, exp.Literal.string(_WHOLE_NUMBER)])
        return exp.Case(ifs=[exp.If(this=whole, true=_try(value.copy(), "BIGINT"))])
    return _of_float(value, column) if _KINDS.get(type_.id) is Kind.FLOAT else _cast(value, column)


def _cast(value: exp.Expr, column: Column) -> exp.Expr:
    if column.kind is Kind.DECIMAL:
        return _try(value, f"DECIMAL(38, {column.scale})")
    if column.kind is Kind.TIMESTAMP:
        return _without_zone(_try(value, "TIMESTAMPTZ"))
    return _try(value, _TARGETS[column.kind])


def _of_float(value: exp.Expr, column: Column) -> exp.Expr:
    # A Parquet file's least and largest value leave NaN out. Where they are equal, the engine would convert them in its
    # place, so that other rows decide what it counts as, and whether it makes the question fail.
    value = _OPAQUE(value)
    if column.kind is Kind.INTEGER:
        same = exp.EQ(this=_try(value, "BIGINT"), expression=value.copy())
        return exp.Case(ifs=[exp.If(this=same, true=_try(value.copy(), "BIGINT"))])
    return _text_of_float(value) if column.kind is Kind.TEXT else _cast(value, column)


def _text_of_float(value: exp.Expr) -> exp.Expr:
    """One text for numbers that are equal, or a user could have two and count twice; NaN becomes NULL."""
    zero = exp.EQ(this=value, expression=exp.Literal.number(0))
    number = exp.or_(*(exp.Anonymous(this=name, expressions=[value.copy()]) for name in ("ISFINITE", "ISINF")))
    text = exp.cast(value.copy(), "VARCHAR")
    return exp.Case(ifs=[exp.If(this=zero, true=exp.Literal.string("0.0")), exp.If(this=number, true=text)])


def _native(value: exp.Expr, type_id: str) -> exp.Expr:
    """The same kind in another of DuckDB's types: an enumeration, a zone, another precision."""
    if type_id in ("enum", "uuid"):
        return exp.cast(value, "VARCHAR")
    if type_id == "timestamp with time zone":
        return _without_zone(value)
    if type_id == "timestamp_ns":
        return exp.cast(value, "TIMESTAMP")
    return value


def _within_years(value: exp.Expr, type_id: str) -> exp.Expr:
    """A timestamp; NULL outside the years 1 to 9999."""
    edges = map(exp.Literal.string, (_FIRST, _BEYOND))
    first, beyond = (exp.cast(edge, _TIMES[type_id], dialect="duckdb") for edge in edges)
    known = exp.and_(exp.GTE(this=value, expression=first), exp.LT(this=value.copy(), expression=beyond))
    return exp.Case(ifs=[exp.If(this=known, true=value.copy())])


def _without_zone(value: exp.Expr) -> exp.Expr:
    """A timestamp with time zone in UTC, whatever the session's zone; infinity becomes NULL."""
    micros = exp.Anonymous(this="EPOCH_US", expressions=[value])
    return exp.Anonymous(this="MAKE_TIMESTAMP", expressions=[micros])


def _try(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.TryCast(this=value, to=exp.DataType.build(type_, dialect="duckdb"))
