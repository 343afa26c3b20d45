"""What the tests of pictures share: releases to draw, and a look at all texts of a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from podium import BOTTOM, Release
from podium.privacy import GaussianNoise, limited_domain_events
from podium.privacy.guarantee import total
from podium.release import Receipt

HOSTILE = (
    "plain",
    "très accentué, čeština",
    "مقال عن القطارات الليلية والمسافرين في المدن البعيدة جدا جدا",
    "עברית",
    "日本語の記事",
    "<script>alert('x')</script>",
    "$x^{2$ & \\frac",
    "long " * 60,
    "line\nbreak \x1b[31m",
    "turned \u202e around",
    "\N{FAMILY} family",
    "",
)


def made(names: tuple[Any, ...], *, k: int | None = None, counts: bool = False, **changes: Any) -> Release:
    """A release of a limited domain; with counts 1000, 990, ... that were measured with sigma 20."""
    size = len(names) if k is None else k
    stopped = len(names) < size
    paid = limited_domain_events("1/10", "1e-7", items=len(names), bottom=stopped)
    release = Release(
        mechanism="LimitedDomain",
        outcome=(*names, BOTTOM) if stopped else names,
        k=size,
        paid=Receipt(paid),
        guarantee=total(limited_domain_events("1/10", "1e-7", items=size, bottom=False)),
        theorem="Durfee & Rogers 2019, Theorems 1 and 2",
        parameters={"k": str(size), "epsilon_per_item": "1/10", "max_items_per_user": "None"},
    )
    if counts:
        events = (GaussianNoise(20, discrete=True),) * len(names)
        values = tuple(Fraction(1000 - 10 * place) for place in range(len(names)))
        release = replace(release, values=values, value_kind="counts", paid=Receipt((*paid, *events)))
    return replace(release, **changes)


def drawn_texts(figure: Figure) -> Iterator[Text]:
    """Every text that a reader sees."""
    found = list(figure.texts)
    for legend in figure.legends:
        found += legend.get_texts()
    for axes in figure.axes:
        found += axes.texts
        if axes.axison:
            found += [axes.xaxis.label, axes.yaxis.label]
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return (text for text in found if text.get_visible() and text.get_text().strip())


def by_role(figure: Figure, role: str) -> list[str]:
    return [text.get_text() for text in drawn_texts(figure) if text.get_gid() == role]


def assert_readable(figure: Figure) -> None:
    """No text overlaps another, and none leaves the page: on a screen, and with the dots of a saved file."""
    screen = figure.dpi
    for dots in (2 * screen, screen):
        figure.set_dpi(dots)
        _assert_apart(figure)


def _assert_apart(figure: Figure) -> None:
    figure.canvas.draw()
    page = Bbox.from_bounds(0, 0, *(figure.get_size_inches() * figure.dpi))
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn_texts(figure)]
    assert boxes
    for text, box in boxes:
        assert page.x0 <= box.x0, text
        assert box.x1 <= page.x1, text
        assert page.y0 <= box.y0, text
        assert box.y1 <= page.y1, text
    for (one, first), (other, second) in combinations(boxes, 2):
        both = Bbox.intersection(first, second)
        # Boxes have room for accents above and tails below, so they may touch.
        few = figure.dpi / 100
        assert both is None or both.width < few or both.height < 3 * few, (one, other)
