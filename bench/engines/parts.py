"""The parts of a run of the engines bench: cells, and cells about memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench import parts
from bench.engines.goals import Cell, MemoryCell

__all__ = ["Parts"]


@dataclass(frozen=True, slots=True)
class Parts(parts.Parts):
    """Parts that are cells."""

    def cells(self, name: str, measure: Callable[[], Sequence[Cell]]) -> list[Cell]:
        """The cells of a part: those that an earlier run of the same plan kept, or measured now."""
        return [Cell.from_json(row) for row in self.rows(name, lambda: [cell.as_json() for cell in measure()])]

    def memory(self, name: str, measure: Callable[[], Sequence[MemoryCell]]) -> list[MemoryCell]:
        """The same for cells about memory."""
        return [MemoryCell.from_json(row) for row in self.rows(name, lambda: [cell.as_json() for cell in measure()])]
