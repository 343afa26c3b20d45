"""What the regimes say: means by row, and the cells in which the default is surely below the best contestant."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from bench.goals import Goal
from bench.measure import standard_error
from bench.tables import text_table
from bench.utility.regimes.cells import REPORTED
from bench.utility.regimes.contestants import BRANCHES, CONTESTANTS

__all__ = ["MARGIN", "WIDTH", "goals", "print_goals", "regime_tables", "show", "summarise"]

WIDTH = 140
MARGIN = 0.02
_MOST_SHORT = 0.03
_WANTED = -0.01
"""The mean recall may be this much below that of the best by hindsight, which nobody can have."""
_MEANS = {"synthetic, n <= 3000": 0.568, "synthetic, n = 1e5": 0.906, "subsamples": 0.639}
"""What the rule of this planner reached on the cells on which it was found; these cells are others, and harder."""
_MEASURED = ("hindsight", "best", "before", "rounds", "default")
_SURE = 4.0
"""Standard errors beyond which a gap is not put down to chance."""

Row = dict[str, Any]


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values)


def _error(values: Sequence[float]) -> float:
    """Of the mean; a recall that never varied may still vary by one item in one run."""
    return standard_error(values) if len(values) > 1 else 1.0


def best_of(row: Row, names: Sequence[str]) -> tuple[str, list[float]]:
    """The best of these by hindsight: chosen on one half of the runs, reported on the other."""
    recalls = row["recalls"]
    options = [name for name in recalls if name.partition(" D=")[0] in names]
    best = max(options, key=lambda name: _mean(recalls[name][::2]))
    return best, recalls[best][1::2]


def judge(row: Row) -> Row:
    """One cell in short."""
    name, reported = best_of(row, CONTESTANTS)
    ours = row["recalls"]["default"]
    gap = _mean(reported) - _mean(ours)
    error = math.hypot(_error(reported), _error(ours))
    return {
        "cell": f"{row['table']}, k={row['k']}, epsilon={row['epsilon']:g}",
        "row": row["row"],
        "held_out": row["data"] in REPORTED,
        "k": row["k"],
        "default": _mean(ours),
        "before": _mean(row["recalls"]["default before"]),
        "rounds": _mean(row["recalls"]["rounds"]),
        "contestant": name,
        "best": _mean(reported),
        "hindsight": _mean(best_of(row, (*CONTESTANTS, *BRANCHES))[1]),
        "gap": gap,
        "error": error,
        "short": gap - MARGIN > _SURE * error,
        "branch": Counter(row["branches"]).most_common(1)[0][0],
    }


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Means by row, and every cell that is surely short."""
    cells = [judge(row) for row in rows]
    groups = {name: [c for c in cells if c["row"] == name] for name in dict.fromkeys(c["row"] for c in cells)}
    if "subsamples" in groups:
        for held_out, label in ((False, "tuned"), (True, "held out")):
            groups[f"subsamples, {label}"] = [c for c in groups["subsamples"] if c["held_out"] is held_out]
    return {
        "rows": {name: _summary(group) for name, group in groups.items() if group},
        "by_k": {k: _summary([c for c in cells if c["k"] == k]) for k in sorted({c["k"] for c in cells})},
        "short": sorted((c for c in cells if c["short"]), key=lambda c: -c["gap"]),
    }


def _summary(group: Sequence[Row]) -> dict[str, float]:
    means = {name: _mean([cell[name] for cell in group]) for name in _MEASURED}
    before = sum(cell["best"] - cell["before"] - MARGIN > _SURE * cell["error"] for cell in group)
    return {"cells": len(group), **means, "short": sum(cell["short"] for cell in group), "short_before": before}


def goals(summary: dict[str, Any]) -> list[Goal]:
    """What the default is wanted to reach."""
    rows = summary["rows"]
    found = []
    # A quick run has not all rows.
    for name, wanted in ((name, wanted) for name, wanted in _MEANS.items() if name in rows):
        mean = rows[name]["default"]
        found.append(Goal(f"mean recall: {name}", f">= {wanted:g}", mean, mean >= wanted, ""))
    for name, values in rows.items():
        gap = values["default"] - values["hindsight"]
        found.append(Goal(f"mean recall - best by hindsight: {name}", f">= {_WANTED:g}", gap, gap >= _WANTED, ""))
    cells = sum(values["cells"] for name, values in rows.items() if ", tuned" not in name and ", held" not in name)
    worst = summary["short"][0]["cell"] if summary["short"] else ""
    share = len(summary["short"]) / cells
    name = "share of cells surely more than 0.02 below the best contestant"
    return [*found, Goal(name, f"<= {_MOST_SHORT:g}", share, share <= _MOST_SHORT, worst)]


def print_goals(goals: Sequence[Goal], console: Console) -> None:
    """Print a line for each goal."""
    for goal in goals:
        console.print(f"{goal.name}: wanted {goal.wanted}, measured {goal.measured}, met: {goal.met}", highlight=False)


def regime_tables(report: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Caption, headings and rows of the tables on the page about the benches."""
    shown: list[tuple[str, tuple[str, ...], list[list[str]]]] = []
    for key, what in (("rows", "tables"), ("by_k", "k")):
        rows = [
            [str(name), *(f"{values[n]:.3f}" for n in _MEASURED), str(values["short"]), str(values["cells"])]
            for name, values in sorted(report[key].items(), key=lambda row: row[1]["default"] - row[1]["hindsight"])
        ]
        caption = (
            "Mean recall. The best are picked by hindsight in each cell, with or without the branches of the default. "
            "Short: cells in which the default is surely more than 0.02 below the best contestant."
        )
        headings = (what, "best of all", "best contestant", "default before", "rounds", "default", "short", "cells")
        shown.append((caption, headings, rows))
    return shown


def show(summary: dict[str, Any], console: Console) -> None:
    """Print the tables."""
    for title, key in (("Mean recall over cells", "rows"), ("Mean recall by k", "by_k")):
        headings = ("cells", "best by hindsight", "best contestant", "before", "rounds", "default", "short", "before")
        rows = []
        for name, values in summary[key].items():
            means = [f"{values[n]:.3f}" for n in _MEASURED]
            rows.append([str(name), str(values["cells"]), *means, str(values["short"]), str(values["short_before"])])
        console.print(text_table(title, ("", *headings), rows))
    for cell in summary["short"]:
        console.print(
            f"  {cell['cell']}: {cell['default']:.3f} by {cell['branch']} against {cell['best']:.3f} of "
            f"{cell['contestant']} (gap {cell['gap']:.3f} ±{cell['error']:.3f})",
            highlight=False,
        )
