"""The engines bench: a private top-10 against the same query without privacy, on the same engine, in one run.

    python -m bench engines [--quick | --full] [--json FILE]

The engine should stay as fast as it was. Prints the tables and the goals, and writes the same numbers (every
repetition) as JSON. The goals are ratios, computed from this run alone, and only reported: a shared machine is too
noisy to fail a build on. The tables are made once, half a gigabyte of Parquet, and kept in build/bench/data.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console

import podium
from bench.engines import report
from bench.engines.data import Events, wide_table
from bench.engines.goals import BOUNDED, TALLY, TOP_ROWS, Cell, MemoryCell, Route, goals
from bench.engines.servers import WHERE, Job, K, Plain, missing, open_duckdb, open_postgresql, open_spark
from bench.measure import Contestant, Timing, interleaved, machine, peak_extra_bytes
from bench.selection import report as selection_report
from bench.selection.goals import Goal
from podium.ledger import open_ledger
from podium.sources import DuckDBSource, Source

__all__ = ["FULL", "QUICK", "Plan", "Results", "main", "run", "write_json"]

DEFAULT_JSON = Path("build/bench/engines.json")
DEFAULT_DATA = Path("build/bench/data")

K_BAR = 1000
EPSILON, DELTA = 1, "1e-8"
MAX_ITEMS = 10
BUDGET = podium.Budget(epsilon=3, delta="1e-6", items=200, questions=20)

Progress = Callable[[str], None]

_MEMORY_RUNS = 5
_SERVERS = {"PostgreSQL": open_postgresql, "Spark": open_spark}


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tables to ask about, and how patiently; rows are multiples of ``part_rows``."""

    mode: str
    rows: int
    text_rows: int
    bounded_rows: int
    server_rows: int
    repetitions: int
    bounded_repetitions: int
    server_repetitions: int
    wide_items: tuple[int, int]
    servers: tuple[str, ...] = ("PostgreSQL", "Spark")
    part_rows: int = 2_000_000
    users: int = 2_000_000
    items: int = 1_000_000

    def events(self, folder: Path) -> Events:
        """The table, of which each question reads a prefix."""
        return Events(folder, self.part_rows, self.users, self.items)


FULL = Plan(
    mode="full",
    rows=50_000_000,
    text_rows=10_000_000,
    bounded_rows=20_000_000,
    server_rows=2_000_000,
    repetitions=7,
    bounded_repetitions=3,
    # Their questions are short, and a server of many threads varies more from one run to the next.
    server_repetitions=21,
    wide_items=(10**5, 10**7),
)
QUICK = dataclasses.replace(
    FULL,
    mode="quick",
    rows=2_000_000,
    text_rows=2_000_000,
    bounded_rows=2_000_000,
    repetitions=3,
    bounded_repetitions=1,
    server_repetitions=3,
    wide_items=(10**5, 10**6),
    servers=("PostgreSQL",),
)


@dataclass(frozen=True, slots=True)
class Results:
    """Everything one run found out; ``absent`` says why an engine did not take part."""

    machine: dict[str, str | int | float | None]
    plan: Plan
    cells: list[Cell]
    memory: list[MemoryCell]
    absent: dict[str, str]
    goals: list[Goal]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        settings = {"k": K, "k_bar": K_BAR, "epsilon": EPSILON, "delta": DELTA, "where": WHERE, "max_items": MAX_ITEMS}
        return {
            "bench": "engines",
            "version": 1,
            "machine": self.machine,
            "settings": {**settings, **dataclasses.asdict(self.plan)},
            "cells": [cell.as_json() for cell in self.cells],
            "memory": [cell.as_json() for cell in self.memory],
            "absent": self.absent,
            "goals": [dataclasses.asdict(goal) for goal in self.goals],
        }


@dataclass(frozen=True, slots=True)
class Ours:
    """A way to ask through podium."""

    route: Route
    question: str
    job: Job


@dataclass(slots=True)
class _Metered:
    """A job that notes its processor time, and keeps its last answer."""

    job: Job
    processor: Timing = field(default_factory=Timing)
    items: Sequence[Any] = ()

    def __call__(self) -> None:
        before = time.process_time()
        self.items = self.job()
        self.processor.seconds.append(time.process_time() - before)


def run(plan: Plan, folder: Path, progress: Progress = lambda _: None) -> Results:
    """Measures every cell of the plan. ``progress`` is told what comes next."""
    events = plan.events(folder)
    progress("writing the tables")
    events.files(max(plan.rows, plan.text_rows, plan.bounded_rows, plan.server_rows))
    load = os.getloadavg()[0]
    cells = _duckdb_cells(plan, events, progress)
    memory = _memory_cells(plan, folder, progress)
    absent = {engine: f"not part of the {plan.mode} mode" for engine in _SERVERS if engine not in plan.servers}
    for engine in plan.servers:
        reason = missing(engine)
        if reason is not None:
            absent[engine] = reason
            continue
        progress(f"starting {engine}")
        with _SERVERS[engine](events, plan.server_rows) as (plain, source):
            progress(engine)
            cells += _server_cells(plan, engine, plain, source)
    facts = {**machine(), "duckdb": duckdb.__version__, "load_average_at_start": round(load, 1)}
    return Results(facts, plan, cells, memory, absent, goals(cells, memory))


