"""The joint bench: JointTopK against the O(dk) way to run the same mechanism, in one run.

    python -m bench.joint [--quick] [--json FILE]

On the Netflix counts (17,770 items) with k = 10, 100 and 1000. NumPy makes, sorts and weighs all d*k differences, with
insecure, inexact noise. The data is looked for in $PODIUM_DATA, else in ../shared/data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bench.canonical import counts_for
from bench.command import bench_parser, bench_report, print_machine, save_report, shown_progress, wide_console
from bench.goals import Goal, verdict
from bench.known.data import Counts
from bench.measure import Contestant, Timing, interleaved, machine, peak_extra_bytes
from podium.histogram import Histogram
from podium.mechanisms import JointTopK

__all__ = ["Cell", "main", "numpy_job", "podium_job", "run"]

DEFAULT_JSON = Path("build/bench/joint.json")
CELLS = ((10, 1.0), (100, 1.0), (1000, 1.0), (1000, 0.1), (1000, 0.01))
_MOST_SECONDS = 2.0


def podium_job(counts: Counts, k: int, epsilon: float) -> Callable[[], tuple[Any, ...]]:
    """A whole release, from the histogram to the names."""
    histogram = Histogram.from_arrays(range(len(counts)), counts)
    mechanism = JointTopK(k, epsilon)
    return lambda: tuple(mechanism.release(histogram).outcome)


def numpy_job(counts: Counts, k: int, epsilon: float) -> Callable[[], tuple[Any, ...]]:
    """All differences between a place and an item, sorted; each weighed by the sequences of which it is the largest.

    Equal differences stand in the order of lower places first, and "largest" means the last one: entry (j, i) is it for
    the product over the other places of what they have left once all earlier entries are allowed.
    """
    rng = np.random.default_rng(1)

    def job() -> tuple[Any, ...]:
        order = np.argsort(-counts, kind="stable")
        x = counts[order]
        # Rows from place k up: then, among equal differences too, what a place may take the later ones may take before.
        differences = (x[:k][::-1, None] - x[None, :]).ravel()
        # Place j must be able to take the ranks up to j: with them allowed at first, no factor is ever 0.
        start = np.tri(k, len(x), dtype=np.bool_)[::-1].ravel()
        ranked = np.argsort(np.where(start, np.int64(-1), differences), kind="stable")[int(start.sum()) :]
        places = k - 1 - ranked // len(x)
        grouped = np.argsort(places, kind="stable")
        left = np.empty(len(ranked), dtype=np.int64)
        left[grouped] = 1 + np.arange(len(ranked)) - np.searchsorted(places[grouped], places[grouped])
        logs = np.log(left)
        sizes = np.cumsum(np.log(left + 1) - logs) - np.log(left + 1)
        values = sizes - epsilon / 2 * differences[ranked] + rng.gumbel(size=len(ranked))
        best = int(np.argmax(values)) if len(values) else -1
        if best < 0 or rng.gumbel() > values[best]:
            return tuple(order[:k].tolist())
        allowed = np.arange(1, k + 1) + np.bincount(places[: best + 1], minlength=k)
        return tuple(order[_filled(allowed, int(places[best]), int(ranked[best] % len(x)), rng)].tolist())

    return job


def _filled(allowed: NDArray[np.int64], place: int, item: int, rng: np.random.Generator) -> list[int]:
    """A uniform sequence of ranks in which each place takes one of its allowed ones, and one place is fixed."""
    taken = {item}
    ranks = []
    for j, count in enumerate(allowed.tolist()):
        rank = item
        while j != place and rank in taken:
            rank = int(rng.integers(count))
        taken.add(rank)
        ranks.append(rank)
    return ranks


@dataclass(frozen=True, slots=True)
class Cell:
    """One k and epsilon: the times of both contestants, and their peak memory."""

    k: int
    epsilon: float
    timings: dict[str, Timing]
    memory: dict[str, int]

    @property
    def times_faster(self) -> float:
        """How many of ours fit into one of theirs."""
        return self.timings["numpy"].median / self.timings["podium"].median

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "k": self.k,
            "epsilon": self.epsilon,
            "seconds": {name: timing.seconds for name, timing in self.timings.items()},
            "times_faster_than_numpy": self.times_faster,
            "peak_bytes": self.memory,
        }


def run(counts: Counts, *, quick: bool, progress: Callable[[str], None] = lambda _: None) -> list[Cell]:
    """Measures every k and epsilon."""
    cells = []
    for k, epsilon in CELLS:
        progress(f"k={k}, epsilon={epsilon}")
        ours, theirs = podium_job(counts, k, epsilon), numpy_job(counts, k, epsilon)
        ours()
        memory = {"podium": peak_extra_bytes(ours), "numpy": peak_extra_bytes(theirs)}
        contestants = [
            Contestant("podium", ours, 7 if quick else 21),
            Contestant("numpy", theirs, 1 if quick else 5),
        ]
        cells.append(Cell(k, epsilon, interleaved(contestants), memory))
    return cells


def _show(cells: Sequence[Cell], counts: Counts, console: Console) -> None:
    print_machine("joint", None, machine(), console)
    console.print(f"Netflix 5-star counts, d={len(counts):,}; medians in turns.", highlight=False)
    table = Table()
    for heading in ("k", "epsilon", "podium", "NumPy", "NumPy\n/ podium", "memory\npodium", "memory\nNumPy"):
        table.add_column(heading, justify="right")
    for cell in cells:
        table.add_row(
            f"{cell.k:,}",
            f"{cell.epsilon:g}",
            f"{1000 * cell.timings['podium'].median:,.1f} ms",
            f"{1000 * cell.timings['numpy'].median:,.0f} ms",
            f"{cell.times_faster:,.1f}",
            f"{cell.memory['podium'] / 2**20:.1f} MiB",
            f"{cell.memory['numpy'] / 2**20:,.1f} MiB",
        )
    console.print(table)
    goal = _goal(cells)
    judged = f"{goal.measured:.2f} s at worst, {verdict(goal)}"
    console.print(f"at most {_MOST_SECONDS:g} s per release: {judged}", highlight=False)


def _goal(cells: Sequence[Cell]) -> Goal:
    worst = max(cells, key=lambda cell: cell.timings["podium"].median)
    slowest = worst.timings["podium"].median
    where = f"k={worst.k} epsilon={worst.epsilon:g}"
    return Goal("seconds per release", f"<= {_MOST_SECONDS:g}", slowest, slowest <= _MOST_SECONDS, where)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser("python -m bench.joint", __doc__, DEFAULT_JSON, quick="fewer repetitions")
    options = parser.parse_args(argv)
    console = wide_console(100)
    if (counts := counts_for("joint", console)) is None:
        return 0
    with shown_progress("joint", console) as progress:
        cells = run(counts, quick=options.quick, progress=progress)
    _show(cells, counts, console)
    found = [cell.as_json() for cell in cells]
    save_report(bench_report("joint", {"quick": options.quick}, cells=found, goals=[_goal(cells)]), options.json)
    console.print("Every repetition is in the JSON file.", style="dim")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
