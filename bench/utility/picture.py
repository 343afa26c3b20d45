"""The picture of the utility bench: recall of every column on every data set, a panel for each k and epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bench.utility.cells import Cell
from bench.utility.columns import COLUMNS
from bench.utility.data import HELD_OUT
from podium.present.drawing.page import SMALL, WIDTH, Page, Picture
from podium.present.drawing.style import font

__all__ = ["draw"]

_LEFT, _RIGHT, _GAP = 1.35, 0.2, 0.14
_ROW, _BETWEEN, _LEGEND, _TICKS = 0.2, 0.42, 0.15, 0.3
_MARKS: Final = ("x", "+", "v", "s", "^")


def draw(found: Sequence[Cell], path: Path) -> Picture:
    """Draws and writes the picture."""
    names = list(dict.fromkeys(cell.data for cell in found))
    epsilons, ks = sorted({cell.epsilon for cell in found}), sorted({cell.k for cell in found})
    height = _ROW * len(names)
    body = _LEGEND + len(epsilons) * (height + _BETWEEN) + _TICKS
    note = (
        "Recall: the share of the true top k that came back. Laplace, Gaussian and union with the bound D that was "
        "best by hindsight, which podium does not know. Bars: two standard errors. Held-out data sets are marked *."
    )
    page = Page("Recall of the default, without tuning, and of five others", [note], body=body, dark=False)
    width = (WIDTH - _LEFT - _RIGHT - _GAP * (len(ks) - 1)) / len(ks)
    for row, epsilon in enumerate(epsilons):
        top = _LEGEND + row * (height + _BETWEEN) + _BETWEEN
        for place, k in enumerate(ks):
            left = _LEFT + place * (width + _GAP)
            axes = page.axes(left=left, right=WIDTH - left - width, above=top, below=body - top - height)
            some = {cell.data: cell for cell in found if (cell.epsilon, cell.k) == (epsilon, k)}
            _panel(page, axes, [some.get(name) for name in names])
            page.text(axes, 0.5, 1.02, f"k={k}, ε={epsilon:g}", transform=axes.transAxes, ha="center", va="bottom",
                      fontproperties=font(SMALL))  # fmt: skip
            axes.set_yticks(range(len(names)), [_label(name) for name in names] if place == 0 else [""] * len(names))
            axes.tick_params(axis="x", labelbottom=row == len(epsilons) - 1)
    _legend(page)
    page.picture.alt = " ".join(
        f"{cell.name}: podium {cell.podium.mean:.2f}, best other {cell.best.recall.mean:.2f}." for cell in found
    )
    page.picture.save(path)
    return page.picture


def _panel(page: Page, axes: Axes, rows: Sequence[Cell | None]) -> None:
    for place, cell in enumerate(rows):
        if cell is None:
            continue
        for number, name in enumerate(COLUMNS):
            axes.plot(cell.columns[name].recall.mean, place, marker=_MARKS[number], color=page.style.series[number + 1],
                      markersize=4.5, alpha=0.9, linestyle="none")  # fmt: skip
        axes.errorbar(cell.podium.mean, place, xerr=2 * cell.podium.error, marker="o", markersize=5.5,
                      color=page.style.series[0], elinewidth=1.2, linestyle="none")  # fmt: skip
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])


def _label(name: str) -> str:
    return name + "*" * (name in HELD_OUT)


def _legend(page: Page) -> None:
    handles = [Line2D([], [], marker="o", linestyle="none", color=page.style.series[0], label="podium")]
    handles += [
        Line2D([], [], marker=mark, linestyle="none", color=color, label=name)
        for mark, color, name in zip(_MARKS, page.style.series[1:], COLUMNS, strict=True)
    ]
    page.picture.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.15 / WIDTH, (page.top + 0.03) / page.height), ncols=6,
        frameon=False, prop=font(7.5), handletextpad=0.1, columnspacing=0.9, labelcolor=page.style.ink,
    )  # fmt: skip
