"""The selection bench: podium's race against the insecure NumPy one-liner and OpenDP, in one run.

    python -m bench selection [--quick | --full] [--json FILE]

Prints the tables and the goals, and writes the same numbers (every repetition) as JSON. The goals are ratios, computed
from this run alone, and only reported: a shared machine is too noisy to fail a build on.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.command import bench_report, save_report, shown_progress, wide_console
from bench.goals import Goal, show_goals
from bench.measure import Contestant, Timing, interleaved, machine, peak_extra_bytes
from bench.peers import EPSILON_PER_ITEM, SCALE, OpenDPBudget, installed, numpy_job, opendp_job, podium_job
from bench.selection import report
from bench.selection.goals import RawCell, TallyCell, goals
from bench.workloads import SHAPES, TALLY_SHAPES, Counts, raw_scores, tally
from podium.randomness.race import race

__all__ = ["FULL", "QUICK", "Plan", "Results", "main", "run"]

DEFAULT_JSON = Path("build/bench/selection.json")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which cells to measure and how patiently."""

    mode: str
    sizes: tuple[int, ...]
    places: tuple[int, ...]
    tally_sizes: tuple[int, ...]
    repetitions: int
    opendp_seconds: float
    opendp_always: frozenset[tuple[str, int, int]] = frozenset()

    def turns(self, d: int) -> int:
        """Repetitions of a fast contestant: small cells are the noisiest and the cheapest to repeat."""
        return self.repetitions * (3 if d <= 10**5 else 1)


QUICK = Plan(
    mode="quick",
    sizes=(10**4, 10**5, 10**6),
    places=(10, 100, 1000),
    tally_sizes=(10**4, 10**6, 10**9, 10**12, 10**18),
    repetitions=7,
    opendp_seconds=3.0,
)
FULL = dataclasses.replace(
    QUICK,
    mode="full",
    sizes=(10**4, 10**5, 10**6, 10**7),
    repetitions=9,
    opendp_seconds=20.0,
    opendp_always=frozenset({("zipf", 10**5, 100)}),
)


@dataclass(frozen=True, slots=True)
class Results:
    """Everything one run found out."""

    machine: dict[str, str | int | None]
    plan: Plan
    raw: list[RawCell]
    counts_of_counts: list[TallyCell]
    goals: list[Goal]

    def as_json(self) -> dict[str, Any]:
        """Plain data. Seconds are per repetition, memory is a multiple of the bytes of the counts."""
        settings = {
            "mode": self.plan.mode,
            "noise": "gumbel",
            "noise_scale": SCALE,
            "epsilon_per_item": EPSILON_PER_ITEM,
            "opendp_measure": "max_divergence",
            "opendp_seconds_per_cell": self.plan.opendp_seconds,
        }
        return bench_report(
            "selection",
            settings,
            facts=self.machine,
            raw=[cell.as_json() for cell in self.raw],
            counts_of_counts=[cell.as_json() for cell in self.counts_of_counts],
            goals=self.goals,
        )


def run(plan: Plan, progress: Callable[[str], None] = lambda _: None) -> Results:
    """Measures every cell of the plan. ``progress`` is told what comes next."""
    budget = OpenDPBudget(plan.opendp_seconds, plan.opendp_always)
    raw = []
    for d in plan.sizes:
        for shape in SHAPES:
            counts = raw_scores(shape, d)
            for k in plan.places:
                progress(f"raw {shape} d={d:,} k={k:,}")
                raw.append(_raw_cell(plan, budget, shape, counts, k))
    tallies = []
    for shape in TALLY_SHAPES:
        for k in plan.places:
            progress(f"counts of counts {shape} k={k:,}")
            tallies.extend(_tally_cells(plan, shape, k))
    return Results(machine(), plan, raw, tallies, goals(raw, tallies))


def _raw_cell(plan: Plan, budget: OpenDPBudget, shape: str, counts: Counts, k: int) -> RawCell:
    d = len(counts)
    ours, one_liner = podium_job(counts, k), numpy_job(counts, k)
    # What is imported and checked once per process belongs to no cell.
    ours(), one_liner()
    memory = {"podium": peak_extra_bytes(ours) / counts.nbytes, "numpy": peak_extra_bytes(one_liner) / counts.nbytes}
    turns = plan.turns(d)
    contestants = [Contestant("podium", ours, turns), Contestant("numpy", one_liner, turns)]
    slow_turns = budget.repetitions(shape, d, k) if installed() else 0
    skipped = None if slow_turns else "skipped: too slow" if installed() else "skipped: not installed"
    if slow_turns:
        contestants.append(Contestant("opendp", opendp_job(counts, k), slow_turns))
    timings = interleaved(contestants)
    if slow_turns:
        budget.record(shape, d, k, timings["opendp"].median)
    return RawCell(shape, d, k, timings, memory, skipped)


def _tally_cells(plan: Plan, shape: str, k: int) -> list[TallyCell]:
    """One cell per domain size. The domains take turns with each other: their ratio is the claim."""
    inputs = {d: tally(shape, d) for d in plan.tally_sizes}
    jobs = {d: _tally_job(scores, multiplicities, k) for d, (scores, multiplicities) in inputs.items()}
    peaks = {d: peak_extra_bytes(job) for d, job in jobs.items()}
    turns = 3 * plan.repetitions
    timings: dict[int, Timing] = interleaved([Contestant(d, job, turns) for d, job in jobs.items()])
    return [TallyCell(shape, d, k, len(inputs[d][0]), timings[d], peaks[d]) for d in plan.tally_sizes]


def _tally_job(scores: Counts, multiplicities: Counts, k: int) -> Callable[[], object]:
    return lambda: race(scores, k=k, scale=SCALE, noise="gumbel", multiplicities=multiplicities)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench selection", description=__doc__.partition("\n")[0])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--quick", action="store_true", help="under a minute: d up to 1e6, OpenDP only where it is fast")
    mode.add_argument("--full", action="store_true", help="a few minutes: every cell and every goal (the default)")
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    console = wide_console(report.WIDTH)
    with shown_progress("selection", console) as progress:
        results = run(QUICK if options.quick else FULL, progress)
    report.show(results.machine, results.plan.mode, results.raw, results.counts_of_counts, console)
    show_goals(results.goals, results.plan.mode, console)
    save_report(results.as_json(), options.json)
    console.print("Every repetition is in the JSON file.", style="dim")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
