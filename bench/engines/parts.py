"""Finished parts of a run, kept so that a run that was interrupted goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bench.engines.goals import Cell, MemoryCell

__all__ = ["Parts"]

Kept = TypeVar("Kept", Cell, MemoryCell)


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of one plan in a folder, one file for each; nothing is kept without a folder."""

    folder: Path | None
    plan: str

    def cells(self, name: str, measure: Callable[[], Sequence[Cell]]) -> list[Cell]:
        """The cells of a part: those that an earlier run of the same plan kept, or measured now."""
        return self._part(name, Cell, measure)

    def memory(self, name: str, measure: Callable[[], Sequence[MemoryCell]]) -> list[MemoryCell]:
        """The same for cells about memory."""
        return self._part(name, MemoryCell, measure)

    def forget(self) -> None:
        """Remove the parts of a run that came to its end."""
        for file in () if self.folder is None else self.folder.glob("*.json"):
            file.unlink()

    def _part(self, name: str, kind: type[Kept], measure: Callable[[], Sequence[Kept]]) -> list[Kept]:
        if self.folder is None:
            return list(measure())
        file = self.folder / f"{name}.json"
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if found.get("plan") == self.plan:
            return [kind.from_json(cell) for cell in found["cells"]]
        cells = list(measure())
        self.folder.mkdir(parents=True, exist_ok=True)
        written = {"plan": self.plan, "cells": [cell.as_json() for cell in cells]}
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(written) + "\n", encoding="utf-8")
        unfinished.rename(file)
        return cells
