"""Items and values of a release as JSON and back. Whoever wrote a document may be hostile: sizes are bounded."""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer
from podium.histogram import Item
from podium.release.outcome import BOTTOM
from podium.user_columns import UserColumns, user_columns

__all__ = [
    "LARGEST_VALUE", "LONGEST_TEXT", "ValueKind", "decode_columns", "decode_item", "decode_k", "decode_value_kind",
    "decode_values", "encode_item", "of_type", "optional_text", "optional_user",
]  # fmt: skip

ValueKind: TypeAlias = Literal["gaps", "counts", "scores"]

# What a document may ask of its reader. Real releases stay far below.
LONGEST_TEXT: Final = 1 << 26
_DEEPEST_ITEM = 16
_MAX_K = 10**1000
LARGEST_VALUE: Final = 1 << 1000
_LARGEST_EXPONENT = 200_000


def of_type(value: Any, kind: type) -> Any:
    """A part of a document that must have this type."""
    if type(value) is not kind:
        raise TypeError
    return value


def optional_text(raw: dict[str, Any], name: str) -> str | None:
    """A text that may be missing."""
    return None if raw.get(name) is None else of_type(raw[name], str)


def optional_user(raw: dict[str, Any]) -> UserColumns | None:
    """The user column, or the list of several, where they are known."""
    named = raw.get("user")
    if named is None:
        return None
    return user_columns(named if isinstance(named, str) else [of_type(one, str) for one in of_type(named, list)])


def decode_columns(raw: Any) -> tuple[str, ...] | None:
    """The names of the item columns, where they are known."""
    if raw is None:
        return None
    columns = tuple(of_type(name, str) for name in of_type(raw, list))
    if not columns or len(set(columns)) != len(columns):
        raise ValueError
    return columns


def decode_k(raw: Any) -> int:
    """How many items were asked for."""
    k = exact_integer(raw, "k", minimum=0)
    if k > _MAX_K:
        raise ValueError
    return k


def decode_values(raw: Any, kind: Any, items: int) -> tuple[Fraction, ...] | None:
    """A count or score for each item, or at most as many gaps."""
    if raw is None:
        return None
    values = tuple(exact_fraction(of_type(value, str), "values") for value in of_type(raw, list))
    if len(values) > items or (kind in ("counts", "scores") and len(values) != items):
        raise ValueError
    if any(abs(value) > LARGEST_VALUE for value in values):
        raise ValueError
    return values


def decode_value_kind(kind: Any, values: Any) -> ValueKind | None:
    """What the values are; there is none exactly where there are no values."""
    if kind not in (None, "gaps", "counts", "scores") or (kind is None) != (values is None):
        raise ValueError
    return kind  # type: ignore[no-any-return]


def encode_item(item: Any) -> Any:
    """An item, or BOTTOM, as JSON."""
    if item is BOTTOM:
        return {"bottom": True}
    if item is None or isinstance(item, (str, bool, int)):
        return item
    if isinstance(item, tuple):
        return {"tuple": [encode_item(part) for part in item]}
    for kind, (cls, write, _) in _KINDS.items():
        if isinstance(item, cls):
            return {kind: write(item)}
    if hasattr(item, "item"):
        return encode_item(item.item())
    raise InvalidArgument("item", type(item).__name__, allowed="text, numbers, dates, bytes and tuples of these")


def decode_item(raw: Any, depth: int = 0) -> Item:
    """The item that ``encode_item`` wrote."""
    if depth > _DEEPEST_ITEM:
        raise ValueError
    if raw is None or isinstance(raw, (str, bool, int)):
        return raw
    ((kind, value),) = of_type(raw, dict).items()
    if kind == "bottom":
        return BOTTOM
    if kind == "tuple":
        return tuple(decode_item(part, depth + 1) for part in of_type(value, list))
    return _KINDS[kind][2](of_type(value, str))  # type: ignore[no-any-return]


def _decode_decimal(text: str) -> Decimal:
    number = Decimal(text)
    if number.is_snan() or (number.is_finite() and abs(number.adjusted()) > _LARGEST_EXPONENT):
        raise ValueError
    return number


# A datetime is also a date, so it comes first.
_KINDS: dict[str, tuple[type, Any, Any]] = {
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "decimal": (Decimal, str, _decode_decimal),
    "float": (float, float.__repr__, float),
    "bytes": (bytes, lambda item: base64.b64encode(item).decode("ascii"), partial(base64.b64decode, validate=True)),
}
