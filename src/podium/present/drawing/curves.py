"""Pictures made of curves: composition theorems, privacy profiles, recall. Each curve is named at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from podium.present.drawing.page import SMALL, WIDTH, Page, Picture
from podium.present.drawing.style import DASHES, font

__all__ = ["Curve", "Frame", "Marker", "draw_curves"]

_BODY: Final = 4.0
_LABEL_HEIGHT: Final = 0.19
_WIDEST_LABEL: Final = 2.35
_DOTS: Final = (0, (1, 2))

Scale = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Curve:
    """Points, with a name; ``low`` and ``high`` shade a band. A curve that is not valid is drawn thin and grey."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    best: bool = False
    valid: bool = True


@dataclass(frozen=True, slots=True)
class Marker:
    """A value of x, or a point, that the reader should find."""

    x: float
    text: str
    y: float | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What the axes are called and how they run."""

    x: str
    y: str
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    y_range: tuple[float, float] | None = None
    percent: bool = False
    markers: bool = False


def draw_curves(
    title: str, curves: Sequence[Curve], frame: Frame, *, notes: list[str], dark: bool, marker: Marker | None = None
) -> Picture:
    """All curves in one panel."""
    page = Page(title, notes, body=_BODY, dark=dark)
    prop = font(SMALL)
    cut = [replace(curve, name=page.cut(curve.name, _WIDEST_LABEL, prop)) for curve in curves]
    right = 0.2 + max(page.width_of(curve.name, font(SMALL, bold=curve.best)) for curve in cut) + 0.3
    axes = page.axes(left=0.85, right=right, below=0.5, above=0.3 if marker is not None else 0.05)
    for place, curve in enumerate(cut):
        _line(page, axes, curve, place, marker="o" if frame.markers else "")
    _frame(page, axes, cut, frame)
    if marker is not None:
        _mark(page, axes, marker)
    _name(page, axes, cut, right)
    page.picture.alt = " ".join([f"{title}.", *map(_in_words, curves), *notes])
    return page.picture


def _line(page: Page, axes: Axes, curve: Curve, place: int, *, marker: str) -> None:
    color = _color(page, curve, place)
    width = 2.6 if curve.best else 1.7 if curve.valid else 1.4
    style = "-" if curve.best else DASHES[place % len(DASHES)] if curve.valid else _DOTS
    axes.plot(curve.x, curve.y, color=color, linewidth=width, linestyle=style, label=curve.name, gid=curve.name,
              marker=marker, markersize=3.5)  # fmt: skip
    if curve.low is not None and curve.high is not None:
        axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.18, linewidth=0)


def _color(page: Page, curve: Curve, place: int) -> str:
    return page.style.series[place % len(page.style.series)] if curve.valid else page.style.muted


def _frame(page: Page, axes: Axes, curves: Sequence[Curve], frame: Frame) -> None:
    axes.set_xscale(frame.x_scale)
    axes.set_yscale(frame.y_scale)
    values = [value for curve in curves for value in curve.x]
    axes.set_xlim(min(values), max(values))
    if frame.y_range is not None:
        axes.set_ylim(*frame.y_range)
    if frame.x_scale == "log":
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if frame.y_scale == "log":
        axes.yaxis.set_major_locator(LogLocator(numticks=8))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(_power))
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        write: Callable[[float], str] = (
            (lambda value: f"{value:.0%}") if frame.percent else (lambda value: f"{value:g}")
        )
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    page.label(axes, x=frame.x, y=frame.y)


def _power(value: float, _: object) -> str:
    return f"1e{round(math.log10(value))}" if value < 0.01 else f"{value:g}"


def _mark(page: Page, axes: Axes, marker: Marker) -> None:
    axes.axvline(marker.x, color=page.style.ink, linewidth=1.0, linestyle=(0, (3, 3)), gid="marker")
    if marker.y is not None:
        axes.plot(marker.x, marker.y, marker="o", color=page.style.ink, markersize=6, gid="marker point")
    low, high = axes.get_xlim()
    place = (marker.x - low) / (high - low) if axes.get_xscale() == "linear" else (
        math.log(marker.x / low) / math.log(high / low)
    )  # fmt: skip
    side = "left" if place < 0.25 else "right" if place > 0.75 else "center"
    page.text(axes, place, 1.0, marker.text, transform=axes.transAxes, ha=side, va="bottom", gid="marker text",
              fontproperties=font(SMALL))  # fmt: skip


def _name(page: Page, axes: Axes, curves: Sequence[Curve], right: float) -> None:
    """Names beside the ends of the curves, moved apart as far as needed, each with a line to its end."""
    box = axes.get_position()
    height, width = box.height * page.height, WIDTH - 0.85 - right
    ends = [_end(axes, curve) for curve in curves]
    order = sorted(range(len(curves)), key=lambda place: (ends[place][1], -ends[place][0]))
    spots = _apart([ends[place][1] * height for place in order], _LABEL_HEIGHT, height)
    for place, spot in zip(order, spots, strict=True):
        color = _color(page, curves[place], place)
        x, y = ends[place]
        axes.plot([x, 1 + 0.22 / width], [y, spot / height], transform=axes.transAxes, color=color, linewidth=0.8,
                  clip_on=False, alpha=0.8, gid="leader")  # fmt: skip
        page.text(axes, 1 + 0.26 / width, spot / height, curves[place].name, transform=axes.transAxes, color=color,
                  fontproperties=font(SMALL, bold=curves[place].best), gid="curve name")  # fmt: skip


def _end(axes: Axes, curve: Curve) -> tuple[float, float]:
    """Where the curve leaves the panel, as shares of its width and height."""
    to_shares = axes.transData + axes.transAxes.inverted()
    drawn = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if axes.get_yscale() == "linear" or y > 0]
    shares = [(float(x), float(y)) for x, y in map(to_shares.transform, drawn)]
    last = next((place for place in reversed(range(len(shares))) if 0 <= shares[place][1] <= 1), len(shares) - 1)
    x, y = shares[last]
    if last + 1 < len(shares):
        next_x, next_y = shares[last + 1]
        edge = 1.0 if next_y > 1 else 0.0
        x, y = x + (next_x - x) * (edge - y) / (next_y - y), edge
    return x, min(1.0, max(0.0, y))


def _apart(wanted: list[float], distance: float, height: float) -> list[float]:
    """Places in rising order, at least a distance apart, as near to the wanted ones as a sweep up and down gives."""
    spots: list[float] = []
    for want in wanted:
        spots.append(max(want, spots[-1] + distance) if spots else max(want, 0.0))
    limit = height
    for place in reversed(range(len(spots))):
        spots[place] = min(spots[place], limit)
        limit = spots[place] - distance
    return spots


def _in_words(curve: Curve) -> str:
    start, end = (f"{curve.y[place]:.3g} at {curve.x[place]:.3g}" for place in (0, -1))
    return f"{curve.name}: from {start} to {end}."
