"""One question without a ledger: as SQL, as a dry run, and with the mistake of ranking users by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.curator.tables import COUNTS, Watched, curator, views

import podium
from podium import Plan, Release
from podium.errors import InvalidArgument, QuestionRefused
from podium.sources import open_source

SQL = (
    "SELECT article, COUNT(DISTINCT user_id) AS n FROM views WHERE country = 'DE' "
    "GROUP BY article ORDER BY n DESC LIMIT 2"
)
COST: dict[str, Any] = {"user": "user_id", "epsilon": 3, "delta": "1e-6"}


@pytest.fixture(name="table", scope="module")
def _table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return views(tmp_path_factory.mktemp("oneshot") / "views.parquet")


def test_sql_is_the_same_question(table: Path) -> None:
    by_sql = podium.sql(table, SQL, name="views", **COST)
    by_name = podium.top(table, item="article", k=2, where="country = 'DE'", counts=True, **COST)
    assert by_sql.items == by_name.items == tuple(COUNTS)[:2]
    assert by_sql.guarantee == by_name.guarantee
    with pytest.raises(QuestionRefused, match="the one table here is 'clicks'"):
        podium.sql(table, SQL, name="clicks", **COST)


def test_a_dry_run_reads_nothing(table: Path) -> None:
    source = Watched(open_source(table))
    by_sql = podium.plan(source, sql=SQL, name="views", **COST)
    by_name = podium.plan(source, item="article", k=2, where="country = 'DE'", counts=True, **COST)
    assert isinstance(by_sql, Plan)
    assert by_sql == by_name
    assert source.snapshots == 0
    assert isinstance(podium.top(source, item="article", k=2, **COST), Release)
    assert source.snapshots == 1
    source.close()


def test_a_curator_previews_sql_too(table: Path) -> None:
    with curator(table) as (asked, source):
        assert asked.plan(sql=SQL) == asked.plan("article", k=2, where="country = 'DE'", counts=True)
        assert (source.snapshots, asked.status.questions_asked) == (0, 0)


@pytest.mark.parametrize("name", ["idempotency_key", "analyst"])
def test_what_only_a_ledger_can_keep_is_not_taken(table: Path, name: str) -> None:
    kept: dict[str, Any] = {name: "me"}
    with pytest.raises(TypeError, match=name):
        podium.top(table, item="article", **COST, **kept)


def test_users_are_not_ranked_by_themselves(table: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        podium.top(table, item=["country", "user_id"], **COST)
    assert str(caught.value) == (
        "item='user_id' is not valid. Allowed: a column other than the user column. "
        "Items are ranked by how many users have them."
    )
