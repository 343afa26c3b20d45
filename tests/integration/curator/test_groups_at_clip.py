"""A list for each group by amounts of which nobody said how large they are: one clip, paid for once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium import Budget, Curator
from podium.curator.rounds import SourceReader
from podium.errors import InvalidArgument
from podium.estimates import MeasureTogether
from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION
from podium.privacy import BottomEvent, CorrelatedNoise, GaussianNoise, best_bound
from podium.query import Question
from podium.release import Release

pytestmark = pytest.mark.usefixtures("replayed_choices")

USERS = {"a": 900, "b": 600, "c": 300}
ASKED: dict[str, Any] = {"item": "article", "per": "country", "by": "sum(minutes)", "k": 2}
BUDGET = Budget(epsilon=40, delta="1e-6", items=200, questions=20)


def table(path: Path, countries: tuple[str, ...] = ("DE", "FR"), *, each: int = 10_000, more: int = 0) -> Path:
    """Readers of an article spend 6 minutes on it, in two visits; one in thirty a thousand times as much."""
    rows = [
        (place * each + user, country, item, 2 * factor + 2 * visit * factor)
        for place, country in enumerate(countries)
        for item, readers in USERS.items()
        for user in range(readers)
        for factor in [1000 if user % 30 == 0 else 1]
        for visit in (0, 1)
    ]
    rows += [(77_777, f"hidden {place}", "z", 5) for place in range(more)]
    columns = dict(zip(("user_id", "country", "article", "minutes"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), path)
    return path


def curator(source: Path, ledger: Path) -> Curator:
    return Curator(source, dataset="views", user="user_id", ledger=ledger, budget=BUDGET)


def items(release: Release) -> dict[object, tuple[object, ...]]:
    return {group: found.items for group, found in release.lists.items()}


def test_a_clip_is_chosen_once_for_all_groups(tmp_path: Path) -> None:
    release = podium.top(table(tmp_path / "t.parquet"), user="user_id", epsilon=30, delta="1e-6", counts=True, **ASKED)
    assert items(release) == {"DE": ("a", "b"), "FR": ("a", "b")}
    assert sum(isinstance(event, GaussianNoise) for event in release.paid.events) == 1
    assert isinstance(release.paid.events[0], GaussianNoise)
    assert sum(isinstance(event, CorrelatedNoise) for event in release.paid.events) == 1
    # Values are sums at a clip of their own, which leaves more of them; and noise is in units of it.
    selecting, measuring = (int(release.parameters[name]) for name in ("clip", "value_clip"))
    assert 4 <= selecting < measuring
    assert release.parameters["count_clip"] == str(measuring)
    expected = [readers * 29 / 30 * min(6, measuring) + readers / 30 * min(6000, measuring) for readers in (900, 600)]
    for found in release.lists.values():
        assert [float(value) for value in found.values or ()] == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
def test_a_plan_keeps_its_promise(tmp_path: Path, groups: int, counts: bool) -> None:
    source = table(tmp_path / "t.parquet", ("DE",))
    plan = podium.plan(source, user="user_id", epsilon=1, delta="1e-6", groups_per_user=groups, counts=counts, **ASKED)
    bound = best_bound(plan.strategy.worst_case, "1e-6").epsilon
    assert 0.6 <= bound <= 1
    assert "once for all groups" in plan.why
    assert "times the clip" in plan.reach_sentence
    assert sum(isinstance(event, GaussianNoise) for event in plan.strategy.worst_case) == 1 + groups * counts


def test_values_have_the_noise_for_users_who_are_in_all_of_them(tmp_path: Path) -> None:
    """Lists read pairs of which each user has one at most, values are sums of pairs that were not cut."""
    source = table(tmp_path / "t.parquet", ("DE",))
    asked = {**ASKED, "counts": True, "max_items_per_user": 1, "epsilon": 1, "delta": "1e-6", "user": "user_id"}
    chosen, stated = (podium.plan(source, **{**asked, **more}).strategy.measure for more in ({}, {"clip": 8}))
    assert isinstance(chosen, MeasureTogether)
    assert isinstance(stated, MeasureTogether)
    assert (chosen.max_items_per_user, stated.max_items_per_user) == (None, 1)


def test_the_clip_does_not_tell_how_many_groups_there_are(tmp_path: Path) -> None:
    receipts, spent = [], []
    for more in (0, 3):
        with curator(table(tmp_path / f"{more}.parquet", more=more), tmp_path / f"{more}.ledger") as opened:
            release = opened.top(groups_per_user=3, epsilon=20, **ASKED)
            assert items(release) == {"DE": ("a", "b"), "FR": ("a", "b")}
            receipts.append(release.paid.events)
            spent.append(opened.status.spent)
            # Fewer groups and shorter lists are free again, at the clip that was paid for.
            again = opened.top(groups_per_user=3, epsilon=20, **{**ASKED, "groups": ["FR", "LI"]})
            assert (items(again), again.paid.events) == ({"FR": ("a", "b"), "LI": ()}, ())
            assert opened._ledger_account.ledger.verify(receipts=[release, again]).sound
    assert receipts[0] == receipts[1]
    assert spent[0] == spent[1]
    assert isinstance(receipts[0][-1], BottomEvent)
    assert isinstance(receipts[0][0], GaussianNoise)


def test_known_groups_without_rows_and_a_minimum(tmp_path: Path) -> None:
    release = podium.top(
        table(tmp_path / "t.parquet"), user="user_id", epsilon=60, delta="1e-6", groups=["LI", "FR"], at_least=1000,
        counts=True, domain=["a", "b", "z"], **{**ASKED, "k": 3},
    )  # fmt: skip
    assert items(release) == {"FR": ("a", "b"), "LI": ()}
    assert release.lists["LI"].values == ()


def test_nothing_at_all_is_an_ordinary_paid_release(tmp_path: Path) -> None:
    with curator(table(tmp_path / "t.parquet"), tmp_path / "ledger") as opened:
        release = opened.top(where="minutes > 100000000", counts=True, **ASKED)
        assert (items(release), release.parameters["clip"]) == ({}, "1")
        assert [type(event) for event in release.paid.events][:1] == [GaussianNoise]
        assert float(opened.status.spent.rho) == pytest.approx(float(release.paid.rho))


def test_a_user_weighs_one_in_the_histograms_whatever_groups_they_are_in(tmp_path: Path) -> None:
    """If t counted the pairs of one group, a user of three would weigh three: squared length 18 where 2 is paid."""
    path = tmp_path / "one.parquet"
    columns = {"user_id": [1] * 6, "country": list("aabbcc"), "article": list("xyxyxz"), "minutes": [1, 9, 9, 9, 2, 5]}
    pq.write_table(pa.table(columns), path)
    with curator(path, tmp_path / "ledger") as opened:
        for groups in (1, 2, 3):
            planned = opened._prepare(Question(groups_per_user=groups, **ASKED), None)
            reader = SourceReader(opened._source_of(planned), planned, "0" * 32)
            with reader.keeping_pairs():
                pairs, users = reader.clip_histograms(BUCKETS, RESOLUTION)
            assert RESOLUTION - 2 * groups <= sum(pairs) <= RESOLUTION
            assert users == tuple(int(2 ** (j - 1) < 2 * groups <= 2**j) for j in range(BUCKETS))


def test_no_clip_where_users_are_in_all_groups(tmp_path: Path) -> None:
    with curator(table(tmp_path / "t.parquet"), tmp_path / "ledger") as opened:
        with pytest.raises(InvalidArgument, match=r"^by="):
            opened.plan(groups_per_user="all", **ASKED)
        # Signed amounts have a stated clip.
        assert opened.plan(clip=(-5, 5), **ASKED).strategy.mechanism.worst_case


@pytest.mark.parametrize("asked", [{}, {"by": "users"}, {"by": "users", "k": 3}])
def test_lists_for_several_groups_are_charged_by_every_filter(tmp_path: Path, asked: dict[str, Any]) -> None:
    """What runs in a group and what is measured there take turns: none is withheld for the order of its steps."""
    budget = Budget(epsilon=40, delta="1e-5", items=200, questions=20, filter="gaussian")
    source = table(tmp_path / "t.parquet", ("DE",), more=1)
    with Curator(source, dataset="views", user="user_id", ledger=tmp_path / "ledger", budget=budget) as opened:
        release = opened.top(counts=True, groups_per_user=2, epsilon=8, **{**ASKED, **asked})
        assert list(items(release)) == ["DE"]
        assert opened.status.spent.rho > 0
