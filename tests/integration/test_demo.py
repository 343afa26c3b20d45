"""The first thing that a stranger runs, and what the README says about it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from podium import BOTTOM, Release
from podium.planning.simulation import article_events

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def podium(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "podium", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=120)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_readme_shows_what_the_demo_prints() -> None:
    """The top 10 of the demo are so far apart that another order has probability below 1e-9."""
    shown = blocks("console")[0].removeprefix("$ make demo\n")
    ran = podium("demo")
    assert ran.returncode == 0
    assert _without_noise(ran.stderr + ran.stdout) == _without_noise(shown)


def _without_noise(printed: str) -> str:
    """What was paid, and the noisy numbers of users, differ from run to run."""
    return re.sub(r"(?<=paid       )rho \S+|(?<=users_by_items=)[^)]*", "...", printed)


def test_the_readme_shows_the_demo_early() -> None:
    assert README.split("\n").index("$ make demo") < 25


def test_the_distribution_that_the_readme_shows_is_right() -> None:
    """All blocks are run in tests/integration/docs; this one has a number in a comment."""
    (block,) = [block for block in blocks("python") if "probabilities = " in block]
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)  # noqa: S102
    probabilities = names["probabilities"]
    assert isinstance(probabilities, dict)
    assert "{(BOTTOM,): 0.9767837696920973, " in block
    assert probabilities[BOTTOM,] == pytest.approx(0.9767837696920973, abs=1e-15)


def test_machine_readable_output_is_a_release(tmp_path: Path) -> None:
    ran = podium("demo", "--format", "json", "--k", "3", "--folder", "kept", cwd=tmp_path)
    release = Release.from_json(ran.stdout)
    assert len(release.items) == 3
    assert json.loads(ran.stdout)["complete"] is True
    assert (tmp_path / "kept" / "events.parquet").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "0"], ["InvalidArgument: k=0 is not valid.", "  Allowed: an integer, 1 or more."]),
        (["--epsilon", "-1"], ["InvalidArgument: epsilon='-1' is not valid.", "  Allowed: a number above 0."]),
        (["--delta", "2"], ["InvalidArgument: delta='2' is not valid.", "  Allowed: a number with 0 <= value < 1."]),
    ],
)
def test_bad_input_is_one_message_and_no_traceback(arguments: list[str], message: list[str]) -> None:
    ran = podium("demo", *arguments)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.split("\n")[-3:] == [*message, ""]


def test_a_budget_too_small_returns_fewer_and_says_so() -> None:
    ran = podium("demo", "--epsilon", "0.001", "--delta", "1e-12")
    assert ran.returncode == 0
    assert "item stood out enough to be named at this budget" in ran.stdout


def test_help_lists_the_commands() -> None:
    assert "demo" in podium("--help").stdout
    assert re.fullmatch(r"podium \d+\.\d+\.\d+\n", podium("--version").stdout)


def test_the_made_up_table_is_always_the_same() -> None:
    events = article_events(rows=5_000, users=500)
    again = article_events(rows=5_000, users=500)
    assert all((getattr(events, name) == getattr(again, name)).all() for name in ("user_id", "article", "country"))
    digest = hashlib.sha256("\n".join(events.article).encode()).hexdigest()
    assert digest[:16] == "2620d1377498d3c5"
