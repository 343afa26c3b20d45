"""The picture of a list over time: one line per item, from place to place and from period to period."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from podium.histogram import Item
from podium.present.drawing.page import SMALL, Page, Picture
from podium.present.drawing.style import font
from podium.present.text.names import clip
from podium.release import Release

__all__ = ["draw_lists"]

_ROW: Final = 0.3
_LEFT, _RIGHT, _BELOW = 0.55, 2.2, 0.55
_MAX_LABELS: Final = 8
_LONGEST: Final = 30


def draw_lists(lists: Mapping[str, Release], *, title: str | None, dark: bool) -> Picture:
    """Places from the top down; an item's line breaks where it was not in the list, and ends with its name."""
    periods = list(lists)
    places = max((len(release.items) for release in lists.values()), default=0)
    k = max((release.k for release in lists.values()), default=1)
    notes = [
        f"{len(periods)} lists of at most {k} items. Lists are noisy: items with nearly as many users change places.",
        "A line breaks where an item was not in the list.",
    ]
    page = Page(title or f"The private top {k} over time", notes, body=_ROW * k + _BELOW + 0.1, dark=dark)
    axes = page.axes(left=_LEFT, right=_RIGHT, above=0.05, below=_BELOW)
    for number, (item, ranks) in enumerate(_ranks(lists).items()):
        color = page.style.series[number % len(page.style.series)]
        heights = [float("nan") if rank is None else rank for rank in ranks]
        dashes = ("-", "--", ":", "-.")[number // len(page.style.series) % 4]
        axes.plot(
            range(len(periods)), heights, color=color, marker="o", markersize=3.5, linewidth=1.8, linestyle=dashes
        )
        if ranks[-1] is not None:
            page.text(
                axes, len(periods) - 1 + 0.02 * len(periods), ranks[-1], clip(str(item), _LONGEST), va="center",
                color=color, fontproperties=font(SMALL), clip_on=False,
            )  # fmt: skip
    axes.set_ylim(k + 0.5, 0.5)
    axes.set_xlim(-0.5, max(len(periods) - 0.5, 0.5))
    axes.set_yticks(range(1, k + 1))
    step = -(-len(periods) // _MAX_LABELS) or 1
    axes.set_xticks(range(0, len(periods), step), periods[::step])
    page.label(axes, x="period", y="place")
    ends = f"; at the end: {', '.join(map(str, lists[periods[-1]].items))}" if periods else ""
    page.picture.alt = f"{len(periods)} lists of at most {places} items over time{ends}."
    return page.picture


def _ranks(lists: Mapping[str, Release]) -> dict[Item, list[int | None]]:
    """For each item its place in every list; items of the last list come first, so that they have the plain colours."""
    ends = [item for release in reversed(list(lists.values())) for item in release.items]
    places = [{item: place for place, item in enumerate(release.items, 1)} for release in lists.values()]
    return {item: [ranks.get(item) for ranks in places] for item in dict.fromkeys(ends)}
