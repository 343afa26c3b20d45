"""The table of an answer: the texts of its rows, and where their bars and intervals begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from podium.present.all_lists import all_items, all_values
from podium.present.intervals import Margin, margin_of
from podium.present.text.columns import ranking
from podium.present.text.group_lines import grouped_ranking
from podium.release import GroupedRelease, Release

__all__ = ["AnswerTable", "Bar", "Row", "answer_table"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value and its interval on the scale of all rows, as places and widths in percent."""

    start: str
    width: str
    low: str
    reach: str


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of a row, of which the second is its item, and its bar where it has a value."""

    cells: tuple[str, ...]
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """All rows, list by list. ``per`` are the columns that name a group, and each list has the texts of its group."""

    headers: list[str]
    per: list[str]
    lists: list[tuple[tuple[str, ...], list[Row]]]
    margin: Margin | None
    """How far the shown values may be from the true ones."""


def answer_table(release: Release, heading: str) -> AnswerTable:
    """The table of a release; ``heading`` names the column of its items."""
    listed = all_items(release) if isinstance(release, GroupedRelease) else release
    columns = grouped_ranking(release, heading) if isinstance(release, GroupedRelease) else ranking(release, heading)
    margin = margin_of(listed)
    rows = list(zip(*(column.cells for column in columns), strict=True))
    drawn = _bars(_values(release), margin) if release.value_kind in ("counts", "scores") else [None] * len(rows)
    names = [column.name for column in columns]
    if not isinstance(release, GroupedRelease):
        told = [Row(row, bar) for row, bar in zip(rows, drawn, strict=True)]
        return AnswerTable(names, [], [((), told)] if told else [], margin)
    count, every = len(release.per), zip(rows, drawn, strict=True)
    lists = []
    for found in release.lists.values():
        part = list(islice(every, len(found.items)))
        if part:
            lists.append((part[0][0][:count], [Row(row[count:], bar) for row, bar in part]))
    return AnswerTable(names[count:], names[:count], lists, margin)


def _values(release: Release) -> list[Fraction | None]:
    if isinstance(release, GroupedRelease):
        return all_values(release)
    known = list(release.values or ())
    return [*known, *[None] * (len(release.items) - len(known))]


def _bars(values: Sequence[Fraction | None], margin: Margin | None) -> list[Bar | None]:
    """On one scale from nothing to the furthest end of an interval; signed values may be on both sides of nothing."""
    ends = [None if one is None else (one, one) if margin is None else margin.around(one) for one in values]
    low = min((end[0] for end in ends if end is not None), default=Fraction(0))
    high = max((end[1] for end in ends if end is not None), default=Fraction(0))
    first, last = min(low, Fraction(0)), max(high, Fraction(0))
    span = last - first

    def place(value: Fraction) -> Fraction:
        return (max(first, min(last, value)) - first) / span if span else Fraction(0)

    bars: list[Bar | None] = []
    for value, end in zip(values, ends, strict=True):
        if value is None or end is None:
            bars.append(None)
            continue
        start, stop = sorted((place(Fraction(0)), place(value)))
        bars.append(Bar(_percent(start), _percent(stop - start), _percent(place(end[0])),
                        _percent(place(end[1]) - place(end[0]))))  # fmt: skip
    return bars


def _percent(part: Fraction) -> str:
    return f"{float(100 * part):.2f}"
