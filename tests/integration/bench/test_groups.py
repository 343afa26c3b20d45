"""The groups bench runs on a small world, and its goal is about means that differ by more than their error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import groups
from bench.__main__ import main


def test_a_small_run_leaves_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "Plan", lambda **_: TINY)
    path = tmp_path / "deep" / "groups.json"
    assert main(["groups", "--quick", "--json", str(path)]) == 0
    report = json.loads(path.read_text(encoding="utf-8"))
    assert [(cell["mechanism"], cell["way"], cell["lists"]) for cell in report["cells"]] == [
        ("adaptive", "alone, alike", 2),
        ("adaptive", "alone, default", 2),
        ("limited-domain", "alone, alike", 2),
    ]
    assert all(0 <= cell[way] <= 1 for cell in report["cells"] for way in ("together", "alone"))
    assert [goal["wanted"] for goal in report["goals"]] == ["<= 4"] * 2


TINY = groups.Plan(countries=2, runs=1, users=60, items=30, items_per_user=3)


@pytest.mark.parametrize(("difference", "met"), [(0.03, True), (-0.03, True), (0.05, False), (-0.05, False)])
def test_the_goal_is_no_difference_beyond_the_error(difference: float, met: bool) -> None:
    cell = {"mechanism": "adaptive", "way": "alone, alike", "difference": difference, "error": 0.01}
    (goal,) = groups.goals([cell, {**cell, "way": "alone, default"}])
    assert goal.met is met
