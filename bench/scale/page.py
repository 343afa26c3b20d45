"""The page of the documentation about scale, written from the file that the scale bench left.

    python -m bench scale_page [--results FILE] [--kept FILE] [--publish FOLDER]

Every number on the page is in that file, is computed from numbers there, or is an assumption that the page names. What
the page was written from is kept in the repository, and is read again where the bench left no file since.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.page.layout import command_of, machine_facts, markdown_table, measured_by, mode
from bench.scale.data import REGIONS
from bench.scale.model import TERMS, Model, Point, fit, points_of
from bench.scale.sql import SHOWN, statements

__all__ = ["PAGE", "main", "render"]

DEFAULT_RESULTS = Path("build/bench/scale.json")
DEFAULT_KEPT = Path("bench/results/scale.json")
DEFAULT_DOCS = Path("docs")
PAGE = "scale.md"

_YEAR = 365 * 24 * 3600
_ROWS, _ITEMS, _K_BAR = 10**12, 10**9, 1000
_NODES, _CORES_PER_NODE = 100, 16
_BYTES_PER_PAIR = 16
_READS = 3
_WORST = 5
_MILLISECOND = 1e-3

_INTRODUCTION = """\
# Scale

Written by `python -m bench scale_page` from the file that `python -m bench scale` leaves, which it keeps in
`bench/results`; no number below is typed by hand. The engine does the heavy work, so the questions are: what does
podium add to the plain query, what does it need itself, and what stops first. Times are of a shared machine and vary;
processor time ("core seconds", all threads together) varies less. Below each table are its command and the commit that
was measured.
"""

_RUN = """\
## What was run

Run: {mode}. {facts} The largest table had {largest:,} rows of (user, item) in
Parquet, made by DuckDB from hashes: users equally busy, items by Zipf's law. Larger tables are extrapolated below,
not measured.
"""

_TABLES = """\
## Rows, with DuckDB

