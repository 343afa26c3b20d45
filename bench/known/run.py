"""The known-domain bench: recall at equal guarantee, and what the planner leaves on the table.

    python -m bench known [--quick] [--json FILE] [--plots FOLDER] [--processes N]

Recall is the share of the k returned items that have at least the k-th largest count. Everybody has the same epsilon
and delta: what is of bounded range is calibrated with the delta, what is only pure uses epsilon itself. Sets and lists
chosen at once follow from their laws; selections in turn are simulated with seeded noise. Data sets: the six of
Shekelyan & Loukides 2022 (SL), and the other columns of DPBench, on which no constant of the planner was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.command import bench_parser, bench_report, save_report, shown_progress, wide_console
from bench.known.data import FILES, DataSet, data_sets
from bench.known.distributions import canonical_recall
from bench.known.goals import DEFAULT, SET, Cell, goals
from bench.known.picture import draw
from bench.known.recall import Recall
from bench.known.report import WIDTH, show
from bench.processes import in_processes
from podium.mechanisms import CanonicalTopK, ExponentialTopK, JointTopK, NoisyTopK, TestedTopK
from podium.mechanisms.base import Mechanism
from podium.planning.facts import Facts
from podium.planning.question_budget import divided_budget
from podium.planning.strategy import strategy_for
from podium.privacy import calibrate_epsilon

__all__ = ["FULL", "QUICK", "Plan", "cliff", "contestants", "main", "run"]

DEFAULT_JSON = Path("build/bench/known.json")
DEFAULT_PLOTS = Path("build/bench")
DELTAS = ("0", "1e-6")
_STEPS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
_LADDER = tuple(f"{float(step) * 10.0**power:g}" for power in (-3, -2, -1, 0, 1) for step in _STEPS)
"""Where cliffs are looked for, so that data sets share the budgets that were calibrated."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure; ``runs`` by k, for what is simulated."""

    mode: str
    epsilons: tuple[str, ...]
    runs: dict[int, int]
    held_out: bool
    cliffs: bool


FULL = Plan("full", ("0.1", "0.5", "1", "3"), {10: 800, 100: 200, 1000: 50}, held_out=True, cliffs=True)
QUICK = Plan("quick", ("0.1", "1"), {10: 300, 100: 100, 1000: 30}, held_out=False, cliffs=False)


def contestants(k: int, epsilon: str, delta: str, size: int) -> dict[str, Mechanism]:
    """Everybody at the same guarantee, the planner's two answers last."""
    per_item = calibrate_epsilon(k, epsilon=epsilon, delta=delta, delta_for_calls=0).epsilon_per_item
    whole = calibrate_epsilon(1, epsilon=epsilon, delta=delta, delta_for_calls=0).epsilon_per_item
    return {
        "peeling": ExponentialTopK(k, per_item),
        "oneshot": NoisyTopK(k, epsilon),
        "canonical 1/2": CanonicalTopK(k, whole),
        "canonical 1/2 exp.": CanonicalTopK(k, epsilon, noise="exponential"),
        "canonical 1": CanonicalTopK(k, whole, gamma=1),
        "canonical 1 exp.": CanonicalTopK(k, epsilon, gamma=1, noise="exponential"),
        "joint": JointTopK(k, whole),
        DEFAULT: _planned(Facts(k=k, domain_size=size), epsilon, delta),
        SET: _planned(Facts(k=k, domain_size=size, ordered=False), epsilon, delta),
    }


def _planned(facts: Facts, epsilon: str, delta: str) -> Mechanism:
    mechanism = strategy_for(facts, divided_budget(facts, epsilon=epsilon, delta=delta)).mechanism
    assert isinstance(mechanism, Mechanism)
    return mechanism


def cliff(data: DataSet, k: int) -> tuple[str, ...]:
    """The last epsilon below the cliff and the first above: where a canonical set comes halfway from worst to best."""

    def recall(place: int) -> float:
        return canonical_recall(CanonicalTopK(k, _LADDER[place]), data)

    low, high = 0, len(_LADDER) - 1
    half = (recall(low) + recall(high)) / 2.0
    if recall(high) - recall(low) < 0.2:
        return ()
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if recall(middle) < half else (low, middle)
    return _LADDER[low], _LADDER[high]


def run(
    data: Sequence[DataSet], plan: Plan, progress: Callable[[str], None] = lambda _: None, *, processes: int = 1
) -> list[Cell]:
    """Measures every cell of the plan, data set by data set; what comes out does not depend on the processes."""
    chosen = [one for one in data if plan.held_out or not one.held_out]
    done: list[Cell] = []
    for one, cells in zip(chosen, in_processes(partial(_measured, plan), chosen, processes), strict=True):
        done += cells
        progress(f"{one.name} is done")
    return done


def _measured(plan: Plan, data: DataSet) -> list[Cell]:
    return [cell for k in plan.runs for cell in _cells(data, k, plan)]


def _cells(data: DataSet, k: int, plan: Plan) -> Iterator[Cell]:
    recall = Recall(data, plan.runs[k])
    around = cliff(data, k) if plan.cliffs else ()
    for epsilon in (*plan.epsilons, *(value for value in around if value not in plan.epsilons)):
        for delta in DELTAS:
            everybody = contestants(k, epsilon, delta, len(data.counts))
            tested = everybody[SET]
            yield Cell(
                data=data.name,
                held_out=data.held_out,
                k=k,
                epsilon=epsilon,
                delta=delta,
                at_cliff=epsilon not in plan.epsilons,
                recall={name: recall.of(mechanism) for name, mechanism in everybody.items()},
                chance_at_once=recall.chance_at_once(tested) if isinstance(tested, TestedTopK) else 0.0,
            )


def _report(cells: Sequence[Cell], plan: Plan) -> dict[str, Any]:
    settings = {"mode": plan.mode, "epsilons": plan.epsilons, "deltas": DELTAS, "runs": plan.runs}
    judged = {"goals": [goal.as_json() for goal in goals(cells)]}
    return bench_report("known", settings, cells=[cell.as_json() for cell in cells]) | judged


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = bench_parser(
        "python -m bench known", __doc__, DEFAULT_JSON, quick="two epsilons, six data sets, fewer runs"
    )
    parser.add_argument("--plots", type=Path, default=DEFAULT_PLOTS, metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="default: %(default)s")
    options = parser.parse_args(argv)
    console = wide_console(WIDTH)
    data = data_sets()
    if data is None:
        missing = " or ".join(FILES)
        console.print(f"known bench skipped: {missing} is not there. Set PODIUM_DATA to the folder that has both.")
        return 0
    plan = QUICK if options.quick else FULL
    with shown_progress("known", console) as progress:
        cells = run(data, plan, progress, processes=options.processes)
    show(cells, plan.mode, plan.runs, console)
    save_report(_report(cells, plan), options.json)
    options.plots.mkdir(parents=True, exist_ok=True)
    for delta, name in zip(DELTAS, ("pure", "approximate"), strict=True):
        draw(cells, delta).save(options.plots / f"known-{name}.png")
    console.print("Every cell is in the JSON file, and recall against epsilon is drawn beside it.", style="dim")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
