"""``at_least`` from end to end: every way to answer, with values and without, and asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.tables import BUDGET, COUNTS, curator, events

import podium
from podium import BOTTOM, Release
from podium.curator.answer import keep_at_least
from podium.errors import InvalidArgument
from podium.present import release_text

MANY: dict[str, int] = {**COUNTS, "d": 40, "e": 35}
pytestmark = pytest.mark.usefixtures("replayed_choices")

COST: dict[str, Any] = {"user": "user_id", "epsilon": 4, "delta": "1e-6"}
KNOWN = [*MANY, "nobody"]
SAYS = "Items with fewer than 500 users are left out: near, not exact, because noise decides close to 500."


@pytest.fixture(name="table", scope="module")
def _table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events(tmp_path_factory.mktemp("least") / "views.parquet", MANY)


@pytest.mark.parametrize(
    "how",
    [
        {"k": 2}, {"k": 2, "counts": True}, {"k": 5}, {"k": 5, "counts": True}, {"k": 5, "mechanism": "limited-domain"},
        {"k": 5, "domain": KNOWN}, {"k": 5, "domain": KNOWN, "counts": True}, {"k": 5, "domain": KNOWN, "delta": 0},
        {"k": 5, "domain": KNOWN, "delta": 0, "counts": True}, {"k": 5, "domain": KNOWN, "mechanism": "adaptive"},
        {"k": 5, "domain": KNOWN, "ordered": False}, {"k": 5, "max_items_per_user": 1},
        {"k": 5, "by": "events", "clip": 1}, {"k": 5, "by": "events", "clip": 3, "counts": True},
        {"k": 5, "by": "events", "domain": KNOWN, "clip": 1}, {"k": 2, "by": "events"},
    ],
)  # fmt: skip
def test_items_far_below_the_minimum_are_left_out(table: Path, how: dict[str, Any]) -> None:
    release = podium.top(table, item="article", at_least=500, **{**COST, **how})
    # 460 users below the minimum, and the noise is that of epsilon 4: certain (below 1e-9).
    assert release.items == ("a", "b", "c")[: how["k"]]
    assert release.parameters["at_least"] == "500"
    assert Release.from_json(release.to_json()) == release
    told = release_text(release)
    assert SAYS.replace("users", "events" if "by" in how else "users") in told
    if release.values is not None:
        assert all(value >= 500 for value in release.values)
        assert len(release.values) == len(release.items)


def test_what_is_left_out_by_its_value_stays_paid(table: Path) -> None:
    plain = podium.top(table, item="article", k=3, mechanism="limited-domain", counts=True, **COST)
    kept = keep_at_least(plain, 1500)
    assert (kept.outcome, kept.paid, kept.guarantee) == (("a", "b"), plain.paid, plain.guarantee)
    assert keep_at_least(plain, None) == plain
    assert "for 3 of at most 3 selections" in release_text(kept)


def test_the_last_symbol_stays_last(table: Path) -> None:
    release = podium.top(table, item="article", k=9, mechanism="limited-domain", counts=True, **COST)
    assert tuple(release.outcome)[-1] is BOTTOM
    assert keep_at_least(release, 2500).outcome == ("a", BOTTOM)


def test_sql_python_and_a_ledger(table: Path) -> None:
    having = "HAVING n >= 500"
    text = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article {} ORDER BY n DESC LIMIT 5"
    with curator(table) as (asked, source):
        paid = asked.sql(text.format(having))
        assert paid.items == ("a", "b", "c")
        read = source.snapshots
        assert asked.top("article", k=5, counts=True, at_least="500.0").paid.events == ()
        assert asked.sql(text.format("HAVING COUNT(DISTINCT user_id) > 499")).paid.events == ()
        assert asked.top("article", k=3, counts=True, at_least=500).items == paid.items
        assert source.snapshots == read
        assert asked.top("article", k=5, counts=True, at_least=501).paid.events != ()
        assert asked.top("article", k=5, counts=True).paid.events != ()


def test_it_is_free_of_charge(table: Path) -> None:
    with curator(table, budget=BUDGET) as (asked, _):
        for options in ({"k": 2}, {"k": 2, "domain": KNOWN}, {"k": 5, "counts": True}):
            plain = asked.plan("article", **options)
            assert asked.plan("article", at_least=50, **options).at_most == plain.at_most


def test_a_minimum_is_public_and_bounded(table: Path) -> None:
    with pytest.raises(InvalidArgument, match="at_least"):
        podium.plan(table, item="article", at_least=10**30, **COST)
    with pytest.raises(InvalidArgument, match="at_least"):
        podium.plan(table, item="article", at_least="1e999", **COST)
