"""What items are ranked by: distinct users, rows (events), or the sum of a numeric column."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, positive_fraction
from podium.query.schema import Column, Kind, Schema
from podium.user_columns import UserColumns, is_user_column

__all__ = [
    "EVENTS",
    "MAX_CLIP",
    "NUMERIC",
    "USERS",
    "Measure",
    "canonical_measure",
    "check_measure",
    "number_text",
    "require_measure",
    "sum_of",
    "units_of",
]

USERS, EVENTS = "users", "events"
MAX_CLIP = 2**40
"""The most that one user may add to one item, in units, and how far pairs are kept before their clip is known."""
_SUM = re.compile(r'sum\(\s*(?:(?P<plain>\w+)|"(?P<quoted>(?:[^"]|"")+)")\s*\)', re.IGNORECASE)
_AGGREGATE = re.compile(
    r"(?P<name>count|avg|average|mean|max|min|median|total)\(\s*(?P<of>[^()]*?)\s*\)", re.IGNORECASE
)
_ALLOWED = "'users', 'events' or 'sum(COLUMN)'"
_QUOTING = 'Quote a name with spaces or signs as in SQL: sum("time spent").'
NUMERIC = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_CLIPS = "a number above 0, or a pair (-a, b) of numbers above 0"


@dataclass(frozen=True, slots=True)
class Measure:
    """Rows, or the sum of a column, in integer multiples of ``unit``.

    ``clip`` is the most that one user adds to one item, in units; None if it is chosen privately. ``floor`` is the
    least: 0, or below it for signed sums.
    """

    column: str | None
    unit: Fraction = Fraction(1)
    clip: int | None = None
    floor: int = 0

    @property
    def by(self) -> str:
        """The measure as a question states it."""
        return EVENTS if self.column is None else sum_of(self.column)

    @property
    def span(self) -> int | None:
        """By how much one user can move one item, up and down together, in units."""
        return None if self.clip is None else self.clip - self.floor

    def amount(self, units: Fraction | int) -> Fraction:
        """Units as the column has them."""
        return units * self.unit


def sum_of(column: str) -> str:
    """The measure of a column, as text."""
    plain = re.fullmatch(r"\w+", column) is not None
    return f"sum({column})" if plain else 'sum("{}")'.format(column.replace('"', '""'))


def canonical_measure(by: str) -> str:
    """The measure as it is stored, however it was written."""
    column = _column_of(by)
    return by if column is None else sum_of(column)


def units_of(amount: Fraction, measure: Measure | None, *, above: bool) -> int:
    """The least number of units that is at least this amount, or above it; users and events are counted by 1."""
    units = amount if measure is None else amount / measure.unit
    return math.floor(units) + 1 if above else math.ceil(units)


def number_text(stated: object, name: str) -> str | tuple[str, ...] | None:
    """A stated number, or the two ends of a clip, as exact text; None if nothing is stated."""
    if stated is None:
        return None
    if isinstance(stated, Sequence) and not isinstance(stated, str):
        return tuple(str(exact_fraction(end, name)) for end in stated)
    return str(exact_fraction(stated, name))


def require_measure(by: object, clip: object, unit: object) -> None:
    """Raise unless these fields of a question fit together; the column is checked against a schema later.

    ``by`` is None while it is not known, because it stands in SQL.
    """
    column = "" if by is None else _column_of(by)
    if by == USERS:
        for name, value in (("clip", clip), ("unit", unit)):
            if value is not None:
                raise InvalidArgument(
                    name, value, allowed="None with by='users', where a user counts once for each item",
                    hint="Say by='events' or by='sum(COLUMN)' to rank by something else.",
                )  # fmt: skip
        return
    if unit is not None:
        if column is None:
            raise InvalidArgument("unit", unit, allowed="None with by='events': rows are counted one by one")
        positive_fraction(unit, "unit")
    _clip_ends(clip)
    if column is None:
        _require_no_floor(clip)


def _require_no_floor(clip: object) -> None:
    """Raise if rows are said to be counted below 0."""
    if _clip_ends(clip)[0]:
        raise InvalidArgument(
            "clip", clip, allowed="one number above 0 with by='events'",
            hint="Rows are counted one by one, and there is no negative number of them.",
        )  # fmt: skip


def check_measure(by: str, clip: object, unit: object, schema: Schema, *, user: UserColumns) -> Measure | None:
    """The measure of a question over this schema; None for distinct users."""
    if by == USERS:
        return None
    name = _column_of(by)
    step = Fraction(1)
    if name is None:
        _require_no_floor(clip)
    else:
        step = _unit_of(schema.column(name, role="by"), unit, user)
    low, high = _clip_ends(clip)
    if high is None:
        return Measure(name, step)
    return Measure(name, step, _in_units(high, step, clip), -_in_units(-low, step, clip) if low else 0)


def _column_of(by: object) -> str | None:
    """The column that is summed; None if rows or users are counted."""
    if by in (USERS, EVENTS):
        return None
    found = _SUM.fullmatch(by.strip()) if isinstance(by, str) else None
    if found is None:
        raise InvalidArgument("by", by, allowed=_ALLOWED, hint=_nearest(by))
    return found["plain"] or found["quoted"].replace('""', '"')


def _nearest(by: object) -> str:
    """What may be meant by a measure that there is not."""
    if not isinstance(by, str):
        return _QUOTING
    if found := _AGGREGATE.fullmatch(by.strip()):
        if found["name"].casefold() == "count":
            meant = USERS if found["of"].casefold().startswith("distinct") else EVENTS
            return f"Say by={meant!r}."
        return f"by='sum({found['of']})' adds up a column; by='events' counts rows, by='users' distinct users."
    if not re.fullmatch(r"\w+", by):
        return _QUOTING
    counted = "by='events' counts rows, such as views or clicks; by='users' counts distinct users"
    return f"{counted}; by='sum({by})' adds up a column {by!r}."


def _unit_of(column: Column, unit: object, user: UserColumns) -> Fraction:
    if is_user_column(column.name, user):
        raise InvalidArgument("by", sum_of(column.name), allowed="the sum of a column other than the user column")
    if column.kind not in NUMERIC:
        raise InvalidArgument(
            "by", sum_of(column.name), allowed="the sum of a numeric column",
            hint=f"Column {column.name!r} is of kind {column.kind.value}; by='events' counts its rows.",
        )  # fmt: skip
    if unit is not None:
        return positive_fraction(unit, "unit")
    if column.kind is Kind.FLOAT:
        raise InvalidArgument(
            "unit", None, allowed=f"a number such as '0.01': what each value of {column.name!r} is rounded down to",
            hint="A sum of floating-point numbers depends on the order of rows, so podium adds up integer units.",
        )  # fmt: skip
    return Fraction(1, 10**column.scale) if column.kind is Kind.DECIMAL else Fraction(1)


def _clip_ends(clip: object) -> tuple[Fraction, Fraction | None]:
    """The least and the most that a user adds to an item; the most is None if it is not stated."""
    if clip is None:
        return Fraction(0), None
    if isinstance(clip, Sequence) and not isinstance(clip, str):
        if len(clip) != 2:
            raise InvalidArgument("clip", clip, allowed=_CLIPS)
        low, high = (exact_fraction(end, "clip") for end in clip)
        if low > 0:
            raise InvalidArgument("clip", clip, allowed="(-a, b): the first number is not above 0")
    else:
        low, high = Fraction(0), exact_fraction(clip, "clip")
    if high <= 0:
        raise InvalidArgument("clip", clip, allowed=_CLIPS)
    return low, high


def _in_units(amount: Fraction, unit: Fraction, clip: object) -> int:
    units = amount / unit
    if units.denominator != 1:
        shown = math.floor(units) * unit or unit
        raise InvalidArgument(
            "clip", clip, allowed=f"a multiple of the unit, {unit}", hint=f"The nearest below is {shown}."
        )
    if units > MAX_CLIP:
        raise InvalidArgument(
            "clip", clip, allowed=f"at most {MAX_CLIP} units", hint="State a larger unit, such as unit=1."
        )
    return int(units)
