"""What the page about the benches is made of: sections, tables, and the rows of goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.known.goals import block_goals

__all__ = [
    "Report",
    "Row",
    "Section",
    "Shown",
    "command_of",
    "commit_of",
    "goal_rows",
    "machine_facts",
    "markdown_table",
    "measured_by",
    "mode",
    "shown_number",
]

Report = Mapping[str, Any]
Row = list[str]

_COMMITS = ("commit", "kept_since")
_MODES = ("quick", "medium")


@dataclass(frozen=True, slots=True)
class Shown:
    """A table with the sentence above it."""

    caption: str
    headings: tuple[str, ...]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Section:
    """A bench on the page."""

    name: str
    title: str
    about: str
    tables: Callable[[Report], list[Shown]]
    picture: str | None = None
    """The alternative text of the picture that the bench drew beside its file, if the page shows it."""


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; a column is aligned to the right if all its cells are numbers."""
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    right = [bool(body) and all(_numeric(row[place]) for row in body) for place in range(len(headings))]
    lines = ["|".join(["", *(f" {cell} " for cell in row), ""]) for row in (headings, *body)]
    lines.insert(1, "|" + "|".join("---:" if number else "---" for number in right) + "|")
    return "\n".join(lines) + "\n"


def _numeric(cell: str) -> bool:
    return cell == "-" or cell.lstrip("+-")[:1].isdigit()


def mode(report: Report) -> str:
    """Whether it was a quick or a full run; benches write it in two ways, and one not at all."""
    settings = report.get("settings", {})
    if "quick" in settings:
        return "quick" if settings["quick"] else "full"
    return str(settings.get("mode", "not recorded"))


def command_of(name: str, report: Report) -> str:
    """What measured a file of this bench: modes but the full one are options of their name."""
    found = mode(report)
    return f"python -m bench {name}" + (f" --{found}" if found in _MODES else "")


def commit_of(report: Report) -> str:
    """The commit that a file was measured at; of files written before this was recorded, the one that brought them."""
    machine = report.get("machine", {})
    if machine.get("commit"):
        return str(machine["commit"])
    return f"not recorded, kept since {machine['kept_since']}" if machine.get("kept_since") else "not recorded"


def measured_by(command: str, report: Report) -> str:
    """The line below a table: what measured it, and the code that was measured."""
    return f"`{command}`, commit {commit_of(report)}."


def machine_facts(report: Report) -> str:
    """The machine of a file, in one sentence; its commit is with the tables."""
    facts = {
        name: value for name, value in report.get("machine", {}).items() if value is not None and name not in _COMMITS
    }
    return "Machine: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items()) + "."


def goal_rows(report: Report, mode: str) -> list[Row]:
    """Goal, wanted, measured, verdict and worst cell, for whatever goals a file has."""
    goals = report.get("goals", [])
    if goals and "group" in goals[0]:
        # The known-domain bench judges each cell against hindsight, which its own page shows; nobody can have that.
        goals = block_goals(report["cells"])
    return [_goal(goal, mode) for goal in goals]


def _goal(goal: Mapping[str, Any], mode: str) -> Row:
    if goal["met"] is None:
        return [goal["name"], goal["wanted"], "-", f"not measured in {mode} mode", "-"]
    return [
        goal["name"],
        goal["wanted"],
        shown_number(goal["measured"]),
        "met" if goal["met"] else "**not met**",
        goal["where"],
    ]


def shown_number(value: float | None) -> str:
    """Three digits after the point for small numbers, none for large ones."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"
