"""Whole programs beside podium: recall, time in a new process, and how many lines their users write.

    python -m bench end_to_end [--quick] [--runs N] [--bounds D ...] [--data NAME ...] [--json FILE]

OpenDP's Polars API, Tumult Analytics, PipelineDP and SmartNoise SQL, each in an environment of its own, which
``tools/environments PYTHON build/environments opendp tumult pipelinedp smartnoise`` makes; one that is not there is
left out, and the report says so. All have one user's rows as the unit and (1, 1e-6); the items are unknown. The others
need a bound on the items of one user: all bounds of a grid are run, and the best by hindsight is shown for each k,
which no user of theirs could know. podium has no setting. Seconds are the median of new processes with one answer, on
the clock, where the programs take turns. Answers are kept in a folder beside the file until all are there: a run that
was interrupted goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table

from bench.command import save_report
from bench.measure import Contestant, interleaved, machine
from bench.parts import Parts, Rows
from bench.utility.data import SETS, folder, missing

__all__ = ["PROGRAMS", "Plan", "Program", "goals", "lines_of_code", "main", "measure"]

DEFAULT_JSON = Path("build/bench/end_to_end.json")
ENVIRONMENTS = Path("build/environments")
_FOLDER = Path(__file__).parent / "programs"
_EPSILON, _DELTA = 1.0, 1e-6
_KS, _BOUNDS, _RUNS = (10, 100), (1, 2, 4, 8, 16, 32), 20
_DATA = ("msweb", "kosarak_head")
_TIMEOUT = 1800


@dataclass(frozen=True, slots=True)
class Program:
    """A library, the program of its user, and in how many runs it is measured less often than the others."""

    name: str
    title: str
    has_bound: bool = True
    fewer: int = 1
    library: str = ""
    """Whose environment it runs in, if not in one of its own name."""

    @property
    def path(self) -> Path:
        """The file."""
        return _FOLDER / f"{self.name}_program.py"

    @property
    def python(self) -> Path:
        """The interpreter of its environment; ours for podium."""
        if self.name == "podium":
            return Path(sys.executable)
        environments = Path(os.environ.get("PODIUM_ENVIRONMENTS", ENVIRONMENTS))
        return environments.absolute() / (self.library or self.name) / "bin" / "python"

    @property
    def absent(self) -> str | None:
        """Why it cannot be run; None if it can."""
        if self.python.is_file():
            return None
        return f"no environment: run tools/environments python3 {ENVIRONMENTS} {self.library or self.name}"


PROGRAMS = (
    Program("podium", "podium", has_bound=False),
    Program("opendp", "OpenDP, Laplace"),
    Program("opendp_gaussian", "OpenDP, Gaussian", library="opendp"),
    Program("smartnoise", "SmartNoise SQL"),
    Program("pipelinedp", "PipelineDP"),
    Program("tumult", "Tumult Analytics", fewer=5),
)


def lines_of_code(program: Program) -> int:
    """Lines between the marks that have code: neither blank nor a comment nor a bracket alone."""
    text = program.path.read_text(encoding="utf-8").partition("# user code\n")[2].partition("# end\n")[0]
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line.strip("()[]{},")) and not line.startswith("#") for line in lines)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which questions are asked, and how often."""

    data: tuple[str, ...]
    ks: tuple[int, ...]
    bounds: tuple[int, ...]
    runs: int
    turns: int = 3


def measure(plan: Plan, parts: Parts, progress: Callable[[str], None]) -> tuple[Rows, dict[str, str]]:
    """A row for each program, data set and k; and why a program is not there or gave up."""
    rows: Rows = []
    absent = {program.title: program.absent for program in PROGRAMS if program.absent is not None}
    for reason in absent.items():
        progress("{} is left out: {}".format(*reason))
    for program in (program for program in PROGRAMS if program.absent is None):
        for name in plan.data:
            for k in plan.ks:
                if found := _recalls(program, name, k, plan, parts, absent, progress):
                    rows.append(_row(program, name, k, found))
    for (name, k), seconds in _in_turns(rows, plan, parts, progress):
        for row in rows:
            if (row["data"], row["k"]) == (name, k):
                row["seconds"] = seconds[row["program"]]
    return rows, absent


def _recalls(
    program: Program,
    name: str,
    k: int,
    plan: Plan,
    parts: Parts,
    absent: dict[str, str],
    progress: Callable[[str], None],
) -> dict[int | None, list[float]]:
    """The recall of every run, for every bound that the program got through."""
    path, found = folder() / SETS[name].file, {}
    # The others' noise does not depend on k: the first ten of a hundred are what a question for ten returns.
    asked = max(plan.ks) if program.has_bound else k
    for bound in plan.bounds if program.has_bound else (None,):
        part = f"{program.name}-{name}-{asked}-{bound}"
        if parts.kept(part) is None:
            progress(f"{program.title} on {name}, k={asked}" + (f", bound {bound}" if bound else ""))
        try:
            lists = parts.rows(part, partial(_lists, program, path, asked, bound, _runs(program, plan)))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            absent[f"{program.title} on {name}, bound {bound}"] = _reason(error)
            progress(f"it failed: {_reason(error)}")
            continue
        counts = _true_counts(path)
        found[bound] = [_recall(counts, one["items"], k) for one in lists]
    return found


def _lists(program: Program, path: Path, k: int, bound: int | None, runs: int) -> Rows:
    return [{"items": items} for items in _run(program, path, k, bound, runs)["lists"]]


