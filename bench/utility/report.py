"""What a person sees of the utility bench: tables, goals, and a picture."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from bench.command import print_machine
from bench.tables import in_sections
from bench.utility.cells import MARGIN, Cell, Sample
from bench.utility.columns import COLUMNS
from bench.utility.data import HELD_OUT

__all__ = ["WIDTH", "show", "show_shortfalls"]

WIDTH = 140
_SHORT = ("DR", "zCDP", "Laplace", "Gaussian", "union")


def show(
    machine: Mapping[str, str | int | float | None],
    mode: str,
    found: Sequence[Cell],
    absent: Sequence[str],
    console: Console,
) -> None:
    """Prints recall and errors of counts, a table for each epsilon."""
    print_machine("utility", mode, machine, console)
    console.print(
        "Recall: the share of the true top k that came back; an item counts if it has at least as many users as the "
        "k-th. One release at epsilon and delta=1e-6. DR and zCDP: limited domain under these accountants. Laplace, "
        "Gaussian, union: users bounded to D items, best D by hindsight, chosen on one half of the runs and reported "
        "on the other. ± is the standard error of the mean; reads: how often the table is read. Held-out data sets are "
        "marked *.",
        highlight=False,
    )
    for epsilon in sorted({cell.epsilon for cell in found}):
        console.print(_recalls([cell for cell in found if cell.epsilon == epsilon], epsilon))
    for epsilon in sorted({cell.epsilon for cell in found}):
        console.print(_errors([cell for cell in found if cell.epsilon == epsilon], epsilon))
    _show_short_lists([cell for cell in found if cell.in_rounds is not None], console)
    for name in absent:
        console.print(f"{name}: [yellow]not measured[/], its file is not there", highlight=False)


def _recalls(of: Sequence[Cell], epsilon: float) -> Table:
    table = Table(title=f"Recall at epsilon={epsilon:g}")
    table.add_column("data", no_wrap=True)
    for heading in ("k", "reads", "podium", *_SHORT, "lead over\nthe best", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in in_sections(table, of, key=lambda cell: cell.data):
        columns = [cell.columns[name] for name in COLUMNS]
        table.add_row(
            _name(cell),
            str(cell.k),
            _between(cell.reads),
            _written(cell.podium),
            *(f"{column.recall.mean:.3f}" + (f" D={column.bound:<3}" if column.bound else "") for column in columns),
            f"{cell.lead:+.3f} ±{cell.lead_error:.3f}",
            _verdict(cell),
        )
    return table


def _errors(of: Sequence[Cell], epsilon: float) -> Table:
    """The median error of counts relative to the true ones, where counts came out."""
    table = Table(title=f"Error of released counts at epsilon={epsilon:g} (median over items, relative)")
    table.add_column("data", no_wrap=True)
    headings = ("k", "podium, counts=True", "its recall", "Laplace at its D", "Gaussian at its D")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in of:
        others = [cell.columns[name].count_error for name in COLUMNS[2:4]]
        samples = (cell.count_error, cell.counted_recall, *others)
        table.add_row(_name(cell), str(cell.k), *("-" if one is None else _written(one) for one in samples))
    return table


def show_shortfalls(found: Sequence[Cell], console: Console) -> None:
    """Prints every cell that falls short."""
    short = [cell for cell in found if cell.falls_short]
    console.print(
        f"{len(short)} of {len(found)} cells are more than {MARGIN:g} below the best column, "
        f"{sum(cell.surely for cell in short)} of them by more than two standard errors.",
        highlight=False,
    )
    for cell in short:
        console.print(
            f"  {cell.name}: {_written(cell.podium)} against {_written(cell.best.recall)} of {cell.best.label}",
            highlight=False,
        )


def _show_short_lists(of: Sequence[Cell], console: Console) -> None:
    """What short lists would be in rounds alone."""
    if not of:
        return
    one, other = (statistics.fmean(recalls) for recalls in zip(*map(_both_ways, of), strict=True))
    better = sum(there > here for here, there in map(_both_ways, of))
    console.print(
        f"Short lists: the default has a mean recall of {one:.3f}, rounds alone would have {other:.3f} "
        f"(better in {better} of {len(of)} cells).",
        highlight=False,
    )


def _both_ways(cell: Cell) -> tuple[float, float]:
    return cell.podium.mean, cell.podium.mean if cell.in_rounds is None else cell.in_rounds.mean


def _between(reads: Sequence[int]) -> str:
    return str(min(reads)) if min(reads) == max(reads) else f"{min(reads)}-{max(reads)}"


def _name(cell: Cell) -> str:
    return cell.data + "*" * (cell.data in HELD_OUT)


def _written(sample: Sample) -> str:
    return f"{sample.mean:.3f} ±{sample.error:.3f}"


def _verdict(cell: Cell) -> str:
    if not cell.falls_short:
        return ""
    return "[red]short[/]" if cell.surely else "[yellow]short?[/]"
