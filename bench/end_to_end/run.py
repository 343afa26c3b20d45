"""Whole programs beside podium: recall, time in a new process, and how many lines their users write.

    python -m bench end_to_end [--quick] [--runs N] [--bounds D ...] [--data NAME ...] [--json FILE]

OpenDP's Polars API, Tumult Analytics, PipelineDP and SmartNoise SQL, each in an environment of its own, which
``tools/environments PYTHON build/environments opendp tumult pipelinedp smartnoise`` makes; one that is not there is
left out, and the report says so. All have one user's rows as the unit and (1, 1e-6); the items are unknown. The others
need a bound on the items of one user: all bounds of a grid are run, and the best by hindsight is shown for each k,
which no user of theirs could know. podium has no setting. Seconds are those of a new process with one answer, on the
clock. The file is written after every program, and what it has at the same settings is not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table

from bench.measure import machine
from bench.utility.data import SETS, folder, missing

__all__ = ["PROGRAMS", "Plan", "Program", "goals", "lines_of_code", "main", "measure"]

DEFAULT_JSON = Path("build/bench/end_to_end.json")
Rows = list[dict[str, Any]]
ENVIRONMENTS = Path("build/environments")
_FOLDER = Path(__file__).parent / "programs"
_EPSILON, _DELTA = 1.0, 1e-6
_KS, _BOUNDS, _RUNS = (10, 100), (1, 2, 4, 8, 16, 32), 20
_DATA = ("msweb", "kosarak_head")
_TIMEOUT = 900


@dataclass(frozen=True, slots=True)
class Program:
    """A library, the program of its user, and in how many runs it is measured less often than the others."""

    name: str
    title: str
    has_bound: bool = True
    fewer: int = 1

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
        return environments.absolute() / self.name / "bin" / "python"

    @property
    def absent(self) -> str | None:
        """Why it cannot be run; None if it can."""
        if self.python.is_file():
            return None
        return f"no environment: run tools/environments python3 {ENVIRONMENTS} {self.name}"


PROGRAMS = (
    Program("podium", "podium", has_bound=False),
    Program("opendp", "OpenDP, Polars"),
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


def measure(
    plan: Plan, done: Rows, save: Callable[[Rows, dict[str, str]], None], progress: Callable[[str], None]
) -> tuple[Rows, dict[str, str]]:
    """A row for each program, data set and k; and why a program is not there or gave up."""
    rows: Rows = []
    absent: dict[str, str] = {}
    for program in PROGRAMS:
        if program.absent is not None:
            absent[program.title] = program.absent
            progress(f"{program.title} is left out: {program.absent}")
            continue
        for name in plan.data:
            if known := [row for row in done if (row["program"], row["data"]) == (program.title, name)]:
                rows += known
                continue
            progress(f"{program.title} on {name}")
            try:
                rows += [_row(program, name, k, plan) for k in plan.ks]
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                absent[f"{program.title} on {name}"] = _reason(error)
                progress(f"{program.title} on {name} failed: {_reason(error)}")
            save(rows, absent)
    return rows, absent


def _reason(error: subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {_TIMEOUT} seconds"
    last = str(getattr(error, "stderr", "") or "").strip().splitlines()[-1:]
    return last[0][:200] if last else "it ended without a word"


def _row(program: Program, name: str, k: int, plan: Plan) -> dict[str, Any]:
    path = folder() / SETS[name].file
    counts = _true_counts(path)
    runs = max(2, plan.runs // program.fewer)
    bounds: Sequence[int | None] = plan.bounds if program.has_bound else [None]
    found = {}
    for bound in bounds:
        lists = _run(program, path, k, bound, runs)["lists"]
        found[bound] = [_recall(counts, one, k) for one in lists]
    best = max(found, key=lambda bound: statistics.fmean(found[bound]))
    start = time.perf_counter()
    _run(program, path, k, best, 1)
    return {
        "program": program.title, "data": name, "k": k, "runs": runs, "bound": best,
        "recall": statistics.fmean(found[best]),
        "error": 2 * statistics.stdev(found[best]) / runs**0.5,
        "worst_bound": min(statistics.fmean(values) for values in found.values()),
        "seconds": time.perf_counter() - start, "lines": lines_of_code(program),
    }  # fmt: skip


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
    options.json.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(options.json.read_text(encoding="utf-8")) if options.json.is_file() else {}
    same = {**before.get("settings", {}), "mode": settings["mode"]} == settings
    done = before["cells"] if same else []

    def save(rows: Rows, absent: Mapping[str, str]) -> None:
        document = {
            "bench": "end_to_end", "version": 1, "machine": dict(machine()), "settings": settings,
            "absent": absent, "goals": goals(rows), "cells": rows,
        }  # fmt: skip
        options.json.write_text(json.dumps(document) + "\n", encoding="utf-8")

    rows, absent = measure(plan, done, save, lambda text: console.print(f"end to end: {text}", style="dim"))
    save(rows, absent)
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
