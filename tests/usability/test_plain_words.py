"""The plain answer of every command, and the first screen of the README, use no term that a newcomer has not met."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.command_line import ASK, NEW_BUDGET, TOTAL, create_budget, succeeded, write_views

from podium.sources.parquet import write_parquet

ROOT = Path(__file__).parents[2]
UNDEFINED = re.compile(
    r"\b(rho|(?:a|t)?zCDP|bounded[- ]range|Gaussian DP|GDP|R[e\u00e9]nyi|mu_squared|epsilon_per_item|sigma)\b", re.I
)
FIRST_SCREEN = 45
LEDGER = ("--ledger", "ledger.db", "--dataset", "views")
SOURCE = ("--source", "views.parquet", "--user", "user_id")
SQL = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 2"
COMMANDS = {
    "columns": ("top", "views.parquet"),
    "top": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3"),
    "counts": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--counts"),
    "others": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--others"),
    "events": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--by", "events", "--counts"),
    "amounts": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--by", "sum(shelf)"),
    "minimum": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "--at-least", "50"),
    "groups": ("top", "views.parquet", *ASK, *TOTAL, "-k", "2", "--per", "country"),
    "short": ("top", "views.parquet", *ASK, "--epsilon", "0.001", "--delta", "1e-9"),
    "markdown": ("top", "views.parquet", *ASK, *TOTAL, "-k", "3", "-f", "md"),
    "plan of a question": ("top", "views.parquet", *ASK, *TOTAL, "--dry-run"),
    "ledger": ("top", "views.parquet", *ASK, *LEDGER, "-k", "3"),
    "counts under a ledger": ("top", "views.parquet", *ASK, *LEDGER, "-k", "3", "--counts"),
    "plan under a ledger": ("top", "views.parquet", *ASK, *LEDGER, "-k", "3", "--dry-run"),
    "batch": ("batch", "questions.json", *SOURCE, *LEDGER),
    "plan of a batch": ("batch", "questions.json", *SOURCE, *LEDGER, "--dry-run"),
    "sql": ("sql", SQL, "--source", "views.parquet", "--user", "user_id", *TOTAL),
    "sql under a ledger": ("sql", SQL, "--source", "views.parquet", "--user", "user_id", *LEDGER),
    "rank": (
        "rank", "votes.parquet", "--winner", "better", "--loser", "worse", "--user", "user_id", "--items", "items.csv",
        "-k", "2", "--epsilon", "1", "--comparisons-per-pair", "50", "--max-comparisons-per-user", "5",
    ),
    "plan of a schedule": (
        "watch", "timed.parquet", *ASK, "--time", "at", "--start", "2026-01-01", "--periods", "3", *TOTAL, "--dry-run",
    ),
    "watch": (
        "watch", "timed.parquet", *ASK, "--time", "at", "--start", "2026-01-01", "--periods", "3", "--until",
        "2026-01-04", *TOTAL, "--ledger", "watched.db",
    ),
    "plan": ("plan", "-k", "10", "--epsilon", "1", "--delta", "1e-8"),
    "known plan": ("plan", "-k", "10", "--epsilon", "1", "--domain-size", "500", "--counts"),
    "mechanisms": ("mechanisms",),
    "explain": ("explain",),
    "budget create": ("budget", "create", "other", *NEW_BUDGET, "--force", "--epsilon-per-analyst", "1"),
    "plan of a budget": ("budget", "create", "other", *NEW_BUDGET, "--dry-run"),
    "budget raise": ("budget", "raise", "views", "--ledger", "ledger.db", "--epsilon", "6"),
    "budget show": ("budget", "show", "--ledger", "ledger.db"),
    "budget history": ("budget", "history", "views", "--ledger", "ledger.db"),
    "budget verify": ("budget", "verify", "--ledger", "ledger.db"),
    "budget data-version": ("budget", "data-version", "views", "monday", "--ledger", "ledger.db"),
    "budget recover": ("budget", "recover", "--ledger", "ledger.db"),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The tables and the budget that the commands ask about, in the present folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("plain"))
        patch.delenv("PODIUM_LEDGER", raising=False)
        prepare()
        yield


def prepare() -> None:
    write_views(Path())
    days = [dt.datetime(2026, 1, day, 12) for day in (1, 2, 3) for _ in range(50)]  # noqa: DTZ001 - a column of UTC
    users = list(range(150))
    write_parquet({"user_id": users, "article": ["news", "sport"] * 75, "at": days}, Path("timed.parquet"))
    write_parquet({"user_id": users, "better": ["a"] * 150, "worse": ["b"] * 150}, Path("votes.parquet"))
    Path("items.csv").write_text("item\na\nb\nc\n", encoding="utf-8")
    asked = [{"item": "article", "k": 3}, {"item": "article", "k": 2}, {"item": "country", "k": 2, "counts": True}]
    Path("questions.json").write_text(json.dumps(asked), encoding="utf-8")
    create_budget()
    succeeded("top", "views.parquet", *ASK, *LEDGER, "-k", "3")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_plain_answer_of_a_command_needs_no_theory(name: str) -> None:
    told = succeeded(*COMMANDS[name])
    assert told
    assert UNDEFINED.findall(told) == []


def test_the_search_finds_what_it_looks_for() -> None:
    for name in (
        "ledger",
        "plan under a ledger",
        "batch",
        "plan of a batch",
        "budget show",
        "budget history",
        "plan of a schedule",
    ):
        assert UNDEFINED.search(succeeded(*COMMANDS[name], "--verbose")), name


def test_the_first_screen_of_the_readme_needs_no_theory() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:FIRST_SCREEN]
    assert any("podium top" in line for line in lines)
    assert UNDEFINED.findall("\n".join(lines)) == []
