"""The monitor bench: recall per period of lists that keep up to date, against asking again with an even split.

    python -m bench monitor [--quick] [--json FILE] [--csv FILE] [--picture FILE]

One budget, epsilon 1 and delta 1e-6 for the whole schedule and every user, k = 10. Streams are made up with drifting
popularity, and real logs in the order of their records (looked for in $PODIUM_DATA, else in ../shared/data).
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from matplotlib.ticker import MaxNLocator

from bench.command import bench_parser, bench_report, save_report
from bench.monitor.goals import goals
from bench.monitor.strategies import GROWING_ONLY, STRATEGIES, Question, strategies_for
from bench.monitor.streams import REAL, Stream, drifting, replayed
from bench.utility.data import folder
from podium.present.drawing.page import SMALL, WIDTH, Page, Picture
from podium.present.drawing.style import font

__all__ = ["QUESTION", "Row", "draw", "main", "run", "streams", "write_csv", "write_json"]

QUESTION = Question(10, "1", "1e-6")
DEFAULT_JSON = Path("build/bench/monitor.json")
DEFAULT_CSV = Path("build/bench/monitor.csv")
DEFAULT_PICTURE = Path("build/bench/monitor.svg")
_PANEL, _LEFT, _RIGHT = 1.55, 0.65, 0.2
_FEW_PERIODS, _MORE_RUNS = 12, 5
"""Means over few periods vary more from run to run, and cost less."""


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy in one period of one stream: its recall and the share of the budget left, means of all runs."""

    stream: str
    strategy: str
    period: int
    recall: float
    left: float


def streams(*, quick: bool) -> Iterator[Stream]:
    """The streams, one after the other; real logs only where they are there."""
    if quick:
        yield drifting(users=4_000, items=200, periods=6, span=2, seed=1, name="drifting, 6 days, last 2")
        return
    yield drifting(users=20_000, items=1_000, periods=30, span=7, seed=1, name="drifting, 30 days, last 7")
    yield drifting(users=100_000, items=2_000, periods=60, span=1, seed=2, name="drifting, 60 days, each alone")
    yield drifting(users=20_000, items=1_000, periods=52, span=12, seed=4, name="drifting, 52 weeks, last 12")
    yield drifting(users=5_000, items=500, periods=365, span=30, seed=5, name="drifting, 365 days, last 30")
    yield drifting(users=5_000, items=500, periods=365, span=1, seed=6, name="drifting, 365 days, each alone")
    for periods, every in ((12, "months"), (52, "weeks"), (365, "days")):
        # The same year of the same users, in periods of different lengths.
        yield drifting(users=10_000, items=1_000, periods=periods, span=None, seed=3, activity=4 / periods,
                       name=f"drifting, {periods} {every}, growing")  # fmt: skip
    for name, (periods, span) in {"kosarak": (20, 5), "retail": (30, 7)}.items():
        if (folder() / REAL[name]).is_file():
            yield replayed(name, periods=periods, span=span)


def run(chosen: Iterator[Stream], *, runs: int, question: Question = QUESTION) -> list[Row]:
    """Every strategy on every stream."""
    rows = []
    for stream in chosen:
        many = _MORE_RUNS if stream.periods <= _FEW_PERIODS else 1
        for name, strategy in strategies_for(stream).items():
            found = [strategy(stream, question) for _ in range(runs * many)]
            for period, outcomes in enumerate(zip(*found, strict=True)):
                recall, left = (statistics.fmean(getattr(one, what) for one in outcomes) for what in ("recall", "left"))
                rows.append(Row(stream.name, name, period, recall, left))
            mean = statistics.fmean(row.recall for row in rows[-stream.periods :])
            print(f"{stream.name:<32} {name:<34} recall {mean:.3f}, budget left {rows[-1].left:.3f}", flush=True)
    return rows


