"""Types of columns, as PEP 249 compares them, and values as Python has them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from podium.query import Column

__all__ = ["BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "TypeObject", "native_value", "type_of", "type_of_column"]

_OF_KINDS: Final[dict[str, type]] = {
    "integer": int,
    "decimal": Decimal,
    "boolean": bool,
    "date": dt.date,
    "timestamp": dt.datetime,
}


class TypeObject:
    """A type code that is equal to each of its Python types, as in ``description[0][1] == NUMBER``."""

    def __init__(self, name: str, *kinds: type) -> None:
        self._name, self._kinds = name, frozenset(kinds)

    def __eq__(self, other: object) -> bool:
        return other in self._kinds if isinstance(other, type) else self is other

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return self._name


STRING: Final = TypeObject("STRING", str)
BINARY: Final = TypeObject("BINARY", bytes)
NUMBER: Final = TypeObject("NUMBER", int, float, Decimal, bool)
DATETIME: Final = TypeObject("DATETIME", dt.date, dt.time, dt.datetime)
ROWID: Final = TypeObject("ROWID")


def type_of(values: Iterable[object]) -> type:
    """The Python type of a column; text where there is no value, or more than one type."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float, Decimal, bool} and len(kinds) > 1:
        return Decimal
    return kinds.pop() if len(kinds) == 1 else str


def type_of_column(column: Column | None) -> type:
    """The Python type of a table's column, or of a list's elements; text where the column is not known."""
    kind = None if column is None else column.element or column.kind
    return str if kind is None else _OF_KINDS.get(kind.value, str)


def native_value(value: Any) -> Any:
    """An item or a value as plain Python: exact where Python has an exact type, otherwise the nearest float."""
    if not isinstance(value, Fraction):
        return value.item() if hasattr(value, "item") else value
    if value.denominator == 1:
        return int(value)
    rest, places = value.denominator, 0
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
        places += 1
    return float(value) if rest > 1 else Decimal(int(value * 10**places)).scaleb(-places)
