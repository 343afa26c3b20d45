"""The ranked list as columns of text: places, items, and values where they were paid for."""

from __future__ import annotations

from podium.present.intervals import CONFIDENCE, margin_of
from podium.present.text.names import item_texts, printable
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["ranking", "ranking_lines"]

_NARROWEST = 4


def ranking(release: Release, heading: str) -> dict[str, list[str]]:
    """Columns by their headings; an item without a value has an empty cell."""
    places = [str(place) if release.ordered else "-" for place in range(1, len(release.items) + 1)]
    columns = {"rank": places, printable(heading): item_texts(release)}
    if release.values is None:
        return columns
    missing = [""] * (len(release.items) - len(release.values))
    name = "lead" if release.value_kind == "gaps" else "users"
    columns[name] = [*map(display, release.values), *missing]
    margin = margin_of(release)
    if margin is not None:
        ends = [margin.around(value) for value in release.values]
        interval = [f"{display(low)} to {display(high)}" for low, high in ends]
        columns[f"{float(CONFIDENCE):.0%} interval"] = [*interval, *missing]
    return columns


def ranking_lines(release: Release, heading: str) -> list[str]:
    """The same as lines; only the places are aligned to the right."""
    columns = ranking(release, heading)
    widths = [max(_NARROWEST, len(name), *map(len, cells)) for name, cells in columns.items()]
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    return ["  ".join([place.rjust(widths[0]), *map(str.ljust, cells, widths[1:])]).rstrip() for place, *cells in rows]
