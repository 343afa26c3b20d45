"""The newest mechanisms for unknown items beside podium's default: missing mass, which is their measure, and recall.

    python -m bench discovery [--quick] [--json FILE]

All at the same (epsilon, delta), on public data sets and on a tenth of their users. ``missing mass`` is what the true
top k have in all, less what the answer has, over all pairs (Dick, Joseph & Raman 2026, Definition 4.1). Everything is a
seeded NumPy simulation; the default decides by the product's own function. The data is looked for in $PODIUM_DATA,
else in ../shared/data.
"""

from __future__ import annotations

import statistics
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.discovery.mechanisms import discover_then_peel, top_stable
from bench.goals import Goal
from bench.measure import standard_error
from bench.tables import text_table
from bench.utility.data import SETS, missing
from bench.utility.regimes.cells import TableKey
from bench.utility.regimes.contestants import limited_domain
from bench.utility.regimes.rule import by_rule
from bench.utility.regimes.tables import Integers, Table, make_table
from bench.utility.regimes.thresholds import dr_epsilon

__all__ = ["CONTESTANTS", "PODIUM", "Cell", "answers", "main", "measure", "summarise"]

DEFAULT_JSON = Path("build/bench/discovery.json")
PODIUM = "podium"
BOUND = 100
"""Items of one user that the others keep, as Dick, Joseph & Raman set it for top-k."""
CONTESTANTS = (
    "weighted Gaussian, peel",
    "the same in one zCDP budget",
    "adaptive weights, peel",
    "adaptive, one zCDP budget",
    "top stable",
    "limited domain, DR",
)
_KS = (10, 50, 100, 200)
_SHARES = (1.0, 0.1)
_DELTA = 1e-5
_DATA = tuple(name for name in SETS if not name.startswith("t"))
_QUICK = ("msweb", "steam")
_RUNS, _QUICK_RUNS = 20, 4
_NEAR = 0.02


@dataclass(frozen=True, slots=True)
class Cell:
    """One question: the means over runs of missing mass and recall of everybody, and twice their standard errors."""

    data: str
    k: int
    epsilon: float
    missing_mass: dict[str, float]
    recall: dict[str, float]
    errors: dict[str, float]

    @property
    def behind(self) -> float:
        """podium's missing mass less the best contestant's."""
        return self.missing_mass[PODIUM] - min(self.missing_mass[name] for name in CONTESTANTS)


def answers(table: Table, k: int, epsilon: float, rng: np.random.Generator) -> Iterator[tuple[str, Integers]]:
    """Everybody's answer to one question, once."""
    yield PODIUM, by_rule(table, k, epsilon, _DELTA, rng)[1][:k]
    for adaptive in (False, True):
        for published in (True, False):
            name = CONTESTANTS[2 * adaptive + (not published)]
            found = discover_then_peel(table, k, BOUND, epsilon, _DELTA, rng, adaptive=adaptive, published=published)
            yield name, found
    yield "top stable", top_stable(table, k, epsilon, _DELTA, rng)
    # With k_bar = 10 k, one of the three that they compare with.
    yield "limited domain, DR", limited_domain(table, k, dr_epsilon(k, epsilon, _DELTA), _DELTA / 2, rng, rows=10 * k)


def measure(data: Sequence[str], runs: int, epsilons: Sequence[float], progress: Callable[[str], None]) -> list[Cell]:
    """All cells of these data sets."""
    cells = []
    for name in data:
        for share in _SHARES:
            key = TableKey("discovery", name, 0, 0, 0, 0.0, share)
            table = make_table(key)
            progress(key.name)
            cells += [_cell(table, key.name, k, epsilon, runs) for epsilon in epsilons for k in _KS]
    return cells


