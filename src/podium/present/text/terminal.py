"""Tables for a terminal, with lines and colours, and the same tables as plain columns for a pipe."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from podium.present.text.closing import closing_line
from podium.present.text.columns import Column, ranking
from podium.present.text.group_lines import group_remarks, grouped_ranking
from podium.present.text.names import NO_ORDER, why_fewer
from podium.present.text.release_text import mechanism_text, paid_sentence, theorem_texts
from podium.present.user_shares import list_remarks
from podium.release import GroupedRelease, Release

if TYPE_CHECKING:
    from podium.ledger import Status

__all__ = ["answer_drawing", "fact_lines", "facts_table", "plain_table", "release_drawing", "rich_table"]

_GAP = "  "


def plain_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as it needs to be; the last one is not padded."""
    lines = [tuple(headers), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_GAP.join(map(str.ljust, line, widths)).rstrip() for line in lines)


def rich_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: int = 0) -> Table:
    """The same with a line under the header; the first ``right`` columns are aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="right" if place < right else "left", overflow="fold")
    for row in rows:
        # Text, not str: an item is data, and data may look like markup.
        table.add_row(*map(Text, row))
    return table


def fact_lines(facts: Sequence[tuple[str, str]]) -> str:
    """Labels and what they stand for, one below the other."""
    width = max(len(label) for label, _ in facts)
    return "\n".join(f"{label:<{width}}{_GAP}{text}".rstrip() for label, text in facts)


def facts_table(facts: Sequence[tuple[str, str]]) -> Table:
    """The same, wrapped to the width of the terminal."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for label, text in facts:
        table.add_row(Text(label), Text(text))
    return table


def answer_drawing(
    release: Release, *, heading: str | None = None, status: Status | None = None, more: str = ""
) -> RenderableType:
    """A release for a person at a terminal: what came out, why not more, and one line in plain words."""
    return Group(*_list_parts(release, heading), Text(closing_line(release, status=status, more=more)))


def release_drawing(release: Release, *, heading: str | None = None) -> RenderableType:
    """The same with all that was promised and paid."""
    parts = _list_parts(release, heading)
    theorems = theorem_texts(release)
    facts = [
        ("promise", release.promise),
        ("paid", paid_sentence(release)),
        ("mechanism", mechanism_text(release)),
        *zip(["theorem", *[""] * (len(theorems) - 1)], theorems, strict=True),
    ]
    return Group(*parts, facts_table(facts))


def _list_parts(release: Release, heading: str | None) -> list[RenderableType]:
    """The table, and what is said about it."""
    if isinstance(release, GroupedRelease):
        table, remarks = _grouped_table(release, heading), group_remarks(release)
    else:
        table = _ranking_table(ranking(release, heading), ends=frozenset())
        remarks = [NO_ORDER] * (not release.ordered and release.k > 1)
        remarks += [] if release.complete else [why_fewer(release)]
        remarks += list_remarks(release)
    return [table, *(Padding(Text(remark, style="italic"), (0, 0, 1, 0)) for remark in remarks)]


def _grouped_table(release: GroupedRelease, heading: str | None) -> Table:
    """One table for all groups, with a line between them."""
    lengths = (len(found.items) for found in release.lists.values())
    return _ranking_table(
        grouped_ranking(release, heading), ends=frozenset(end - 1 for end in itertools.accumulate(lengths))
    )


def _ranking_table(columns: Sequence[Column], *, ends: frozenset[int]) -> Table:
    """A table of aligned columns, with a line below each of the rows in ``ends``."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, _, right in columns:
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for place, row in enumerate(zip(*(cells for _, cells, _ in columns), strict=True)):
        # Text, not str: an item is data, and data may look like markup.
        table.add_row(*map(Text, row), end_section=place in ends)
    return table
