"""What the tables share that benches print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from rich.table import Table

__all__ = ["in_sections"]

Cell = TypeVar("Cell")


def in_sections(table: Table, cells: Iterable[Cell], key: Callable[[Cell], object]) -> Iterator[Cell]:
    """The cells one by one, for a row each; a line in the table parts neighbours with different keys."""
    for place, (_, together) in enumerate(groupby(cells, key)):
        if place:
            table.add_section()
        yield from together
