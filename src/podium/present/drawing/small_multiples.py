"""The picture of a release with a list for each group: a small one for each, all with one scale."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from matplotlib.axes import Axes

from podium.present.all_lists import counting_sentence, one_list
from podium.present.drawing.page import SMALL, TEXT, WIDTH, Page, Picture
from podium.present.drawing.style import SPELLED_OUT, font, is_drawable
from podium.present.intervals import Margin, margin_of
from podium.present.measures import release_title, shown_measure
from podium.present.text.closing import closing_sentence
from podium.present.text.names import NO_ORDER, item_texts, printable, why_fewer
from podium.present.text.release_text import answer_text
from podium.release import GroupedRelease, RankedList

__all__ = ["MAX_GROUPS", "draw_groups"]

MAX_GROUPS: Final = 24
_MAX_ROWS: Final = 10
_COLUMNS: Final = 2
_EDGE: Final = 0.2
_GAP: Final = 0.45
_ROW: Final = 0.22
_HEAD: Final = 0.3
_FOOT: Final = 0.2
_PLACES: Final = 0.3
_WIDEST_NAME: Final = 1.6
_WIDEST_VALUE: Final = 0.7
_PANEL: Final = (WIDTH - 2 * _EDGE - (_COLUMNS - 1) * _GAP) / _COLUMNS


def draw_groups(release: GroupedRelease, *, title: str | None, dark: bool) -> Picture:
    """Panels in the order of the groups, two beside each other, and a few facts below."""
    lists = [(printable(group), found) for group, found in release.lists.items() if found.items][:MAX_GROUPS]
    margin = margin_of(release)
    rows = [lists[start : start + _COLUMNS] for start in range(0, len(lists), _COLUMNS)]
    heights = [_HEAD + _ROW * max(_length(found) for _, found in row) + _FOOT for row in rows]
    notes = _notes(release, margin)
    if not is_drawable(
        [*(group for group, _ in lists), *(name for _, found in lists for name in _names(release, found))]
    ):
        notes.insert(0, SPELLED_OUT)
    page = Page(title or release_title(release), notes, body=sum(heights) or 0.1, dark=dark)
    values = [float(value) for _, found in lists for value in found.values or ()]
    panels = _Panels(page, release, margin, max(values, default=0.0))
    above = 0.0
    for row, height in zip(rows, heights, strict=True):
        for column, (group, found) in enumerate(row):
            panels.draw(group, found, left=_EDGE + column * (_PANEL + _GAP), above=above + _HEAD)
        above += height
    page.picture.alt = answer_text(release)
    return page.picture


def _names(release: GroupedRelease, found: RankedList) -> list[str]:
    """The names of a panel, and after them those for which it has no room."""
    return item_texts(one_list(release, found))


def _length(found: RankedList) -> int:
    return min(len(found.items), _MAX_ROWS) + (len(found.items) > _MAX_ROWS)


@dataclass(frozen=True, slots=True)
class _Panels:
    """The panels of one page, on which bars of ``longest`` fill the room that there is for them."""

    page: Page
    release: GroupedRelease
    margin: Margin | None
    longest: float

    def draw(self, group: str, found: RankedList, *, left: float, above: float) -> None:
        """One panel, whose coordinates are inches to the right and rows down."""
        page, rows = self.page, _length(found)
        axes = page.axes(
            left=left, right=WIDTH - left - _PANEL, above=above, below=page.top - page.bottom - above - _ROW * rows
        )
        axes.set_axis_off()
        axes.set_xlim(0, _PANEL)
        axes.set_ylim(rows - 0.5, -0.5)
        bold = font(TEXT, bold=True)
        page.text(axes, 0, -1.2, page.cut(group, _PANEL, bold), fontproperties=bold, gid="group")
        counted = self.release.value_kind == "counts"
        self._names(axes, found, _WIDEST_NAME if counted else _PANEL - _PLACES)
        if counted and self.longest > 0:
            for place, value in enumerate((found.values or ())[:_MAX_ROWS]):
                self._bar(axes, place, value)

    def _names(self, axes: Axes, found: RankedList, room: float) -> None:
        page, prop = self.page, font(TEXT)
        names = _names(self.release, found)
        for place, name in enumerate(names[:_MAX_ROWS]):
            rank = str(place + 1) if self.release.ordered else ""
            page.text(axes, _PLACES - 0.1, place, rank, ha="right", color=page.style.muted, gid="rank",
                      fontproperties=font(SMALL))  # fmt: skip
            page.text(axes, _PLACES, place, page.cut(name, room, prop), gid="name")
        if len(names) > _MAX_ROWS:
            page.text(axes, _PLACES, _MAX_ROWS, f"and {len(names) - _MAX_ROWS:,} more", gid="ending", style="italic")

    def _bar(self, axes: Axes, place: int, value: Fraction) -> None:
        page, small = self.page, font(SMALL)
        start = _PLACES + _WIDEST_NAME + 0.1
        scale = (_PANEL - start - _WIDEST_VALUE) / self.longest
        end = start + max(0.0, float(value)) * scale
        axes.barh([place], [end - start], left=[start], height=0.62, color=page.style.bar, linewidth=0)
        if self.margin is not None:
            low, high = (min(start + max(0.0, float(edge)) * scale, _PANEL) for edge in self.margin.around(value))
            axes.plot([low, high], [place, place], color=page.style.ink, linewidth=1.1)
            end = max(end, high)
        text = f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.1f}"
        beside = min(end + 0.06, _PANEL - page.width_of(text, small))
        page.text(axes, beside, place, text, fontproperties=small, color=page.style.muted, gid="value")


def _notes(release: GroupedRelease, margin: Margin | None) -> list[str]:
    listed = sum(bool(found.items) for found in release.lists.values())
    notes = [f"and {listed - MAX_GROUPS:,} more groups"] if listed > MAX_GROUPS else []
    if not release.ordered and release.k > 1:
        notes.append(NO_ORDER)
    if not release.complete:
        notes.append(why_fewer(release))
    notes += [counting_sentence(release), *shown_measure(release).remarks]
    if margin is not None and listed:
        notes += [margin.sentence, "All bars have one scale; lines are intervals."]
    return [*filter(None, notes), closing_sentence(release)]
