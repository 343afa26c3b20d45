"""Programs of other libraries: what is missing is said, lines are counted alike, and podium's own program answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.end_to_end import run
from bench.end_to_end.run import PROGRAMS, Plan, goals, lines_of_code, measure
from bench.page.tables import SECTIONS
from bench.parts import Parts


def test_lines_are_those_between_the_marks() -> None:
    lines = {program.name: lines_of_code(program) for program in PROGRAMS}
    assert lines["podium"] == 4
    assert all(lines["podium"] < count < 40 for name, count in lines.items() if name != "podium")


def test_podium_answers_and_the_others_are_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_ENVIRONMENTS", str(tmp_path))
    said: list[str] = []
    file = tmp_path / "end_to_end.json"
    assert run.main(["--quick", "--json", str(file)]) == 0
    report = json.loads(file.read_text(encoding="utf-8"))
    assert [row["program"] for row in report["cells"]] == ["podium"]
    assert report["cells"][0]["recall"] == 1.0
    assert set(report["absent"]) == {program.title for program in PROGRAMS[1:]}
    assert all("tools/environments" in reason for reason in report["absent"].values())
    # Programs are missing, so what was measured is kept, and is not measured again.
    rows, _ = measure(Plan(("msweb",), (10,), (4,), 2), Parts(file.with_suffix(""), "1.0 1e-06 2"), said.append)
    assert rows == report["cells"]
    assert said
    assert all("left out" in text for text in said)
    (shown,) = next(section for section in SECTIONS if section.name == "end_to_end").tables(report)
    assert len(shown.rows) == 1


def test_the_goal_is_judged_on_the_worst_cell() -> None:
    row = {"data": "msweb", "k": 10, "error": 0.01}
    rows = [{**row, "program": "podium", "recall": 0.9}, {**row, "program": "other", "recall": 0.93}]
    (goal,) = goals(rows)
    assert (goal["met"], goal["measured"]) == (False, -0.01)
    assert goals(rows[:1]) == []
