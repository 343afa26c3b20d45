"""What README says of which door leads to which mechanism is what the planner can pick."""

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


def test_readme_says_which_mechanisms_a_door_leads_to() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    said = re.search(r"Questions to a table (.+?); `podium rank` (.+?); `podium watch` (.+?)\. The others", text)
    assert said is not None
    top, rank, watch = ({name for name in NAMES if f"`{name}`" in part} for part in said.groups())
    assert top == made_in("strategy", "known_by_sizes", "known_domain")
    assert rank == made_in("ranking")
    assert watch == made_in("schedule/schedule_plan", "schedule/shares") == {"TruncatedGaussianHistogram"}
    assert "four papers, in the library" in text
