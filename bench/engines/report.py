"""What a person sees of the engines bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from bench.command import print_machine
from bench.engines.goals import Cell, MemoryCell
from bench.tables import in_sections, text_table

__all__ = ["WIDTH", "show"]

WIDTH = 136
"""Columns to print at least."""


def show(
    machine: Mapping[str, str | int | float | None],
    mode: str,
    cells: Sequence[Cell],
    memory: Sequence[MemoryCell],
    absent: Mapping[str, str],
    console: Console,
) -> None:
    """Prints the machine, both tables, and which engines did not take part."""
    print_machine("engines", mode, machine, console)
    console.print(
        "A private top k against the same query without privacy, on the same engine with its usual settings; medians "
        "of repetitions that took turns.",
        highlight=False,
    )
    console.print(_times(cells))
    for engine, reason in absent.items():
        console.print(f"{engine}: [yellow]not measured[/], {reason}", highlight=False)
    console.print(_memory(memory))


def _times(cells: Sequence[Cell]) -> Table:
    table = Table(
        title="Time, also of the processor (the engine's and this process's), and scans of the table as it counts them"
    )
    table.add_column("engine", no_wrap=True)
    table.add_column("question", no_wrap=True)
    for heading in ("rows", "plain", "podium", "podium\n/ plain", "processor\ntime", "scans", "runs", "same\nitems"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in in_sections(table, cells, key=lambda cell: cell.engine):
        processor = cell.processor_ratio
        table.add_row(
            cell.engine,
            cell.question,
            f"{cell.rows:,}",
            f"{cell.plain.median:,.2f} s",
            f"{cell.podium.median:,.2f} s",
            f"{cell.ratio:.2f}",
            "-" if processor is None else f"{processor:.2f}",
            f"{cell.scans:g}",
            f"{len(cell.podium.seconds)}",
            f"{cell.shared} of {cell.k}",
        )
    return table


def _memory(cells: Sequence[MemoryCell]) -> Table:
    title = "Most memory that Python had allocated during a question (the engine's own is not ours)"
    rows = [(cell.route.name, f"{cell.items:,}", f"{cell.peak_bytes / 1024:,.0f} KiB") for cell in cells]
    return text_table(title, ("route", "items in the table", "peak"), rows)
