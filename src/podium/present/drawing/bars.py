"""The picture of a release: bars with intervals where counts were paid for, otherwise an ordered list."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from podium.present.drawing.page import SMALL, TEXT, WIDTH, Page, Picture
from podium.present.drawing.style import SPELLED_OUT, font, is_drawable
from podium.present.intervals import Margin, margin_of
from podium.present.measures import release_title, shown_measure, shown_value
from podium.present.text.closing import closing_sentence
from podium.present.text.names import NO_ORDER, item_texts, why_fewer
from podium.present.text.release_text import answer_text
from podium.present.user_shares import list_remarks
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["draw_ranking"]

MAX_ROWS: Final = 50
_ROW: Final = 0.27
_EDGE: Final = 0.2
_WIDEST_NAME: Final = 2.9
_NO_INTERVALS: Final = "The release does not say how noisy its counts are, so there are no intervals."


def draw_ranking(release: Release, *, title: str | None, dark: bool) -> Picture:
    """Rows in the order of the release, a few facts below."""
    rows = _rows(release)
    margin = margin_of(release)
    counted = release.value_kind == "counts" and bool(rows)
    notes = [*_remarks(release, margin, counted=counted), closing_sentence(release)]
    if not is_drawable(name for _, name, _ in rows[:MAX_ROWS]):
        notes.insert(0, SPELLED_OUT)
    ending = _ending(release, rows)
    body = _ROW * max(len(rows), 1) * bool(rows) + _ROW * len(ending) + (0.62 if counted else 0.1)
    page = Page(title or release_title(release), notes, body=body, dark=dark)
    if counted:
        _bars(page, release, rows, margin, ending)
    else:
        _list(page, release, rows, ending)
    page.picture.alt = answer_text(release)
    return page.picture


Row = tuple[str, str, Fraction | None]
"""Rank (empty where the order means nothing), name, value."""


def _rows(release: Release) -> list[Row]:
    names = item_texts(release)
    values: list[Fraction | None] = [*(release.values or ())]
    values += [None] * (len(names) - len(values))
    ranks = [str(place) if release.ordered else "" for place in range(1, len(names) + 1)]
    rows = list(zip(ranks, names, values, strict=True))
    if not release.ordered and release.value_kind == "counts":
        rows.sort(key=lambda row: -(row[2] or 0))
    return rows


def _ending(release: Release, rows: list[Row]) -> list[str]:
    """What stands in place of rows that are not there."""
    more = len(rows) - MAX_ROWS
    lines = [f"and {more:,} more"] if more > 0 else []
    return lines if release.complete else [*lines, why_fewer(release)]


def _remarks(release: Release, margin: Margin | None, *, counted: bool) -> list[str]:
    remarks = []
    if not release.ordered and release.k > 1:
        order = "by their noisy counts, which is not their true order" if counted else "in the order of their names"
        remarks.append(f"{NO_ORDER} They are drawn {order}.")
    if counted:
        remarks.append(_NO_INTERVALS if margin is None else margin.sentence)
    return [*remarks, *list_remarks(release)]


def _bars(page: Page, release: Release, rows: list[Row], margin: Margin | None, ending: list[str]) -> None:
    shown = rows[:MAX_ROWS]
    prop = font(TEXT)
    names = [page.cut(name, _WIDEST_NAME, prop) for _, name, _ in shown]
    column = max(page.width_of(name, prop) for name in names)
    ranks = max(page.width_of(rank, prop) for rank, _, _ in shown)
    left = _EDGE + ranks + (0.12 if ranks else 0) + column + 0.1
    labels = [_value_text(None if value is None else shown_value(release, value), margin) for _, _, value in shown]
    right = _EDGE + max(page.width_of(label, font(SMALL)) for label in labels) + 0.05
    axes = page.axes(left=left, right=right, below=0.5 + _ROW * len(ending))
    _draw_bars(page, axes, shown, margin)
    for place, ((rank, _, value), label) in enumerate(zip(shown, labels, strict=True)):
        across = axes.get_yaxis_transform()
        inches = WIDTH - left - right
        page.text(axes, -(0.1 + column + 0.12) / inches, place, rank, transform=across, ha="right", gid="rank",
                  color=page.style.muted)  # fmt: skip
        if value is not None:
            page.text(axes, 1 + (right - _EDGE) / inches, place, label, transform=across, fontproperties=font(SMALL),
                      ha="right", color=page.style.muted, gid="value")  # fmt: skip
    axes.set_yticks(range(len(shown)), names, parse_math=False, usetex=False, fontproperties=prop)
    axes.tick_params(axis="y", length=0, labelcolor=page.style.ink, pad=7)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    page.label(axes, x=_axis_name(release, margin))
    _write_ending(page, ending)


def _draw_bars(page: Page, axes: Axes, shown: list[Row], margin: Margin | None) -> None:
    known = [(place, value) for place, (_, _, value) in enumerate(shown) if value is not None]
    places = [place for place, _ in known]
    lengths = [max(0.0, float(value)) for _, value in known]
    axes.barh(places, lengths, height=0.62, color=page.style.bar, linewidth=0)
    if margin is not None:
        ends = [margin.around(value) for _, value in known]
        below = [max(0.0, length - float(low)) for length, (low, _) in zip(lengths, ends, strict=True)]
        beyond = [max(0.0, float(high) - length) for length, (_, high) in zip(lengths, ends, strict=True)]
        axes.errorbar(
            lengths, places, xerr=[below, beyond], fmt="none", ecolor=page.style.ink, elinewidth=1.3, capsize=3
        )
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlim(left=0)
    # As many ticks as there is room for their labels.
    widest = page.width_of(f"{axes.get_xlim()[1]:,.0f}", font(SMALL)) + 0.25
    room = axes.get_position().width * WIDTH
    axes.xaxis.set_major_locator(MaxNLocator(nbins=max(1, min(5, int(room / widest))), integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _axis_name(release: Release, margin: Margin | None) -> str:
    measure = shown_measure(release)
    noun = f"{measure.noun} (noisy {measure.column}"
    return f"{noun})" if margin is None else f"{noun}; whiskers: {margin.percent} confidence)"


def _value_text(value: Fraction | None, margin: Margin | None) -> str:
    if value is None:
        return ""
    return _number(value) if margin is None else f"{_number(value)} ± {_number(margin.width)}"


def _number(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.1f}"


def _list(page: Page, release: Release, rows: list[Row], ending: list[str]) -> None:
    shown = rows[:MAX_ROWS]
    count = len(shown) + len(ending)
    axes = page.axes(left=_EDGE, right=_EDGE, below=_ROW * len(ending) + 0.1)
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH - 2 * _EDGE)
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    prop = font(TEXT)
    ranks = max((page.width_of(rank, prop) for rank, _, _ in shown), default=0.0)
    start = ranks + 0.15 if ranks else 0.1
    leads = [_lead(release, value) for _, _, value in shown]
    widest = max((page.width_of(lead, font(SMALL)) for lead in leads), default=0.0)
    room = WIDTH - 2 * _EDGE - start - (widest + 0.2 if widest else 0)
    names = [page.cut(name, room, prop) for _, name, _ in shown]
    column = max((page.width_of(name, prop) for name in names), default=0.0)
    for place, ((rank, _, _), name, lead) in enumerate(zip(shown, names, leads, strict=True)):
        page.text(axes, ranks, place, rank, ha="right", color=page.style.muted, gid="rank")
        page.text(axes, start, place, name, gid="name")
        if lead:
            page.text(
                axes, start + column + 0.2, place, lead, gid="value", fontproperties=font(SMALL), color=page.style.muted
            )
    if count:
        _write_ending(page, ending)


def _lead(release: Release, value: Fraction | None) -> str:
    if value is None:
        return ""
    if release.value_kind == "scores":
        margin = margin_of(release)
        return f"score {display(shown_value(release, value))}" + (
            "" if margin is None else f" ± {display(margin.width)}"
        )
    to_threshold = release.mechanism == "SparseVector" or release.parameters.get("first") == "estimates"
    return f"{_number(value)} {'above the threshold' if to_threshold else 'ahead of the next'} (noisy)"


def _write_ending(page: Page, ending: list[str]) -> None:
    """Below the rows, above the notes."""
    for place, line in enumerate(reversed(ending)):
        y = page.bottom + _ROW * (place + 0.5)
        page.picture.text(
            _EDGE / WIDTH, y / page.height, line, va="center_baseline", color=page.style.ink, gid="ending",
            fontproperties=font(TEXT), style="italic", parse_math=False, usetex=False,
        )  # fmt: skip
