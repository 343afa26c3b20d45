"""The cells of the utility bench, and the goals that are read off them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.goals import Goal
from bench.measure import standard_error
from bench.utility.columns import COLUMNS
from bench.utility.data import HELD_OUT

__all__ = ["MARGIN", "Cell", "Column", "Sample", "cells", "goals"]

MARGIN = 0.01
_MEAN = 0.95
_SURE = 2.0
"""Standard errors beyond which a difference is not put down to chance."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One number for each run."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over all runs."""
        return statistics.fmean(self.values)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return standard_error(self.values) if len(self.values) > 1 else 0.0

    def half(self, which: int) -> Sample:
        """Every other run: one half to choose by, the other to report, or the best of many would look too good."""
        return Sample(self.values[which::2] or self.values)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"mean": self.mean, "error": self.error, "runs": list(self.values)}


@dataclass(frozen=True, slots=True)
class Column:
    """A way to answer, with the bound D that was best by hindsight: on one half of the runs, reported on the other."""

    name: str
    bound: int | None
    recall: Sample
    chosen_by: float
    count_error: Sample | None = None

    @property
    def label(self) -> str:
        """With its bound."""
        return self.name if self.bound is None else f"{self.name} (D={self.bound})"

    @property
    def rank(self) -> tuple[float, float]:
        """What the bound is chosen by: recall, then how exact the counts are."""
        return self.chosen_by, 0.0 if self.count_error is None else -self.count_error.mean

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        error = None if self.count_error is None else self.count_error.as_json()
        return {"bound": self.bound, "recall": self.recall.as_json(), "count_error": error}


@dataclass(frozen=True, slots=True)
class Cell:
    """One data set, k and epsilon."""

    data: str
    k: int
    epsilon: float
    mechanism: str
    podium: Sample
    columns: dict[str, Column]
    count_error: Sample | None = None
    counted_recall: Sample | None = None
    in_rounds: Sample | None = None
    reads: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """How goals refer to it."""
        return f"{self.data} k={self.k} epsilon={self.epsilon:g}"

    @property
    def best(self) -> Column:
        """The best column by hindsight, chosen on one half of the runs as well."""
        return max(self.columns.values(), key=lambda column: column.chosen_by)

    @property
    def lead(self) -> float:
        """Podium's recall above that of the best column."""
        return self.podium.mean - self.best.recall.mean

    @property
    def lead_error(self) -> float:
        """The standard error of the lead."""
        return math.hypot(self.podium.error, self.best.recall.error)

    @property
    def falls_short(self) -> bool:
        """Whether podium is more than the margin below the best column."""
        return self.lead < -MARGIN

    @property
    def surely(self) -> bool:
        """Whether it falls short by more than chance explains."""
        return self.lead + _SURE * self.lead_error < -MARGIN

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "data": self.data,
            "k": self.k,
            "epsilon": self.epsilon,
            "mechanism": self.mechanism,
            "podium": self.podium.as_json(),
            "count_error": None if self.count_error is None else self.count_error.as_json(),
            "recall_with_counts": None if self.counted_recall is None else self.counted_recall.as_json(),
            "recall_in_rounds": None if self.in_rounds is None else self.in_rounds.as_json(),
            "reads": list(self.reads),
            "columns": {name: column.as_json() for name, column in self.columns.items()},
            "best": self.best.label,
            "lead": self.lead,
            "lead_error": self.lead_error,
        }


def cells(references: Sequence[dict[str, Any]], ours: Sequence[dict[str, Any]]) -> list[Cell]:
    """What the workers wrote down, put together."""
    columns: dict[tuple[str, int, float], dict[str, Column]] = {}
    for row in references:
        found = columns.setdefault((row["data"], row["k"], row["epsilon"]), {})
        column = _column(row)
        best = found.get(column.name)
        if best is None or column.rank > best.rank:
            found[column.name] = column
    return [
        Cell(
            row["data"],
            row["k"],
            row["epsilon"],
            row["mechanism"],
            Sample(tuple(row["recalls"])),
            {name: columns[row["data"], row["k"], row["epsilon"]][name] for name in COLUMNS},
            _sample(row["errors"]),
            _sample(row["counted_recalls"]),
            _sample(row["in_rounds"]),
            tuple(row["reads"]),
        )
        for row in ours
    ]


def _column(row: dict[str, Any]) -> Column:
    recalls = Sample(tuple(row["recalls"]))
    chosen_by, reported = recalls.half(0).mean, recalls.half(1)
    return Column(row["column"], row["bound"], reported, chosen_by, _sample(row["errors"]))


def _sample(values: Sequence[float | None]) -> Sample | None:
    known = tuple(value for value in values if value is not None)
    return Sample(known) if known else None


def goals(found: Sequence[Cell]) -> list[Goal]:
    """What the default is wanted to reach without any tuning."""
    tuned = [cell for cell in found if cell.data not in HELD_OUT]
    unseen = [cell for cell in found if cell.data in HELD_OUT]
    return [
        _never_worse("recall - best column by hindsight: every cell of the six", tuned),
        _never_worse("recall - best column by hindsight: every held-out cell", unseen),
        _mean_goal([cell for cell in tuned if cell.k == 100 and cell.epsilon == 1.0]),
    ]


def _never_worse(name: str, of: Sequence[Cell]) -> Goal:
    if not of:
        return Goal(name, f">= -{MARGIN:g}", None, None, "")
    worst = min(of, key=lambda cell: cell.lead)
    return Goal(name, f">= -{MARGIN:g}", worst.lead, not worst.falls_short, worst.name)


def _mean_goal(of: Sequence[Cell]) -> Goal:
    name = "mean recall of the six: epsilon=1, k=100"
    if len(of) < 6:
        return Goal(name, f">= {_MEAN:g}", None, None, "")
    mean = statistics.fmean(cell.podium.mean for cell in of)
    worst = min(of, key=lambda cell: cell.podium.mean)
    return Goal(name, f">= {_MEAN:g}", mean, mean >= _MEAN, worst.name)
