"""The utility bench: recall of podium's default on public data, against five others with hindsight.

    python -m bench utility [--quick] [--json FILE] [--picture FILE]

One release at epsilon, delta=1e-6, users and items as in the files, no parameter stated: what ``podium.top`` does, with
the same exact mechanisms but without SQL. The others are NumPy simulations at the same guarantee. The data is looked
for in $PODIUM_DATA, else in ../shared/data. An interrupted run goes on where it stopped, if the code is the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.command import bench_parser, bench_report, save_report, wide_console
from bench.goals import Goal, show_goals
from bench.measure import machine
from bench.parts import Parts, Rows
from bench.processes import in_processes
from bench.utility import report
from bench.utility.cells import Cell, cells, goals
from bench.utility.columns import answers
from bench.utility.data import SETS, Integers, Pairs, load, missing
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.prediction import run_strategy
from podium.planning.question_budget import question_budget
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import CorrelatedNoise, GaussianNoise, LaplaceNoise
from podium.privacy.events import LimitedDomainCall
from podium.release import Release

__all__ = ["FULL", "QUICK", "Plan", "Results", "main", "run"]

DEFAULT_JSON = Path("build/bench/utility.json")
DEFAULT_PICTURE = Path("build/bench/utility.png")
UNFINISHED = Path("build/bench/utility.parts")

DELTA = "1e-6"
_SHORT = 10
_SEED = 6
_ROOT = Path(__file__).parents[2]

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which cells, and how many runs of each: ``runs`` of podium, ``counted`` with counts, ``others`` of the rest."""

    mode: str
    data: tuple[str, ...]
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    runs: int
    counted: int
    others: int
    processes: int = 2

    def here(self) -> Plan:
        """Without the data sets that are not there."""
        return dataclasses.replace(self, data=tuple(name for name in self.data if not missing(name)))

    def jobs(self) -> list[Job]:
        """Pieces of work of a minute or so, data set by data set."""
        return [
            Job(kind, name, epsilon, self)
            for name in self.data
            for kind, epsilon in (("others", None), *(("podium", epsilon) for epsilon in self.epsilons))
        ]


