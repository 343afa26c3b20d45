"""``others`` with ``per``: what is beside the list of each group, on every path; what it costs, and asked again."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import check, succeeded
from tests.support.curator.tables import PURE

import podium
from podium import Budget, Curator
from podium.errors import InvalidArgument
from podium.present.beside_groups import list_shares
from podium.present.html import release_html
from podium.privacy import worst_case
from podium.release import GroupedRelease, Release

pytestmark = pytest.mark.usefixtures("replayed_choices")

COST: dict[str, Any] = {"user": "user_id", "item": "article", "per": "country", "epsilon": 80, "delta": "1e-6"}
ASKED: dict[str, Any] = {**COST, "others": True}
PLENTY = Budget(epsilon=80, delta="1e-4", items=60, questions=12)
NEAR = 30
"""Far more than noise at this epsilon: its largest scale is 2."""


@pytest.fixture(name="table", scope="module")
def _table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DE, FR: 600 users have a and b, 300 a, 200 c, which two rows say; 100 of DE are in FR as well. One is in LI."""
    path = tmp_path_factory.mktemp("group_others") / "views.parquet"
    rows: list[tuple[int, str, str, int]] = []
    for start, country in ((0, "DE"), (10_000, "FR")):
        rows += [(start + user, country, item, 3) for user in range(600) for item in "ab"]
        rows += [(start + 600 + user, country, "a", 3) for user in range(300)]
        rows += [(start + 900 + user, country, "c", 2) for user in range(200) for _ in range(2)]
    rows += [(user, "FR", "c", 2) for user in range(100)] + [(77_777, "LI", "a", 1)]
    names = ("user_id", "country", "article", "spent")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)
    return path


def beside(release: Release) -> dict[Any, tuple[int, int]]:
    assert isinstance(release, GroupedRelease)
    return {group: (int(found.beside.others), int(found.beside.total)) for group, found in release.lists.items()
            if found.beside is not None}  # fmt: skip


def check_near(release: Release, expected: dict[Any, tuple[int, int]]) -> None:
    found = beside(release)
    assert found.keys() == expected.keys()
    for group, numbers in expected.items():
        assert all(abs(one - true) < NEAR for one, true in zip(found[group], numbers, strict=True)), (group, found)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        # 100 users of DE have c in FR: with two groups they count in both.
        ({"k": 1}, {"DE": (200, 1100), "FR": (300, 1200)}),
        ({"k": 3, "at_least": 400}, {"DE": (200, 1100), "FR": (300, 1200)}),
        ({"k": 2, "mechanism": "limited-domain", "groups": ["DE", "XX"]}, {"DE": (200, 1100), "XX": (0, 0)}),
        ({"k": 2, "groups": ["DE"], "domain": ["a", "b", "x"]}, {"DE": (0, 900)}),
        ({"k": 1, "where": "article <> 'c'"}, {"DE": (0, 900), "FR": (0, 900)}),
        ({"k": 1, "where": "article = 'nothing'"}, {}),
    ],
)
def test_users_with_none_of_the_items_of_their_group(
    table: Path, how: dict[str, Any], expected: dict[Any, tuple[int, int]]
) -> None:
    release = podium.top(table, **ASKED, groups_per_user=2, **how)
    check_near(release, expected)
    assert Release.from_json(release.to_json()) == release
    check("release", {**release.to_dict(), "entry": None})
    assert ("docs/proofs/others.md, Theorem 3" in release.theorem) is bool(expected)


@pytest.mark.parametrize("clip", [{"clip": 4}, {}])
@pytest.mark.parametrize("by", ["events", "sum(spent)"])
def test_amounts_beside_each_list_add_up(table: Path, by: str, clip: dict[str, Any]) -> None:
    release = podium.top(table, **ASKED, by=by, k=1, groups_per_user=2, groups=["DE", "FR"], **clip)
    for group, more in (("DE", 0), ("FR", 100)):
        found = release.lists[group]
        assert found.beside is not None
        assert found.beside.ceiling is not None
        assert found.beside.total == sum(found.values or ()) + found.beside.others
        if clip and by == "events":
            # b has 600 rows, c two of each of 200 users; 100 more users have one row of it in FR.
            assert abs(found.beside.others - 1000 - more) < 4 * NEAR
    assert Release.from_json(release.to_json()) == release


def test_an_epsilon_is_divided_among_the_groups_of_a_user(table: Path) -> None:
    for most in (1, 4):
        plan = podium.plan(table, **ASKED, k=2, groups_per_user=most)
        assert plan.guarantee.epsilon() == 80
        beside = plan.strategy.others
        assert beside is not None
        # A tenth, for two numbers in each group.
        assert [event.epsilon for event in beside.events] == [80 / 10 / most / 2] * 2
        assert plan.strategy.worst_case[-2 * most :] == beside.events * most
        rest = podium.plan(table, **{**COST, "epsilon": 72}, counts=True, k=2, groups_per_user=most)
        assert plan.parameters == rest.parameters


