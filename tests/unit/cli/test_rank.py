"""``podium rank``: every format, what a dry run shows, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import podium

from podium import Release

ASK = ("rank", "votes.csv", "--winner", "better", "--loser", "worse", "--user", "who", "--comparisons-per-pair", "400")
SURE = ("--items", "items.csv", "-k", "2", "--epsilon", "1000000", "--method", "borda")


@pytest.fixture(autouse=True)
def _tables() -> None:
    lines = [f"{user},a,b\n{user},b,c" for user in range(300)]
    Path("votes.csv").write_text("who,better,worse\n" + "\n".join(lines) + "\n", encoding="utf-8")
    Path("items.csv").write_text("item\na\nb\nc\n", encoding="utf-8")


def test_a_table_json_and_csv() -> None:
    ran = podium(*ASK, *SURE, "--quiet")
    assert ran.exit_code == 0
    assert ran.stdout.split("\n")[:3] == ["rank  item", "   1  a", "   2  b"]
    printed = podium(*ASK, *SURE, "--format", "json", "--quiet").stdout
    assert Release.from_json(json.dumps(json.loads(printed))).items == ("a", "b")
    assert podium(*ASK, *SURE, "--format", "csv", "--quiet").stdout.split("\n")[:3] == [
        '"rank","item"',
        '1,"a"',
        '2,"b"',
    ]


def test_scores_beside_the_items() -> None:
    printed = podium(*ASK, *SURE, "--scores", "--format", "csv", "--quiet").stdout.split("\n")
    assert printed[0] == '"rank","item","score","score_low","score_high"'
    place, item, score, low, high = printed[1].split(",")
    assert (place, item) == ("1", '"a"')
    # Of two others a beat one, 300 of 400 times: 1/2 + 300/(2 400 2). The interval is one of 95 %: it is around the
    # score, and near what is true, and one time in twenty beside it.
    assert float(low) < float(score) < float(high)
    assert abs(float(score) - 0.6875) < 1e-4
    assert float(high) - float(low) < 1e-4
    ran = podium(*ASK, "--items", "items.csv", "-k", "2", "--epsilon", "1", "--scores", "--unordered")
    assert ran.exit_code == 2
    assert "Noisy scores put the items in an order" in ran.stderr


def test_a_dry_run_shows_the_plan_and_the_sql() -> None:
    ran = podium(*ASK, *SURE, "--dry-run", "--quiet", "--verbose")
    assert ran.exit_code == 0
    assert "why        Scores: average shares of wins, as asked." in ran.stdout
    assert "\n\nSELECT\n" in ran.stdout


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (("-k", "2", "--epsilon", "1"), "either items, of which all pairs count, or pairs"),
        (("--items", "items.csv", "-k", "4", "--epsilon", "1"), "at most 3, the size of the domain"),
        ((*SURE, "--mixing", "0.1"), "it belongs to 'spectral'"),
        (("--items", "nowhere.csv", "--epsilon", "1"), "domain='nowhere.csv' is not a file"),
        (("--items", "items.csv"), "Missing --epsilon."),
    ],
)
def test_what_is_refused(more: tuple[str, ...], text: str) -> None:
    ran = podium(*ASK, *more)
    assert ran.exit_code not in (0, 1)
    assert ran.stdout == ""
    assert text in ran.stderr


@pytest.mark.parametrize("command", ["top", "sql", "rank", "watch"])
def test_help_begins_with_what_everybody_needs(command: str) -> None:
    """Every option stands in one section, and the budget of the question among the first."""
    lines = podium(command, "--help").stdout.splitlines()
    sections = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    shown = [line for line in sections if line not in ("Examples:",)]
    assert shown == ["Arguments:", "To begin with:", "Question:", "Budget:", "Source:", "Output:", "Help:"]
    first = "\n".join(lines[lines.index("To begin with:") : lines.index("Question:")])
    assert "--epsilon" in first
    assert "--delta" in first
    below = lines[lines.index("To begin with:") :]
    options = [line.split()[0] for line in below if line.startswith("  -")]
    assert len(options) == len(set(options))
