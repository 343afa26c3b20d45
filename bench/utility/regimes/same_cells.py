"""The default beside the rule that it began as, and what did not change since, on the same cells.

    python -m bench utility_rule [--quick] [--json FILE] [--processes N]

The first rule came with its mean recall on cells that are not described in full: how many items tables had, how users
differed, and which cells were left out is not known. Here it runs as it was written, on the cells of cells.csv and on
the small ones again with users who all have the same number of items. So do two ways that are as they were then: what
they find here and found there says which cells are harder.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.goals import Goal
from bench.processes import in_processes
from bench.tables import text_table
from bench.utility.regimes.cells import REPORTED, Regime, TableKey, even_cells, read_cells
from bench.utility.regimes.formula import by_formula
from bench.utility.regimes.report import print_goals
from bench.utility.regimes.rounds import Rounds
from bench.utility.regimes.rule import before, by_rule
from bench.utility.regimes.tables import Integers, Table, available, make_table
from bench.utility.regimes.thresholds import gaussian_mu

__all__ = ["ABOUT_SAME_CELLS", "PUBLISHED", "goals", "main", "measure_cells", "recall_table", "summarise"]

ABOUT_SAME_CELLS = (
    "Mean recall. Everybody draws from the same random numbers, and the last column has the standard error of the "
    "difference. Even: every user has the same number of items. Last count >= 2: without the cells whose k-th item has "
    "a single user. As the rule came: on the cells that it came with, which are not known."
)
DEFAULT_JSON = Path("build/bench/utility_rule.json")
DELTA = 1e-6
RUNS, QUICK_RUNS = 24, 4
_LARGE, _FEWER = 200_000, 3
"""Tables with more pairs get a third of the runs."""

Row = dict[str, Any]
Way = Callable[[Table, int, float, float, np.random.Generator], Integers]

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "synthetic, n <= 3000": {"cells": 1578, "default before": 0.502, "rounds": 0.513, "first rule": 0.568},
    "synthetic, n = 1e5": {"cells": 160, "default before": 0.870, "rounds": 0.878, "first rule": 0.906},
    "subsamples": {"cells": 555, "default before": 0.583, "rounds": 0.593, "first rule": 0.639},
}
"""Mean recall on the cells that the first rule came with."""

_TUNED, _HELD_OUT, _SEVERAL = ", tuned", ", held out", ", last count >= 2"


def _rounds(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    return Rounds(table, k, gaussian_mu(epsilon, delta) ** 2, delta / 2, rng, cutoff=False).run()


def _default(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    return by_rule(table, k, epsilon, delta, rng)[1]


WAYS: Mapping[str, Way] = {
    "default before": before,
    "rounds": _rounds,
    "first rule": by_formula,
    "default": _default,
}


def measure_cells(key: TableKey, cells: Sequence[Regime], runs: int) -> list[Row]:
    """Every cell of one table: the mean recall of each way, and by how much the default is ahead of the first rule.

    In a run everybody draws from the same random numbers, so that where two ways agree they find the same.
    """
    table = make_table(key)
    runs = max(2, runs // _FEWER) if len(table.users) > _LARGE else runs
    lasts = table.last_counts(tuple({cell.k for cell in cells}))
    rows = []
    for cell in cells:
        found = np.empty((runs, len(WAYS)))
        for run in range(runs):
            seed = [zlib.crc32(f"{key.name} {cell.k} {cell.epsilon}".encode()), run]
            for place, way in enumerate(WAYS.values()):
                items = way(table, cell.k, cell.epsilon, DELTA, np.random.default_rng(seed))
                found[run, place] = table.recall(items, cell.k)
        ahead = found[:, list(WAYS).index("default")] - found[:, list(WAYS).index("first rule")]
        row = {"row": key.row, "data": key.data, "k": cell.k, "last": lasts[cell.k][1], "ahead": float(ahead.mean())}
        error = float(ahead.std(ddof=1) / np.sqrt(runs))
        rows.append({**row, "error": error, **dict(zip(WAYS, found.mean(axis=0).tolist(), strict=True))})
    return rows


def summarise(cells: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Means by row; the subsamples by half too; and all without the cells whose k-th item has a single user."""
    groups = {name: [c for c in cells if c["row"] == name] for name in dict.fromkeys(c["row"] for c in cells)}
    if (samples := groups.get("subsamples")) is not None:
        groups[f"subsamples{_TUNED}"] = [c for c in samples if c["data"] not in REPORTED]
        groups[f"subsamples{_HELD_OUT}"] = [c for c in samples if c["data"] in REPORTED]
    for name in dict.fromkeys(c["row"] for c in cells):
        groups[f"{name}{_SEVERAL}"] = [c for c in groups[name] if c["last"] >= 2]
    return {name: _means(group) for name, group in groups.items() if group}


def _means(group: Sequence[Row]) -> dict[str, float]:
    means = {name: float(np.mean([cell[name] for cell in group])) for name in (*WAYS, "ahead")}
    error = float(np.sqrt(np.sum([cell["error"] ** 2 for cell in group])) / len(group))
    return {"cells": len(group), **means, "error": error}


def goals(rows: Mapping[str, Mapping[str, float]]) -> list[Goal]:
    """On the same cells the default finds at least what the first rule does."""
    found = []
    for name, means in rows.items():
        if not name.endswith((_TUNED, _HELD_OUT, _SEVERAL)):
            where = f"±{means['error']:.4f}"
            found.append(Goal(f"default - first rule: {name}", ">= 0", means["ahead"], means["ahead"] >= 0, where))
    return found


def _job(job: tuple[TableKey, list[Regime], int]) -> list[Row]:
    return measure_cells(*job)


def recall_table(report: Mapping[str, Any]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Headings, and a row for each group of cells; those that the first rule came with are last."""
    shown = []
    for name, means in report["rows"].items():
        gap = f"{means['ahead']:+.4f} ±{means['error']:.4f}"
        shown.append([name, f"{means['cells']:,}", *(f"{means[way]:.3f}" for way in WAYS), gap])
    for name, means in report["published"].items():
        figures = (f"{means[way]:.3f}" if way in means else "-" for way in WAYS)
        shown.append([f"{name}, as the rule came", f"{means['cells']:,}", *figures, "-"])
    return ("tables", "cells", *WAYS, "default - first rule"), shown


def _show(report: Mapping[str, Any], console: Console) -> None:
    headings, rows = recall_table(report)
    console.print(text_table("Mean recall on the same cells", headings, rows))


def _jobs(*, quick: bool) -> list[tuple[TableKey, list[Regime], int]]:
    tables: Iterable[tuple[TableKey, list[Regime]]] = {**read_cells(), **even_cells()}.items()
    jobs = [(key, cells, QUICK_RUNS if quick else RUNS) for key, cells in tables if available(key)]
    return jobs[::9] if quick else jobs


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    quick = "every ninth table, few runs"
    parser = bench_parser("python -m bench utility_rule", __doc__, DEFAULT_JSON, quick=quick)
    parser.add_argument("--processes", type=int, default=1, help="default: %(default)s")
    options = parser.parse_args(argv)
    console = wide_console(140)
    found = in_processes(_job, _jobs(quick=options.quick), options.processes)
    cells = [cell for table in found for cell in table]
    rows, runs = summarise(cells), QUICK_RUNS if options.quick else RUNS
    settings = {"delta": "1e-6", "mode": "quick" if options.quick else "full", "repetitions": runs}
    judged = goals(rows)
    report = bench_report("utility_rule", settings, rows=rows, published=PUBLISHED, goals=judged)
    _show(report, console)
    print_goals(judged, console)
    save_report(report, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
