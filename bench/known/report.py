"""What a person sees of the known-domain bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from bench.known.goals import DEFAULT, HINDSIGHT, LIMIT, SET, Cell, GroupGoal, goals
from bench.tables import in_sections

__all__ = ["WIDTH", "show"]

WIDTH = 164
"""Columns to print at least, however narrow the terminal: a line that wraps still has all its numbers."""


def show(cells: Sequence[Cell], mode: str, runs: Mapping[int, int], console: Console) -> None:
    """Prints recall on the data sets of the paper, cell by cell, and the goals on all."""
    simulated = ", ".join(f"{count:,} for k={k}" for k, count in runs.items())
    console.print(f"known bench ({mode}): recall at equal guarantee. Simulated runs: {simulated}.", highlight=False)
    for delta in dict.fromkeys(cell.delta for cell in cells):
        chosen = [cell for cell in cells if cell.delta == delta and not cell.held_out and not cell.at_cliff]
        console.print(_recall_table(delta, chosen))
    console.print(_goal_table(goals(cells)))


def _recall_table(delta: str, cells: Sequence[Cell]) -> Table:
    table = Table(title=f"delta={delta}: recall; ± is twice the largest standard error in the row")
    table.add_column("data", no_wrap=True)
    for heading in ("k", "epsilon"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in (*HINDSIGHT, DEFAULT, SET, "±", "set at once", "set - best"):
        table.add_column(name.replace(" ", "\n", 1), justify="right", no_wrap=True)
    for cell in in_sections(table, cells, key=lambda cell: (cell.data, cell.k)):
        estimates = [cell.recall[name] for name in (*HINDSIGHT, DEFAULT, SET)]
        shown = [f"{estimate.mean:.3f}" for estimate in estimates]
        shown.append(f"{2 * max(estimate.error for estimate in estimates):.3f}")
        shown += [f"{cell.chance_at_once:.3f}", f"{cell.regret(SET).mean:+.3f}"]
        table.add_row(cell.data, f"{cell.k:,}", cell.epsilon, *shown)
    return table


def _goal_table(judged: Sequence[GroupGoal]) -> Table:
    table = Table(title=f"Recall minus the best by hindsight; a cell fails below -{LIMIT:g}")
    for heading in ("data sets", "delta", "k", "who", "worst", "2 s.e.", "mean", "failing", "", "worst cell"):
        left = heading in {"data sets", "who", "", "worst cell"}
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for goal in in_sections(table, judged, key=lambda goal: (goal.group, goal.delta)):
        table.add_row(
            goal.group,
            goal.delta,
            f"{goal.k:,}",
            goal.who,
            f"{goal.worst:+.3f}",
            f"{2 * goal.worst_standard_error:.3f}",
            f"{goal.mean:+.4f}",
            f"{goal.failing} of {goal.cells}",
            "[green]met[/]" if goal.met else "[red]not met[/]",
            goal.where,
        )
    return table
