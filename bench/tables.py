"""What the tables share that benches print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from rich.table import Table

__all__ = ["in_sections", "text_table"]

Cell = TypeVar("Cell")


def text_table(title: str, headings: Sequence[str], rows: Iterable[Iterable[str]], *, left: int = 1) -> Table:
    """A table whose first columns are words, by default one, and all others numbers, which stand on the right."""
    table = Table(title=title)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def in_sections(table: Table, cells: Iterable[Cell], key: Callable[[Cell], object]) -> Iterator[Cell]:
    """The cells one by one, for a row each; a line in the table parts neighbours with different keys."""
    for place, (_, together) in enumerate(groupby(cells, key)):
        if place:
            table.add_section()
        yield from together
