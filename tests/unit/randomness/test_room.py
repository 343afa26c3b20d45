"""Random bits are drawn in one room only."""

from __future__ import annotations

import ast
from pathlib import Path

import podium

SOURCE = Path(podium.__file__).parent
SEEDED_SIMULATION = Path("planning/simulation.py")
FORBIDDEN = {"random", "secrets", "numpy.random"}


def _draws(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = {"np": "numpy"}.get(node.value.id, node.value.id)
            found.add(f"{name}.{node.attr}")
    return {name for name in found if name in FORBIDDEN or name == "os.urandom"}


def test_no_other_room_draws_random_bits() -> None:
    offenders = {}
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        if inside.parts[0] == "randomness" or inside == SEEDED_SIMULATION:
            continue
        if found := _draws(ast.parse(path.read_text(encoding="utf-8"))):
            offenders[str(inside)] = found
    assert offenders == {}


def test_the_search_finds_what_it_looks_for() -> None:
    lines = ["import random", "from os import urandom", "import numpy as np; np.random", "import secrets"]
    assert all(_draws(ast.parse(line)) for line in lines)