def write_csv(rows: Sequence[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stream", "strategy", "period", "recall", "left"))
        for row in rows:
            writer.writerow((row.stream, row.strategy, row.period, f"{row.recall:.4f}", f"{row.left:.4f}"))


def write_json(rows: Sequence[Row], path: Path, *, mode: str, runs: int) -> None:
    """For the page about the benches: one cell per stream and strategy."""
    cells = []
    for stream, strategy in dict.fromkeys((row.stream, row.strategy) for row in rows):
        line = [row for row in rows if (row.stream, row.strategy) == (stream, strategy)]
        recalls = [row.recall for row in line]
        cells.append(
            {
                "stream": stream,
                "strategy": strategy,
                "recall": statistics.fmean(recalls),
                "worst": min(recalls),
                "last": recalls[-1],
                "left": line[-1].left,
            }
        )
    settings = {
        "mode": mode,
        "runs": runs,
        "few_periods": _FEW_PERIODS,
        "runs_of_few_periods": runs * _MORE_RUNS,
        **asdict(QUESTION),
    }
    save_report(bench_report("monitor", settings, cells=cells, goals=goals(cells)), path)


def draw(rows: Sequence[Row], path: Path) -> Picture:
    """One panel per stream: recall over the periods, one line per strategy; and how the monitor's budget burns down."""
    names = list(dict.fromkeys(row.stream for row in rows))
    note = (
        f"Recall: the share of the true top {QUESTION.k} of each period's window that came back, at epsilon "
        f"{QUESTION.epsilon} and delta {QUESTION.delta} for the whole schedule and every user. Grey: the share of the "
        "budget that TopKMonitor has left."
    )
    body = _PANEL * len(names) + 0.75
    page = Page("Recall per period, by how one budget is used", [note], body=body, dark=False)
    for panel, name in enumerate(names):
        below = body - 0.6 - _PANEL * (panel + 1) + 0.45
        axes = page.axes(left=_LEFT, right=_RIGHT, above=0.6 + _PANEL * panel, below=below)
        for number, strategy in enumerate((*STRATEGIES, *GROWING_ONLY)):
            line = [row for row in rows if (row.stream, row.strategy) == (name, strategy)]
            if not line:
                continue
            places = [row.period + 1 for row in line]
            if strategy == "TopKMonitor":
                axes.fill_between(places, [row.left for row in line], color=page.style.line, linewidth=0)
            axes.plot(places, [row.recall for row in line], color=page.style.series[number],
                      linewidth=1.8, linestyle=("-", "-.", "--", ":", "-.")[number], label=strategy)  # fmt: skip
        axes.set_ylim(-0.03, 1.03)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        page.text(axes, 0.0, 1.03, name, transform=axes.transAxes, va="bottom", fontproperties=font(SMALL))
    # The panel with most lines has all names.
    labels = max((axes.get_legend_handles_labels() for axes in page.picture.axes), key=lambda pair: len(pair[1]))
    page.picture.legend(
        *labels, loc="upper right", ncols=3, frameon=False, prop=font(SMALL),
        bbox_to_anchor=(1 - _RIGHT / WIDTH, page.top / page.height), borderaxespad=0, columnspacing=1.2,
    )  # fmt: skip
    page.picture.alt = f"Recall per period of {', '.join((*STRATEGIES, *GROWING_ONLY))} on {', '.join(names)}."
    path.parent.mkdir(parents=True, exist_ok=True)
    page.picture.save(path)
    return page.picture


def main(argv: Sequence[str] | None = None) -> int:
    parser = bench_parser("python -m bench monitor", __doc__, DEFAULT_JSON, quick="one small stream, one run")
    parser.add_argument("--csv", type=Path, default=DEFAULT_CSV)
    parser.add_argument("--picture", type=Path, default=DEFAULT_PICTURE)
    options = parser.parse_args(argv)
    runs = 1 if options.quick else 2
    rows = run(streams(quick=options.quick), runs=runs)
    write_json(rows, options.json, mode="quick" if options.quick else "full", runs=runs)
    write_csv(rows, options.csv)
    draw(rows, options.picture)
    print(f"wrote {options.json}, {options.csv} and {options.picture}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
