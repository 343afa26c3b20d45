"""Computes the papers' results again: ``python -m reproduce [--quick] [NAME ...]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.measure import commit
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from reproduce import data
from reproduce.output import write_all, write_page
from reproduce.running import NAMES, load, measure
from reproduce.study import Measured, Mode, Report, Study, Verdict

__all__ = ["main", "run"]

_COLOURS = {
    Verdict.REPRODUCED: "green",
    Verdict.STAND_IN: "green",
    Verdict.STRONGER: "green",
    Verdict.BEYOND: "cyan",
    Verdict.DIFFERS: "yellow",
    Verdict.WRONG: "red",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the named studies, or all; exit code 2 if the data of all of them is missing."""
    options = _parser().parse_args(argv)
    # Kept from here on: others may commit while it runs.
    commit()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        _parser().error(f"no study called {', '.join(sorted(unknown))}; there is {', '.join(NAMES)}")
    if options.publish is not None and options.names:
        _parser().error("--publish writes the whole page: leave out the names of studies")
    console = Console(width=max(Console().width, 140))
    mode = Mode.QUICK if options.quick else Mode.FULL
    reports = run(options.names or NAMES, mode, folder=options.folder, workers=options.workers, console=console)
    if not reports:
        return 2
    _show(reports, console)
    console.print(f"Claims, curves and pictures are in {options.folder / mode}.", style="dim", highlight=False)
    if options.publish is not None:
        if len(reports) < len(NAMES):
            console.print("Nothing was published, because some studies had no data.", style="red")
            return 2
        write_page(options.folder / mode, options.publish)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reproduce", description="Compute the papers' results again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer points and runs: minutes instead of an hour")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes; default: %(default)s")
    parser.add_argument("--folder", type=Path, default=Path("build/reproduce"), help="results; default: %(default)s")
    parser.add_argument("--publish", type=Path, metavar="DOCS", help="write the page of the documentation there")
    return parser


def run(
    names: Sequence[str], mode: Mode, *, folder: Path, workers: int = 2, console: Console, pictures: bool = True
) -> dict[str, tuple[Study, Report]]:
    """Computes what is not computed yet and writes everything; studies without data are passed over, and said so."""
    studies = [study for study in map(load, names) if _has_data(study, console)]
    if not studies:
        return {}
    measured = _measured(studies, mode, folder / "cells", workers, console)
    reports = {study.name: (study, study.report(measured[study.name])) for study in studies}
    write_all(reports, folder / mode, mode, pictures=pictures)
    return reports


def _has_data(study: Study, console: Console) -> bool:
    problem = data.missing(study.data)
    if problem is not None:
        console.print(f"{study.name} skipped: {problem}", style="yellow", highlight=False)
    return problem is None


def _measured(studies: Sequence[Study], mode: Mode, cache: Path, workers: int, console: Console) -> dict[str, Measured]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reproduce", total=None)

        def tell(study: str, done: int, total: int) -> None:
            bar.update(task, description=f"reproduce {study}".rstrip(), completed=done, total=total)

        return measure(studies, mode, cache=cache, workers=workers, progress=tell)


def _show(reports: dict[str, tuple[Study, Report]], console: Console) -> None:
    for study, report in reports.values():
        table = Table(title=study.title, title_justify="left", show_lines=True, expand=True)
        for heading, ratio in (("source", 3), ("claim", 8), ("claimed", 3), ("measured", 6), ("verdict", 3)):
            table.add_column(heading, ratio=ratio)
        for row in report.rows:
            claim = f"{row.claim}\n[dim]{row.note}[/]" if row.note else row.claim
            verdict = f"[{_COLOURS[row.verdict]}]{row.verdict}[/]"
            table.add_row(row.source, claim, row.claimed, row.measured, verdict)
        console.print(table, highlight=False)


if __name__ == "__main__":
    sys.exit(main())
