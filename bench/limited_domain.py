"""What LimitedDomain.release costs beyond the noise itself, for several k_bar.

``release`` sorts out the domain, races, and writes the receipt; ``race`` alone on the same numbers is the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from bench.command import bench_parser, bench_report, save_report
from bench.goals import Goal
from bench.measure import Contestant, Timing, interleaved
from bench.tables import text_table
from podium.histogram import Histogram
from podium.mechanisms import LimitedDomain
from podium.randomness import race

DEFAULT_JSON = Path("build/bench/limited_domain.json")
K = 10
SIZES = (100, 1000, 10_000)
GOAL_SIZE = 1000
GOAL_SECONDS = 0.001


def measure(k_bar: int, repetitions: int) -> dict[str, Timing]:
    """Times ``release`` and the bare race on the same Zipf counts, in turns."""
    counts = 1_000_000 // np.arange(1, k_bar + 2)
    items = [f"item-{i:06d}" for i in range(k_bar)]
    histogram = Histogram.top_rows(items, counts[:-1], next_count=int(counts[-1]))
    mechanism = LimitedDomain(K, k_bar, "0.1", "1e-6")
    margin = mechanism.margin
    return interleaved(
        [
            Contestant("release", lambda: mechanism.release(histogram), repetitions),
            Contestant("race", lambda: race(counts, k=K, scale=10, handicaps={k_bar: margin}), repetitions),
        ]
    )


def run(sizes: Sequence[int], repetitions: int) -> list[dict[str, float]]:
    """One row per k_bar."""
    rows = []
    for k_bar in sizes:
        timings = measure(k_bar, repetitions)
        release, noise = timings["release"].median, timings["race"].median
        rows.append({"k_bar": k_bar, "release": release, "race": noise, "overhead": release - noise})
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    parser = bench_parser("python -m bench.limited_domain", __doc__, DEFAULT_JSON, quick="fewer repetitions")
    options = parser.parse_args(argv)
    rows = run(SIZES, 21 if options.quick else 101)
    names = ("release", "race", "overhead")
    shown = [[f"{row['k_bar']:,.0f}", *(f"{1000 * row[name]:.2f}" for name in names)] for row in rows]
    title = f"LimitedDomain.release, k={K}, milliseconds (medians, in turns)"
    console = Console()
    console.print(text_table(title, ("k_bar", "release", "race alone", "overhead"), shown, left=0))
    goal = next(row["overhead"] for row in rows if row["k_bar"] == GOAL_SIZE)
    verdict = "met" if goal < GOAL_SECONDS else "not met"
    console.print(f"goal: overhead below 1 ms at k_bar={GOAL_SIZE:,}: {1000 * goal:.2f} ms, {verdict}")
    judged = Goal(f"overhead in ms, k_bar={GOAL_SIZE:,}", "< 1", 1000 * goal, goal < GOAL_SECONDS, f"k_bar={GOAL_SIZE}")
    save_report(bench_report("limited_domain", {"quick": options.quick}, rows=rows, goals=[judged]), options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
