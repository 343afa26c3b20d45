"""Known domains by paid numbers of users on real engines: the same plan for neighbouring tables, and every branch."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium.privacy.events import LaplaceNoise

ITEMS = [f"item {number:02}" for number in range(30)]
DOMAIN = [*ITEMS, *(f"unseen {number}" for number in range(10))]
ASK: dict[str, Any] = {"item": "article", "user": "user_id", "domain": DOMAIN, "delta": "1e-6"}
SURE = 10**6

ONE_EACH = [(user, ITEMS[(user % 40) ** 2 // 160]) for user in range(2000)]
HEAVY = [(user, ITEMS[item]) for user in range(400) for item in range(20 + user % 11)]
"""Users with most of the domain; later items have fewer users."""
OUTSIDE = [(user, f"foreign {number}") for user in range(300) for number in range(40)]
"""Items that are not in the domain do not count, nor do they make a user a heavy one."""
TABLES = {"one": ONE_EACH, "heavy": HEAVY, "outside": ONE_EACH + OUTSIDE}


def saved(rows: list[tuple[int, str]], path: Path) -> Path:
    pq.write_table(pa.table({"user_id": [user for user, _ in rows], "article": [item for _, item in rows]}), path)
    return path


def best(rows: list[tuple[int, str]], k: int) -> tuple[dict[str, int], int]:
    counts = {item: len({user for user, other in rows if other == item}) for item in DOMAIN}
    return counts, sorted(counts.values(), reverse=True)[k - 1]


@pytest.mark.parametrize("options", [{"k": 4}, {"k": 20}, {"k": 20, "delta": 0}, {"k": 4, "max_items_per_user": 1}])
def test_neighbouring_tables_have_the_same_plan(options: dict[str, Any], tmp_path: Path) -> None:
    plans = [
        podium.plan(saved(rows, tmp_path / "views.parquet"), **{**ASK, "epsilon": 1, **options}).to_dict()
        for rows in (ONE_EACH, [*ONE_EACH, *((9999, item) for item in ITEMS)], HEAVY[:1])
    ]
    assert plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize(
    ("table", "branch"), [("one", "Laplace noise"), ("outside", "Laplace noise"), ("heavy", "in turn")]
)
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_branch_follows_the_table_and_the_receipt_says_so(
    table: str, branch: str, delta: Any, tmp_path: Path
) -> None:
    path = saved(TABLES[table], tmp_path / "views.parquet")
    release = podium.top(path, k=12, **{**ASK, "delta": delta, "epsilon": SURE})
    assert (release.mechanism, release.parameters["branch"]) == ("SizedKnownTopK", branch)
    assert release.paid.events[0] == LaplaceNoise(SURE // 20)
    assert release.guarantee.epsilon(delta=delta) == SURE
    counts, last = best(TABLES[table], 12)
    assert len(set(release.items)) == 12
    # Shares favour items of users who have few, which is no mistake of this table: everybody has one.
    assert all(counts[str(item)] >= last for item in release.items)


@pytest.mark.parametrize("most", [None, 3])
def test_a_short_list_that_ends_at_a_wide_gap_keeps_no_users(most: int | None, tmp_path: Path) -> None:
    """Four items are far ahead of the rest: that is paid for and seen, and then nothing else is."""
    rows = [(user, ITEMS[place]) for place in range(6) for user in range(900 if place < 4 else 300)]
    path = saved(rows, tmp_path / "views.parquet")
    release = podium.top(path, k=4, max_items_per_user=most, **{**ASK, "epsilon": 20})
    assert release.paid.events[0] == LaplaceNoise(20 * Fraction(1, 80))
    assert ("users_by_items" in release.parameters) == (LaplaceNoise(1) in release.paid.events)
    # Cut to three items, users are spread over six, and the gap is about half as wide.
    wide = 600 if most is None else 300
    assert (set(release.items), abs(int(release.parameters["gap"]) - wide) < 200) == (set(ITEMS[:4]), True)
    assert "users_by_items" not in release.parameters


def test_another_engine_takes_the_same_path(tmp_path: Path) -> None:
    path = tmp_path / "views.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE views (user_id INTEGER, article TEXT)")
        connection.executemany("INSERT INTO views VALUES (?, ?)", HEAVY)
        connection.commit()
    release = podium.top(f"sqlite:///{path}", table="views", k=8, **ASK, epsilon=SURE)
    counts, last = best(HEAVY, 8)
    assert release.parameters["branch"] == "in turn"
    assert all(counts[str(item)] >= last for item in release.items)


def test_users_are_cut_in_every_branch(tmp_path: Path) -> None:
    """Uncut, every item has five users more than the next; which items a cut user keeps, a fresh salt decides."""
    rows = [(user, item) for place, item in enumerate(ITEMS) for user in range(400 - 5 * place)]
    path = saved(rows, tmp_path / "views.parquet")
    uncut = podium.top(path, k=8, **ASK, epsilon=SURE)
    assert (list(uncut.items), uncut.parameters["branch"]) == (ITEMS[:8], "in turn")
    cut = [podium.top(path, k=8, max_items_per_user=19, **ASK, epsilon=SURE) for _ in range(4)]
    assert {release.parameters["branch"] for release in cut} == {"in turn"}
    assert len({release.items for release in cut}) > 1
    stated = podium.top(path, k=8, max_items_per_user=1, **ASK, epsilon=SURE)
    assert (stated.mechanism, stated.values, len(set(stated.items))) == ("SharedVoteTopK", None, 8)
    assert stated.paid.events == (LaplaceNoise(SURE),)
