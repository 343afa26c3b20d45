"""How much the time of an answer tells about private rows: two tables, one asker with a clock.

For every pair of tables the same question is asked of both in turns. Beside the medians stands how often one measured
time of the second table is longer than one of the first (a tie counts half): 0.50 means that a single time tells
nothing, 0.00 or 1.00 that it tells the tables apart for certain. Neighbouring tables differ by one user; the other
pairs differ by more than any guarantee covers, and show where time goes. ``release`` is podium's own code on a
histogram; the whole question adds the engine, on a Parquet file; ``bounded`` also cuts users to a few items; the last
rows ask on a schedule.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console

import podium
from bench.measure import Contestant, Timing, interleaved
from bench.tables import text_table
from podium.curator.timing import delay_to_period
from podium.histogram import Histogram
from podium.mechanisms import LimitedDomain
from podium.sources.parquet import write_parquet

__all__ = ["PAIRS", "Row", "longer", "main", "run"]

K, K_BAR, BOUND = 10, 1000, 20
Counts = list[int]


def _steps(items: int) -> Counts:
    return [2_000 // place + 100 for place in range(1, items + 1)]


PAIRS: dict[str, tuple[Counts, Counts]] = {
    "neighbours: one user more at rank 1": (_steps(300), [2_101, *_steps(300)[1:]]),
    "neighbours: one user with an item of their own": (_steps(300), [*_steps(300), 1]),
    "flat against a cliff": ([200] * 300, [2_000] * 10 + [138] * 290),
    "few items against many": ([2_000] * 15, [100] * 300),
}
"""How many users have each item, in two tables."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one pair showed."""

    what: str
    pair: str
    first: Timing
    second: Timing

    @property
    def cells(self) -> list[str]:
        """For the table."""
        medians = (self.first.median, self.second.median)
        share = longer(self.first.seconds, self.second.seconds)
        return [self.what, self.pair, *(f"{1000 * median:.2f}" for median in medians),
                f"{medians[1] / medians[0]:.3f}", f"{share:.2f}"]  # fmt: skip


def longer(first: Sequence[float], second: Sequence[float]) -> float:
    """How often a time of the second is longer than one of the first; a tie counts half."""
    wins = sum((b > a) + (b == a) / 2 for a, b in product(first, second))
    return wins / (len(first) * len(second))


def run(*, releases: int, questions: int, period: Fraction) -> list[Row]:
    """All pairs, four ways."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for pair, tables in PAIRS.items():
            histograms = [_histogram(counts) for counts in tables]
            files = [_file(counts, Path(folder) / f"{len(rows)}-{side}.parquet") for side, counts in enumerate(tables)]
            ways: list[tuple[str, int, list[Callable[[], object]]]] = [
                ("release", releases, [_releasing(histogram) for histogram in histograms]),
                ("question", questions, [_asking(file, None) for file in files]),
                ("bounded", questions, [_asking(file, None, bound=BOUND) for file in files]),
                ("on schedule", questions, [_asking(file, period) for file in files]),
            ]
            for what, turns, jobs in ways:
                timed = interleaved([Contestant(side, job, turns) for side, job in enumerate(jobs)])
                rows.append(Row(what, pair, timed[0], timed[1]))
    return rows


def _histogram(counts: Counts) -> Histogram:
    ordered = np.sort(np.array(counts))[::-1]
    return Histogram.top_rows([f"item-{i}" for i in range(len(counts))], ordered, next_count=0)


def _releasing(histogram: Histogram) -> Callable[[], object]:
    mechanism = LimitedDomain(K, K_BAR, "0.1", "1e-6")
    return lambda: mechanism.release(histogram)


def _file(counts: Counts, path: Path) -> Path:
    pairs = [(user, f"item-{item}") for item, count in enumerate(counts) for user in range(count)]
    users, items = zip(*pairs, strict=True)
    write_parquet({"user": users, "item": items}, path)
    return path


def _asking(file: Path, period: Fraction | None, *, bound: int | None = None) -> Callable[[], object]:
    def ask() -> object:
        return podium.top(file, item="item", user="user", k=K, epsilon=1, delta="1e-6", max_items_per_user=bound)

    def delayed() -> object:
        with delay_to_period(period):
            return ask()

    return delayed


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m bench timing", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--period", type=Fraction, default=Fraction(1, 2), help="seconds; default: %(default)s")
    options = parser.parse_args(argv)
    rows = run(releases=50 if options.quick else 400, questions=8 if options.quick else 40, period=options.period)
    title = f"Time and private rows, k={K}; medians in ms, in turns; on schedule: every {options.period} s"
    headings = ("what", "tables", "first", "second", "ratio", "second is longer")
    Console(width=120).print(text_table(title, headings, [row.cells for row in rows], left=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
