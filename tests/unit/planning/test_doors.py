"""The mechanisms that docs/planner.md lists for each command are those that the planner can pick."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from podium.mechanisms.catalogue import catalogue

ROOT = Path(__file__).parents[3]
PLANNING = ROOT / "src" / "podium" / "planning"
NAMES = {description.name for description in catalogue()}


def made_in(*modules: str) -> set[str]:
    """The mechanisms whose constructors, or alternative ones, a module of the planner calls."""
    found = set()
    for module in modules:
        for node in ast.walk(ast.parse((PLANNING / f"{module}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                target = node.func.value if isinstance(node.func, ast.Attribute) else node.func
                if isinstance(target, ast.Name) and target.id in NAMES:
                    found.add(target.id)
    return found


def test_the_page_about_the_planner_says_which_mechanisms_a_command_uses() -> None:
    text = " ".join((ROOT / "docs" / "planner.md").read_text(encoding="utf-8").split())
    said = re.search(r"- Top-k questions (.+?) - Rankings (.+?) - Schedules (.+?) The \[other mechanisms\]", text)
    assert said is not None
    top, rank, watch = ({name for name in NAMES if f"`{name}`" in part} for part in said.groups())
    assert top == made_in("strategy", "known_by_sizes", "known_domain")
    assert rank == made_in("ranking")
    assert watch == made_in("schedule/schedule_plan", "schedule/shares") == {"TruncatedGaussianHistogram"}


def test_the_readme_leads_to_that_page() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "a planner picks the mechanism" in text
    assert "(docs/planner.md)" in text
    assert "four papers, in the library" in text
