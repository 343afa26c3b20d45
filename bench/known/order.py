"""What a ranking would gain, and lose, if its items were chosen at once and then put into order.

    python -m bench known_order [--quick] [--json FILE]

The block in which canonical sets find more than the default: k=1000 with delta=0, the data sets of Shekelyan & Loukides
2022, four epsilons. A test as in TestedTopK decides; a set is chosen with all of the rest but a share of epsilon, with
which exponential noise on its counts puts it into order. Where the test says no, the whole rest makes one ranking.
With the head first, a tenth of epsilon ranks the first tenth, which then has the noise that it has in the default, and
the other items are chosen in this way.
"""

from __future__ import annotations

import statistics
import zlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bench.command import bench_parser, bench_report, save_report
from bench.known.data import FILES, DataSet, data_sets
from bench.known.recall import Recall
from podium.mechanisms import CanonicalTopK, TestedTopK

__all__ = ["ABOUT_ORDER", "MEASURES", "SHARES", "main", "measure", "order_table", "quality"]

ABOUT_ORDER = (
    "k=1,000 with delta=0, means over the data sets of SL and epsilon. A share of epsilon puts the set into order. "
    "Recall is that of the list, of its first half, tenth and hundredth; tau is Kendall's, between the order and the "
    "counts."
)
DEFAULT_JSON = Path("build/bench/known_order.json")
SHARES = ("1/50", "1/20", "1/10", "1/5", "1/3", "1/2")
"""Of epsilon, for the order of a set."""
HEAD_FIRST, _SHARE_AFTER_HEAD = "head first, 1/50", Fraction(1, 50)
MEASURES = ("recall", "first half", "first tenth", "first hundredth", "tau")
_EPSILONS, _QUICK_EPSILONS = ("0.1", "0.5", "1", "3"), ("1",)
_K, _QUICK_K = 1000, 100
_RUNS, _QUICK_RUNS = 12, 3
_NEVER = 1e-3

Items = NDArray[np.int64]


def quality(items: Items, data: DataSet, k: int) -> tuple[float, ...]:
    """Recall of the list and of three parts at its head, and Kendall's tau between order and counts."""
    counts = data.counts
    recalls = [float(np.mean(counts[items[:depth]] >= counts[depth - 1])) for depth in (k, k // 2, k // 10, k // 100)]
    above = np.triu(np.sign(counts[items][:, None] - counts[items][None, :]), 1)
    untied = np.count_nonzero(above)
    return (*recalls, float(above.sum() / untied) if untied else 1.0)


def measure(data: DataSet, k: int, epsilon: Fraction, runs: int) -> dict[str, tuple[float, ...]]:
    """Every way on one data set: means over runs."""
    rng = np.random.default_rng(zlib.crc32(f"{data.name} {epsilon}".encode()))
    found = {"default": _mean([_noisy(data, k, epsilon, rng) for _ in range(runs)], data, k)}
    test = TestedTopK(k, epsilon).epsilon_test
    in_turn = _mean([_noisy(data, k, epsilon - test, rng) for _ in range(runs)], data, k)
    for share in SHARES:
        for_order = Fraction(share) * epsilon
        tested = TestedTopK(k, epsilon - for_order, share=test / (epsilon - for_order))
        chance = Recall(data, runs).chance_at_once(tested)
        at_once = in_turn
        if chance > _NEVER:
            at_once = _mean([_ordered(data, tested.at_once, for_order, rng) for _ in range(runs)], data, k)
        found[share] = tuple(chance * one + (1 - chance) * other for one, other in zip(at_once, in_turn, strict=True))
    found[HEAD_FIRST] = _mean([_head_first(data, k, epsilon, test, rng) for _ in range(runs)], data, k)
    return found


def _head_first(data: DataSet, k: int, epsilon: Fraction, test: Fraction, rng: np.random.Generator) -> Items:
    """The first tenth by noise that is added once, the others from what is left, at once where the test says so."""
    head = _noisy(data, k // 10, epsilon / 10, rng)
    left = np.setdiff1d(np.arange(len(data.counts)), head)
    rest, others, whole = DataSet(data.name, data.counts[left]), k - k // 10, epsilon * 9 / 10
    for_order = _SHARE_AFTER_HEAD * epsilon
    tested = TestedTopK(others, whole - for_order, share=test / (whole - for_order))
    if rng.random() < Recall(rest, 1).chance_at_once(tested):
        tail = _ordered(rest, tested.at_once, for_order, rng)
    else:
        tail = _noisy(rest, others, whole - test, rng)
    return np.concatenate([head, left[tail]])


def _noisy(data: DataSet, k: int, epsilon: Fraction, rng: np.random.Generator) -> Items:
    """The law of NoisyTopK: exponential noise added once."""
    return np.argsort(-(data.counts * float(epsilon / k) + rng.standard_exponential(len(data.counts))))[:k]


def _ordered(data: DataSet, at_once: CanonicalTopK, epsilon: Fraction, rng: np.random.Generator) -> Items:
    """A set, in the order of its counts with exponential noise."""
    items = np.sort(np.array(at_once.release(data.histogram).items, dtype=np.int64))
    noisy = data.counts[items] * float(epsilon / at_once.k) + rng.standard_exponential(len(items))
    ordered: Items = items[np.argsort(-noisy)]
    return ordered


def _mean(lists: Sequence[Items], data: DataSet, k: int) -> tuple[float, ...]:
    return tuple(np.mean([quality(items, data, k) for items in lists], axis=0).tolist())


def _means(cells: Sequence[Mapping[str, tuple[float, ...]]]) -> list[dict[str, str | float]]:
    """A row for each way: the mean of each measure over the cells."""
    return [
        {
            "way": way,
            **{name: statistics.fmean(cell[way][place] for cell in cells) for place, name in enumerate(MEASURES)},
        }
        for way in ("default", *SHARES, HEAD_FIRST)
    ]


def order_table(report: Mapping[str, Any]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Headings, and a row for each way."""
    rows = [[str(row["way"]), *(f"{row[name]:.3f}" for name in MEASURES)] for row in report["rows"]]
    return ("share for the order", *MEASURES), rows


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser("python -m bench known_order", __doc__, DEFAULT_JSON, quick="k=100, one epsilon, few runs")
    options = parser.parse_args(argv)
    console = Console()
    data = data_sets()
    if data is None:
        console.print(f"known_order bench skipped: {' or '.join(FILES)} is not there. Set PODIUM_DATA to their folder.")
        return 0
    k, runs = (_QUICK_K, _QUICK_RUNS) if options.quick else (_K, _RUNS)
    epsilons = _QUICK_EPSILONS if options.quick else _EPSILONS
    cells = [measure(one, k, Fraction(epsilon), runs) for one in data if not one.held_out for epsilon in epsilons]
    settings = {"mode": "quick" if options.quick else "full", "k": k, "epsilons": epsilons, "repetitions": runs}
    report = bench_report("known_order", settings, cells=len(cells), rows=_means(cells))
    headings, shown = order_table(report)
    table = Table(*headings, title=f"k={k:,}, delta=0: means over {len(cells)} cells")
    for line in shown:
        table.add_row(*line)
    console.print(table)
    save_report(report, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
