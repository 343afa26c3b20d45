"""What a bench is wanted to reach, and how a run says whether it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

__all__ = ["Goal", "print_goals", "show_goals", "verdict"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A promise about a number; ``met`` is None when this run did not measure it."""

    name: str
    wanted: str
    measured: float | None
    met: bool | None
    where: str


def verdict(goal: Goal, mode: str = "this") -> str:
    """In colour; ``mode`` is what a run was that did not measure it."""
    if goal.met is None:
        return f"[yellow]not measured in {mode} mode[/]"
    return "[green]met[/]" if goal.met else "[red]not met[/]"


def show_goals(goals: Sequence[Goal], mode: str, console: Console, *, number: str = ",.2f") -> None:
    """Prints a table: each goal with what this run says about it, numbers in the given format."""
    table = Table(title="Goals, judged on this run")
    for heading in ("goal", "wanted", "measured", "", "worst cell"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for goal in goals:
        measured = "-" if goal.measured is None else format(goal.measured, number)
        table.add_row(goal.name, goal.wanted, measured, verdict(goal, mode), goal.where)
    console.print(table)


def print_goals(goals: Sequence[Goal], console: Console, *, number: str) -> None:
    """Prints a line for each goal, for benches that measure all of theirs in every run."""
    for goal in goals:
        shown = format(goal.measured, number)
        console.print(f"goal: {goal.name} {goal.wanted}: {shown}, {'met' if goal.met else 'not met'}")
