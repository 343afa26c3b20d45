"""The canonical bench: CanonicalTopK against the O(dk) ways to run the same mechanism, in one run.

    python -m bench.canonical [--quick] [--json FILE]

On the Netflix counts (17,770 items) with k=1000. NumPy evaluates all 16.8 million classes with a Gumbel variable
each; the loop does the same in plain Python, as the paper prints it (with its class sizes corrected). Both use
insecure, inexact noise. The data is looked for in $PODIUM_DATA, else in ../shared/data.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.command import bench_parser, bench_report, print_machine, save_report, shown_progress, wide_console
from bench.goals import Goal, verdict
from bench.known.data import NETFLIX, Counts, netflix_counts
from bench.measure import Contestant, Timing, interleaved, machine, peak_extra_bytes
from podium.histogram import Histogram
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK

__all__ = ["Cell", "counts_for", "loop_job", "main", "numpy_job", "podium_job", "run"]

DEFAULT_JSON = Path("build/bench/canonical.json")
K = 1000
GAMMA = 0.5
EPSILONS = (1.0, 0.1, 0.01)

_CHUNK = 256
_WANTED = {"numpy": (10.0, ", aim 50x"), "loop": (300.0, "")}


def counts_for(bench: str, console: Console) -> Counts | None:
    """The counts of Netflix; None where they are not there, and the bench is said to be skipped."""
    counts = netflix_counts()
    if counts is None:
        console.print(f"{bench} bench skipped: {NETFLIX} is not there. Set PODIUM_DATA to the folder that has it.")
    return counts


def podium_job(counts: Counts, k: int, epsilon: float, noise: Any = "gumbel") -> Callable[[], frozenset[Any]]:
    """A whole release, from the histogram to the names."""
    histogram = Histogram.from_arrays(range(len(counts)), counts)
    mechanism = CanonicalTopK(k, epsilon, gamma=GAMMA, noise=noise)
    return lambda: frozenset(mechanism.release(histogram).outcome)


def numpy_job(counts: Counts, k: int, epsilon: float) -> Callable[[], frozenset[Any]]:
    """All classes at once, in chunks of t that fit the cache; log sizes from a table of log factorials."""
    rng = np.random.default_rng(1)
    d = len(counts)

    def job() -> frozenset[Any]:
        order = np.argsort(-counts, kind="stable")
        x = counts[order].astype(np.float64)
        factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, d + 1.0)))])
        a = np.arange(k)
        heads = -epsilon * (1.0 - GAMMA) * x[:k] - factorials[k - 1 - a]
        best = (epsilon * (2.0 * GAMMA - 1.0) * x[k - 1] + rng.gumbel(), k - 1, k)
        for start in range(k + 1, d + 1, _CHUNK):
            t = np.arange(start, min(start + _CHUNK, d + 1))[:, None]
            tails = epsilon * GAMMA * x[t - 1] - factorials[t - k - 1]
            values = factorials[t - a - 2] + heads + tails + rng.gumbel(size=(len(t), k))
            place = int(np.argmax(values))
            best = max(best, (float(values.flat[place]), place % k, start + place // k))
        _, first, last = best
        body = first + 1 + rng.choice(max(last - first - 2, 0), k - 1 - first, replace=False)
        return frozenset(order[[*range(first), *body.tolist(), last - 1]].tolist())

    return job


def loop_job(counts: Counts, k: int, epsilon: float, *, tails: int | None = None) -> Callable[[], frozenset[Any]]:
    """The printed loops, one class after the other; ``tails`` stops after so many values of t."""
    rng = random.Random(1)
    d = len(counts)

    def noise(size: float) -> float:
        return size - math.log(-math.log(rng.random()))

    def job() -> frozenset[Any]:
        order = sorted(range(d), key=lambda i: -counts[i])
        x = [int(counts[i]) for i in order]
        first, last = k - 1, k
        value = epsilon * (2 * GAMMA - 1) * x[k - 1] + noise(0.0)
        for t in range(k + 1, d + 1 if tails is None else min(d, k + tails) + 1):
            size = 0.0
            for a in range(k - 1, -1, -1):
                if a < k - 1:
                    size += math.log((t - a - 2) / (k - 1 - a))
                candidate = epsilon * (GAMMA * x[t - 1] - (1 - GAMMA) * x[a]) + noise(size)
                if candidate > value:
                    value, first, last = candidate, a, t
        body = rng.sample(range(first + 1, last - 1), k - 1 - first)
        return frozenset(order[rank] for rank in (*range(first), *body, last - 1))

    return job


@dataclass(frozen=True, slots=True)
class Cell:
    """One epsilon: the times of all contestants, and the peak memory of two."""

    epsilon: float
    timings: dict[str, Timing]
    memory: dict[str, int]
    loop_share: float

    def times_faster(self, than: str) -> float:
        """How many of ours fit into one of theirs; a loop that was cut short is extrapolated."""
        share = self.loop_share if than == "loop" else 1.0
        return self.timings[than].median / share / self.timings["podium"].median

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "epsilon": self.epsilon,
            "seconds": {name: timing.seconds for name, timing in self.timings.items()},
            "loop_share": self.loop_share,
            "times_faster_than_numpy": self.times_faster("numpy"),
            "times_faster_than_loop": self.times_faster("loop"),
            "peak_bytes": self.memory,
        }


def run(counts: Counts, k: int, *, quick: bool, progress: Callable[[str], None] = lambda _: None) -> list[Cell]:
    """Measures every epsilon."""
    cells = []
    tails = max(1, (len(counts) - k) // 50) if quick else len(counts) - k
    for epsilon in EPSILONS:
        progress(f"epsilon={epsilon}")
        ours, flip, theirs = (
            podium_job(counts, k, epsilon),
            podium_job(counts, k, epsilon, "exponential"),
            numpy_job(counts, k, epsilon),
        )
        ours(), flip()
        memory = {"podium": peak_extra_bytes(ours), "numpy": peak_extra_bytes(theirs)}
        contestants = [
            Contestant("podium", ours, 21),
            Contestant("podium, exponential", flip, 21),
            Contestant("numpy", theirs, 3 if quick else 7),
            Contestant("loop", loop_job(counts, k, epsilon, tails=tails), 1),
        ]
        cells.append(Cell(epsilon, interleaved(contestants), memory, tails / (len(counts) - k)))
    return cells


def _show(cells: Sequence[Cell], counts: Counts, k: int, console: Console) -> None:
    print_machine("canonical", None, machine(), console)
    console.print(
        f"Netflix 5-star counts, d={len(counts):,}, k={k:,}, gamma={GAMMA}; medians in turns.", highlight=False
    )
    table = Table()
    for heading in ("epsilon", "podium", "exponential\nnoise", "NumPy", "NumPy\n/ podium", "loop", "loop\n/ podium"):
        table.add_column(heading, justify="right")
    table.add_column("memory\npodium", justify="right")
    table.add_column("memory\nNumPy", justify="right")
    for cell in cells:
        loop = cell.timings["loop"].median / cell.loop_share
        table.add_row(
            f"{cell.epsilon:g}",
            f"{1000 * cell.timings['podium'].median:.2f} ms",
            f"{1000 * cell.timings['podium, exponential'].median:.2f} ms",
            f"{1000 * cell.timings['numpy'].median:,.0f} ms",
            f"{cell.times_faster('numpy'):,.0f}",
            f"{loop:,.1f} s" + ("" if cell.loop_share == 1.0 else " (part)"),
            f"{cell.times_faster('loop'):,.0f}",
            f"{cell.memory['podium'] / 2**20:.1f} MiB",
            f"{cell.memory['numpy'] / 2**20:.1f} MiB",
        )
    console.print(table)
    for goal in _goals(cells):
        judged = f"{goal.measured:,.0f} at worst, wanted {goal.wanted}, {verdict(goal)}"
        console.print(f"{goal.name}: {judged}", highlight=False)


def _goals(cells: Sequence[Cell]) -> list[Goal]:
    goals = []
    for than, name in (("numpy", "vectorised NumPy"), ("loop", "the loop in plain Python")):
        wanted, aim = _WANTED[than]
        worst = min(cells, key=lambda cell: cell.times_faster(than))
        speedup = worst.times_faster(than)
        where = f"epsilon={worst.epsilon:g}"
        goals.append(Goal(f"times faster than {name}", f">= {wanted:g}{aim}", speedup, speedup >= wanted, where))
    return goals


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser(
        "python -m bench.canonical", __doc__, DEFAULT_JSON, quick="a few seconds: a fiftieth of the loop, extrapolated"
    )
    options = parser.parse_args(argv)
    console = wide_console(110)
    if (counts := counts_for("canonical", console)) is None:
        return 0
    with shown_progress("canonical", console) as progress:
        cells = run(counts, K, quick=options.quick, progress=progress)
    _show(cells, counts, K, console)
    settings = {"d": len(counts), "k": K, "gamma": GAMMA, "quick": options.quick}
    found = [cell.as_json() for cell in cells]
    save_report(bench_report("canonical", settings, cells=found, goals=_goals(cells)), options.json)
    console.print("Every repetition is in the JSON file.", style="dim")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