def _runs(program: Program, plan: Plan) -> int:
    return max(2, plan.runs // program.fewer)


def _reason(error: subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {_TIMEOUT} seconds"
    last = str(getattr(error, "stderr", "") or "").strip().splitlines()[-1:]
    return last[0][:200] if last else "it ended without a word"


def _row(program: Program, name: str, k: int, found: Mapping[int | None, Sequence[float]]) -> dict[str, Any]:
    best = max(found, key=lambda bound: statistics.fmean(found[bound]))
    return {
        "program": program.title, "data": name, "k": k, "runs": len(found[best]), "bound": best,
        "recall": statistics.fmean(found[best]),
        "error": 2 * statistics.stdev(found[best]) / len(found[best]) ** 0.5,
        "worst_bound": min(statistics.fmean(values) for values in found.values()),
        "lines": lines_of_code(program),
    }  # fmt: skip


def _in_turns(
    rows: Rows, plan: Plan, parts: Parts, progress: Callable[[str], None]
) -> Iterator[tuple[tuple[str, int], dict[str, float]]]:
    """For each question, the seconds of a new process with one answer, where the programs took turns."""
    by_title = {program.title: program for program in PROGRAMS}
    for name, k in dict.fromkeys((row["data"], row["k"]) for row in rows):
        asked = [(row["program"], row["bound"]) for row in rows if (row["data"], row["k"]) == (name, k)]

        def take_turns(name: str = name, k: int = k, asked: Sequence[tuple[str, int | None]] = asked) -> Rows:
            progress(f"seconds of a new process on {name}, k={k}")
            path = folder() / SETS[name].file
            contestants = [
                Contestant(
                    title,
                    partial(_run, by_title[title], path, k, bound, 1),
                    max(1, plan.turns // by_title[title].fewer),
                )
                for title, bound in asked
            ]
            return [{"program": title, "seconds": timing.median} for title, timing in interleaved(contestants).items()]

        found = parts.rows(f"seconds-{name}-{k}-{len(asked)}", take_turns)
        yield (name, k), {row["program"]: row["seconds"] for row in found}


def _true_counts(path: Path) -> dict[str, int]:
    sql = f"SELECT item, COUNT(DISTINCT user_id) FROM '{path}' GROUP BY item"  # noqa: S608 - our own files
    with duckdb.connect() as connection:
        return {str(item): count for item, count in connection.execute(sql).fetchall()}


def _recall(counts: Mapping[str, int], found: Sequence[str], k: int) -> float:
    last = int(np.sort(np.array(list(counts.values())))[-k])
    return sum(counts.get(item, 0) >= last for item in found[:k]) / k


def _run(program: Program, path: Path, k: int, bound: int | None, runs: int) -> dict[str, Any]:
    words = [
        str(program.python),
        str(program.path),
        str(path.absolute()),
        str(k),
        str(bound or 0),
        str(_EPSILON),
        str(_DELTA),
    ]
    environment = {**os.environ, "PYSPARK_PYTHON": str(program.python), "PYTHONWARNINGS": "ignore"}
    # Spark leaves a warehouse wherever it is started.
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as place:
        done = subprocess.run(
            [*words, str(runs)],
            check=True,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            env=environment,
            cwd=place,
        )
    document: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return document


def goals(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """podium's recall is not below that of any other program at its best bound, beyond chance."""
    gaps = []
    mine = {(row["data"], row["k"]): row for row in rows if row["program"] == "podium"}
    for row in rows:
        own = mine.get((row["data"], row["k"]))
        if own is not None and row is not own:
            gaps.append((own["recall"] - row["recall"] + own["error"] + row["error"], row))
    if not gaps:
        return []
    gap, worst = min(gaps, key=lambda pair: pair[0])
    return [{
        "name": "recall - best bound of the others + errors", "wanted": ">= 0", "measured": round(gap, 3),
        "met": gap >= 0, "where": f"{worst['data']}, k={worst['k']}, {worst['program']}",
    }]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench end_to_end", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one list length, one bound, two runs")
    parser.add_argument("--runs", type=int, default=_RUNS, metavar="N", help="default: %(default)s; Tumult a fifth")
    parser.add_argument("--bounds", type=int, nargs="+", default=_BOUNDS, metavar="D", help="default: %(default)s")
    parser.add_argument("--data", nargs="+", default=_DATA, choices=_DATA, metavar="NAME", help="default: %(default)s")
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    console = Console(width=max(Console().width, 130))
    data = tuple(name for name in options.data if not missing(name))
    plan = Plan(data[:1], _KS[:1], (4,), 2) if options.quick else Plan(data, _KS, tuple(options.bounds), options.runs)
    whole = plan == Plan(data, _KS, _BOUNDS, _RUNS) and data == _DATA
    settings = {
        "mode": "quick" if options.quick else "full" if whole else "reduced", "epsilon": _EPSILON, "delta": str(_DELTA),
        "repetitions": plan.runs, "bounds": list(plan.bounds),
    }  # fmt: skip
    parts = Parts(options.json.with_suffix(""), f"{_EPSILON} {_DELTA} {plan.runs}")
    rows, absent = measure(plan, parts, lambda text: console.print(f"end to end: {text}", style="dim"))
    report = {
        "bench": "end_to_end", "version": 1, "machine": {**machine(), "commit": parts.measured_at},
        "settings": settings, "absent": absent, "goals": goals(rows), "cells": rows,
    }  # fmt: skip
    save_report(report, options.json)
    if not absent:
        parts.forget()
    table = Table(title="recall, seconds of a new process, lines of user code")
    for heading in ("program", "data", "k", "recall", "2 s.e.", "bound", "seconds", "lines"):
        table.add_column(heading, justify="left" if heading in {"program", "data"} else "right")
    for row in rows:
        shown = (f"{row['recall']:.3f}", f"{row['error']:.3f}", str(row["bound"] or "-"), f"{row['seconds']:.1f}")
        table.add_row(row["program"], row["data"], str(row["k"]), *shown, str(row["lines"]))
    console.print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
