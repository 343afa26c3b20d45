"""Peeling with a known domain, podium beside OpenDP at the same rho: recall and time on public data.

    python -m bench.opendp_recall [--quick] [--json FILE]

The domain is every item of the data set, as if it had been public; a user counts at most once for each item. podium is
the planner's choice for a known domain within a rho, OpenDP is ``make_noisy_top_k`` for zero-concentrated DP with the
least scale that costs at most this rho. Both add Gumbel noise and keep the k largest, so recall should differ by chance
alone; time is what differs. The data is looked for in $PODIUM_DATA, else in ../shared/data.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.measure import Contestant, Timing, interleaved, standard_error
from bench.peers import installed
from bench.utility.data import Integers, Pairs, load, missing
from podium.planning.facts import Facts
from podium.planning.prediction import run_strategy
from podium.planning.question_budget import QuestionBudget
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import largest_selection_epsilon

__all__ = ["FULL", "QUICK", "Cell", "Plan", "main", "measure", "opendp_peeling", "podium_peeling"]

DEFAULT_JSON = Path("build/bench/opendp_recall.json")
DATA = ("msweb", "bms_webview_2")
PODIUM, OPENDP = "podium", "opendp"


@dataclass(frozen=True, slots=True)
class Plan:
    """Which cells, and how many runs of each."""

    mode: str
    ks: tuple[int, ...]
    rhos: tuple[str, ...]
    runs: int


FULL = Plan("full", (10, 30), ("1e-4", "1e-3", "1e-2"), runs=20)
QUICK = Plan("quick", (10, 30), ("1e-4", "1e-3"), runs=5)


@dataclass(frozen=True, slots=True)
class Cell:
    """One question on one data set of ``d`` items: the recall and the time of every run of both."""

    data: str
    d: int
    k: int
    rho: str
    mechanism: str
    recalls: dict[str, list[float]]
    timings: dict[str, Timing]

    @property
    def times_faster(self) -> float:
        """How many of podium's runs fit into one of OpenDP's."""
        return self.timings[OPENDP].median / self.timings[PODIUM].median

    def recall(self, who: str) -> tuple[float, float]:
        """The mean, and its standard error."""
        runs = self.recalls[who]
        return statistics.fmean(runs), standard_error(runs)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        found = asdict(self)
        del found["timings"]
        return found | {
            "recall": {who: self.recall(who)[0] for who in self.recalls},
            "standard_error": {who: self.recall(who)[1] for who in self.recalls},
            "seconds": {who: timing.seconds for who, timing in self.timings.items()},
            "times_faster_than_opendp": self.times_faster,
        }


def podium_peeling(d: int, k: int, rho: str) -> Strategy:
    """What the planner does for a known domain when k items may cost rho."""
    each = largest_selection_epsilon(Fraction(rho) / k)
    return strategy_for(Facts(k=k, domain_size=d), QuestionBudget(epsilon_per_item=each))


def opendp_peeling(k: int, rho: str) -> Any:
    """OpenDP's measurement with the least scale for this rho. It is told that a user only ever adds to counts."""
    import opendp.prelude as dp  # noqa: PLC0415 - a dev dependency, and slow to import

    dp.enable_features("contrib")

    def noisy(scale: float) -> Any:
        return dp.m.make_noisy_top_k(
            dp.vector_domain(dp.atom_domain(T="i64")),
            dp.linf_distance(T="i64", monotonic=True),
            dp.zero_concentrated_divergence(),
            k=k,
            scale=scale,
        )

    return dp.binary_search_chain(noisy, d_in=1, d_out=float(rho), T=float)


def measure(pairs: Pairs, k: int, rho: str, runs: int) -> Cell:
    """Runs both in turns. Both start from the counts in memory."""
    planned, measurement, reader = podium_peeling(len(pairs.counts), k, rho), opendp_peeling(k, rho), pairs.reader()
    found: dict[str, list[Integers]] = {PODIUM: [], OPENDP: []}

    def keep(who: str, answer: Callable[[], Sequence[Any]]) -> Callable[[], None]:
        return lambda: found[who].append(np.array(answer(), dtype=np.int64))

    contestants = [
        Contestant(PODIUM, keep(PODIUM, lambda: run_strategy(planned, reader).items), runs),
        Contestant(OPENDP, keep(OPENDP, lambda: measurement(pairs.counts)), runs),
    ]
    timings = interleaved(contestants)
    recalls = {who: [pairs.recall(items, k) for items in answers] for who, answers in found.items()}
    return Cell(pairs.name, len(pairs.counts), k, rho, type(planned.mechanism).__name__, recalls, timings)


def _show(cells: Sequence[Cell], mode: str, console: Console) -> None:
    console.print(
        f"opendp_recall bench ({mode}): peeling at the same rho; the domain is every item of the data set.",
        highlight=False,
    )
    table = Table()
    table.add_column("data", no_wrap=True)
    for heading in ("items", "k", "rho", "recall, podium", "recall, OpenDP", "OpenDP / podium, time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in cells:
        recalls = ("{:.3f} ±{:.3f}".format(*cell.recall(who)) for who in (PODIUM, OPENDP))
        table.add_row(cell.data, f"{cell.d:,}", str(cell.k), cell.rho, *recalls, f"{cell.times_faster:,.0f}")
    console.print(table)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser("python -m bench.opendp_recall", __doc__, DEFAULT_JSON, quick="two rho, five runs")
    options = parser.parse_args(argv)
    console = wide_console(110)
    if not installed():
        console.print("opendp_recall bench skipped: opendp is not installed. Install the dependency group peers.")
        return 0
    absent = [name for name in DATA if missing(name)]
    if len(absent) == len(DATA):
        text = f"opendp_recall bench skipped: {' and '.join(DATA)} are not there. "
        console.print(text + "Set PODIUM_DATA to the folder that has them.", soft_wrap=True)
        return 0
    plan = QUICK if options.quick else FULL
    cells = [
        measure(load(name), k, rho, plan.runs)
        for name in DATA
        if name not in absent
        for k in plan.ks
        for rho in plan.rhos
    ]
    _show(cells, plan.mode, console)
    found = [cell.as_json() for cell in cells]
    save_report(bench_report("opendp_recall", asdict(plan), cells=found, absent=absent), options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