@pytest.mark.parametrize("kind", ["zcdp", "gaussian"])
def test_what_is_reserved_covers_what_is_paid_and_hidden_groups_do_not_show(
    table: Path, tmp_path: Path, kind: Any
) -> None:
    """A user is in three groups at most, and two are shown: the third is charged as one in which nothing came out."""
    budget = Budget(epsilon=80, delta="1e-4", items=60, questions=12, filter=kind)
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "ledger.db", budget=budget) as asked:
        for k in (1, 3):
            how: dict[str, Any] = {"per": "country", "k": k, "groups_per_user": 3, "others": True}
            plan, release = asked.plan("article", **how), asked.top("article", **how)
            assert isinstance(release, GroupedRelease)
            step = plan.strategy.others
            assert step is not None
            assert list(release.lists) == ["DE", "FR"]
            assert release.paid.events[-4:] == step.events * 2
            assert worst_case(release.paid.events).rho <= plan.at_most.rho
            assert asked.top("article", **how).paid.events == ()
        spent = asked.status.spent
        fewer = asked.top("article", **{**how, "groups": ["LI", "DE"]})
        assert beside(fewer) == {"DE": beside(release)["DE"]}
        assert fewer.lists["LI"].beside is None
        assert asked.status.spent == spent
        # What is beside a list is about all of it.
        assert asked.top("article", **{**how, "k": 2}).paid.events != ()


def test_nothing_is_charged_for_groups_that_are_not_shown(table: Path, tmp_path: Path) -> None:
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "ledger.db", budget=PLENTY) as asked:
        how: dict[str, Any] = {"per": "country", "k": 1, "where": "article = 'nothing'"}
        hidden, plain = asked.top("article", others=True, **how), asked.top("article", counts=True, **how)
        assert hidden.paid.rho == plain.paid.rho
        # Listed afterwards they are told again: nothing came out of them, and nothing was measured.
        again = asked.top("article", others=True, groups=["DE"], **how)
        assert again.paid.events == ()
        assert beside(again) == {}
        listed = asked.top("article", others=True, groups=["DE", "FR", "IT"], **{**how, "k": 2})
        step = asked.plan("article", others=True, groups=["DE"], **{**how, "k": 4}).strategy.others
        assert step is not None
        # All of them are shown, and a user is in one.
        assert listed.paid.events[-2:] == step.events
        assert beside(listed).keys() == {"DE", "FR", "IT"}


def test_a_pure_ledger_has_them_for_known_items_of_known_groups(table: Path, tmp_path: Path) -> None:
    with Curator(table, dataset="views", user="user_id", ledger=tmp_path / "pure.db", budget=PURE) as asked:
        release = asked.top("article", per="country", groups=["DE"], domain=["a", "b"], k=1, others=True)
        plain = asked.plan("article", per="country", groups=["DE"], domain=["a", "b"], k=1, counts=True).at_most.epsilon
        assert plain is not None
        assert release.paid.epsilon == plain + 2 * asked.status.totals.epsilon_per_item


def test_what_people_and_programs_see(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = podium.top(table, **ASKED, k=2, groups=["DE", "XX"])
    assert isinstance(release, GroupedRelease)
    heading = str(release).splitlines()[0].split()
    assert " ".join(heading) == "country rank article users 95% interval share of users others total"
    assert "Others have none of the items of their list" in str(release)
    assert "In all of XX: " in str(release)
    for text in (release_html(release), release.card().to_markdown()):
        assert "others" in text.lower()
    part = list_shares(release)
    assert part is not None
    assert [one is not None and one.low <= one.value <= one.high for one in part] == [True, True]
    rows = [*csv.DictReader(io.StringIO(release.to_csv()))]
    assert [(row["country"], row["line"], row["article"]) for row in rows] == [
        ("DE", "item", "a"), ("DE", "item", "b"),
        ("DE", "others", ""), ("DE", "total", ""), ("XX", "others", ""), ("XX", "total", ""),
    ]  # fmt: skip
    assert [bool(row["share_low"]) for row in rows] == [True, True, False, False, False, False]
    assert release.to_pandas().shape == (6, 10)
    release.plot(tmp_path / "lists.svg")
    monkeypatch.chdir(table.parent)
    text = (
        "SELECT country, article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY country, article "
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) <= 1"
    )
    flags = ("--user", "user_id", "--epsilon", "80", "--delta", "1e-6", "--groups-per-user", "2", "--others")
    told = succeeded("sql", text, "--source", "views.parquet", *flags, "--format", "json")
    check_near(Release.from_json(told), {"DE": (200, 1100), "FR": (300, 1200)})


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"groups_per_user": "all"}, "groups_per_user='all'"),
        ({"by": "sum(spent)", "clip": (-1, 4)}, "False with a signed clip"),
        ({"by": "events", "clip": 2, "at_least": 5}, "False with at_least"),
    ],
)
def test_where_it_is_not_offered_it_is_refused(table: Path, how: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument, match="others=True is not valid") as caught:
        podium.plan(table, **ASKED, k=2, **how)
    assert told in str(caught.value)
