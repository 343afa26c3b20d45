"""What one question calls can be traced: the table has its rows, and nothing of an import is counted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.walks import GOALS, WALKS, Walk, median_length, report

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def printed() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tools.walks", "--list"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def functions(printed: str, name: str) -> list[str]:
    """What is listed for a walk."""
    _, _, rest = printed.partition(f"\n{WALKS[name]}\n")
    return re.findall(r"^    (.+)$", rest.split("\n\n")[0], flags=re.MULTILINE)


@pytest.mark.parametrize("name", WALKS)
def test_a_row_counts_the_functions_that_are_listed(printed: str, name: str) -> None:
    listed = functions(printed, name)
    row = re.search(
        rf"^\| {re.escape(WALKS[name])} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (.+) \|$", printed, flags=re.M
    )
    assert row is not None
    assert int(row[1]) == len(listed) > int(row[2]) > int(row[3]) > int(row[4]) > 5
    assert int(row[3]) == len({each.partition(":")[0] for each in listed})
    assert row[5] == "no goal" if name not in GOALS else re.fullmatch(r"(not )?met \(\d+ in \d+\)", row[5])


@pytest.mark.parametrize(
    ("name", "door"), [("top", "cli"), ("sql", "curator"), ("post", "service"), ("rounds", "curator")]
)
def test_a_walk_goes_from_its_door_to_the_engine(printed: str, name: str, door: str) -> None:
    assert re.search(rf"^{re.escape(WALKS[name])}: {door} > (\w+ > )*sources; comes back to ", printed, flags=re.M)


@pytest.mark.parametrize("name", WALKS)
def test_every_function_listed_is_one_and_ran_for_the_question(printed: str, name: str) -> None:
    listed = functions(printed, name)
    assert all((ROOT / "src" / "podium" / each.partition(":")[0]).is_file() for each in listed)
    assert not any(each.endswith("<module>") for each in listed)
    assert any(each.startswith("randomness/race.py:") for each in listed) or name == "rounds"


def test_what_is_within_a_goal_is_met_and_what_comes_back_is_told() -> None:
    short = Walk("top", ("cli/top.py:top", "cli/top.py:top.<lambda> (line 3)"), 2, ("cli", "sources", "cli"), ("up",))
    assert short.met == "met (200 in 40)"
    assert short.named == ["cli/top.py:top"]
    assert "cli > sources > cli; comes back to cli.\n- up" in report([short])
    long = Walk("top", tuple(f"cli/top.py:f{number}" for number in range(201)), 2, ("cli",), ())
    assert long.met == "not met (200 in 40)"
    wide = Walk("top", tuple(f"cli/f{number}.py:f" for number in range(41)), 2, ("cli",), ())
    assert wide.met == "not met (200 in 40)"


def test_functions_are_short() -> None:
    assert 1 < median_length() < 20
