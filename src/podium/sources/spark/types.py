"""Spark's types and podium's kinds, and conversions between them that raise on no value."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import types as spark
from sqlglot import exp

from podium.query.schema import Column, Kind

__all__ = ["column_of", "convert", "type_of"]

_KINDS: dict[type[spark.DataType], Kind] = {
    spark.StringType: Kind.TEXT,
    spark.CharType: Kind.TEXT,
    spark.VarcharType: Kind.TEXT,
    spark.BooleanType: Kind.BOOLEAN,
    spark.ByteType: Kind.INTEGER,
    spark.ShortType: Kind.INTEGER,
    spark.IntegerType: Kind.INTEGER,
    spark.LongType: Kind.INTEGER,
    spark.DecimalType: Kind.DECIMAL,
    spark.DateType: Kind.DATE,
    spark.TimestampType: Kind.TIMESTAMP,
    spark.TimestampNTZType: Kind.TIMESTAMP,
    spark.FloatType: Kind.FLOAT,
    spark.DoubleType: Kind.FLOAT,
    spark.ArrayType: Kind.LIST,
}
_MAX_DIGITS = 38


def column_of(name: str, type_: spark.DataType) -> Column:
    """The column as Spark's catalogue describes it."""
    if isinstance(type_, spark.ArrayType):
        element = column_of(name, type_.elementType)
        return replace(element, kind=Kind.LIST, element=Kind.OTHER if element.kind is Kind.LIST else element.kind)
    if isinstance(type_, spark.DecimalType):
        return Column(name, Kind.DECIMAL, scale=type_.scale)
    return Column(name, _KINDS.get(type(type_), Kind.OTHER))


def convert(value: exp.Expr, column: Column, type_: spark.DataType) -> exp.Expr:
    """A value of Spark's type in the form that podium's SQL expects of the column's kind.

    If the type is a list and the column a single value, the value is an element of that list.
    """
    if column.kind is Kind.LIST:
        return value
    if isinstance(type_, spark.ArrayType):
        return convert(value, column, type_.elementType)
    if isinstance(type_, spark.TimestampNTZType):
        # The same moment, because the session's time zone is UTC.
        return exp.cast(value, "TIMESTAMP")
    return value


def type_of(column: Column) -> spark.DataType:
    """The type for values of a countable kind; timestamps convert without the local time zone."""
    if column.kind is Kind.DECIMAL:
        return spark.DecimalType(_MAX_DIGITS, column.scale)
    return {
        Kind.TEXT: spark.StringType(),
        Kind.INTEGER: spark.LongType(),
        Kind.BOOLEAN: spark.BooleanType(),
        Kind.DATE: spark.DateType(),
        Kind.TIMESTAMP: spark.TimestampNTZType(),
    }[column.kind]
