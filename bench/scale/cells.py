"""The cells of the scale bench that have a table of their own: each question beside its plain query.

Every measurement is a part that is kept, so that a run that was killed repeats at most one question.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from bench.parts import Parts, Rows
from bench.scale.data import Table
from bench.scale.questions import QUESTIONS, Question

__all__ = ["Failed", "OnlyKept", "Progress", "Sized", "child", "table_cells"]

Progress: TypeAlias = Callable[[str], None]
_UNITS = {"MB": 10**6, "GB": 10**9}
_SPARE = 2 * 10**9
"""What a disk keeps: others use it too."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A table to ask about: what, with how much memory, and how often."""

    table: Table
    memory_limit: str | None
    repetitions: int
    questions: tuple[str, ...]

    @property
    def where(self) -> str:
        """For people."""
        return f"{self.table.rows:,} rows, memory limit {self.memory_limit or 'of the engine'}"


class Failed(Exception):
    """A question that did not come to its end, and why."""


class OnlyKept(Parts):
    """Parts of earlier runs: nothing is measured now."""

    def rows(self, name: str, measure: Callable[[], Sequence[dict[str, Any]]]) -> Rows:
        """The rows of a part that was kept."""
        if (found := self.kept(name)) is None:
            raise Failed("not part of this run")
        return found


@dataclass(frozen=True, slots=True)
class _Asking:
    """The measurements of one table."""

    sized: Sized
    where: Path
    parts: Parts
    progress: Progress

    def pairs(self) -> int:
        """About how many distinct pairs the table has; what a table has does not depend on how it is asked."""
        table = self.sized.table

        def measure() -> Rows:
            self._folder()
            self.progress(f"counting pairs, {self.sized.where}")
            return [{"pairs": table.pairs(self.where)}]

        (found,) = self.parts.rows(f"{table.name}-pairs", measure)
        return int(found["pairs"])

    def measured(self, who: str, question: Question) -> dict[str, Any]:
        """What a question took: podium's, or the plain query, which several questions share."""
        asked = question.name if who == "podium" else question.kind
        (found,) = self.parts.rows(self._part(who, asked), lambda: [self._ask(who, question)])
        return found

    def python_peak(self, question: Question) -> int:
        """The most that Python had allocated."""

        def measure() -> Rows:
            self.progress(f"{question.name}: Python's memory, {self.sized.where}")
            task = {"who": "podium", "folder": self._folder(), "spill": str(self.where), "question": question.name}
            return [child(**task, traced=True)]

        (found,) = self.parts.rows(self._part("python", question.name), measure)
        return int(found["python_peak_bytes"])

    def _ask(self, who: str, question: Question) -> dict[str, Any]:
        table, limit = self.sized.table, self.sized.memory_limit
        folder = self._folder()
        each = question.spilled[0 if who == "podium" else 1]
        self._room(max(each * table.rows - _bytes(limit), 0))
        self.progress(f"{question.name}, {who}, {self.sized.where}")
        return child(
            who=who, folder=folder, memory_limit=limit, spill=str(self.where), question=question.name,
            repetitions=self.sized.repetitions,
        )  # fmt: skip

    def _folder(self) -> str:
        """The table, written if it is not there."""
        table = self.sized.table
        if not (self.where / table.name).exists():
            self._room(table.file_bytes)
            self.progress(f"writing {table.rows:,} rows")
        return str(table.folder(self.where))

    def _room(self, needed: int) -> None:
        free = shutil.disk_usage(self.where).free - _SPARE
        if needed > free:
            sizes = f"it may need {needed / 10**9:,.1f} GB, and {max(free, 0) / 10**9:,.1f} were free"
            raise Failed(f"no room on disk: {sizes}")

    def _part(self, who: str, asked: str) -> str:
        return "-".join((self.sized.table.name, str(self.sized.memory_limit), who, re.sub(r"\W+", "_", asked)))


def table_cells(sized: Sized, where: Path, parts: Parts, progress: Progress) -> tuple[Rows, dict[str, str]]:
    """The questions about a table; and of those that could not be measured, why."""
    asking, cells, absent = _Asking(sized, where, parts, progress), [], {}
    for name in sized.questions:
        question = QUESTIONS[name]
        try:
            cell: dict[str, Any] = {"question": name, "kind": question.kind, **asdict(sized.table)}
            cell |= {"pairs": asking.pairs(), "memory_limit": sized.memory_limit}
            plain, podium = asking.measured("plain", question), asking.measured("podium", question)
            cell |= {"plain": plain, "podium": podium, "ratio": _ratio(podium, plain, "seconds")}
            cell["processor_ratio"] = _ratio(podium, plain, "processor_seconds")
            if sized.repetitions > 1:
                cell["python_peak_bytes"] = asking.python_peak(question)
        except Failed as failed:
            progress(f"{name}, {sized.where}: {failed}")
            absent[f"{name}, {sized.where}"] = str(failed)
        else:
            cells.append(cell)
    return cells, absent


def child(**task: Any) -> dict[str, Any]:
    """What a process of its own measured; raises if the question failed there."""
    command = [sys.executable, "-m", "bench.scale.child", json.dumps(task)]
    ran = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(ran.stdout) if ran.returncode == 0 else {"failed": f"exit {ran.returncode}"}
    if "failed" in found:
        raise Failed(f"{task['who']} failed with {found['failed']}")
    return found


def _ratio(podium: dict[str, Any], plain: dict[str, Any], what: str) -> float:
    return float(statistics.median(podium[what]) / statistics.median(plain[what]))


def _bytes(limit: str | None) -> int:
    """Of a memory limit; without one the engine has most of the machine's memory, of which nothing is promised."""
    return 0 if limit is None else int(limit[:-2]) * _UNITS[limit[-2:]]
