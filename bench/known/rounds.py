"""The bench of stated facts: what a known domain, and a bound on items per user, do to the default answer.

    python -m bench known_rounds [--quick] [--json FILE] [--processes N] [--seconds N]

Synthetic users with t different items each, drawn from N items with weights 1/rank^a; epsilon=1, delta=1e-6. ``in
turn``, ``rounds`` and ``Laplace`` have the whole budget and are what the default for a known domain chooses among;
``default`` pays for that choice. ``bound`` states t as well. Tables are seeded; the noise is fresh.

Every answer is run until its standard error is small; then those of goals that are still undecided are run on, until
they are decided or a time is over.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.goals import Goal
from bench.processes import in_processes
from bench.utility.regimes.tables import even_pairs
from podium.mechanisms import RefinedTopK, RisingTopK, SharedVoteTopK
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import recall, run_strategy
from podium.planning.question_budget import divided_budget, question_budget
from podium.planning.strategy import strategy_for

__all__ = ["ANSWERS", "CELLS", "Shape", "goals", "main", "recalls"]

DEFAULT_JSON = Path("build/bench/known_rounds.json")
_SEED = 7
_BUDGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
_FIRST, _BATCH = 4, 8
"""Runs of every answer, and of one that is run on."""
ANSWERS = (
    "in turn", "rounds", "Laplace", "default", "default, bound", "no domain", "no domain, bound",
    "oneshot, delta=0", "default, delta=0",
)  # fmt: skip
COMPARED = (
    ("a domain", "default", "no domain"),
    ("a domain, where the bound is known", "default, bound", "no domain, bound"),
    ("a bound, with a domain", "default, bound", "default"),
    ("a bound, without a domain", "no domain, bound", "no domain"),
)
"""What is stated, the answer with it and the answer without it."""
LIMIT = 0.01
_SURE = 4.0
"""Standard errors beyond which a difference is decided."""


class Shape(NamedTuple):
    """Users, items of each, items in the domain, places, and how steep the weights are."""

    users: int
    each: int
    size: int
    k: int
    slope: float


CELLS = (
    Shape(20_000, 3, 4096, 100, 1.0),
    Shape(20_000, 20, 4096, 100, 1.0),
    Shape(20_000, 2, 4096, 1000, 1.0),
    Shape(2_000, 3, 4096, 100, 1.0),
    Shape(3_000, 400, 4096, 100, 1.0),
    Shape(3_000, 200, 1000, 50, 0.5),
    Shape(1_000, 4, 60, 20, 0.7),
    Shape(2_000, 150, 300, 20, 0.5),
    Shape(1_000, 400, 1000, 100, 0.5),
    Shape(500, 100, 120, 20, 0.5),
    Shape(2_000, 3, 4096, 10, 1.0),
    Shape(500, 100, 120, 3, 0.3),
    Shape(3_000, 1, 300, 20, 0.8),
    Shape(300, 1, 60, 10, 0.8),
    Shape(1_000, 10, 300, 5, 0.5),
    Shape(5_000, 10, 1000, 300, 0.7),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How far to go: standard errors of every answer and of an undecided goal, and processor seconds of one shape."""

    error: float
    undecided: float
    seconds: float


FULL, QUICK = Effort(0.008, 0.0025, 150.0), Effort(0.03, 0.03, 2.0)


@dataclass(slots=True)
class _Measured:
    """One answer of a shape, and its recalls so far."""

    ask: Callable[[], Any]
    counts: NDArray[np.int64]
    places: int
    recalls: list[float] = field(default_factory=list)

    def run(self, times: int) -> None:
        self.recalls += [recall(self.ask(), self.counts) for _ in range(times)]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.recalls)

    @property
    def error(self) -> float:
        """Of the mean; as if one run had missed one item more, if no run differed."""
        runs = len(self.recalls)
        return max(statistics.stdev(self.recalls), 1 / (self.places * math.sqrt(runs))) / math.sqrt(runs)


def recalls(shape: Shape, effort: Effort) -> dict[str, dict[str, float]]:
    """The mean recall of each answer, its standard error, and the number of runs."""
    rng = np.random.default_rng(_SEED)
    users, items = even_pairs(shape.users, shape.each, shape.size, shape.slope, rng)
    table = PairsReader(users, items, domain_size=shape.size)
    counts = np.bincount(items, minlength=shape.size)
    found = {name: _Measured(_answer(name, shape, table), counts, shape.k) for name in ANSWERS}
    for answer in found.values():
        answer.run(_FIRST)
    end = time.process_time() + effort.seconds
    while time.process_time() < end:
        wanting = _wanting(found, effort)
        if not wanting:
            break
        for name in wanting:
            found[name].run(_BATCH)
    return {
        name: {"mean": answer.mean, "error": answer.error, "runs": len(answer.recalls)}
        for name, answer in found.items()
    }


