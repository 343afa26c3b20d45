"""The ranked list as columns of text: places, items, and values where they were paid for."""

from __future__ import annotations

from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.measures import shown_measure
from podium.present.text.names import item_columns, printable
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["ranking", "ranking_lines"]

_NARROWEST = 4


def ranking(release: Release, heading: str | None = None) -> list[tuple[str, list[str]]]:
    """Headings with the texts below them; an item without a value has an empty cell."""
    places = [str(place) if release.ordered else "-" for place in range(1, len(release.items) + 1)]
    columns = [("rank", places), *item_columns(release, heading)]
    if release.values is None:
        return columns
    missing = [""] * (len(release.items) - len(release.values))
    name = "lead" if release.value_kind == "gaps" else printable(release.value_name or shown_measure(release).noun)
    columns.append((name, [*map(display, release.values), *missing]))
    margin = margin_of(release)
    if margin is not None:
        ends = [margin.around(value) for value in release.values]
        interval = [f"{display(low)} to {display(high)}" for low, high in ends]
        columns.append((f"{float(CONFIDENCE):.0%} interval", [*interval, *missing]))
    return columns


def ranking_lines(release: Release, heading: str | None = None) -> list[str]:
    """The same as lines; only the places are aligned to the right."""
    columns = ranking(release, heading)
    widths = [max(_NARROWEST, len(name), *map(len, cells)) for name, cells in columns]
    rows = [tuple(name for name, _ in columns), *zip(*(cells for _, cells in columns), strict=True)]
    return ["  ".join([place.rjust(widths[0]), *map(str.ljust, cells, widths[1:])]).rstrip() for place, *cells in rows]
