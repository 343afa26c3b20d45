"""The command line that benches share, and the file that each writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.goals import Goal
from bench.measure import machine

__all__ = ["bench_parser", "bench_report", "print_machine", "save_report", "shown_progress", "wide_console"]


def bench_parser(prog: str, doc: str, default: Path, *, quick: str) -> argparse.ArgumentParser:
    """The options of every bench; ``quick`` says what its short form leaves out."""
    parser = argparse.ArgumentParser(prog=prog, description=doc.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, default=default, metavar="FILE", help="default: %(default)s")
    return parser


def wide_console(width: int) -> Console:
    """A terminal with at least so many columns, however narrow it is: a line that wraps still has all its numbers."""
    return Console(width=max(Console().width, width))


@contextmanager
def shown_progress(bench: str, console: Console) -> Iterator[Callable[[str], None]]:
    """To be told what the bench is at, which a line on the terminal says until it ends."""
    with console.status(f"{bench} bench") as status:
        yield lambda what: status.update(f"{bench} bench: {what}")


def print_machine(bench: str, mode: str | None, machine: Mapping[str, object], console: Console) -> None:
    """What was run, and where."""
    facts = ", ".join(f"{name} {value}" for name, value in machine.items() if value is not None)
    console.print(f"{bench} bench{'' if mode is None else f' ({mode})'}: {facts}", highlight=False)


def bench_report(
    bench: str,
    settings: Mapping[str, object],
    *,
    goals: Sequence[Goal] | None = None,
    facts: Mapping[str, object] | None = None,
    version: int = 1,
    **found: object,
) -> dict[str, Any]:
    """What the file of a bench has; ``facts`` about the machine are those of now unless they are given."""
    judged = {} if goals is None else {"goals": [asdict(goal) for goal in goals]}
    facts = machine() if facts is None else facts
    return {"bench": bench, "version": version, "machine": dict(facts), "settings": dict(settings), **found, **judged}


def save_report(report: Mapping[str, Any], file: Path, *, indent: int | None = 1) -> None:
    """Write what a bench found, from which its page is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=indent) + "\n", encoding="utf-8")
