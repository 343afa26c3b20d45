"""What starting costs: the processor time of a new Python process that does nothing, imports podium, or asks.

Processor time (user and system, all threads) depends far less than the clock on what else the machine does. The goals
are in seconds, because that is what somebody at a terminal waits for; the ratios to ``python -c pass`` are what
compares between machines.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.command import bench_parser, bench_report, save_report
from bench.goals import Goal, print_goals
from bench.measure import Contestant, interleaved
from bench.tables import text_table

__all__ = ["BARE", "GOALS", "cells", "commands", "goals", "main"]

DEFAULT_JSON = Path("build/bench/startup.json")
LINES = 1000
BARE = "python -c pass"
GOALS = {"import podium": 0.1, "podium --help": 0.3, "podium top": 0.8}
"""Seconds of processor time that each may take."""


def commands(table: Path) -> dict[str, list[str]]:
    """What is started; the first is what the others are compared with."""
    podium = [sys.executable, "-m", "podium"]
    question = ["--item", "article", "--user", "user_id", "-k", "10", "--epsilon", "1", "--delta", "1e-8"]
    return {
        BARE: [sys.executable, "-c", "pass"],
        "import podium": [sys.executable, "-c", "import podium"],
        "podium --help": [*podium, "--help"],
        "podium top": [*podium, "top", str(table), *question],
    }


def _table(path: Path) -> Path:
    rows = (f"u{line},a{line % 7 * (line % 5)}" for line in range(LINES))
    path.write_text("\n".join(["user_id,article", *rows, ""]), encoding="ascii")
    return path


def _children_seconds() -> float:
    """The processor time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cells(repetitions: int) -> list[dict[str, Any]]:
    """The median processor time of each command, in turns, and how many bare starts that is."""
    with tempfile.TemporaryDirectory() as folder:
        # Byte code is kept, as it is for whoever installed podium, whatever this process was told.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder) / "cache")}
        run = partial(subprocess.run, check=True, capture_output=True, env=environment)
        contestants = [
            Contestant(name, partial(run, command), repetitions)
            for name, command in commands(_table(Path(folder) / "views.csv")).items()
        ]
        for contestant in contestants:
            contestant.job()  # compiles
        timings = interleaved(contestants, clock=_children_seconds)
    bare = timings[BARE].median
    return [
        {"what": name, "processor_seconds": timing.median, "ratio": timing.median / bare}
        for name, timing in timings.items()
    ]


def goals(measured: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """One for each command but the bare one."""
    seconds = {cell["what"]: cell["processor_seconds"] for cell in measured}
    return [
        Goal(f"processor seconds, {what}", f"< {most:g}", seconds[what], seconds[what] < most, what)
        for what, most in GOALS.items()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = bench_parser("python -m bench startup", __doc__, DEFAULT_JSON, quick="fewer repetitions")
    parser.add_argument("--repetitions", type=int, metavar="N", help="default: 5 with --quick, 21 without")
    options = parser.parse_args(argv)
    measured = cells(options.repetitions or (5 if options.quick else 21))
    rows = [[cell["what"], f"{cell['processor_seconds']:.3f}", f"{cell['ratio']:.1f}"] for cell in measured]
    headings = ("what", "seconds", f"times {BARE}")
    console = Console()
    console.print(text_table("Starting, processor seconds (medians, in turns)", headings, rows))
    print_goals(goals(measured), console, number=".3f")
    settings = {"quick": options.quick, "lines": LINES}
    save_report(bench_report("startup", settings, cells=measured, goals=goals(measured)), options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
