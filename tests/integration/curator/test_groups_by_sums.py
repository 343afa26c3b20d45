"""A list for each group by events or sums in rounds: the clip, the price, and engines that add up less."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium import Budget, Curator
from podium.curator.group_rounds import _GroupsReader
from podium.curator.rounds import SourceReader
from podium.errors import InvalidArgument
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.privacy import CorrelatedNoise, GaussianNoise, HiddenItems, actual_cost, best_bound
from podium.query import Question
from podium.release import Release

pytestmark = pytest.mark.usefixtures("replayed_choices")

ASKED: dict[str, Any] = {"item": "article", "per": "country", "by": "sum(minutes)", "k": 3}
ALONE: dict[str, Any] = {"user": "user_id", "epsilon": 30, "delta": "1e-6"}
USERS = {"a": 900, "b": 600, "c": 300, "d": 60}
BUDGET = Budget(epsilon=40, delta="1e-6", items=200, questions=20)
Row = tuple[int, str, str, int]


def rows(countries: tuple[str, ...] = ("DE", "FR"), *, hidden: int = 0) -> list[Row]:
    """Readers of an article spend 6 minutes on it, in two visits; one in thirty a thousand times as much."""
    some = [
        (place * 10_000 + user, country, item, 2 * factor + 2 * visit * factor)
        for place, country in enumerate(countries)
        for item, readers in USERS.items()
        for user in range(readers)
        for factor in [1000 if user % 30 == 0 else 1]
        for visit in (0, 1)
    ]
    return some + [(77_777, f"hidden {place}", "z", 5) for place in range(hidden)]


def sums_at(clip: int) -> dict[str, int]:
    heavy = {item: (readers + 29) // 30 for item, readers in USERS.items()}
    return {
        item: (readers - heavy[item]) * min(6, clip) + heavy[item] * min(6000, clip) for item, readers in USERS.items()
    }


def parquet(path: Path, some: list[Row]) -> Path:
    names = ("user_id", "country", "article", "minutes")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*some, strict=True)), strict=True))), path)
    return path


def sqlite(path: Path, some: list[Row]) -> str:
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE views (user_id INTEGER, country TEXT, article TEXT, minutes INTEGER)")
        made.executemany("INSERT INTO views VALUES (?, ?, ?, ?)", some)
    made.close()
    return f"sqlite:///{path}"


def items(release: Release) -> dict[object, tuple[object, ...]]:
    return {group: found.items for group, found in release.lists.items()}


@pytest.mark.parametrize("clip", [8, 1000, None])
def test_lists_and_values_are_those_of_clipped_sums(tmp_path: Path, clip: int | None) -> None:
    source = parquet(tmp_path / "t.parquet", rows())
    release = podium.top(source, clip=clip, counts=True, **ASKED, **ALONE)
    assert release.mechanism == ("GroupedRounds" if clip else "GroupedRoundsAtClip")
    assert items(release) == {"DE": ("a", "b", "c"), "FR": ("a", "b", "c")}
    selecting, measuring = (int(release.parameters[name]) for name in ("clip", "value_clip"))
    assert (selecting, measuring) == (clip, clip) if clip else 4 <= selecting < measuring
    assert release.parameters["count_clip"] == str(measuring)
    assert "counts at most" in str(release) or "count at most" in str(release)
    exact = sums_at(measuring)
    for found in release.lists.values():
        # The noise of a value is below one clip here: 8 of them never are.
        assert [float(value) for value in found.values or ()] == pytest.approx(
            [exact[str(item)] for item in found.items], abs=8 * measuring
        )


def test_everything_that_is_read_has_the_chosen_clip(tmp_path: Path) -> None:
    """Pairs are kept as far as a clip may reach, so each round has to cut them down."""
    source = parquet(tmp_path / "t.parquet", rows(("DE",)))
    with Curator(source, dataset="views", user="user_id", ledger=tmp_path / "ledger", budget=BUDGET) as opened:
        planned = opened._prepare(Question(**ASKED), None)
        clip, loud = 4, AdaptiveTopK(3, 1000, "1e-3", max_items_per_user=1000, clip=4)
        reader = SourceReader(opened._source_of(planned), planned, "0" * 32)
        with reader.keeping_pairs():
            groups = _GroupsReader(reader.at_clip(clip), planned, GroupedRounds(loud))
            found = dict(groups.discover(lambda _: loud.first_stage, {}))["DE"]
            sums = groups.sums({"DE": ("b", "a")}, {"DE": ((1, 5), (2, 3))})
    weigh = loud.first_weights
    # Whoever has an item has those before it.
    having = [sum(user < readers for readers in USERS.values()) for user in range(USERS["a"])]
    exact = {item: sum(clip * weigh.weight(having[user]) for user in range(readers)) for item, readers in USERS.items()}
    assert found.items == ("a", "b", "c", "d")
    # A tenth of mu^2 finds: ten standard deviations are one clip.
    assert [float(value) for value in found.values] == pytest.approx(
        [exact[item] / weigh.unit for item in found.items], abs=4
    )
    both = min(USERS["a"], USERS["b"])
    assert sums == {"DE": (3 * clip * both, 3 * clip * both + 5 * clip * (USERS["a"] - both))}


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("clip", [8, None])
def test_a_plan_keeps_its_promise(tmp_path: Path, groups: int, counts: bool, clip: int | None) -> None:
    source = parquet(tmp_path / "t.parquet", rows(("DE",)))
    asked = {**ASKED, **ALONE, "epsilon": 1, "groups_per_user": groups, "counts": counts, "clip": clip}
    plan = podium.plan(source, **asked)
    assert 0.9 <= best_bound(plan.strategy.worst_case, "1e-6").epsilon <= 1
    assert ("once for all groups" in plan.why) == (clip is None)
    assert ("times the clip" in plan.reach_sentence) == (clip is None)
    assert "rounds of Gaussian noise" in plan.why
    # The dry run shows the first discovery, which adds up amounts with weights by a user's items of a group.
    assert any("SUM" in query and "minutes" in query for query in plan.queries)
    chosen = actual_cost(plan.strategy.worst_case[:1]).rho
    assert clip or float(chosen) == pytest.approx(0.03 * float(actual_cost(plan.strategy.worst_case).rho), rel=1e-3)


def test_one_user_in_two_groups_counts_in_one_unless_two_are_paid_for(tmp_path: Path) -> None:
    same = [(user % 10_000, country, item, minutes) for user, country, item, minutes in rows()]
    source = parquet(tmp_path / "t.parquet", same)
    for groups in (1, 2):
        release = podium.top(source, clip=6, counts=True, groups_per_user=groups, **ASKED, **{**ALONE, "epsilon": 200})
        counted = sum(float((found.values or ())[0]) for found in release.lists.values())
        assert counted == pytest.approx(groups * sums_at(6)["a"], abs=100)
        assert sum(isinstance(event, CorrelatedNoise) for event in release.paid.events) == groups


@pytest.mark.parametrize("clip", [8, None])
def test_hidden_groups_do_not_show_in_the_charge_and_less_is_free(tmp_path: Path, clip: int | None) -> None:
    receipts, spent = [], []
    for hidden in (0, 3):
        source = parquet(tmp_path / f"{hidden}.parquet", rows(hidden=hidden))
        with Curator(
            source, dataset="views", user="user_id", ledger=tmp_path / f"{hidden}.ledger", budget=BUDGET
        ) as opened:
            release = opened.top(groups_per_user=3, epsilon=20, clip=clip, **ASKED)
            assert items(release) == {"DE": ("a", "b", "c"), "FR": ("a", "b", "c")}
            receipts.append(release.paid.events)
            spent.append(opened.status.spent)
            again = opened.top(groups_per_user=3, epsilon=20, clip=clip, groups=["FR", "LI"], **{**ASKED, "k": 2})
            assert (items(again), again.paid.events) == ({"FR": ("a", "b"), "LI": ()}, ())
            assert opened._ledger_account.ledger.verify(receipts=[release, again]).sound
    assert receipts[0] == receipts[1]
    assert spent[0] == spent[1]
    assert Counter(map(type, receipts[0]))[GaussianNoise] >= 6 + (clip is None)
    assert isinstance(receipts[0][-1], HiddenItems)


@pytest.mark.parametrize(
    ("clip", "mechanism"), [(1000, "GroupedRounds"), (2000, "GroupedTopK"), (None, "GroupedAmounts")]
)
def test_sqlite_adds_up_small_clips_in_rounds_and_selects_at_others(
    tmp_path: Path, clip: int | None, mechanism: str
) -> None:
    source = sqlite(tmp_path / "t.db", rows())
    asked = {**ASKED, **ALONE, "epsilon": 100, "clip": clip}
    assert type(podium.plan(source, table="views", **asked).strategy.mechanism).__name__ == mechanism
    release = podium.top(source, table="views", counts=True, **asked)
    assert release.mechanism == mechanism
    assert items(release) == {"DE": ("a", "b", "c"), "FR": ("a", "b", "c")}
    exact = sums_at(int(release.parameters["value_clip"]))
    for found in release.lists.values():
        assert [float(value) for value in found.values or ()] == pytest.approx(
            [exact[str(item)] for item in found.items], abs=8 * int(release.parameters["value_clip"])
        )


def test_sqlite_refuses_rounds_that_it_cannot_add_up_before_anything_is_paid(tmp_path: Path) -> None:
    source = sqlite(tmp_path / "t.db", rows(("DE",)))
    with Curator(
        source, table="views", dataset="views", user="user_id", ledger=tmp_path / "ledger", budget=BUDGET
    ) as opened:
        with pytest.raises(InvalidArgument, match=r"clip='2000' is not valid\. Allowed: at most 1024 on sqlite"):
            opened.top(clip=2000, mechanism="adaptive", **ASKED)
        assert opened.status.spent.rho == 0


@pytest.mark.parametrize(
    "asked",
    [{"clip": (-5, 5)}, {"clip": 8, "domain": ["a", "b", "c", "d"]}, {"clip": 8, "k": 2}, {"domain": ["a", "b", "c"]}],
)
def test_signed_sums_known_items_and_short_lists_are_selected(tmp_path: Path, asked: dict[str, Any]) -> None:
    plan = podium.plan(parquet(tmp_path / "t.parquet", rows(("DE",))), **{**ASKED, **ALONE, **asked})
    assert type(plan.strategy.mechanism).__name__ in ("GroupedTopK", "GroupedAmounts")
    assert "compete against a threshold" in plan.why


def test_a_plan_of_few_items_selects(tmp_path: Path) -> None:
    """A budget that adds up epsilons has none for noise of rounds."""
    few = Budget(epsilon=1, delta="1e-6", items=5, questions=1)
    source = parquet(tmp_path / "t.parquet", rows(("DE",)))
    with Curator(source, dataset="views", user="user_id", ledger=tmp_path / "ledger", budget=few) as opened:
        alone = opened.plan("article", k=3, by="events", clip=2).strategy.mechanism.worst_case
        grouped = opened.plan("article", k=3, by="events", clip=2, per="country").strategy.mechanism.worst_case
        kinds = [{type(event) for event in events} for events in (alone, grouped)]
        assert kinds[0] == kinds[1]
        assert GaussianNoise not in kinds[1]


def test_nothing_at_all_is_an_ordinary_paid_release(tmp_path: Path) -> None:
    source = parquet(tmp_path / "t.parquet", rows(("DE",)))
    release = podium.top(source, where="minutes > 100000000", counts=True, **ASKED, **ALONE)
    assert (items(release), release.parameters["clip"], release.parameters["value_clip"]) == ({}, "1", "1")
    assert isinstance(release.paid.events[0], GaussianNoise)
    assert Release.from_json(release.to_json()) == release


def test_a_minimum_needs_values_which_are_paid_for(tmp_path: Path) -> None:
    source = parquet(tmp_path / "t.parquet", rows())
    release = podium.top(source, clip=6, at_least=3000, groups=["LI", "FR"], **ASKED, **ALONE)
    assert items(release) == {"FR": ("a", "b"), "LI": ()}
    assert release.lists["LI"].values == ()
    assert any(isinstance(event, CorrelatedNoise) for event in release.paid.events)
