"""The picture of the known-domain bench: recall against epsilon, one panel for each data set and k."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from bench.known.goals import SET, Cell
from podium.present.drawing.page import SMALL, TEXT, WIDTH, Page, Picture
from podium.present.drawing.style import DASHES, font

__all__ = ["draw"]

_CURVES = ("peeling", "oneshot", "canonical 1/2", "canonical 1", "joint", SET)
_DASHES = (*DASHES[:5], "-")
_ROW, _ABOVE, _BELOW = 1.3, 0.62, 0.45
_LEFT, _RIGHT, _BETWEEN = 1.65, 0.25, 0.25


def draw(cells: Sequence[Cell], delta: str) -> Picture:
    """All data sets of the paper at one delta: rows are data sets, columns are k."""
    chosen = [cell for cell in cells if cell.delta == delta and not cell.held_out]
    names = list(dict.fromkeys(cell.data for cell in chosen))
    sizes = list(dict.fromkeys(cell.k for cell in chosen))
    default = "oneshot" if delta == "0" else "peeling at a rising rate"
    note = (
        f"Everybody has the same epsilon and delta={delta}. The planner answers with {default} by default, and with "
        "'set' where the order does not matter; the bands are two standard errors of what was simulated."
    )
    page = Page(
        f"Recall of a known domain, delta={delta}", [note], body=_ROW * len(names) + _ABOVE + _BELOW, dark=False
    )
    width = (WIDTH - _LEFT - _RIGHT - _BETWEEN * (len(sizes) - 1)) / len(sizes)
    for row, name in enumerate(names):
        for column, k in enumerate(sizes):
            left = _LEFT + column * (width + _BETWEEN)
            axes = page.axes(
                left=left,
                right=WIDTH - left - width,
                above=_ABOVE + row * _ROW,
                below=_BELOW + (len(names) - 1 - row) * _ROW + 0.3,
            )
            inside = [cell for cell in chosen if (cell.data, cell.k) == (name, k)]
            _panel(page, axes, sorted(inside, key=lambda cell: float(cell.epsilon)))
            _frame(page, axes, first=column == 0, last=row == len(names) - 1)
            if row == 0:
                page.text(axes, 0.5, 1.1, f"k={k:,}", transform=axes.transAxes, ha="center")
            if column == 0:
                page.text(
                    axes, -0.6 / width, 0.5, name, transform=axes.transAxes, ha="right", fontproperties=font(SMALL)
                )
    _legend(page)
    page.picture.alt = " ".join([f"Recall against epsilon at delta={delta}.", *map(_in_words, chosen), note])
    return page.picture


def _panel(page: Page, axes: Axes, cells: Sequence[Cell]) -> None:
    x = [float(cell.epsilon) for cell in cells]
    for place, name in enumerate(_CURVES):
        y = [cell.recall[name].mean for cell in cells]
        errors = [2.0 * cell.recall[name].error for cell in cells]
        color = _color(page, place)
        axes.plot(
            x, y, color=color, linestyle=_DASHES[place], linewidth=2.4 if name == SET else 1.3,
            zorder=2 if name == SET else 3, alpha=0.75 if name == SET else 1.0, gid=name,
        )  # fmt: skip
        low = [value - error for value, error in zip(y, errors, strict=True)]
        high = [value + error for value, error in zip(y, errors, strict=True)]
        axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)


def _frame(page: Page, axes: Axes, *, first: bool, last: bool) -> None:
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.03)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}" if first else ""))
    if last:
        page.label(axes, x="epsilon")


def _legend(page: Page) -> None:
    """Names in one line above the panels, each with a piece of its curve."""
    axes = page.axes(left=0.2, right=0.2, below=page.top - page.bottom - 0.3, above=0.05)
    axes.set_axis_off()
    axes.set_xlim(0.0, WIDTH - 0.4)
    axes.set_ylim(0.0, 1.0)
    start = 0.0
    for place, name in enumerate(_CURVES):
        color = _color(page, place)
        axes.plot(
            [start, start + 0.35], [0.5, 0.5], color=color, linestyle=_DASHES[place],
            linewidth=2.4 if name == SET else 1.5, gid="legend",
        )  # fmt: skip
        page.text(axes, start + 0.42, 0.5, name, color=color, fontproperties=font(TEXT), gid="curve name")
        start += 0.42 + page.width_of(name, font(TEXT)) + 0.25


def _color(page: Page, place: int) -> str:
    return page.style.ink if _CURVES[place] == SET else page.style.series[place]


def _in_words(cell: Cell) -> str:
    return f"{cell.name}, k={cell.k}: set {cell.recall[SET].mean:.2f}, best {cell.recall[cell.best].mean:.2f}."