def _wanting(found: dict[str, _Measured], effort: Effort) -> list[str]:
    """The answers that need more runs: all that are coarse, then the coarser of each pair that is undecided."""
    coarse = [name for name, answer in found.items() if answer.error > effort.error]
    if coarse:
        return coarse
    undecided: dict[str, None] = {}
    for _, one, other in COMPARED:
        pair = (found[one], found[other])
        error = np.hypot(pair[0].error, pair[1].error)
        decided = abs(pair[0].mean - pair[1].mean + LIMIT) > _SURE * error
        if not decided and error > effort.undecided:
            undecided[one if pair[0].error > pair[1].error else other] = None
    return list(undecided)


def _answer(name: str, shape: Shape, table: PairsReader) -> Callable[[], Any]:
    budget = {**_BUDGET, "delta": 0} if name.endswith("delta=0") else _BUDGET
    if name.startswith("oneshot"):
        # What a ledger does with a pure budget.
        facts = Facts(k=shape.k, domain_size=shape.size)
        plan = strategy_for(facts, divided_budget(facts, **budget))
        return lambda: run_strategy(plan, table)
    if name == "in turn":
        rising = RisingTopK.within(shape.k, **_BUDGET)
        return lambda: table.choose_known(rising, None)
    if name == "rounds":
        refined = RefinedTopK.within(shape.k, **_BUDGET)
        return lambda: refined.release(table)
    if name == "Laplace":
        shared = SharedVoteTopK(shape.k, _BUDGET["epsilon"])
        return lambda: table.rank_known(shared)
    facts = Facts(
        k=shape.k,
        domain_size=None if name.startswith("no domain") else shape.size,
        max_items_per_user=shape.each if name.endswith("bound") else None,
    )
    plan = strategy_for(facts, question_budget(facts, **budget))
    return lambda: run_strategy(plan, table)


def goals(cells: Sequence[dict[str, Any]]) -> list[Goal]:
    """What is stated does not make the answer worse; a cell fails below -LIMIT."""
    judged = [
        _judged(f"recall with {said} minus without, worst cell", one, other, cells) for said, one, other in COMPARED
    ]
    best = ("in turn", "rounds", "Laplace")
    judged += [
        _mean_of(f"mean recall of the default minus that of {name} with all of epsilon", "default", name, cells)
        for name in best
    ]
    return [
        *judged,
        _mean_of("the same at delta=0: minus that of oneshot", "default, delta=0", "oneshot, delta=0", cells),
    ]


def _judged(name: str, one: str, other: str, cells: Sequence[dict[str, Any]]) -> Goal:
    gains = [cell["recall"][one]["mean"] - cell["recall"][other]["mean"] for cell in cells]
    worst = min(range(len(cells)), key=gains.__getitem__)
    where = ", ".join(f"{key} {cells[worst][key]:,}" for key in ("users", "each", "size", "k"))
    error = sum(cells[worst]["recall"][which]["error"] ** 2 for which in (one, other)) ** 0.5
    met = gains[worst] >= -LIMIT
    return Goal(name, f">= -{LIMIT:g}", gains[worst], met, f"{where} (standard error {error:.3f})")


def _mean_of(name: str, one: str, other: str, cells: Sequence[dict[str, Any]]) -> Goal:
    gain = statistics.fmean(cell["recall"][one]["mean"] - cell["recall"][other]["mean"] for cell in cells)
    return Goal(name, ">= 0", gain, gain >= 0, f"{len(cells)} cells")


def _cell(job: tuple[Shape, Effort]) -> dict[str, Any]:
    shape, effort = job
    return {**shape._asdict(), "recall": recalls(shape, effort)}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each shape, and leaves a file for the pages."""
    parser = bench_parser("python -m bench known_rounds", __doc__, DEFAULT_JSON, quick="few runs")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, metavar="N", help="processor seconds of one shape, at most")
    options = parser.parse_args(argv)
    effort = QUICK if options.quick else FULL
    if options.seconds is not None:
        effort = replace(effort, seconds=options.seconds)
    table = Table("users", "items each", "domain", "k", "slope", *ANSWERS, title="recall")
    cells = list(in_processes(_cell, [(shape, effort) for shape in CELLS], options.processes))
    for shape, cell in zip(CELLS, cells, strict=True):
        table.add_row(*map(str, shape), *(f"{cell['recall'][name]['mean']:.3f}" for name in ANSWERS))
    wide_console(170).print(table)
    settings = {"mode": "quick" if options.quick else "full", **asdict(effort), **_BUDGET}
    save_report(bench_report("known_rounds", settings, cells=cells, goals=goals(cells)), options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
