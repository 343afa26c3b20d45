"""Tables that every engine must count alike: small, fixed, and full of values on which engines like to disagree."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.support.columns import columns

from podium.query.schema import Column

__all__ = ["COMPARISONS", "DOMAIN", "EMPTY", "EVENTS", "FLOATS", "NAMES", "WIDE", "Table", "quoted", "utc"]


def utc(*parts: int) -> dt.datetime:
    """A timestamp as podium has them: without time zone, and meaning UTC."""
    year, month, day, hour, minute, second, micros = (*parts, *(0,) * (7 - len(parts)))
    return dt.datetime(year, month, day, hour, minute, second, micros, tzinfo=dt.UTC).replace(tzinfo=None)


def quoted(name: str, mark: str = '"') -> str:
    """A name as SQL quotes it, whatever characters it has."""
    return mark + name.replace(mark, 2 * mark) + mark


@dataclass(frozen=True)
class Table:
    """A table to load: Python values, None where missing; a list column's values are tuples."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> list[Any]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]


# What differs only in case, accents, composition or trailing blanks must stay apart. U+FF5E sorts before U+1D11E by
# code point and by UTF-8, but after it by UTF-16.
TEXTS: tuple[str, ...] = (
    "", " ", "a", "a ", "A", "b", "B", "\u00e9", "e\u0301", "E\u0301", "\u00c9", "\u00df", "ss", "SS", "\u03a9",
    "\u2126", "\uff5e", "\U0001d11e", "\U0001f600", "\ue000", "\ufffd", "\u0130", "i", "I", "\u0131", "O'Brien",
    'the "quote"', "back\\slash", "50%", "50x", "a_b", "axb", "!bang!", "two\nlines", "tab\tbed", "12:34", "1:2:34",
    "\u0645\u0631\u062d\u0628\u0627", "\u65e5\u672c", "-- not a comment", "NULL", "null", "1", "01", "1.0",
)  # fmt: skip
NUMBERS: tuple[int, ...] = (0, 1, 2, 3, 5, 9, 10, 11, -1, -10, 100, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63))
AMOUNTS: tuple[Decimal, ...] = tuple(
    map(Decimal, ("0.00", "-0.01", "0.01", "1.50", "1.05", "10.00", "100.00", "-100.00", "9.99", "9999999999999999.99"))
)
DAYS: tuple[dt.date, ...] = (
    dt.date(1900, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date(2024, 1, 31),
    dt.date(2024, 10, 1), dt.date(2261, 12, 31),
)  # fmt: skip
MOMENTS: tuple[dt.datetime, ...] = (
    utc(1901, 1, 1, 0, 0, 0, 1),
    utc(1969, 12, 31, 23, 59, 59, 999999),
    utc(1970, 1, 1),
    utc(2024, 3, 31, 1, 30),
    utc(2024, 3, 31, 2, 30),
    utc(2024, 3, 31, 2, 30, 0, 1),
    utc(2261, 1, 1, 12),
)
_USERS, _ROWS = 40, 700


def _pick(values: Sequence[Any], row: int, column: str, *, missing: int = 12) -> Any:
    """A value by a hash of its place, so that the table is always the same; one in ``missing`` is missing."""
    digest = hashlib.sha256(f"{row}/{column}".encode()).digest()
    if digest[0] % missing == 0:
        return None
    # The square of a uniform number prefers the first values: some items are common, many are tied.
    share = (int.from_bytes(digest[1:5], "big") / 2**32) ** 2
    return values[int(share * len(values))]


def _list(values: Sequence[Any], row: int, column: str) -> Any:
    size = _pick((2, 1, 3, 0, 5), row, f"{column}/size")
    return None if size is None else tuple(_pick(values, row, f"{column}/{place}") for place in range(size))


def _event(row: int) -> tuple[Any, ...]:
    user = _pick(range(_USERS), row, "user", missing=25)
    return (
        None if user is None else user - 5,
        None if user is None else f"{TEXTS[user]}:{user}",
        _pick(TEXTS, row, "label"),
        _pick(NUMBERS, row, "number"),
        _pick(AMOUNTS, row, "amount"),
        _pick((True, False), row, "flag"),
        _pick(DAYS, row, "day"),
        _pick(MOMENTS, row, "moment"),
        _list(TEXTS, row, "tags"),
        _list(NUMBERS, row, "codes"),
    )


_COLUMNS = columns(
    {
        "user_id": "integer",
        "user name": "text",
        "label": "text",
        "number": "integer",
        "amount": "decimal(2)",
        "flag": "boolean",
        "day": "date",
        "moment": "timestamp",
        "tags": "list(text)",
        "codes": "list(integer)",
    }
)

EVENTS = Table("events", _COLUMNS, tuple(_event(row) for row in range(_ROWS)))
EMPTY = Table("nothing", _COLUMNS, ())
DOMAIN = Table(
    "labels",
    columns({"label": "text", "code": "integer"}),
    (("a", 1), ("A", 2), ("a", 1), ("nobody", 5), (None, 7), ("\U0001d11e", 2**63 - 1), ("zero", None), ("\uff5e", -1)),
)
NAMES = Table(
    "names",
    columns(
        {
            "u": "text",
            "item0": "integer",
            "n": "integer",
            "rows_": "text",
            "select": "text",
            'we"ird': "text",
            "Größe": "integer",
        }
    ),
    (
        ("a", 1, 1, "x", "s", "w", 5),
        ("a", 2, 1, "y", "s", "w", 5),
        ("b", 2, 2, "y", "t", "w", 5),
        ("b", 3, 1, "x", "t", "v", 6),
        ("c", 3, 1, "x", "t", "v", 6),
    ),
)
COMPARISONS = Table(
    "comparisons",
    columns({"who": "integer", "better": "text", "worse": "text"}),
    tuple(
        (_pick(range(12), row, "who"), _pick(TEXTS[:9], row, "better"), _pick(TEXTS[:9], row, "worse"))
        for row in range(200)
    ),
)
FLOATS = Table(
    "floats",
    columns({"user_id": "integer", "weight": "float", "label": "text"}),
    ((1, 1.5, "a"), (2, float("nan"), "b")),
)
WIDE = Table(
    "wide",
    columns({"user_id": "integer", "day": "date", "moment": "timestamp"}),
    (
        (1, dt.date(1, 1, 1), utc(1, 1, 1)),
        (2, dt.date(9999, 12, 31), utc(9999, 12, 31, 23, 59, 59, 999999)),
        (3, dt.date(1582, 10, 10), utc(1582, 10, 10, 12)),
        (4, dt.date(1582, 10, 10), utc(1582, 10, 10, 12)),
    ),
)
