"""Items as text: the encoding in which values leave an engine and enter a hash, the same on every engine.

Drivers disagree on the Python type of a timestamp or a decimal, but not on text. Each engine writes an item in the
encoding below (``Dialect.encode``), and ``decode`` reads it back.

    text       itself
    integer    decimal digits, with a minus if negative
    decimal    the same, then a point and digits without trailing zeros; no point if there are none
    boolean    true or false
    date       YYYY-MM-DD, years 0001 to 9999
    timestamp  microseconds since 1970-01-01 00:00 UTC, as an integer; years 0001 to 9999
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from podium.histogram import Item
from podium.query.schema import Column, Kind

__all__ = ["COUNTABLE", "decode", "decode_item", "decode_items", "element_of"]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - podium's timestamps are without zone and mean UTC

_DECODERS: dict[Kind, Callable[[str], Item]] = {
    Kind.TEXT: str,
    Kind.INTEGER: int,
    Kind.DECIMAL: Decimal,
    Kind.BOOLEAN: lambda text: text == "true",
    Kind.DATE: dt.date.fromisoformat,
    Kind.TIMESTAMP: lambda text: _EPOCH + dt.timedelta(microseconds=int(text)),
}

COUNTABLE = tuple(_DECODERS)
"""The kinds that can be items, users and operands of a comparison: those with exact equality."""


def decode(kind: Kind, text: str) -> Item:
    """The value of that kind whose encoding is ``text``."""
    return _DECODERS[kind](text)


def decode_item(columns: tuple[Column, ...], texts: tuple[Any, ...]) -> Item:
    """One item: a value, or a tuple of values if there are several item columns."""
    parts = tuple(decode(column.kind, text) for column, text in zip(columns, texts, strict=True))
    return parts[0] if len(parts) == 1 else parts


def decode_items(columns: tuple[Column, ...], rows: Iterable[tuple[Any, ...]]) -> list[Item]:
    """The same for many rows."""
    if len(columns) == 1:
        read = _DECODERS[columns[0].kind]
        return [read(text) for (text,) in rows]
    return [decode_item(columns, row) for row in rows]


def element_of(column: Column) -> Column:
    """The column of single values: a list's elements, or the column itself."""
    if column.kind is not Kind.LIST:
        return column
    return Column(column.name, column.element or Kind.OTHER, scale=column.scale, unsigned=column.unsigned)
