"""The scale bench: large tables, little memory, a domain of 10^12 items, a million rows, servers, and the ledger.

    python -m bench scale [--quick] [--json FILE] [--data FOLDER]

Every question runs beside the plain query in the same run. The tables are deleted at the end: the largest has
gigabytes. Everything is written as JSON, from which ``scale_page`` fits the cost model and writes docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from bench.engines.servers import missing
from bench.measure import machine
from bench.scale.data import Table, wide
from bench.scale.ledger import ledgers
from bench.scale.servers import SERVERS, server_cells

__all__ = ["FULL", "QUICK", "Plan", "main", "run"]

DEFAULT_JSON = Path("build/bench/scale.json")
K_BAR = 1000
_BYTES_PER_ROW = 60
"""What a table and the pairs that do not fit into memory need on disk, generously."""

Progress = Callable[[str], None]
Cells = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Sized:
    """A table to ask about: with how much memory, and how often."""

    table: Table
    memory_limit: str | None
    repetitions: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    mode: str
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


FULL = Plan(
    mode="full",
    tables=(
        Sized(Table(10**6, 10**5, 10**4), None, 3),
        Sized(Table(10**7, 10**6, 10**5), None, 3),
        Sized(Table(10**7, 10**4, 10**3), None, 3),
        Sized(Table(10**7, 10**7, 10**7), None, 3),
        Sized(Table(5 * 10**7, 10**7, 10**6), "1GB", 1),
        Sized(Table(2 * 10**8, 2 * 10**7, 10**6), "2GB", 1),
        Sized(Table(10**9, 10**8, 10**7), "8GB", 1),
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
    tables=(
        Sized(Table(10**5, 10**4, 10**3), None, 2),
        Sized(Table(10**6, 10**5, 10**4), None, 2),
        Sized(Table(10**6, 10**3, 10**2), "256MB", 1),
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


def run(plan: Plan, where: Path, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Measures everything; ``where`` has the tables, and what does not fit into memory."""
    load = os.getloadavg()[0]
    roomy = [sized for sized in plan.tables if shutil.disk_usage(where).free > _BYTES_PER_ROW * sized.table.rows]
    tables = [_table_cell(sized, where, progress) for sized in roomy]
    domains = _domain_cells(plan, where, progress)
    k_bars = _k_bar_cells(plan, where, progress)
    servers: Cells = []
    absent = {f"{sized.table.rows:,} rows": "no room on disk" for sized in plan.tables if sized not in roomy}
    absent |= {engine: f"not part of the {plan.mode} mode" for engine in SERVERS if engine not in plan.servers}
    for engine, table in plan.servers.items():
        progress(f"{engine}, {table.rows:,} rows")
        if (reason := missing(engine)) is not None:
            absent[engine] = reason
        else:
            servers += server_cells(engine, table, where, plan.server_repetitions)
    progress("ledgers")
    return {
        "bench": "scale",
        "version": 1,
        "machine": {**machine(), "duckdb": duckdb.__version__, "load_average_at_start": round(load, 1)},
        "settings": {"mode": plan.mode, "k": 10, "k_bar": K_BAR, "domain_k": plan.domain_k},
        "tables": tables,
        "domains": domains,
        "k_bars": k_bars,
        "servers": servers,
        "ledgers": ledgers(plan.decisions, plan.callers),
        "absent": absent,
    }


def _table_cell(sized: Sized, where: Path, progress: Progress) -> dict[str, Any]:
    table, limit = sized.table, sized.memory_limit
    progress(f"writing {table.rows:,} rows")
    folder = table.folder(where)
    pairs = table.pairs(where)
    cell = {**asdict(table), "pairs": pairs, "memory_limit": limit}
    common = {"folder": str(folder), "memory_limit": limit, "spill": str(where), "repetitions": sized.repetitions}
    for who in ("plain", "podium"):
        progress(f"{who}, {table.rows:,} rows, memory limit {limit}")
        options = {} if who == "plain" else {"k_bar": K_BAR}
        cell[who] = _child(who=who, options=options, **common)
    cell["ratio"] = _median(cell["podium"]["seconds"]) / _median(cell["plain"]["seconds"])
    cell["processor_ratio"] = _median(cell["podium"]["processor_seconds"]) / _median(cell["plain"]["processor_seconds"])
    if sized.repetitions > 1:
        progress(f"Python's memory, {table.rows:,} rows")
        traced = _child(who="podium", folder=str(folder), spill=str(where), traced=True, options={"k_bar": K_BAR})
        cell["python_peak_bytes"] = traced["python_peak_bytes"]
    return cell


def _domain_cells(plan: Plan, where: Path, progress: Progress) -> Cells:
    """The same data, all of it within every domain."""
    folder = plan.domain_table.folder(where)
    cells = []
    for size in plan.domains:
        progress(f"a domain of {size:,} items")
        options = {"k": plan.domain_k, "domain_size": size}
        cells.append({"domain_size": size, "k": plan.domain_k, **asdict(plan.domain_table), **_both(folder, options)})
    return cells


def _k_bar_cells(plan: Plan, where: Path, progress: Progress) -> Cells:
    folder = wide(where, plan.wide_items)
    cells = []
    for k_bar in plan.k_bars:
        progress(f"k_bar={k_bar:,}")
        cells.append({"k_bar": k_bar, "items": plan.wide_items, **_both(folder, {"k_bar": k_bar})})
    return cells


def _both(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Time, and in another process what Python allocated."""
    timed = _child(who="podium", folder=str(folder), options=options, repetitions=3)
    return timed | _child(who="podium", folder=str(folder), options=options, traced=True)


def _child(**task: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.scale.child", json.dumps(task)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def _median(seconds: Sequence[float]) -> float:
    return statistics.median(seconds)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench scale", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tables of at most a million rows, no Spark")
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, metavar="FILE", help="default: %(default)s")
    parser.add_argument("--data", type=Path, default=None, metavar="FOLDER", help="a disk for the tables")
    options = parser.parse_args(argv)
    plan = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory(prefix="podium-scale-", dir=options.data) as folder:
        results = run(plan, Path(folder), lambda what: print(what, flush=True))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"Every measurement is in {options.json}; python -m bench scale_page writes docs/scale.md from it.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
