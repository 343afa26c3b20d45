"""The command line that benches share, and the file that each writes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

__all__ = ["bench_parser", "print_machine", "save_report"]


def bench_parser(prog: str, doc: str, default: Path, *, quick: str) -> argparse.ArgumentParser:
    """The options of every bench; ``quick`` says what its short form leaves out."""
    parser = argparse.ArgumentParser(prog=prog, description=doc.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, default=default, metavar="FILE", help="default: %(default)s")
    return parser


def print_machine(bench: str, mode: str, machine: Mapping[str, object], console: Console) -> None:
    """What was run, and where."""
    facts = ", ".join(f"{name} {value}" for name, value in machine.items() if value is not None)
    console.print(f"{bench} bench ({mode}): {facts}", highlight=False)


def save_report(report: Mapping[str, Any], file: Path) -> None:
    """Write what a bench found, from which its page is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
