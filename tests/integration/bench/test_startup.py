"""The bench of starting: every command runs, and goals are judged on its seconds. No assertion on a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import startup
from bench.__main__ import main


def test_every_command_is_started_compared_and_judged(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "startup.json"
    assert main(["startup", "--repetitions", "1", "--json", str(path)]) == 0
    report = json.loads(path.read_text(encoding="utf-8"))
    measured = {cell["what"]: cell for cell in report["cells"]}
    assert list(measured) == [startup.BARE, *startup.GOALS]
    assert measured[startup.BARE]["ratio"] == 1
    assert all(cell["processor_seconds"] > 0 for cell in report["cells"])
    assert [goal["where"] for goal in report["goals"]] == list(startup.GOALS)


def test_a_goal_is_judged_on_seconds() -> None:
    def judged(part: float) -> list[bool | None]:
        measured = [{"what": what, "processor_seconds": part * most} for what, most in startup.GOALS.items()]
        return [goal.met for goal in startup.goals(measured)]

    assert judged(1) == [False, False, False]
    assert judged(0.99) == [True, True, True]


def test_only_one_bench_alone_takes_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["startup", "page", "--repetitions", "1"])
    assert "unrecognized arguments: --repetitions 1; one bench alone takes its own options" in capsys.readouterr().err