FULL = Plan("full", tuple(SETS), (10, 30, 100, 300), (0.5, 1.0, 3.0), runs=20, counted=6, others=80)
QUICK = Plan("quick", ("msweb", "steam"), (10, 100), (1.0,), runs=6, counted=2, others=12)


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work: all of the others on a data set, or podium at one epsilon."""

    kind: str
    data: str
    epsilon: float | None
    plan: Plan

    @property
    def name(self) -> str:
        """For people and for files."""
        return f"{self.data}, {self.kind}" + ("" if self.epsilon is None else f", epsilon {self.epsilon:g}")

    def __call__(self) -> Rows:
        """Do it."""
        pairs = load(self.data)
        return _others(pairs, self.plan) if self.epsilon is None else _podium(pairs, self.plan, self.epsilon)


@dataclass(frozen=True, slots=True)
class Results:
    """Everything one run found out; ``absent`` are the data sets that are not there."""

    machine: Mapping[str, str | int | float | None]
    plan: Plan
    cells: list[Cell]
    absent: list[str]
    goals: list[Goal]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        settings = {"delta": DELTA, **dataclasses.asdict(self.plan)}
        cells = [cell.as_json() for cell in self.cells]
        return bench_report("utility", settings, facts=self.machine, cells=cells, absent=self.absent, goals=self.goals)


def _others(pairs: Pairs, plan: Plan) -> Rows:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for run in range(plan.others):
        rng = np.random.default_rng([_SEED, zlib.crc32(pairs.name.encode()), run])
        for answer in answers(pairs, plan.ks, plan.epsilons, float(DELTA), rng):
            key = {"column": answer.column, "bound": answer.bound, "epsilon": answer.epsilon, "k": answer.k}
            row = rows.setdefault(tuple(key.values()), {"data": pairs.name, **key, "recalls": [], "errors": []})
            row["recalls"].append(pairs.recall(answer.found, answer.k))
            if answer.estimates is not None:
                row["errors"].append(pairs.error(answer.found, answer.estimates))
    return list(rows.values())


def _podium(pairs: Pairs, plan: Plan, epsilon: float) -> Rows:
    reader = pairs.reader()
    rows = []
    for k in plan.ks:
        row: dict[str, Any] = {"data": pairs.name, "k": k, "epsilon": epsilon}
        default, counted = Facts(k=k), Facts(k=k, counts=True)
        planned, releases = _released(default, epsilon, reader, plan.runs)
        row["mechanism"] = type(planned.mechanism).__name__
        row["recalls"] = [_recall(pairs, release) for release in releases]
        row["reads"] = [_reads(release) for release in releases]
        releases = _released(counted, epsilon, reader, plan.counted)[1]
        row["counted_recalls"] = [_recall(pairs, release) for release in releases]
        row["errors"] = [pairs.error(_found(release), np.array(release.values or (), float)) for release in releases]
        # A short list is rarely answered in rounds: what if it were?
        other = [] if k > _SHORT else _released(Facts(k=k, mechanism="adaptive"), epsilon, reader, plan.runs)[1]
        row["in_rounds"] = [_recall(pairs, release) for release in other]
        rows.append(row)
    return rows


def _released(facts: Facts, epsilon: float, reader: PairsReader, runs: int) -> tuple[Strategy, list[Release]]:
    planned = strategy_for(facts, question_budget(facts, epsilon=repr(epsilon), delta=DELTA))
    return planned, [run_strategy(planned, reader) for _ in range(runs)]


def _found(release: Release) -> Integers:
    return np.array(release.items, dtype=np.int64)


def _recall(pairs: Pairs, release: Release) -> float:
    return pairs.recall(_found(release), release.k)


def _reads(release: Release) -> int:
    """How often the table would have been counted: for each noisy histogram, and for each call."""
    counted = (GaussianNoise, CorrelatedNoise, LaplaceNoise, LimitedDomainCall)
    return sum(isinstance(event, counted) for event in release.paid.events)


def run(plan: Plan, parts: Parts | None = None, progress: Progress = lambda _: None) -> Results:
    """Measures every cell of the plan; ``parts`` has what an interrupted run has done."""
    there, parts = plan.here(), parts or Parts(None, "")
    references: Rows = []
    ours: Rows = []
    for job, rows in _done(there.jobs(), parts, there.processes, progress):
        (references if job.epsilon is None else ours).extend(rows)
    order = {name: place for place, name in enumerate(there.data)}
    ours.sort(key=lambda row: (order[row["data"]], row["epsilon"], row["k"]))
    found = cells(references, ours)
    absent = [name for name in plan.data if missing(name)]
    return Results(machine(), there, found, absent, goals(found))


def _done(jobs: Sequence[Job], parts: Parts, processes: int, progress: Progress) -> Iterator[tuple[Job, Rows]]:
    """The rows of each job: those that an interrupted run has done are read, the others computed and kept."""
    waiting = []
    for job in jobs:
        if (rows := parts.kept(job.name)) is not None:
            yield job, rows
        else:
            waiting.append(job)
    for number, (job, rows) in enumerate(in_processes(_worked, waiting, processes, ordered=False), 1):
        parts.keep(job.name, rows)
        progress(f"{number} of {len(waiting)}: {job.name}")
        yield job, rows


def _worked(job: Job) -> tuple[Job, Rows]:
    return job, job()


def _fingerprint(plan: Plan) -> str:
    """What an interrupted run must share with this one to be gone on with."""
    digest = hashlib.sha256(repr(plan).encode())
    for path in sorted([*(_ROOT / "src" / "podium").rglob("*.py"), *(_ROOT / "bench" / "utility").rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser(
        "python -m bench utility", __doc__, DEFAULT_JSON, quick="about a minute: two data sets, epsilon=1, k=10 and 100"
    )
    parser.add_argument("--picture", type=Path, default=DEFAULT_PICTURE, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    console = wide_console(report.WIDTH)
    plan = QUICK if options.quick else FULL
    if not plan.here().data:
        console.print("utility bench skipped: no data set is there. Set PODIUM_DATA to the folder that has them.")
        return 0
    parts = Parts(UNFINISHED, _fingerprint(plan))
    results = run(plan, parts, lambda text: console.print(f"utility bench: {text}", style="dim", highlight=False))
    report.show(results.machine, plan.mode, results.cells, results.absent, console)
    show_goals(results.goals, plan.mode, console, number="+.3f")
    report.show_shortfalls(results.cells, console)
    save_report(results.as_json(), options.json)
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    from bench.utility.picture import draw  # noqa: PLC0415 - matplotlib is needed for the picture only

    draw(results.cells, options.picture)
    parts.forget()
    console.print(f"Every run is in {options.json}, the picture in {options.picture}.", style="dim", highlight=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
