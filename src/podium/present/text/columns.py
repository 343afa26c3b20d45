"""The ranked list as columns of text: places, items, and values where they were paid for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.measures import shown_measure
from podium.present.text.names import item_columns, printable
from podium.present.user_shares import shares
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["ranking", "ranking_lines", "value_columns"]

_NARROWEST = 4


def ranking(release: Release, heading: str | None = None) -> list[tuple[str, list[str]]]:
    """Headings with the texts below them; an item without a value has an empty cell."""
    places = [str(place) if release.ordered else "-" for place in range(1, len(release.items) + 1)]
    columns = [("rank", places), *item_columns(release, heading)]
    values = release.values or ()
    columns += value_columns(release, [*values, *[None] * (len(release.items) - len(values))])
    if part := shares(release):
        texts = [f"{_percent(one.value)} ({_percent(one.low)} to {_percent(one.high, up=True)})" for one in part]
        columns.append(("share of users", [*texts, *[""] * (len(release.items) - len(texts))]))
    return columns


def _percent(share: Fraction, *, up: bool = False) -> str:
    """Tenths of a percent, rounded down, or up at the high end of an interval."""
    tenths = math.ceil(share * 1000) if up else math.floor(share * 1000)
    return f"{tenths // 10}.{tenths % 10}%"


def value_columns(release: Release, values: Sequence[Fraction | None]) -> list[tuple[str, list[str]]]:
    """The values, and their intervals where the release says how noisy they are; none if it has no values."""
    if release.value_kind is None:
        return []
    name = "lead" if release.value_kind == "gaps" else printable(release.value_name or shown_measure(release).noun)
    columns = [(name, ["" if value is None else display(value) for value in values])]
    margin = margin_of(release)
    if margin is not None:
        ends = [None if value is None else margin.around(value) for value in values]
        interval = ["" if end is None else f"{display(end[0])} to {display(end[1])}" for end in ends]
        columns.append((f"{float(CONFIDENCE):.0%} interval", interval))
    return columns


def ranking_lines(release: Release, heading: str | None = None) -> list[str]:
    """The same as lines; only the places are aligned to the right."""
    columns = ranking(release, heading)
    widths = [max(_NARROWEST, len(name), *map(len, cells)) for name, cells in columns]
    rows = [tuple(name for name, _ in columns), *zip(*(cells for _, cells in columns), strict=True)]
    return ["  ".join([place.rjust(widths[0]), *map(str.ljust, cells, widths[1:])]).rstrip() for place, *cells in rows]
