"""Draws the figures of the studies: small panels in a grid, one colour per name, one legend for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from podium.present.drawing.page import SMALL, WIDTH, Page, Picture
from podium.present.drawing.style import DASHES, font
from reproduce.study import Figure, Panel, Series

__all__ = ["draw"]

_PANEL: Final = 2.05
_LEFT: Final = 0.72
_GUTTER: Final = 0.62
_RIGHT: Final = 0.2
_BELOW: Final = 0.52
_ABOVE: Final = 0.26
_LEGEND: Final = 0.24
_MARKS: Final = ("o", "s", "^", "D", "v", "P")


def draw(figure: Figure, *, dark: bool) -> Picture:
    """The whole figure on one page."""
    columns = figure.columns
    lines = -(-len(figure.panels) // columns)
    names = list(dict.fromkeys(series.name for panel in figure.panels for series in panel.series))
    legend = _Legend(names)
    body = lines * (_PANEL + _BELOW + _ABOVE)
    page = Page(figure.title, list(figure.notes), body=body + _LEGEND * legend.lines_in(figure, dark), dark=dark)
    width = (WIDTH - _LEFT - _RIGHT - _GUTTER * (columns - 1)) / columns
    for place, panel in enumerate(figure.panels):
        line, column = divmod(place, columns)
        left = _LEFT + column * (width + _GUTTER)
        top = page.top - page.bottom - body + line * (_PANEL + _BELOW + _ABOVE) + _ABOVE
        axes = page.axes(left=left, right=WIDTH - left - width, above=top, below=page.top - page.bottom - top - _PANEL)
        _panel(page, axes, panel, legend, first=column == 0)
    legend.draw(page)
    page.picture.alt = " ".join([f"{figure.title}.", *map(_in_words, figure.panels)])
    return page.picture


class _Legend:
    """Which colour, dash and mark belong to which name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def place(self, name: str) -> int:
        return self.names.index(name)

    def lines_in(self, figure: Figure, dark: bool) -> int:
        return len(self._rows(Page(figure.title, [], body=1.0, dark=dark)))

    def _rows(self, page: Page) -> list[list[tuple[str, float]]]:
        """Names with their left ends in inches, as many to a line as fit."""
        rows: list[list[tuple[str, float]]] = [[]]
        left = _LEFT
        for name in self.names:
            need = 0.45 + page.width_of(name, font(SMALL)) + 0.25
            if rows[-1] and left + need > WIDTH - 0.2:
                rows.append([])
                left = _LEFT
            rows[-1].append((name, left))
            left += need
        return rows

    def draw(self, page: Page) -> None:
        for number, row in enumerate(self._rows(page)):
            y = page.top - _LEGEND * (number + 0.4)
            for name, left in row:
                place = self.place(name)
                color = page.style.series[place % len(page.style.series)]
                ends = page.picture.add_axes(
                    (left / WIDTH, (y - 0.06) / page.height, 0.36 / WIDTH, 0.12 / page.height), gid="legend"
                )
                ends.set_axis_off()
                ends.plot(
                    [0, 0.5, 1],
                    [0, 0, 0],
                    color=color,
                    linewidth=1.7,
                    linestyle=DASHES[place % 6],
                    marker=_MARKS[place % 6],
                    markersize=3.5,
                    markevery=[1],
                )
                page.picture.text(
                    (left + 0.45) / WIDTH,
                    y / page.height,
                    name,
                    va="center_baseline",
                    color=color,
                    fontproperties=font(SMALL),
                    gid="legend",
                    parse_math=False,
                    usetex=False,
                )


def _panel(page: Page, axes: Axes, panel: Panel, legend: _Legend, *, first: bool) -> None:
    if panel.level is not None:
        axes.axhline(panel.level, color=page.style.muted, linewidth=0.9, linestyle=(0, (3, 3)))
    for series in panel.series:
        _line(page, axes, series, legend.place(series.name))
    axes.set_xscale(panel.x_scale)
    axes.set_yscale(panel.y_scale)
    if panel.y_range is not None:
        axes.set_ylim(*panel.y_range)
    _ticks(axes, panel)
    page.label(axes, x=panel.x, y=panel.y if first else "")
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontproperties(font(SMALL))
    page.text(
        axes, 0.0, 1.03, panel.title, transform=axes.transAxes, va="bottom", fontproperties=font(SMALL, bold=True)
    )


def _line(page: Page, axes: Axes, series: Series, place: int) -> None:
    color = page.style.series[place % len(page.style.series)]
    if series.theory:
        axes.plot(series.x, series.y, color=color, linewidth=1.0, linestyle=DASHES[place % 6], alpha=0.9)
        return
    many = len(series.x) > 20
    axes.plot(
        series.x,
        series.y,
        color=color,
        linewidth=1.7,
        linestyle=DASHES[place % 6],
        marker="" if many else _MARKS[place % 6],
        markersize=3.2,
    )
    if series.low is not None and series.high is not None:
        axes.fill_between(series.x, series.low, series.high, color=color, alpha=0.22, linewidth=0)


def _ticks(axes: Axes, panel: Panel) -> None:
    for axis, scale in ((axes.xaxis, panel.x_scale), (axes.yaxis, panel.y_scale)):
        if scale == "log":
            axis.set_major_locator(LogLocator(numticks=6))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(_number))
        else:
            axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    if panel.percent:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))


def _number(value: float, _: object) -> str:
    return f"1e{round(math.log10(value))}" if value < 0.001 or value >= 1e5 else f"{value:g}"


def _in_words(panel: Panel) -> str:
    ends = "; ".join(
        f"{series.name} from {series.y[0]:.3g} at {series.x[0]:.3g} to {series.y[-1]:.3g} at {series.x[-1]:.3g}"
        for series in panel.series
        if len(series.x)
    )
    return f"{panel.title}: {ends}."