def _cell(table: Table, name: str, k: int, epsilon: float, runs: int) -> Cell:
    best, whole = int(table.counts[table.order[:k]].sum()), len(table.users)
    mass: dict[str, list[float]] = {}
    recall: dict[str, list[float]] = {}
    for run in range(runs):
        rng = np.random.default_rng([zlib.crc32(f"{name} {k} {epsilon}".encode()), run])
        for who, items in answers(table, k, epsilon, rng):
            mass.setdefault(who, []).append((best - int(table.counts[items].sum())) / whole)
            recall.setdefault(who, []).append(table.recall(items, k))
    errors = {who: 2 * standard_error(values) for who, values in mass.items()}
    left, found = ({who: statistics.fmean(values) for who, values in given.items()} for given in (mass, recall))
    return Cell(name, k, epsilon, left, found, errors)


def summarise(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Over all cells: the mean of each, and in how many podium is better, or worse, by more than two errors."""
    rows = []
    for who in (PODIUM, *CONTESTANTS):
        better = [cell.missing_mass[who] - cell.missing_mass[PODIUM] for cell in cells]
        sure = [2 * max(cell.errors[who], cell.errors[PODIUM], 1e-9) for cell in cells]
        rows.append({
            "who": who,
            "missing_mass": statistics.fmean(cell.missing_mass[who] for cell in cells),
            "recall": statistics.fmean(cell.recall[who] for cell in cells),
            "podium_better": sum(gap > error for gap, error in zip(better, sure, strict=True)),
            "podium_worse": sum(-gap > error for gap, error in zip(better, sure, strict=True)),
        })  # fmt: skip
    return rows


def goals(cells: Sequence[Cell]) -> list[Goal]:
    """podium leaves no more mass than the best by hindsight, in any cell."""
    worst = max(cells, key=lambda cell: cell.behind)
    where = f"{worst.data}, k={worst.k}, epsilon={worst.epsilon:g}"
    name, met = "missing mass - least of all others", worst.behind <= _NEAR
    return [Goal(name, f"<= {_NEAR}", round(worst.behind, 4), met, where)]


def show(cells: Sequence[Cell], summary: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Prints all cells, worst first, and the means."""
    for title, field in (("missing mass (less is better)", "missing_mass"), ("recall", "recall")):
        rows = []
        for cell in sorted(cells, key=lambda cell: -cell.behind):
            values = getattr(cell, field)
            shown = [f"{values[who]:.4f}" if field == "missing_mass" else f"{values[who]:.3f}" for who in values]
            rows.append([cell.data, str(cell.k), f"{cell.epsilon:g}", *shown])
        headings = ("data", "k", "epsilon", PODIUM, *CONTESTANTS)
        console.print(text_table(f"{title}; worst cells of podium first", headings, rows))
    for row in summary:
        console.print(
            f"{row['who']}: missing mass {row['missing_mass']:.4f}, recall {row['recall']:.3f}; podium surely better "
            f"in {row['podium_better']} and worse in {row['podium_worse']} of {len(cells)} cells",
            highlight=False,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser("python -m bench discovery", __doc__, DEFAULT_JSON, quick="two data sets, few runs")
    options = parser.parse_args(argv)
    console = wide_console(150)
    data = [name for name in (_QUICK if options.quick else _DATA) if not missing(name)]
    if not data:
        console.print("discovery: no data set was found; set PODIUM_DATA")
        return 0
    runs = _QUICK_RUNS if options.quick else _RUNS
    epsilons = (1.0,) if options.quick else (1.0, 0.1)
    cells = measure(data, runs, epsilons, lambda text: console.print(f"discovery: {text}", style="dim"))
    summary = summarise(cells)
    show(cells, summary, console)
    settings = {"delta": str(_DELTA), "runs": runs, "bound": BOUND, "mode": "quick" if options.quick else "full"}
    found = [asdict(cell) | {"behind": cell.behind} for cell in cells]
    report = bench_report("discovery", settings, summary=summary, goals=goals(cells), cells=found)
    save_report(report, options.json, indent=None)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
