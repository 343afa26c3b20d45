"""Schedules: their periods, the window of rows of each, and when it may be asked. All times are UTC."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from enum import StrEnum

from podium.errors import InvalidArgument
from podium.exact import exact_integer

__all__ = ["GROWING", "Every", "Period", "Schedule", "moment"]

GROWING = "growing"
_MAX_PERIODS = 100_000
_LAST_DAY = 28
"""Every month has this day, so all periods of a month can start on the same one."""
_WINDOW = re.compile(r"(?P<number>[1-9]\d{0,5}) ?(?P<unit>hour|day|week|month)s?")


class Every(StrEnum):
    """The length of a period."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


_LENGTHS = {Every.HOUR: dt.timedelta(hours=1), Every.DAY: dt.timedelta(days=1), Every.WEEK: dt.timedelta(weeks=1)}
"""A month has no fixed length."""


@dataclass(frozen=True, slots=True)
class Period:
    """One period: its list covers rows from ``opens`` up to, not including, ``closes``, when it ends."""

    index: int
    starts: dt.datetime
    opens: dt.datetime
    closes: dt.datetime

    @property
    def label(self) -> str:
        """The start of the period as text: also its name in the ledger."""
        return f"{self.starts:%Y-%m-%d}" if self.starts.time() == dt.time() else f"{self.starts:%Y-%m-%dT%H:%M}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Consecutive periods from ``start``; each list covers the last ``span`` of them, or all so far.

    The sliding windows of the first lists reach back before ``start``. A growing window (``span`` is None) begins at
    ``start``.
    """

    start: dt.datetime
    every: Every
    periods: int
    span: int | None

    @classmethod
    def of(cls, *, start: object, every: str, periods: int, window: str | None = None) -> Schedule:
        """A schedule as written: ``start="2026-01-01"``, ``every="day"``, ``window="7 days"`` or ``"growing"``.

        Without a window each list covers its own period.
        """
        number = exact_integer(periods, "periods", minimum=1)
        if number > _MAX_PERIODS:
            raise InvalidArgument("periods", periods, allowed=f"an integer from 1 to {_MAX_PERIODS}")
        if every not in list(Every):
            raise InvalidArgument("every", every, allowed=", ".join(map(repr, map(str, Every))))
        first, length = moment(start, "start"), Every(every)
        if length is Every.MONTH and first.day > _LAST_DAY:
            raise InvalidArgument("start", start, allowed=f"a day of the month from 1 to {_LAST_DAY} for every='month'")
        schedule = cls(first, length, number, _span(window, length))
        try:
            schedule.edge(number)
            schedule.edge(1 - (schedule.span or 1))
        except (OverflowError, ValueError):
            raise InvalidArgument("periods", periods, allowed="periods between the years 1 and 9999") from None
        return schedule

    def edge(self, index: int) -> dt.datetime:
        """The start of period ``index``, which is the end of the one before."""
        if self.every is not Every.MONTH:
            return self.start + index * _LENGTHS[self.every]
        months = self.start.year * 12 + self.start.month - 1 + index
        return self.start.replace(year=months // 12, month=months % 12 + 1)

    def period(self, index: int) -> Period:
        """Period ``index``, counted from 0."""
        opens = self.start if self.span is None else self.edge(index + 1 - self.span)
        return Period(index, self.edge(index), opens, self.edge(index + 1))

    def due(self, now: dt.datetime) -> int:
        """How many periods have ended by ``now``."""
        low, high = 0, self.periods
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.edge(middle) <= now else (low, middle - 1)
        return low

    @property
    def overlap(self) -> int:
        """How many lists can count the same row."""
        return self.periods if self.span is None else self.span

    def sentence(self) -> str:
        """The schedule in words."""
        plural = "" if self.periods == 1 else "s"
        first, last = self.edge(0), self.edge(self.periods)
        text = f"{self.periods:,} {self.every}{plural} from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"
        if self.span is None:
            return f"{text}; each list is about everything since the start"
        if self.span == 1:
            return f"{text}; each list is about its own {self.every}"
        return f"{text}; each list is about the last {self.span:,} {self.every}s"


def moment(value: object, name: str) -> dt.datetime:
    """Parse a time to UTC without a zone; a time without a zone is UTC, a date is its midnight."""
    allowed = "a date or time like 2026-01-31 or 2026-01-31T06:00, in UTC unless it has an offset"
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            raise InvalidArgument(name, value, allowed=allowed) from None
    if isinstance(value, dt.datetime):
        return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time())
    raise InvalidArgument(name, value, allowed=allowed)


def _span(window: object, every: Every) -> int | None:
    if window is None:
        return 1
    if window == GROWING:
        return None
    allowed = f"'{GROWING}', or a whole number of {every}s such as '7 {every}s'"
    written = _WINDOW.fullmatch(window) if isinstance(window, str) else None
    if written is None:
        raise InvalidArgument("window", window, allowed=allowed)
    number, unit = int(written["number"]), Every(written["unit"])
    if unit is every:
        return number
    if Every.MONTH in (unit, every):
        raise InvalidArgument("window", window, allowed=allowed, hint="Months are of different lengths.")
    span, rest = divmod(number * _LENGTHS[unit], _LENGTHS[every])
    if rest or not span:
        raise InvalidArgument("window", window, allowed=allowed)
    return span
