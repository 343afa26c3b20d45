"""A drawing of what rests on what: boxes in rows, arrows downwards, as plain SVG.

Small on purpose: rows by the longest way down, long arrows bent once per row, and the boxes of a row in an order with
few crossings. The same input always gives the same file, so that a test can compare it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import combinations, pairwise

__all__ = ["drawing"]

_BOX_WIDTH, _BOX_HEIGHT = 104, 30
_ROW_HEIGHT, _SLOT_WIDTH = 58, 132
_MARGIN = 16
_STYLE = """
  .box { fill: #eef2f7; stroke: #5b6b7f; }
  .name { fill: #1d2733; font: 14px ui-monospace, monospace; text-anchor: middle; dominant-baseline: central; }
  .arrow { fill: none; stroke: #5b6b7f; stroke-width: 1.4; marker-end: url(#tip); }
  .tip { fill: #5b6b7f; }
  .paper { fill: #ffffff; }
"""

Arrow = tuple[str, str]
Way = list[str]


def drawing(names: Sequence[str], arrows: Sequence[Arrow], *, title: str) -> str:
    """The SVG of an acyclic graph; ``names`` are ordered so that every arrow leads to a later one."""
    rows = _rows(names, arrows)
    ways = [_way(arrow, rows) for arrow in arrows]
    slots = _slots(rows, ways)
    width = 2 * _MARGIN + _SLOT_WIDTH * max(map(len, slots.values()))
    height = 2 * _MARGIN + _ROW_HEIGHT * (max(slots) + 1)
    places = {
        name: (width / 2 + (at - (len(row) - 1) / 2) * _SLOT_WIDTH, height - _MARGIN - (level + 0.5) * _ROW_HEIGHT)
        for level, row in slots.items()
        for at, name in enumerate(row)
    }
    lines = [_line([places[stop] for stop in way]) for way in ways]
    boxes = [_box(name, *places[name]) for name in names]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>\n'
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>\n' + "\n".join([*lines, *boxes, "</svg>", ""])
    )


def _rows(names: Sequence[str], arrows: Sequence[Arrow]) -> dict[str, int]:
    """How high each name stands: one above the highest that it leads to."""
    rows: dict[str, int] = {}
    for name in reversed(names):
        rows[name] = max((rows[end] + 1 for start, end in arrows if start == name), default=0)
    return rows


def _way(arrow: Arrow, rows: dict[str, int]) -> Way:
    """The stops of an arrow: its ends, and one place in every row that it crosses. Adds those places to ``rows``."""
    start, end = arrow
    bends = {f"{start} -> {end} @ {row}": row for row in range(rows[start] - 1, rows[end], -1)}
    rows.update(bends)
    return [start, *bends, end]


def _slots(rows: dict[str, int], ways: Sequence[Way]) -> dict[int, list[str]]:
    """The order within each row: neighbours change places as long as fewer arrows cross, or they get shorter."""
    slots: dict[int, list[str]] = {}
    for name in sorted(rows):
        slots.setdefault(rows[name], []).append(name)
    steps = [step for way in ways for step in pairwise(way)]
    best = _cost(slots, steps, rows)
    better = True
    while better:
        better = False
        for row in slots.values():
            for left, right in combinations(range(len(row)), 2):
                row[left], row[right] = row[right], row[left]
                cost = _cost(slots, steps, rows)
                if cost < best:
                    best, better = cost, True
                else:
                    row[left], row[right] = row[right], row[left]
    return slots


def _cost(slots: dict[int, list[str]], steps: Sequence[Arrow], rows: dict[str, int]) -> tuple[int, float]:
    """How many arrows cross, and how far they go sideways."""
    at = {name: place - (len(row) - 1) / 2 for row in slots.values() for place, name in enumerate(row)}
    crossings = sum(
        rows[one[0]] == rows[other[0]] and (at[one[0]] - at[other[0]]) * (at[one[1]] - at[other[1]]) < 0
        for one, other in combinations(steps, 2)
    )
    return crossings, sum((at[start] - at[end]) ** 2 for start, end in steps)


def _line(stops: Sequence[tuple[float, float]]) -> str:
    (x, y), *inner, (end_x, end_y) = stops
    points = [(x, y + _BOX_HEIGHT / 2), *inner, (end_x, end_y - _BOX_HEIGHT / 2)]
    return f'<path class="arrow" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'


def _box(name: str, x: float, y: float) -> str:
    return (
        f'<rect class="box" x="{x - _BOX_WIDTH / 2:.1f}" y="{y - _BOX_HEIGHT / 2:.1f}" width="{_BOX_WIDTH}" '
        f'height="{_BOX_HEIGHT}" rx="5"/><text class="name" x="{x:.1f}" y="{y:.1f}">{escape(name)}</text>'
    )
