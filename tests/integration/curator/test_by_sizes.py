"""The automatic path on real engines: the same plan for neighbouring tables, whatever is in them, and one receipt."""

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

ASK: dict[str, Any] = {"item": "article", "user": "user_id", "epsilon": 1, "delta": "1e-6"}
SURE: dict[str, Any] = {**ASK, "epsilon": 10**6}

TINY = [(user, "ab"[user % 2]) for user in range(5)]
ONE_EACH = [(user, f"item {(user % 40) ** 2 // 160}") for user in range(4000)]
HEAVY = [(user, f"item {item:02}") for user in range(800) for item in range(1 + (7 * user) % 20)]
NEW_USER = [(99_999, f"new {item}") for item in range(12)]


def saved(rows: list[tuple[int, str]], path: Path) -> Path:
    pq.write_table(pa.table({"user_id": [user for user, _ in rows], "article": [item for _, item in rows]}), path)
    return path


@pytest.mark.parametrize("rows", [[], TINY, ONE_EACH, HEAVY])
@pytest.mark.parametrize("options", [{"k": 1}, {"k": 3}, {"k": 100}, {"k": 10, "max_items_per_user": 1}])
def test_neighbouring_tables_have_the_same_plan(
    rows: list[tuple[int, str]], options: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "views.parquet"
    empty = pa.schema([("user_id", pa.int64()), ("article", pa.string())])
    plans = []
    for table in (rows, rows + NEW_USER):
        columns = {"user_id": [user for user, _ in table], "article": [item for _, item in table]}
        pq.write_table(pa.table(columns, schema=empty), path)
        plans.append(podium.plan(path, **ASK, **options).to_dict())
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("rows", "k", "branch"),
    [
        (ONE_EACH, 5, {"Laplace noise"}),
        (HEAVY, 5, {"limited domain"}),
        (HEAVY, 12, {"rounds"}),
        (TINY, 5, {"rounds", "one round", "Laplace noise"}),
    ],
)
def test_the_branch_follows_the_table_and_the_receipt_says_so(
    rows: list[tuple[int, str]], k: int, branch: set[str], tmp_path: Path
) -> None:
    release = podium.top(saved(rows, tmp_path / "views.parquet"), k=k, **SURE)
    assert release.mechanism == "SizedTopK"
    assert release.parameters["branch"] in branch
    assert release.paid.events[0] == LaplaceNoise(10**6 / 20)
    assert release.guarantee.epsilon() == 10**6
    assert release.user == "user_id"
    counts = {item: len({user for user, other in rows if other == item}) for _, item in rows}
    last = sorted(counts.values(), reverse=True)[min(k, len(counts)) - 1]
    assert all(counts[str(item)] >= last for item in release.items)


def test_users_are_cut_to_one_item_where_that_is_stated(tmp_path: Path) -> None:
    release = podium.top(saved(HEAVY, tmp_path / "views.parquet"), k=3, max_items_per_user=1, **SURE)
    assert (release.mechanism, release.values) == ("TruncatedLaplaceHistogram", None)
    assert len(release.items) == 3


def test_another_engine_takes_the_same_path(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "views.db")) as file, file:
        file.execute("CREATE TABLE views (user_id BIGINT, article TEXT)")
        file.executemany("INSERT INTO views VALUES (?, ?)", HEAVY)
    release = podium.top(f"sqlite:///{tmp_path / 'views.db'}", table="views", k=12, **SURE)
    assert (release.parameters["branch"], len(release.items)) == ("rounds", 12)


ONE_ITEM = [(user, "a") for user in range(60)]
"""Fewer items than places: the second is not ahead of anything."""
LEVEL = [(user, f"item {item}") for user in range(3) for item in range(1001)]
"""The second item is not ahead of the one after the top 1,000, and all users have more than one item."""


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("rows", "branch", "asked", "items"),
    [
        (HEAVY, "limited domain", False, ("item 00", "item 01")),
        (ONE_ITEM, "Laplace noise", True, ("a",)),
        (LEVEL, "limited domain", True, ()),
    ],
)
def test_two_places_are_asked_how_far_they_are_ahead(
    engine: str, rows: list[tuple[int, str]], branch: str, asked: bool, items: tuple[str, ...], tmp_path: Path
) -> None:
    options: dict[str, Any] = {}
    source: Any = saved(rows, tmp_path / "views.parquet")
    if engine == "sqlite":
        source, options = f"sqlite:///{tmp_path / 'views.db'}", {"table": "views"}
        with closing(sqlite3.connect(tmp_path / "views.db")) as file, file:
            file.execute("CREATE TABLE views (user_id BIGINT, article TEXT)")
            file.executemany("INSERT INTO views VALUES (?, ?)", rows)
    release = podium.top(source, **options, k=2, **SURE)
    assert (release.mechanism, release.parameters["branch"], release.items) == ("SizedTopK", branch, items)
    first = (LaplaceNoise(Fraction(10**6, 80)), LaplaceNoise(Fraction(10**6, 20)))
    assert release.paid.events[: 1 + asked] == first[: 1 + asked]
    assert ("users_by_items" in release.parameters) is asked
