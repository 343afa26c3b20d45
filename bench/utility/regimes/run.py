"""The regimes of the utility bench: the default on 2,500 cells, against nine contestants with hindsight.

    python -m bench utility_regimes [--quick] [--json FILE]

Cells are fixed in cells.csv. Everything here is a NumPy simulation at epsilon and delta=1e-6. The default decides by
the product's own function; a test runs the product itself on some cells and compares.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.processes import in_processes
from bench.utility.regimes import report
from bench.utility.regimes.cells import Regime, TableKey, read_cells
from bench.utility.regimes.contestants import by_list, once
from bench.utility.regimes.rule import before, by_rule
from bench.utility.regimes.tables import Integers, Table, available, make_table

__all__ = ["DEFAULT_JSON", "main", "measure_table"]

DEFAULT_JSON = Path("build/bench/utility_regimes.json")
DELTA = 1e-6
RUNS, QUICK_RUNS = 24, 4
_FEWER = ((1_000_000, 4), (100_000, 10))
"""Pairs of a table above which it gets fewer runs."""

Row = dict[str, Any]


def measure_table(key: TableKey, cells: Sequence[Regime], runs: int) -> list[Row]:
    """Every cell of one table: the recalls of every way to answer, one for each run."""
    table = make_table(key)
    runs = min(runs, next((fewer for pairs, fewer in _FEWER if len(table.users) > pairs), runs))
    rows = [_row(cell) for cell in cells]
    for run in range(runs):
        rng = np.random.default_rng([zlib.crc32(key.name.encode()), run])
        for epsilon in sorted({cell.epsilon for cell in cells}):
            shared = list(once(table, epsilon, DELTA, rng))
            for row in rows:
                if row["epsilon"] == epsilon:
                    _run_cell(table, row, shared, rng)
    return rows


def _row(cell: Regime) -> Row:
    key = cell.table
    return {"row": key.row, "data": key.data, "table": key.name, "k": cell.k, "epsilon": cell.epsilon, "recalls": {}}


def _run_cell(table: Table, row: Row, shared: Sequence[tuple[str, Integers]], rng: np.random.Generator) -> None:
    k, epsilon = row["k"], row["epsilon"]
    branch, found = by_rule(table, k, epsilon, DELTA, rng)
    row.setdefault("branches", []).append(str(branch))
    answers = [*shared, *by_list(table, k, epsilon, DELTA, rng)]
    answers += [("default", found), ("default before", before(table, k, epsilon, DELTA, rng))]
    for name, items in answers:
        row["recalls"].setdefault(name, []).append(round(table.recall(items, k), 4))


def _measured(job: tuple[TableKey, list[Regime], int]) -> list[Row]:
    return measure_table(*job)


def run(*, quick: bool, processes: int = 1, progress: Any = lambda _: None) -> list[Row]:
    """The rows of all cells whose data is there."""
    tables = {key: cells for key, cells in read_cells().items() if available(key)}
    if quick:
        tables = {
            key: cells for key, cells in list(tables.items())[::9] if key.users * key.items_per_user < _FEWER[0][0]
        }
    jobs = [(key, cells, QUICK_RUNS if quick else RUNS) for key, cells in tables.items()]
    rows: list[Row] = []
    for number, (job, found) in enumerate(zip(jobs, in_processes(_measured, jobs, processes), strict=True), 1):
        progress(f"{number} of {len(jobs)}: {job[0].name}")
        rows += found
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    quick = "about half a minute: every ninth table, few runs"
    parser = bench_parser("python -m bench utility_regimes", __doc__, DEFAULT_JSON, quick=quick)
    parser.add_argument("--processes", type=int, default=1, help="default: %(default)s")
    options = parser.parse_args(argv)
    console = wide_console(report.WIDTH)
    rows = run(
        quick=options.quick,
        processes=options.processes,
        progress=lambda text: console.print(f"regimes: {text}", style="dim", highlight=False),
    )
    summary = report.summarise(rows)
    report.show(summary, console)
    judged = report.goals(summary)
    report.print_goals(judged, console)
    settings = {"delta": "1e-6", "mode": "quick" if options.quick else "full"}
    found = bench_report("utility_regimes", settings, **summary, goals=judged, runs=rows)
    save_report(found, options.json, indent=None)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
