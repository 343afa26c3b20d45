"""The ranked list as columns of text: places, items, and values where they were paid for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.measures import shown_measure, shown_value
from podium.present.text.names import item_columns, printable, text_width
from podium.present.user_shares import Share, shares, shares_of
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["Column", "align_columns", "ranking", "ranking_lines", "share_column", "value_columns"]

_NARROWEST = 4
_WIDEST = 40
"""A text that is longer makes its own line longer, and no other."""


class Column(NamedTuple):
    """A heading with the texts below it; numbers are aligned to the right."""

    name: str
    cells: list[str]
    right: bool = False


def ranking(release: Release, heading: str | None = None) -> list[Column]:
    """Headings with the texts below them; an item without a value has an empty cell."""
    places = [str(place) if release.ordered else "-" for place in range(1, len(release.items) + 1)]
    columns = [Column("rank", places, right=True), *(Column(*named) for named in item_columns(release, heading))]
    values = release.values or ()
    columns += value_columns(release, [*values, *[None] * (len(release.items) - len(values))])
    if part := shares(release):
        columns.append(share_column(release, [*part, *[None] * (len(release.items) - len(part))]))
    return columns


def share_column(release: Release, part: Sequence[Share | None]) -> Column:
    """The shares of items, with both ends of their intervals."""
    texts = [
        "" if one is None else f"{_percent(one.value)} ({_percent(one.low)} to {_percent(one.high, up=True)})"
        for one in part
    ]
    return Column(f"share of {shares_of(release)}", texts, right=True)


def _percent(share: Fraction, *, up: bool = False) -> str:
    """Tenths of a percent, rounded down, or up at the high end of an interval."""
    tenths = math.ceil(share * 1000) if up else math.floor(share * 1000)
    return f"{tenths // 10}.{tenths % 10}%"


def value_columns(release: Release, values: Sequence[Fraction | None]) -> list[Column]:
    """The values, and their intervals where the release says how noisy they are; none if it has no values."""
    if release.value_kind is None:
        return []
    name = "lead" if release.value_kind == "gaps" else printable(release.value_name or shown_measure(release).noun)
    columns = [
        Column(name, ["" if value is None else display(shown_value(release, value)) for value in values], right=True)
    ]
    margin = margin_of(release)
    if margin is not None:
        ends = [None if value is None else margin.around(value) for value in values]
        interval = ["" if end is None else f"{display(end[0])} to {display(end[1])}" for end in ends]
        columns.append(Column(f"{float(CONFIDENCE):.0%} interval", interval, right=True))
    return columns


def ranking_lines(release: Release, heading: str | None = None) -> list[str]:
    """The same as lines."""
    return align_columns(ranking(release, heading))


def align_columns(columns: Sequence[Column]) -> list[str]:
    """Lines of text, each column as wide as it needs to be on a screen; the heading is the first line."""
    widths = [max(_NARROWEST, text_width(name), *(_kept_width(cell) for cell in cells)) for name, cells, _ in columns]
    rows = [[name for name, _, _ in columns], *zip(*(cells for _, cells, _ in columns), strict=True)]
    return ["  ".join(map(_pad, row, widths, (right for _, _, right in columns))).rstrip() for row in rows]


def _kept_width(cell: str) -> int:
    """The width that a cell asks of its column."""
    width = text_width(cell)
    return width if width <= _WIDEST else 0


def _pad(text: str, width: int, right: bool) -> str:
    gap = " " * (width - text_width(text))
    return f"{gap}{text}" if right else f"{text}{gap}"
