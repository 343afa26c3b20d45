"""ClickHouse's types and podium's kinds, and conversions between them that raise on no value."""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from podium.query.schema import Column, Kind

__all__ = ["column_of", "convert", "type_of"]

_KINDS = {
    "String": Kind.TEXT,
    "FixedString": Kind.TEXT,
    "Enum8": Kind.TEXT,
    "Enum16": Kind.TEXT,
    "UUID": Kind.TEXT,
    "Bool": Kind.BOOLEAN,
    **dict.fromkeys((f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)), Kind.INTEGER),
    "Decimal": Kind.DECIMAL,
    "Date": Kind.DATE,
    "Date32": Kind.DATE,
    "DateTime": Kind.TIMESTAMP,
    "DateTime64": Kind.TIMESTAMP,
    "Float32": Kind.FLOAT,
    "Float64": Kind.FLOAT,
    "BFloat16": Kind.FLOAT,
    "Array": Kind.LIST,
}
_TYPE = re.compile(r"(?P<name>\w+)(?:\((?P<inside>.*)\))?", re.DOTALL)
_WRAPPERS = ("Nullable", "LowCardinality")
_MAX_DIGITS = 38
_TO_TEXT = {"Enum8": "toString", "Enum16": "toString", "UUID": "toString"}
_MICROS, _UTC = 6, exp.Literal.string("UTC")
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


def _parts(type_: str) -> tuple[str, str]:
    """The name of a type and its arguments, without wrappers that only say how it is stored."""
    found = _TYPE.fullmatch(type_.strip())
    if found is None:
        return "", ""
    if found["name"] in _WRAPPERS:
        return _parts(found["inside"] or "")
    return found["name"], found["inside"] or ""


def column_of(name: str, type_: str) -> Column:
    """The column as ClickHouse describes it."""
    base, inside = _parts(type_)
    kind = _KINDS.get(base, Kind.OTHER)
    if kind is Kind.DECIMAL:
        digits, scale = map(int, inside.split(","))
        return Column(name, kind, scale=scale) if digits <= _MAX_DIGITS else Column(name, Kind.OTHER)
    if kind is Kind.LIST:
        element = column_of(name, inside)
        return replace(element, kind=kind, element=Kind.OTHER if element.kind is Kind.LIST else element.kind)
    return Column(name, kind, unsigned=base == "UInt64")


def convert(value: exp.Expr, column: Column, type_: str) -> exp.Expr:
    """A value of ClickHouse's type in the form that podium's SQL expects of the column's kind.

    If the type is a list and the column a single value, the value is an element of that list.
    """
    base, inside = _parts(type_)
    if column.kind is Kind.LIST:
        return value
    if base == "Array":
        return convert(value, column, inside)
    if base == "FixedString":
        return _padded_text(value, inside)
    if base in _TO_TEXT:
        return _call(_TO_TEXT[base], value)
    if base == "Date":
        return _call("toDate32", value)
    if base == "DateTime":
        return _call("toDateTime64", value, exp.Literal.number(_MICROS), _UTC.copy())
    if base == "DateTime64":
        return _microseconds(value, int(inside.split(",")[0]))
    return value


def _padded_text(value: exp.Expr, size: str) -> exp.Expr:
    """The text without the zero bytes that fill it up; NULL if there is more after the first of them."""
    text = _call("toStringCutToZero", value)
    same = exp.EQ(this=_call("toFixedString", text, exp.Literal.number(size.strip())), expression=value.copy())
    return exp.Case(ifs=[exp.If(this=same, true=text.copy())])


def _microseconds(value: exp.Expr, precision: int) -> exp.Expr:
    """A timestamp with microseconds; NULL outside the years 1 to 9999.

    The engine's own conversion between precisions raises where it overflows; multiplying a range that was checked
    does not.
    """
    if precision == _MICROS:
        return value
    ticks = _call("reinterpretAsInt64", value)
    second = 10**precision
    largest = 2**63 - 1
    low, high = max(_FIRST_SECOND * second, -largest), min((_LAST_SECOND + 1) * second - 1, largest)
    known = exp.Between(this=ticks, low=exp.Literal.number(low), high=exp.Literal.number(high))
    factor = exp.Literal.number(10 ** abs(precision - _MICROS))
    if precision < _MICROS:
        scaled: exp.Expr = exp.Mul(this=ticks.copy(), expression=factor)
    else:
        scaled = _call("intDiv", ticks.copy(), factor)
    return exp.Case(ifs=[exp.If(this=known, true=_call("fromUnixTimestamp64Micro", scaled, _UTC.copy()))])


def type_of(column: Column) -> str:
    """The type for values of a countable kind."""
    if column.kind is Kind.DECIMAL:
        return f"Decimal({_MAX_DIGITS}, {column.scale})"
    return {
        Kind.TEXT: "String",
        Kind.INTEGER: "UInt64" if column.unsigned else "Int64",
        Kind.BOOLEAN: "Bool",
        Kind.DATE: "Date32",
        Kind.TIMESTAMP: "DateTime64(6, 'UTC')",
    }[column.kind]


def _call(function: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(arguments))