Private lists of {k} and of 100 items beside `COUNT(DISTINCT ...) ... LIMIT 100`, which is measured once for each table
and memory limit, each in a process of its own. *One query* is what `k_bar={k_bar:,}` asks for; *rounds* are what the
planner chooses: the distinct pairs are kept and read again by each round, as often as *pairs read* says. With a
memory limit, what does not fit goes to disk (see [Files and frames](how-to/duckdb.md#large-tables)). Resident memory is
at its peak and has DuckDB in it; the last column is what Python itself had allocated at most, a dash where that was
not traced. The two ran one after the other, so where others use the machine the ratio of processor times is the one to
trust.
"""

_GROUPS = """\
## Groups and sums, with DuckDB

A list of {k} items for each of {regions} regions, beside the query that ranks the items of each region by
`COUNT(DISTINCT ...)`; and the {k} items with the largest sums of an amount, beside the query that adds up the amount of
each user and item first, as podium must. The tables have two columns more than those above.
"""

_SERVERS = """\
## PostgreSQL and Spark

A list of 10 items as the planner finds it: in rounds, on distinct pairs that are kept without an index, so an index
serves the plain query more than podium. The indices are those that a table of events usually has, and one of both
columns. Spark runs on two threads here; that an executor may die in the middle of a query is tested on two workers,
with kill -9 (`tests/integration/sources/test_spark_executors.py`): Spark repeats what was lost and the answer is right,
or, if kept counts are lost, the question fails and stays paid.
"""

_MODEL = """\
## The cost model

Core seconds of a question with DuckDB, as a sum: fitted by least squares on the relative errors of the {points}
measurements of lists above (`bench/scale/model.py`), but not of groups, sums and known domains. A question in rounds
pays for its pairs once more for each time that it reads them. A zero means that these tables do not tell this term from
the others. The number of users enters through the pairs. k costs something only where names are asked by rank: with a
known domain, about log2(k) comparisons for each distinct item, to find the winners that nobody has.
"""

_ERRORS = """\
How far the model is off: on average {mean:.0%} of what was measured, at worst {worst:.0%}. It is a rule of thumb. The
measurements that it misses most, and the one with the most rows of each kind:
"""

_WAREHOUSES = """\
## 10^12 rows: what the model says

**Extrapolated, not run.** For {rows:,} rows, all of them distinct pairs (the worst case), {items:,} items and
k_bar={k_bar:,}, the model says {total:,.0f} core seconds. On {nodes} nodes of {cores} cores each, if their engine were
as fast per core as DuckDB here and divided the work evenly, that is {minutes:,.1f} minutes. The pairs have to be
exchanged between nodes once, {terabytes:,.0f} TB as two 64-bit numbers each; that is not in the model, and the plain
query has to do it as well. What carries over best is the ratio to the plain query. Podium itself gets {leaving:,} rows.
{rounds}
Spark needs more per row than DuckDB, its plain query too (the table above), so for Spark these minutes are too few.

One step does not divide: with a known domain given by its size, the items that nobody has are found by numbering all
distinct items in order, which Spark does in one task.

Spark has been run. **BigQuery and Trino have not, and Snowflake against an emulator only**
([Snowflake](how-to/snowflake.md), [other databases](how-to/sqlalchemy.md)). This is what the builder writes for them; a
test checks that sqlglot reads it back in each dialect, and nothing was sent to any of them.
"""

_ROUNDS = """\
In rounds, with the pairs read {reads} times and all {items:,} items given to podium with their weighted counts, which
is the most that can be, it says {more:,.0f} core seconds.\
"""

_LEDGER = """\
## The ledger's own limits

A decision is a reservation and its settlement: two entries, two commits to disk. Several callers have a data set each;
those who share one wait for each other.
"""

_YEARLY = """\
Extrapolated: a year at the rate of several callers without a pause, with releases of ten items as in the bench.
`verify` reads a few thousand entries at a time. A budget ends long before that: every entry is paid for.
"""

_OPEN = """\
## Not measured

- More than one machine: every number above is of one, with as many processors as it says.
- Network, object stores, and clusters whose tables change while they are read.
- Text items at this size; [the benches](bench.md) have them at a smaller one.
"""


def render(report: Mapping[str, Any]) -> str:
    """The page."""
    parts = [_INTRODUCTION, _what_was_run(report), *_tables(report)]
    parts += [part(report) for name, part in _PARTS.items() if report[name]]
    if points := points_of(report):
        model = fit(points)
        parts += [_model(model, points, report), _warehouses(model)]
    if report["ledgers"]:
        parts.append(_ledger(report))
    return "\n".join([*parts, _OPEN])


def _what_was_run(report: Mapping[str, Any]) -> str:
    cells = [*report["largest"], *report["groups_and_sums"], *report["tables"]]
    largest = max((cell["rows"] for cell in cells), default=0)
    lines = [_RUN.format(mode=mode(report), facts=machine_facts(report), largest=largest)]
    lines += [f"{what}: not measured, {why}.\n" for what, why in report["absent"].items()]
    if report["unfinished"]:
        lines.append(f"The run has not ended: {', '.join(report['unfinished']).replace('_', ' ')} are still missing.\n")
    return "\n".join(lines)


def _shown(headings: Sequence[str], rows: Sequence[Sequence[str]], report: Mapping[str, Any]) -> str:
    """A table, with what measured it."""
    return f"{markdown_table(headings, rows)}\n{measured_by(command_of('scale', report), report)}\n"


def _tables(report: Mapping[str, Any]) -> list[str]:
    """Lists of all tables, the largest first; then the other kinds of questions."""
    settings = report["settings"]
    lists = [*report["largest"], *report["tables"]]
    lists.sort(key=lambda cell: cell["rows"], reverse=True)
    text, shown = _TABLES.format(k=settings["k"], k_bar=settings["k_bar"]), []
    if lists:
        shown.append(f"{text}\n{_beside_plain(lists, report)}")
    if others := report["groups_and_sums"]:
        text = _GROUPS.format(k=settings["k"], regions=REGIONS)
        shown.append(f"{text}\n{_beside_plain(others, report)}")
    return shown


def _beside_plain(cells: Sequence[Mapping[str, Any]], report: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{cell['rows']:,}",
            cell["question"],
            *(f"{cell[name]:,}" for name in ("users", "items", "pairs")),
            cell["memory_limit"] or "-",
            *(f"{_median(cell[who]['seconds']):.1f}" for who in ("plain", "podium")),
            f"{cell['ratio']:.2f}",
            f"{cell['processor_ratio']:.2f}",
            f"{cell['podium']['kept_reads']:g}",
            *(_mega(cell[who]["spilled_bytes"]) for who in ("plain", "podium")),
            *(_mega(cell[who]["rss_peak"]) for who in ("plain", "podium")),
            _kilo(cell.get("python_peak_bytes")),
        ]
        for cell in cells
    ]
    headings = (
        "rows", "question", "users", "items", "distinct pairs, about", "memory limit", "plain, s", "podium, s",
        "podium / plain", "processor time", "pairs read", "plain: on disk, MB", "podium: on disk, MB",
        "plain: resident, MB", "podium: resident, MB", "Python, KiB",
    )  # fmt: skip
    return _shown(headings, rows, report)


def _domains(report: Mapping[str, Any]) -> str:
    rows = [[f"{cell['domain_size']:,}", f"{cell['k']:,}", *_cost(cell)] for cell in report["domains"]]
    (cell, *_) = report["domains"]
    text = (
        "## A known domain, however large\n\nA domain given by its size N is never listed: counts of counts leave the "
        "engine, the items that nobody has are one number, and those among them that win are named by rank. The table "
        f"is the same each time ({cell['rows']:,} rows, {cell['items']:,} items).\n"
    )
    headings = ("items in the domain", "k", "seconds", "core seconds", "Python, KiB")
    return f"{text}\n{_shown(headings, rows, report)}"


def _k_bars(report: Mapping[str, Any]) -> str:
    rows = [[f"{cell['k_bar']:,}", f"{cell['items']:,}", *_cost(cell)] for cell in report["k_bars"]]
    text = (
        "## A limited domain of up to a million rows\n\nk_bar + 1 rows leave the engine, so what podium itself takes "
        "grows with k_bar, not with the table.\n"
    )
    headings = ("k_bar", "items in the table", "seconds", "core seconds", "Python, KiB")
    return f"{text}\n{_shown(headings, rows, report)}"


def _servers(report: Mapping[str, Any]) -> str:
    rows = [
        [
            cell["engine"],
            cell["setting"],
            f"{cell['rows']:,}",
            *(f"{_median(cell['seconds'][who]):.1f}" for who in ("plain", "podium")),
            f"{cell['ratio']:.2f}",
        ]
        for cell in report["servers"]
    ]
    headings = ("engine", "table", "rows", "plain, s", "podium, s", "podium / plain")
    return f"{_SERVERS}\n{_shown(headings, rows, report)}"


def _model(model: Model, points: Sequence[Point], report: Mapping[str, Any]) -> str:
    names = {
        "rows": "row",
        "pairs": "distinct pair of user and item",
        "items": "distinct item",
        "rounds": "time that rounds read the pairs, whatever their number",
        "read": "distinct pair, and each time that rounds read it",
        "leaving": "row that leaves the engine (of one query k_bar + 1)",
    }
    rows = [["a question", f"{model.fixed:.3f} s"]]
    rows += [[names[term], _small(model.each[term])] for term in TERMS]
    coefficients = _shown(("for each", "core seconds"), rows, report)
    errors = [model.error(point) for point in points]
    mean = statistics.fmean(map(abs, errors))
    worst = sorted(points, key=lambda point: -abs(model.error(point)))[:_WORST]
    largest = [
        max((point for point in points if bool(point.read) == rounds), key=lambda point: point.rows, default=None)
        for rounds in (False, True)
    ]
    judged = [
        [
            "rounds" if point.read else "one query",
            *(f"{size:,}" for size in (point.rows, point.pairs, point.items, point.rounds, point.leaving)),
            f"{point.core_seconds:.2f}",
            f"{model.core_seconds(**point.sizes):.2f}",
            f"{model.error(point):+.0%}",
        ]
        for point in dict.fromkeys([*worst, *(point for point in largest if point is not None)])
    ]
    headings = ("question", "rows", "pairs", "items", "pairs read", "rows out", "measured, s", "model, s", "error")
    text = f"{_MODEL.format(points=model.points)}\n{coefficients}\n"
    return f"{text}{_ERRORS.format(mean=mean, worst=model.worst_error)}\n{_shown(headings, judged, report)}"


def _warehouses(model: Model) -> str:
    sizes = {"rows": _ROWS, "pairs": _ROWS, "items": _ITEMS, "leaving": _K_BAR + 1}
    total = model.core_seconds(**sizes)
    more = model.core_seconds(**{**sizes, "rounds": _READS, "read": _READS * _ROWS, "leaving": _ITEMS})
    text = _WAREHOUSES.format(
        rows=_ROWS, items=_ITEMS, k_bar=_K_BAR, leaving=_K_BAR + 1, nodes=_NODES, cores=_CORES_PER_NODE, total=total,
        minutes=total / (_NODES * _CORES_PER_NODE) / 60, terabytes=_ROWS * _BYTES_PER_PAIR / 10**12,
        rounds=_ROUNDS.format(reads=_READS, more=more, items=_ITEMS),
    )  # fmt: skip
    lines = [text]
    for name, dialect in SHOWN.items():
        lines += [f"### {name}", ""]
        for what, sql in statements(dialect):
            lines += [f"{what[0].upper()}{what[1:]}:", "", "```text", sql, "```", ""]
    return "\n".join(lines)


def _ledger(report: Mapping[str, Any]) -> str:
    measured, yearly = [], []
    for cell in report["ledgers"]:
        rate = cell["decisions_per_second_together"]
        measured.append(
            [
                cell["engine"],
                f"{cell['decisions_per_second']:.0f}",
                f"{rate:.0f} ({cell['callers']} callers)",
                f"{cell['bytes_per_entry']:,.0f}",
                f"{cell['verified_entries_per_second']:,.0f}",
            ]
        )
        entries = 2 * rate * _YEAR
        yearly.append(
            [
                cell["engine"],
                f"{entries / 10**6:,.0f}",
                f"{entries * cell['bytes_per_entry'] / 10**9:,.0f}",
                f"{entries / cell['verified_entries_per_second'] / 3600:,.1f}",
            ]
        )
    first = ("ledger", "decisions/s, one caller", "decisions/s, several", "bytes per entry", "entries verified/s")
    second = ("ledger", "million entries", "GB", "hours to verify")
    return f"{_LEDGER}\n{_shown(first, measured, report)}\n{_YEARLY}\n{_shown(second, yearly, report)}"


def _cost(cell: Mapping[str, Any]) -> list[str]:
    return [
        f"{_median(cell['seconds']):.2f}",
        f"{_median(cell['processor_seconds']):.2f}",
        _kilo(cell["python_peak_bytes"]),
    ]


_PARTS = {"domains": _domains, "k_bars": _k_bars, "servers": _servers}


def _median(seconds: Sequence[float]) -> float:
    return statistics.median(seconds)


def _kilo(size: int | None) -> str:
    return "-" if size is None else f"{size / 1024:,.0f}"


def _mega(size: int) -> str:
    return f"{size / 10**6:,.0f}"


def _small(seconds: float) -> str:
    if seconds >= _MILLISECOND:
        return f"{seconds:.3f} s"
    return f"{seconds * 10**9:,.0f} ns" if seconds else "0"


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench scale_page", description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS, metavar="FILE", help="default: %(default)s")
    parser.add_argument("--publish", type=Path, default=DEFAULT_DOCS, metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--kept", type=Path, default=DEFAULT_KEPT, metavar="FILE", help="default: %(default)s")
    options = parser.parse_args(argv)
    fresh = options.results.is_file()
    found = options.results if fresh else options.kept
    if not found.is_file():
        print(f"no page written: {found} is not there. Run python -m bench scale first.")
        return 1
    report = json.loads(found.read_text(encoding="utf-8"))
    text = render(report)
    if fresh:
        options.kept.parent.mkdir(parents=True, exist_ok=True)
        options.kept.write_text(json.dumps(report) + "\n", encoding="utf-8")
    options.publish.mkdir(parents=True, exist_ok=True)
    (options.publish / PAGE).write_text(text, encoding="utf-8")
    print(f"{options.publish / PAGE} is written from {found}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
