"""The engines bench: a private top k against the same query without privacy, on the same engine, in one run.

    python -m bench engines [--quick | --medium | --full] [--without ENGINE] [--json FILE]

The engine should stay as fast as it was. Prints the tables and the goals, and writes the same numbers (every
repetition) as JSON. The goals are ratios, computed from this run alone, and only reported: a shared machine is too
noisy to fail a build on. The tables are made once, a gigabyte of Parquet, and kept in build/bench/data. What a
run has measured is kept in build/bench/engines until it ends, so that an interrupted run goes on when it is repeated.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from bench.command import bench_report, save_report, shown_progress, wide_console
from bench.engines import questions, report
from bench.engines.data import REGIONS, Events, wide_table
from bench.engines.goals import ROUNDS, TALLY, TOP_ROWS, Cell, MemoryCell, goals
from bench.engines.parts import Parts
from bench.engines.processor import Clock
from bench.engines.questions import SETTINGS, K, Ours
from bench.engines.scans import Job
from bench.engines.servers import (
    Opened,
    Query,
    bare_sums,
    missing,
    open_clickhouse,
    open_duckdb,
    open_mariadb,
    open_postgresql,
    open_spark,
    sums_of_pairs,
)
from bench.goals import Goal, show_goals
from bench.measure import Contestant, Timing, interleaved, machine, peak_extra_bytes
from podium.sources import DuckDBSource, Source

__all__ = ["FULL", "MEDIUM", "QUICK", "Plan", "Results", "main", "run"]

DEFAULT_JSON = Path("build/bench/engines.json")
DEFAULT_DATA = Path("build/bench/data")
DEFAULT_PARTS = Path("build/bench/engines")

Progress = Callable[[str], None]

_MEMORY_RUNS = 5
_SERVERS = {
    "PostgreSQL": open_postgresql,
    "ClickHouse": open_clickhouse,
    "Spark": open_spark,
    "MariaDB": open_mariadb,
}
_SLOW = ("MariaDB",)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tables to ask about, and how patiently; rows are multiples of ``part_rows``.

    A server that takes long for the plain query has ``slow_rows``, and is asked half as often.
    """

    mode: str
    rows: int
    text_rows: int
    bounded_rows: int
    server_rows: int
    repetitions: int
    bounded_repetitions: int
    round_repetitions: int
    server_repetitions: int
    server_round_repetitions: int
    wide_items: tuple[int, int]
    servers: tuple[str, ...] = tuple(_SERVERS)
    in_rounds: tuple[int, ...] = tuple(ROUNDS)
    part_rows: int = 2_000_000
    slow_rows: int = 500_000
    users: int = 2_000_000
    items: int = 1_000_000

    def events(self, folder: Path) -> Events:
        """The table, of which each question reads a prefix."""
        return Events(folder, self.part_rows, self.users, self.items)

    def for_server(self, engine: str) -> Plan:
        """The plan of one server."""
        if engine not in _SLOW:
            return self
        turns = (max(self.server_repetitions // 2, 1), max(self.server_round_repetitions // 2, 1))
        return dataclasses.replace(
            self,
            part_rows=self.slow_rows,
            server_rows=self.slow_rows,
            server_repetitions=turns[0],
            server_round_repetitions=turns[1],
        )


FULL = Plan(
    mode="full",
    rows=50_000_000,
    text_rows=10_000_000,
    bounded_rows=50_000_000,
    server_rows=2_000_000,
    repetitions=7,
    bounded_repetitions=5,
    round_repetitions=5,
    # Their questions are short, and a server of many threads varies more from one run to the next.
    server_repetitions=21,
    server_round_repetitions=9,
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
    round_repetitions=1,
    server_repetitions=3,
    server_round_repetitions=1,
    wide_items=(10**5, 10**6),
    servers=("PostgreSQL", "ClickHouse"),
    in_rounds=(100,),
)
MEDIUM = dataclasses.replace(
    FULL,
    mode="medium",
    repetitions=3,
    bounded_repetitions=3,
    round_repetitions=3,
    server_repetitions=5,
    server_round_repetitions=3,
    wide_items=(10**5, 10**6),
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
        return bench_report(
            "engines",
            {**SETTINGS, **dataclasses.asdict(self.plan)},
            version=2,
            facts=self.machine,
            cells=[cell.as_json() for cell in self.cells],
            memory=[cell.as_json() for cell in self.memory],
            absent=self.absent,
            goals=self.goals,
        )


@dataclass(slots=True)
class _Metered:
    """A job that notes its processor time, and keeps its last answer."""

    job: Job
    clock: Clock
    processor: Timing = field(default_factory=Timing)
    items: Sequence[Any] = ()

    def __call__(self) -> None:
        before = self.clock()
        self.items = self.job()
        self.processor.seconds.append(self.clock() - before)


def run(plan: Plan, folder: Path, progress: Progress = lambda _: None, *, kept: Path | None = None) -> Results:
    """Measures every cell of the plan. ``progress`` is told what comes next, ``kept`` has parts of a run that ended."""
    # Which engines take part changes no part.
    events, parts = plan.events(folder), Parts(kept, repr(dataclasses.replace(plan, servers=())))
    progress("writing the tables")
    events.files(max(plan.rows, plan.text_rows, plan.bounded_rows, plan.server_rows))
    load = os.getloadavg()[0]
    cells = _duckdb_cells(plan, events, parts, progress)
    memory = parts.memory("memory", lambda: _memory_cells(plan, folder, progress))
    absent = {
        engine: f"not part of the {plan.mode} mode, or left out" for engine in _SERVERS if engine not in plan.servers
    }
    for engine in plan.servers:
        reason = missing(engine)
        if reason is not None:
            absent[engine] = reason
        else:
            cells += _server_cells(plan, engine, folder, parts, progress)
    parts.forget()
    facts = {
        **machine(),
        "commit": parts.measured_at,
        "duckdb": duckdb.__version__,
        "load_average_at_start": round(load, 1),
    }
    return Results(facts, plan, cells, memory, absent, goals(cells, memory))


def _duckdb_cells(plan: Plan, events: Events, parts: Parts, progress: Progress) -> list[Cell]:
    cells = parts.cells("DuckDB", partial(_few_cells, plan, events, progress))
    for k in plan.in_rounds:
        cells += parts.cells(f"DuckDB-{k}", partial(_round_cells, plan, events, progress, k))
    cells += parts.cells("DuckDB-groups", partial(_group_cells, plan, events, progress))
    cells += parts.cells("DuckDB-text", partial(_text_cells, plan, events, progress))
    cells += parts.cells("DuckDB-sums", partial(_sum_cells, plan, events, progress))
    return cells + parts.cells("DuckDB-bounded", partial(_bounded_cells, plan, events, progress))


def _few_cells(plan: Plan, events: Events, progress: Progress) -> list[Cell]:
    progress(f"DuckDB, {plan.rows:,} rows")
    with _duckdb_table(events, plan.rows) as table, questions.paid_question(table.source) as paid:
        return table.cells([*questions.few(table.source, plan.items), paid], plan.repetitions)


def _round_cells(plan: Plan, events: Events, progress: Progress, k: int) -> list[Cell]:
    progress(f"DuckDB, k={k}, {plan.rows:,} rows")
    with _duckdb_table(events, plan.rows) as table:
        return table.cells(questions.in_rounds(table.source, k), plan.round_repetitions, k=k)


def _group_cells(plan: Plan, events: Events, progress: Progress) -> list[Cell]:
    progress(f"DuckDB, {REGIONS} groups, {plan.bounded_rows:,} rows")
    with _duckdb_table(events, plan.bounded_rows) as table:
        return table.cells(questions.of_groups(table.source, REGIONS), plan.bounded_repetitions, per="region")


def _text_cells(plan: Plan, events: Events, progress: Progress) -> list[Cell]:
    progress(f"DuckDB, text, {plan.text_rows:,} rows")
    with _duckdb_table(events, plan.text_rows) as table:
        return table.cells(questions.text(table.source), plan.repetitions, item="article")


def _sum_cells(plan: Plan, events: Events, progress: Progress) -> list[Cell]:
    progress(f"DuckDB, sums, {plan.rows:,} rows")
    cells, amounts = [], dataclasses.replace(events, amounts=True)
    for query, ways in ((sums_of_pairs, questions.sums), (bare_sums, questions.sums_beside_bare)):
        with _duckdb_table(amounts, plan.rows, query) as table:
            cells += table.cells(ways(table.source), plan.round_repetitions)
    return cells


def _bounded_cells(plan: Plan, events: Events, progress: Progress) -> list[Cell]:
    progress(f"DuckDB, bounded, {plan.bounded_rows:,} rows")
    with _duckdb_table(events, plan.bounded_rows) as table:
        return table.cells(questions.bounded(table.source), plan.bounded_repetitions)


def _server_cells(plan: Plan, engine: str, folder: Path, parts: Parts, progress: Progress) -> list[Cell]:
    """Each kind of question is a part of its own; the server starts with the first that is not measured yet."""
    plan, cells = plan.for_server(engine), []
    with ExitStack() as started:
        table: _Table | None = None

        def opened() -> _Table:
            nonlocal table
            if table is None:
                progress(f"starting {engine}")
                opening = _SERVERS[engine](plan.events(folder), plan.server_rows)
                table = _Table(engine, started.enter_context(opening), plan.server_rows)
            return table

        for name, measure in _server_parts(plan).items():

            def measured(name: str = name, measure: Callable[[_Table], list[Cell]] = measure) -> list[Cell]:
                there = opened()
                progress(f"{engine}, {name}")
                return measure(there)

            cells += parts.cells(f"{engine}-{name}", measured)
    return cells


def _server_parts(plan: Plan) -> dict[str, Callable[[_Table], list[Cell]]]:
    """What a server is asked."""
    turns = plan.server_round_repetitions
    rounds = {
        f"{k}": lambda table, k=k: table.cells(questions.in_rounds(table.source, k), turns, k=k) for k in plan.in_rounds
    }
    return {
        "few": lambda table: table.cells(questions.few(table.source, plan.items), plan.server_repetitions),
        "bounded": lambda table: table.cells(questions.bounded(table.source), turns),
        "groups": lambda table: table.cells(questions.of_groups(table.source, REGIONS), turns, per="region"),
        **rounds,
    }


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of one engine, of which every cell asks."""

    engine: str
    opened: Opened
    rows: int

    @property
    def source(self) -> Source:
        """For podium."""
        return self.opened.source

    def cells(
        self, ours: Sequence[Ours], turns: int, *, item: str = "article_id", k: int = K, per: str | None = None
    ) -> list[Cell]:
        """The ways to ask one question, in turns with the plain query."""
        clock = self.opened.processor or time.process_time
        theirs, mine = _Metered(self.opened.plain(item, k, per=per), clock), [_Metered(way.job, clock) for way in ours]
        # The first question to a server compiles and connects, whoever asks it; it is not timed.
        theirs.job()
        scans = [self.opened.scans(way.job) for way in ours]
        timings = interleaved([Contestant(place, job, turns) for place, job in enumerate([theirs, *mine])])
        cells, wanted = [], k if per is None else k * REGIONS
        for place, (way, job, read) in enumerate(zip(ours, mine, scans, strict=True), 1):
            processor = None if self.opened.processor is None else (job.processor, theirs.processor)
            shared = len(set(job.items) & set(theirs.items))
            times = timings[place], timings[0], processor
            cells.append(Cell(self.engine, way.route, way.question, wanted, self.rows, *times, shared, read))
        return cells


@contextmanager
def _duckdb_table(events: Events, rows: int, query: Query | None = None) -> Iterator[_Table]:
    with open_duckdb(events, rows, query) as opened:
        yield _Table("DuckDB", opened, rows)


def _memory_cells(plan: Plan, folder: Path, progress: Progress) -> list[MemoryCell]:
    cells: list[MemoryCell] = []
    for items in plan.wide_items:
        progress(f"memory, {items:,} items")
        with closing(DuckDBSource(wide_table(folder, items))) as source:
            jobs = [
                (TOP_ROWS, questions.ask(source, item="item", where=None, k_bar=SETTINGS["k_bar"])),
                (TALLY, questions.ask(source, item="item", where=None, domain_size=items)),
            ]
            for route, job in jobs:
                # The first question of a process imports and caches what belongs to no table.
                if not any(cell.route == route for cell in cells):
                    job()
                # The least of a few: how far a race between close counts must go is chance, and so is its garbage.
                peak = min(peak_extra_bytes(job) for _ in range(_MEMORY_RUNS))
                cells.append(MemoryCell(route, items, peak))
    return cells


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench engines", description=__doc__.partition("\n")[0])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--quick", action="store_true", help="a few minutes: 2 million rows, 1 to 3 runs, no Spark and no MariaDB"
    )
    mode.add_argument(
        "--medium", action="store_true", help="about half an hour: 10 million rows, every question and engine"
    )
    mode.add_argument("--full", action="store_true", help="under an hour: every table and every goal (the default)")
    parser.add_argument("--without", action="append", choices=list(_SERVERS), default=[], help="leave an engine out")
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    console = wide_console(report.WIDTH)
    plan = QUICK if options.quick else MEDIUM if options.medium else FULL
    plan = dataclasses.replace(plan, servers=tuple(name for name in plan.servers if name not in options.without))
    with shown_progress("engines", console) as progress:
        results = run(plan, DEFAULT_DATA, progress, kept=DEFAULT_PARTS)
    report.show(results.machine, plan.mode, results.cells, results.memory, results.absent, console)
    show_goals(results.goals, plan.mode, console)
    save_report(results.as_json(), options.json)
    console.print("Every repetition is in the JSON file.", style="dim")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
