"""The scale bench: large tables, little memory, a domain of 10^12 items, a million rows, servers, and the ledger.

    python -m bench scale [--quick] [--only PART ...] [--json FILE] [--data FOLDER]

Every question runs beside the plain query in the same run, the largest table first. What was measured is kept until
the run ends, so that a run that was killed goes on when it is repeated, and so does one of which a question failed or
had no room on disk: remove the folder to measure anew. The file is written after each part. A table is deleted when its
questions are answered: the largest has gigabytes, and its questions need tens of them beside it.
Everything is written as JSON, from which ``scale_page`` fits the cost model and writes docs/scale.md.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from bench.command import bench_parser, bench_report
from bench.engines.servers import missing
from bench.measure import machine
from bench.parts import Parts, Rows, save_whole
from bench.scale.cells import Failed, OnlyKept, Progress, Sized, child, table_cells
from bench.scale.data import Table, wide
from bench.scale.ledger import ledgers
from bench.scale.questions import K_BAR, K
from bench.scale.servers import SERVERS, server_cells

__all__ = ["FULL", "PARTS", "QUICK", "Plan", "main", "run"]

DEFAULT_JSON = Path("build/bench/scale.json")
DEFAULT_DATA = Path("build/bench/scale")
TABLES = ("largest", "groups_and_sums", "tables")
PARTS = (*TABLES, "domains", "k_bars", "servers", "ledgers")
"""What can be measured alone, in the order of a run."""
_LISTS = ("k=10, one query", "k=10, rounds", "k=100, rounds")
_GROUPS_AND_SUMS = ("groups, one query", "groups, rounds", "sums, clip stated", "sums, clip chosen")
_REPETITIONS = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    mode: str
    largest: tuple[Sized, ...]
    groups_and_sums: tuple[Sized, ...]
    tables: tuple[Sized, ...]
    domains: tuple[int, ...]
    domain_table: Table
    domain_k: int
    wide_items: int
    k_bars: tuple[int, ...]
    servers: dict[str, Table]
    server_repetitions: int
    decisions: int
    callers: int


_LARGE = Table(2 * 10**8, 2 * 10**7, 10**6, more=True)
FULL = Plan(
    mode="full",
    # One query and rounds, of two lengths: rounds of a short list take what those of a long one do.
    largest=(Sized(Table(10**9, 10**8, 10**7), "8GB", 1, (_LISTS[0], _LISTS[2])),),
    groups_and_sums=(Sized(_LARGE, "4GB", 1, _GROUPS_AND_SUMS),),
    tables=(
        Sized(_LARGE, "2GB", 1, (_LISTS[0], _LISTS[2])),
        Sized(Table(5 * 10**7, 10**7, 10**6), "1GB", 1, _LISTS),
        Sized(Table(10**7, 10**6, 10**5), None, 3, _LISTS),
        Sized(Table(10**7, 10**4, 10**3), None, 3, _LISTS),
        Sized(Table(10**7, 10**7, 10**7), None, 3, _LISTS),
        Sized(Table(10**6, 10**5, 10**4), None, 3, _LISTS),
    ),
    domains=(10**6, 10**9, 10**12),
    domain_table=Table(10**6, 10**5, 10**4),
    domain_k=1000,
    wide_items=1_200_000,
    k_bars=(10**3, 10**4, 10**5, 10**6),
    servers={"PostgreSQL": Table(10**7, 10**6, 10**5), "Spark": Table(10**7, 10**6, 10**5)},
    server_repetitions=2,
    decisions=200,
    callers=4,
)
QUICK = Plan(
    mode="quick",
    largest=(Sized(Table(10**6, 10**3, 10**2), "256MB", 1, (_LISTS[0], _LISTS[2])),),
    groups_and_sums=(Sized(Table(10**5, 10**4, 10**3, more=True), "256MB", 1, _GROUPS_AND_SUMS),),
    tables=(
        Sized(Table(10**6, 10**5, 10**4), None, 2, _LISTS),
        Sized(Table(10**5, 10**4, 10**3), None, 2, _LISTS),
    ),
    domains=(10**6, 10**12),
    domain_table=Table(10**5, 10**4, 10**3),
    domain_k=1000,
    wide_items=120_000,
    k_bars=(10**3, 10**5),
    servers={"PostgreSQL": Table(10**5, 10**4, 10**3)},
    server_repetitions=1,
    decisions=20,
    callers=2,
)


def run(
    plan: Plan,
    where: Path,
    progress: Progress = lambda _: None,
    *,
    only: Collection[str] = PARTS,
    written: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """Measures everything; ``where`` has the tables, and what does not fit into memory.

    What is measured is kept there until everything is; of parts that are not in ``only`` the report has what an earlier
    run kept. ``written`` is told the report so far, after each part.
    """
    where.mkdir(parents=True, exist_ok=True)
    # What a run that was killed had put aside; its tables may still be of use.
    _remove(where, "podium-bench-*")
    kept = Parts(where, repr(plan))
    report = bench_report(
        "scale",
        {"mode": plan.mode, "k": K, "k_bar": K_BAR, "domain_k": plan.domain_k},
        version=2,
        facts={**machine(), "duckdb": duckdb.__version__, "load_average_at_start": round(os.getloadavg()[0], 1)},
        **{part: [] for part in PARTS},
        absent={},
    )
    complete = set(only) == set(PARTS)
    for part in PARTS:
        parts = kept if part in only else OnlyKept(kept.folder, kept.plan, kept.commits)
        later = [
            sized.table
            for name in TABLES
            if name in only and PARTS.index(name) > PARTS.index(part)
            for sized in getattr(plan, name)
        ]
        running = _Run(plan, where, parts, progress, report["absent"], later)
        report[part] = running.tables(getattr(plan, part)) if part in TABLES else getattr(running, part)()
        complete = complete and not running.failed
        report["machine"]["commit"] = kept.measured_at
        report["unfinished"] = list(PARTS[PARTS.index(part) + 1 :])
        written(report)
    _remove(where, "*")
    if complete:
        kept.forget()
    return report


def _remove(where: Path, folders: str) -> None:
    for left in where.glob(folders):
        if left.is_dir():
            shutil.rmtree(left)


@dataclass(slots=True)
class _Run:
    """The parts of a run; a question that fails is named in ``absent``, and the others go on."""

    plan: Plan
    where: Path
    kept: Parts
    progress: Progress
    absent: dict[str, str]
    later: Sequence[Table]
    failed: bool = False

    def tables(self, tables: Sequence[Sized]) -> Rows:
        """The cells of tables, each deleted when nobody will ask about it again."""
        cells: Rows = []
        for place, sized in enumerate(tables):
            found, absent = table_cells(sized, self.where, self.kept, self.progress)
            cells += found
            self.absent.update(absent)
            self.failed = self.failed or bool(absent)
            if sized.table not in [*(other.table for other in tables[place + 1 :]), *self.later]:
                shutil.rmtree(self.where / sized.table.name, ignore_errors=True)
        return cells

    def domains(self) -> Rows:
        """The same data, all of it within every domain."""
        table, k = self.plan.domain_table, self.plan.domain_k
        cells: Rows = []
        for size in self.plan.domains:
            facts = {"domain_size": size, "k": k, **asdict(table)}
            cells += self._both(
                f"a domain of {size:,} items", facts, lambda: table.folder(self.where), {"k": k, "domain_size": size}
            )
        return cells

    def k_bars(self) -> Rows:
        """One table with many items."""
        items, cells = self.plan.wide_items, []
        for k_bar in self.plan.k_bars:
            facts, options = {"k_bar": k_bar, "items": items}, {"k": K, "k_bar": k_bar}
            cells += self._both(f"k_bar={k_bar:,}", facts, lambda: wide(self.where, items), options)
        return cells

    def servers(self) -> Rows:
        """Those that are installed."""
        cells: Rows = []
        self.absent.update({e: f"not part of the {self.plan.mode} mode" for e in SERVERS if e not in self.plan.servers})
        for engine, table in self.plan.servers.items():
            if (reason := missing(engine)) is not None:
                self.absent[engine] = reason
                continue

            def measure(engine: str = engine, table: Table = table) -> Rows:
                return server_cells(engine, table, self.where, self.plan.server_repetitions)

            cells += self._part(engine, measure)
        return cells

    def ledgers(self) -> Rows:
        """Ledgers on disk."""
        return self._part("ledgers", lambda: ledgers(self.plan.decisions, self.plan.callers))

    def _both(self, what: str, facts: dict[str, Any], folder: Callable[[], Path], options: dict[str, Any]) -> Rows:
        """Time, and in another process what Python allocated."""

        def measure() -> Rows:
            task = {"who": "podium", "folder": str(folder()), "options": options}
            return [facts | child(**task, repetitions=_REPETITIONS) | child(**task, traced=True)]

        return self._part(what, measure)

    def _part(self, what: str, measure: Callable[[], Rows]) -> Rows:
        """A part of the name, without what a file's name cannot have."""

        def told() -> Rows:
            self.progress(what)
            return measure()

        try:
            return self.kept.rows(re.sub(r"\W+", "_", what), told)
        except Failed as failed:
            self.absent[what], self.failed = str(failed), True
            return []


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    quick = "tables of at most a million rows, no Spark"
    parser = bench_parser("python -m bench scale", __doc__, DEFAULT_JSON, quick=quick)
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}; default: all"
    )
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, metavar="FOLDER", help="for tables and finished parts"
    )
    options = parser.parse_args(argv)
    start = time.monotonic()

    def progress(what: str) -> None:
        print(f"{(time.monotonic() - start) / 60:6.1f} min  {what}", flush=True)

    def written(report: dict[str, Any]) -> None:
        save_whole(report, options.json)

    plan = QUICK if options.quick else FULL
    # A folder of its own, in which whatever an earlier run left is ours to remove.
    run(plan, options.data / f"podium-scale-{plan.mode}", progress, only=options.only, written=written)
    progress("done")
    print(f"Every measurement is in {options.json}; python -m bench scale_page writes docs/scale.md from it.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
