"""What a person sees of the selection bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from bench.command import print_machine
from bench.peers import EPSILON_PER_ITEM, SCALE
from bench.selection.goals import RawCell, TallyCell
from bench.tables import in_sections

__all__ = ["WIDTH", "show"]

WIDTH = 124
"""Columns to print at least, however narrow the terminal: a line that wraps still has all its numbers."""


def show(
    machine: Mapping[str, str | int | None],
    mode: str,
    raw: Sequence[RawCell],
    tallies: Sequence[TallyCell],
    console: Console,
) -> None:
    """Prints the machine and both tables."""
    print_machine("selection", mode, machine, console)
    console.print(
        f"Noise scale {SCALE} for all (epsilon {EPSILON_PER_ITEM} per item); medians of repetitions that took turns. "
        "NumPy is the insecure one-liner; OpenDP is make_noisy_top_k, pure DP.",
        highlight=False,
    )
    console.print(_raw_table(raw))
    console.print(_tally_table(tallies))


def _raw_table(cells: Sequence[RawCell]) -> Table:
    table = Table(title="Raw scores (memory: peak extra bytes / bytes of the counts)")
    table.add_column("scores", no_wrap=True)
    for heading in ("d", "k", "podium", "NumPy", "podium\n/ NumPy", "OpenDP", "OpenDP\n/ podium"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("memory\npodium", justify="right")
    table.add_column("memory\nNumPy", justify="right")
    for cell in in_sections(table, cells, key=lambda cell: (cell.shape, cell.d)):
        speedup = cell.times_faster_than_opendp
        table.add_row(
            cell.shape,
            f"{cell.d:,}",
            f"{cell.k:,}",
            _time(cell.timings["podium"].median),
            _time(cell.timings["numpy"].median),
            f"{cell.ratio_to_numpy:.2f}",
            _time(cell.timings["opendp"].median) if speedup is not None else cell.opendp_skipped,
            "-" if speedup is None else f"{speedup:,.1f}",
            f"{cell.memory['podium']:.2f}x",
            f"{cell.memory['numpy']:.2f}x",
        )
    return table


def _tally_table(cells: Sequence[TallyCell]) -> Table:
    table = Table(title="Counts of counts (multiplicities=): the domain is a number, not an array")
    table.add_column("scores")
    for heading in ("d", "k", "groups", "podium", "/ smallest d", "peak extra"):
        table.add_column(heading, justify="right")
    first: dict[tuple[str, int], float] = {}
    for cell in in_sections(table, cells, key=lambda cell: (cell.shape, cell.k)):
        base = first.setdefault((cell.shape, cell.k), cell.timing.median)
        table.add_row(
            cell.shape,
            f"1e{len(str(cell.d)) - 1}" if str(cell.d).strip("0") == "1" else f"{cell.d:,}",
            f"{cell.k:,}",
            f"{cell.groups:,}",
            _time(cell.timing.median),
            f"{cell.timing.median / base:.2f}",
            f"{cell.peak_extra_bytes / 1024:,.0f} KiB",
        )
    return table


def _time(seconds: float) -> str:
    return f"{seconds:,.2f} s" if seconds >= 1.0 else f"{1000 * seconds:,.2f} ms"
