"""Finished parts of a long run, kept so that a run that was interrupted goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from bench.command import save_report
from bench.measure import commit

__all__ = ["Parts", "Rows", "save_whole"]

Rows: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of one plan in a folder, one file for each; nothing is kept without a folder."""

    folder: Path | None
    plan: str
    commits: set[str] = field(default_factory=set)
    """Those at which the parts were measured that were asked for so far."""

    def rows(self, name: str, measure: Callable[[], Sequence[dict[str, Any]]]) -> Rows:
        """The rows of a part: those that an earlier run of the same plan kept, or measured now."""
        if (found := self.kept(name)) is not None:
            return found
        return self.keep(name, list(measure()))

    def keep(self, name: str, rows: Rows) -> Rows:
        """The rows of a part that were measured now."""
        at = commit()
        self.commits.update([] if at is None else [at])
        if self.folder is not None:
            written = {"plan": self.plan, "commit": at, "rows": rows}
            save_whole(written, self._file(self.folder, name), indent=None)
        return rows

    def kept(self, name: str) -> Rows | None:
        """The rows of a part that an earlier run of the same plan kept, if one did."""
        if self.folder is None or not (file := self._file(self.folder, name)).exists():
            return None
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if found.get("plan") != self.plan or "rows" not in found:
            return None
        self.commits.update([] if found["commit"] is None else [found["commit"]])
        return list(found["rows"])

    @property
    def measured_at(self) -> str | None:
        """The commits of the parts, for the file of the whole run."""
        return ", ".join(sorted(self.commits)) or None

    def forget(self) -> None:
        """Remove the parts of a run that came to its end."""
        for file in () if self.folder is None else self.folder.glob("*.json"):
            file.unlink()

    def _file(self, folder: Path, name: str) -> Path:
        return folder / f"{name}.json"


def save_whole(report: Mapping[str, Any], file: Path, *, indent: int | None = 1) -> None:
    """The same as ``save_report``, but a run that is killed meanwhile leaves the file as it was."""
    unfinished = file.with_suffix(".unfinished")
    save_report(report, unfinished, indent=indent)
    unfinished.rename(file)