def _duckdb_cells(plan: Plan, events: Events, progress: Progress) -> list[Cell]:
    cells = []
    progress(f"DuckDB, {plan.rows:,} rows")
    with open_duckdb(events, plan.rows) as (plain, source), _curated(source) as curated:
        ours = [
            Ours(TOP_ROWS, "podium.top", _top(source, "article_id", k_bar=K_BAR)),
            Ours(TOP_ROWS, "Curator.top, SQLite ledger", curated),
            Ours(TALLY, "podium.top, known domain", _top(source, "article_id", domain_size=plan.items)),
        ]
        cells += _cells("DuckDB", plan.rows, plan.repetitions, plain("article_id"), ours)
    progress(f"DuckDB, text, {plan.text_rows:,} rows")
    with open_duckdb(events, plan.text_rows) as (plain, source):
        ours = [Ours(TOP_ROWS, "podium.top, items are text", _top(source, "article", k_bar=K_BAR))]
        cells += _cells("DuckDB", plan.text_rows, plan.repetitions, plain("article"), ours)
    progress(f"DuckDB, bounded, {plan.bounded_rows:,} rows")
    with open_duckdb(events, plan.bounded_rows) as (plain, source):
        bounded = _top(source, "article_id", k_bar=K_BAR, max_items_per_user=MAX_ITEMS)
        ours = [Ours(BOUNDED, f"podium.top, {MAX_ITEMS} items per user", bounded)]
        cells += _cells("DuckDB", plan.bounded_rows, plan.bounded_repetitions, plain("article_id"), ours)
    return cells


def _server_cells(plan: Plan, engine: str, plain: Plain, source: Source) -> list[Cell]:
    ours = [
        Ours(TOP_ROWS, "podium.top", _top(source, "article_id", k_bar=K_BAR)),
        Ours(TALLY, "podium.top, known domain", _top(source, "article_id", domain_size=plan.items)),
    ]
    # The first question to a server compiles and connects, whoever asks it.
    plain("article_id")(), ours[0].job()
    return _cells(engine, plan.server_rows, plan.server_repetitions, plain("article_id"), ours)


def _cells(engine: str, rows: int, turns: int, plain: Job, ours: Sequence[Ours]) -> list[Cell]:
    """The ways to ask one question, in turns with the plain query."""
    theirs, mine = _Metered(plain), [_Metered(way.job) for way in ours]
    timings = interleaved([Contestant(place, job, turns) for place, job in enumerate([theirs, *mine])])
    cells = []
    for place, (way, job) in enumerate(zip(ours, mine, strict=True), 1):
        processor = (job.processor, theirs.processor) if engine == "DuckDB" else None
        shared = len(set(job.items) & set(theirs.items))
        cells.append(Cell(engine, way.route, way.question, rows, timings[place], timings[0], processor, shared))
    return cells


def _memory_cells(plan: Plan, folder: Path, progress: Progress) -> list[MemoryCell]:
    cells: list[MemoryCell] = []
    for items in plan.wide_items:
        progress(f"memory, {items:,} items")
        with closing(DuckDBSource(wide_table(folder, items))) as source:
            jobs = [
                (TOP_ROWS, _top(source, "item", where=None, k_bar=K_BAR)),
                (TALLY, _top(source, "item", where=None, domain_size=items)),
            ]
            for route, job in jobs:
                # The first question of a process imports and caches what belongs to no table.
                if not any(cell.route == route for cell in cells):
                    job()
                # The least of a few: how far a race between close counts must go is chance, and so is its garbage.
                peak = min(peak_extra_bytes(job) for _ in range(_MEMORY_RUNS))
                cells.append(MemoryCell(route, items, peak))
    return cells


def _top(source: Source, item: str, *, where: str | None = WHERE, **options: Any) -> Job:
    return lambda: (
        podium.top(source, item=item, user="user_id", k=K, epsilon=EPSILON, delta=DELTA, where=where, **options).items
    )


@contextmanager
def _curated(source: Source) -> Iterator[Job]:
    """The same question, paid from a ledger on disk."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        ledger = open_ledger(Path(folder) / "ledger.db")
        with (
            closing(ledger),
            podium.Curator(source, dataset="events", user="user_id", ledger=ledger, budget=BUDGET) as c,
        ):
            versions = itertools.count(1)

            def job() -> Sequence[Any]:
                # A question that was answered before is free, so the data must be said to have changed.
                ledger.set_data_version("events", f"version-{next(versions)}")
                return c.top("article_id", k=K, k_bar=K_BAR, where=WHERE).items

            yield job


def write_json(results: Results, path: Path) -> None:
    """The machine-readable twin of the tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results.as_json(), indent=1) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench engines", description=__doc__.partition("\n")[0])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--quick", action="store_true", help="under a minute: 2 million rows, 3 runs, no Spark")
    mode.add_argument("--full", action="store_true", help="about ten minutes: every table and every goal (the default)")
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    console = Console(width=max(Console().width, selection_report.WIDTH))
    plan = QUICK if options.quick else FULL
    with console.status("engines bench") as status:
        results = run(plan, DEFAULT_DATA, lambda cell: status.update(f"engines bench: {cell}"))
    report.show(results.machine, plan.mode, results.cells, results.memory, results.absent, console)
    selection_report.show_goals(results.goals, plan.mode, console)
    write_json(results, options.json)
    console.print("Every repetition is in the JSON file.", style="dim")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
