"""A list for each group, through the whole path: what it costs, who counts where, and what is free again."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.curator.tables import PURE

import podium
from podium import Budget, Curator
from podium.errors import InvalidArgument, PodiumError
from podium.privacy import BottomEvent, CorrelatedNoise, GaussianNoise, Selection, bounded_range_rho, calibrate_epsilon
from podium.privacy.events import HiddenItems
from podium.release import GroupedRelease, GroupLists, RankedList, Release

Row = tuple[int, str | None, str]
BUDGET = Budget(epsilon=40, delta="1e-6", items=200, questions=20)
ITEMS = {"a": 900, "b": 600, "c": 300}


def table(path: Path, rows: Iterable[Row]) -> Path:
    users, countries, articles = zip(*rows, strict=True) if (rows := list(rows)) else ((), (), ())
    columns = {
        "user_id": pa.array(users, pa.int64()),
        "country": pa.array(countries, pa.string()),
        "article": pa.array(articles, pa.string()),
    }
    pq.write_table(pa.table(columns), path)
    return path


def readers(country: str | None, first: int = 0) -> list[Row]:
    """Readers of one country, so many per article that at these budgets the order is certain."""
    return [(first + user, country, item) for item, count in ITEMS.items() for user in range(count)]


def two(path: Path, *more: Row) -> Path:
    return table(path, [*readers("DE"), *readers("FR", 10_000), *more])


def curator(source: Path, ledger: Path, **options: object) -> Curator:
    return Curator(source, dataset="views", user="user_id", ledger=ledger, **{"budget": BUDGET, **options})  # type: ignore[arg-type]


def grouped(release: Release) -> GroupedRelease:
    assert isinstance(release, GroupedRelease)
    return release


def items(release: Release) -> dict[object, tuple[object, ...]]:
    return {group: found.items for group, found in release.lists.items()}


def test_fifty_countries_cost_what_one_costs(tmp_path: Path) -> None:
    """The same rho and delta, the same mechanism in each country, so the same answers as at that price alone."""
    rows = [row for number in range(50) for row in readers(f"C{number:02}", number * 10_000)]
    source = table(tmp_path / "views.parquet", rows)
    options = {"k": 3, "mechanism": "limited-domain"}
    with curator(source, tmp_path / "all") as every, curator(source, tmp_path / "one") as one:
        alone = one.top("article", where="country = 'C07'", **options)  # type: ignore[arg-type]
        lists = grouped(every.top("article", per="country", **options))  # type: ignore[arg-type]
        assert items(lists) == {f"C{number:02}": ("a", "b", "c") for number in range(50)}
        assert lists.paid.events == alone.paid.events
        assert lists.guarantee == alone.guarantee
        assert every.status.spent == one.status.spent
        plans = (
            one.plan("article", where="country = 'C07'", **options),  # type: ignore[arg-type]
            every.plan("article", per="country", **options),  # type: ignore[arg-type]
        )
        assert plans[0].at_most == plans[1].at_most
        assert plans[0].strategy.mechanism == getattr(plans[1].strategy.mechanism, "inner", None)


@pytest.mark.parametrize("groups", [None, ["DE", "FR"]])
@pytest.mark.parametrize("k", [1, 3])
def test_a_user_in_two_countries_counts_in_one_unless_two_are_paid_for(tmp_path: Path, groups: object, k: int) -> None:
    source = table(tmp_path / "views.parquet", [row for country in ("DE", "FR") for row in readers(country)])
    for most in (1, 2):
        release = podium.top(
            source, user="user_id", item="article", per="country", groups=groups, groups_per_user=most, k=k,
            counts=True, epsilon=500, delta="1e-6",
        )  # fmt: skip
        counted = sum(float(found.values[0]) for found in release.lists.values() if found.values)
        assert abs(counted - most * ITEMS["a"]) < 50
        once = Selection if k == 1 else CorrelatedNoise
        assert sum(isinstance(event, once) for event in release.paid.events) == most


def test_rows_without_a_country_do_not_count(tmp_path: Path) -> None:
    source = table(tmp_path / "views.parquet", [*readers("DE"), *readers(None, 10_000)])
    with curator(source, tmp_path / "ledger") as opened:
        assert items(opened.top("article", per="country", k=3)) == {"DE": ("a", "b", "c")}


@pytest.mark.parametrize("mechanism", ["auto", "limited-domain"])
def test_a_hidden_country_does_not_show_in_the_charge(tmp_path: Path, mechanism: str) -> None:
    plain, hidden = two(tmp_path / "plain.parquet"), two(tmp_path / "hidden.parquet", (77_777, "LI", "a"))
    spent, receipts = [], []
    for source in (plain, hidden):
        with curator(source, tmp_path / f"{source.stem}.ledger") as opened:
            release = opened.top("article", per="country", k=3, groups_per_user=3, mechanism=mechanism)
            assert items(release) == {"DE": ("a", "b", "c"), "FR": ("a", "b", "c")}
            spent.append(opened.status.spent)
            receipts.append(release.paid.events)
    assert spent[0] == spent[1]
    assert receipts[0] == receipts[1]
    if mechanism == "auto":
        # Three groups of rounds: whatever the two lists cost, the third costs what finding nothing costs.
        assert Counter(map(type, receipts[0]))[GaussianNoise] >= 6
        assert isinstance(receipts[0][-1], HiddenItems)
    else:
        assert Counter(map(type, receipts[0]))[Selection] == 6
        assert isinstance(receipts[0][-1], BottomEvent)


def test_an_empty_table_is_an_ordinary_paid_release(tmp_path: Path) -> None:
    source = table(tmp_path / "views.parquet", [])
    with curator(source, tmp_path / "ledger") as opened:
        release = opened.top("article", per="country", k=3)
        assert items(release) == {}
        assert [type(event) for event in release.paid.events] == [GaussianNoise, GaussianNoise, HiddenItems]
        selected = opened.top("article", per="country", k=2)
        assert not selected.paid.events
        release = opened.top("article", per="country", k=3, mechanism="limited-domain")
        assert [type(event) for event in release.paid.events[1:]] == [BottomEvent]
        for mechanism in ("auto", "limited-domain"):
            listed = opened.top("article", per="country", groups=["FR", "DE"], k=4, counts=True, mechanism=mechanism)
            assert [(group, found.items, found.values) for group, found in listed.lists.items()] == [
                ("DE", (), ()),
                ("FR", (), ()),
            ]


def test_some_of_the_groups_and_some_of_the_places_are_free(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        first = opened.top("article", per="country", k=3)
        spent = opened.status.spent
        again = opened.top("article", per="country", k=2, groups=["FR", "XX"])
        assert items(again) == {"FR": ("a", "b"), "XX": ()}
        assert again.paid.events == ()
        assert opened.status.spent == spent
        asked_anew = opened.top("article", per="country", k=3, where="country = 'FR'")
        assert asked_anew.paid.events
        assert opened._ledger_account.ledger.verify(receipts=[first, again, asked_anew]).sound


def test_known_groups_answer_for_fewer_of_them_and_for_no_others(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        known = opened.top("article", per="country", k=3, groups=["FR", "DE", "FR"])
        assert list(known.lists) == ["DE", "FR"]
        assert not opened.top("article", per="country", k=3, groups=["FR"]).paid.events
        assert opened.top("article", per="country", k=3, groups=["FR", "XX"]).paid.events
        assert opened.top("article", per="country", k=3).paid.events


def test_a_receipt_is_about_groups_that_were_asked_about(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        known = opened.top("article", per="country", k=3, groups=["FR", "XX"])
        assert isinstance(known, GroupedRelease)
        verify, nothing = opened._ledger_account.ledger.verify, known.nothing
        assert nothing == RankedList((), 3)
        for lists, sound in (
            ({"FR": known.lists["FR"]}, True),
            ({"XX": nothing}, True),
            ({"DE": nothing}, False),
            ({}, False),
        ):
            assert verify(receipts=[replace(known, lists=GroupLists(lists))]).sound == sound


class Country(enum.StrEnum):
    """What programs list: text of a class of its own."""

    FRANCE = "FR"
    ITALY = "IT"


@pytest.mark.parametrize("listed", [list(Country), np.array(["FR", "IT"]), ["IT", "FR"]])
def test_groups_are_listed_as_programs_have_them(tmp_path: Path, listed: object) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        release = opened.top("article", per="country", k=2, groups=listed)
        assert items(release) == {"FR": ("a", "b"), "IT": ()}
        assert {type(group) for group in release.lists} == {str}
        assert Release.from_json(release.to_json()) == release
        assert not opened.top("article", per="country", k=2, groups=["FR"]).paid.events


def test_a_group_between_microseconds_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    day = pd.Timestamp("2026-01-01")
    rows = pa.table({"user": range(900), "article": ["a", "b"] * 450, "day": pa.array([day.to_pydatetime()] * 900)})
    asked: dict[str, Any] = {"item": "article", "user": "user", "per": "day", "k": 1, "epsilon": 20, "delta": "1e-6"}
    assert items(podium.top(rows, groups=[day], **asked)).keys() == {day.to_pydatetime()}
    with pytest.raises(InvalidArgument, match="kind timestamp"):
        podium.plan(rows, groups=[day + pd.Timedelta(1, "ns")], **asked)


def test_an_attempt_is_paid_for_once(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        first = opened.top("article", per="country", k=3, idempotency_key="mine")
        spent = opened.status.spent
        assert items(opened.top("article", per="country", k=3, idempotency_key="mine")) == items(first)
        assert opened.status.spent == spent


def test_groups_are_read_from_a_file(tmp_path: Path) -> None:
    listed = tmp_path / "countries.csv"
    listed.write_text("country\nFR\nIT\n", encoding="utf-8")
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        release = opened.top("article", per="country", k=2, groups=listed)
        assert items(release) == {"FR": ("a", "b"), "IT": ()}


def test_a_pure_budget_lists_known_items_of_known_groups(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger", budget=PURE) as opened:
        release = opened.top("article", per="country", groups=["DE", "FR"], domain=["a", "b", "c", "d"], k=2)
        assert items(release) == {"DE": ("a", "b"), "FR": ("a", "b")}
        assert release.paid.delta == 0
        assert len(release.paid.events) == 2
        with pytest.raises(InvalidArgument, match="domain"):
            opened.top("article", per="country", domain=["a", "b", "c", "d"], k=2)


def test_known_items_of_unknown_groups_are_those_alone(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        release = opened.top("article", per="country", domain=["b", "c", "d"], k=3)
        assert items(release) == {"DE": ("b", "c"), "FR": ("b", "c")}


@pytest.mark.parametrize("known", [None, ["DE", "FR"]])
def test_events_and_counts_of_each_group(tmp_path: Path, known: object) -> None:
    rows = [*readers("DE"), *readers("DE"), *readers("FR", 10_000)]
    release = podium.top(
        table(tmp_path / "views.parquet", rows), user="user_id", item="article", per="country", groups=known, k=2,
        by="events", clip=3, counts=True, epsilon=300, delta="1e-6",
    )  # fmt: skip
    found = {group: [round(float(value), -1) for value in one.values or ()] for group, one in release.lists.items()}
    assert found == {"DE": [1800, 1200], "FR": [900, 600]}
    assert release.value_kind == "counts"


def test_a_minimum_holds_in_each_group(tmp_path: Path) -> None:
    release = podium.top(
        two(tmp_path / "views.parquet", *[(50_000 + user, "IT", "z") for user in range(200)]),
        user="user_id", item="article", per="country", k=3, at_least=450, epsilon=50, delta="1e-6",
    )  # fmt: skip
    assert items(release) == {"DE": ("a", "b"), "FR": ("a", "b")}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"groups_per_user": "all", "counts": True}, "counts"),
        ({"groups_per_user": "all", "by": "events", "clip": 2}, "by"),
        ({"groups_per_user": "all", "at_least": 2}, "at_least"),
        ({"groups_per_user": "all", "mechanism": "limited-domain"}, "mechanism"),
        ({"groups_per_user": "all", "others": True}, "others"),
        ({"groups_per_user": 0}, "groups_per_user"),
        ({"groups_per_user": "two"}, "groups_per_user"),
        ({"groups": ["DE", 2]}, "groups"),
        ({"groups": []}, "groups"),
        ({"per": "user_id"}, "per"),
        ({"per": "article"}, "per"),
        ({"groups_per_user": 5_000}, "groups_per_user"),
        ({"mechanism": "adaptive", "by": "events", "clip": 3, "domain": ["a", "b", "c", "d"]}, "mechanism"),
        ({"mechanism": "adaptive", "groups": ["DE"], "domain": ["a", "b", "c", "d"]}, "mechanism"),
        ({"groups": [1]}, "domain|groups"),
        ({"groups": "nowhere.csv"}, "domain|groups|source"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_anything_is_paid(
    tmp_path: Path, options: dict[str, object], name: str
) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        spent = opened.status.spent
        with pytest.raises(PodiumError, match=name):
            opened.top("article", **{"per": "country", "k": 3, **options})  # type: ignore[arg-type]
        assert opened.status.spent == spent


def test_the_counts_of_a_group_are_paid_for(tmp_path: Path) -> None:
    """Reserved for every group of a user, settled for the costliest; the same as with the lists of so many users."""
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        asked = {"per": "country", "k": 3, "counts": True, "groups_per_user": 2, "mechanism": "limited-domain"}
        plan = opened.plan("article", **asked)  # type: ignore[arg-type]
        assert sum(isinstance(event, GaussianNoise) for event in plan.strategy.worst_case) == 2
        release = opened.top("article", **asked)  # type: ignore[arg-type]
        noise = [event for event in release.paid.events if isinstance(event, CorrelatedNoise)]
        assert len(noise) == 2
        selections = 6 * bounded_range_rho(plan.strategy.epsilon_per_item or 0)
        assert release.paid.rho == selections + sum(event.rho for event in noise)
        assert release.paid.rho <= plan.at_most.rho
        assert plan.at_most.rho == pytest.approx(float(release.paid.rho), rel=1e-3)


def test_the_counts_of_rounds_are_part_of_the_price(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        release = opened.top("article", per="country", k=3, counts=True, groups_per_user=2)
        noise = [event for event in release.paid.events if isinstance(event, CorrelatedNoise)]
        assert len(noise) == 2
        most = opened.plan("article", per="country", k=4, counts=True, groups_per_user=2).at_most
        assert release.paid.rho <= most.rho * 3 / 4
        assert release.paid.delta <= most.delta
        for found in release.lists.values():
            assert [round(float(value), -2) for value in found.values or ()] == [900, 600, 300]


def test_two_groups_cost_as_much_delta_as_one(tmp_path: Path) -> None:
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        for k in (2, 3):
            one, many = (opened.plan("article", per="country", k=k, groups_per_user=most).at_most for most in (1, 4))
            assert many.delta == one.delta
            assert many.rho == 4 * one.rho


def test_an_epsilon_is_divided_among_the_groups_of_a_user(tmp_path: Path) -> None:
    source = two(tmp_path / "views.parquet")
    for most in (1, 5):
        plan = podium.plan(
            source, user="user_id", item="article", per="country", k=2, groups_per_user=most, epsilon=1, delta="1e-6"
        )
        single, events = plan.strategy.epsilon_per_item, plan.strategy.worst_case
        alone = calibrate_epsilon(2 * most, epsilon=1, delta="1e-6")
        assert single == alone.epsilon_per_item
        assert len(events) == 1 + 2 * most
        assert plan.at_most.delta == alone.delta / 2


DAYS = [
    (user, f"day {day}", item)
    for item, count in ITEMS.items()
    for user in range(5 * count)
    for day in range(user % 2, 8, 2)
]
"""Each user is in 4 of 8 days."""


@pytest.mark.parametrize("domain", [None, ["b", "c", "z"]])
def test_users_who_are_in_many_groups_count_in_all_of_them(tmp_path: Path, domain: object) -> None:
    source = table(tmp_path / "views.parquet", DAYS)
    expected = ("a", "b") if domain is None else ("b", "c")
    with curator(source, tmp_path / "ledger") as opened:
        asked: dict[str, Any] = {"per": "country", "groups_per_user": "all", "domain": domain}
        release = opened.top("article", k=2, **asked)
        assert items(release) == {f"day {day}": expected for day in range(8)}
        # Whatever comes out costs the same, and delta once.
        assert release.paid.events == opened.plan("article", k=2, **asked).strategy.worst_case
        again = opened.top("article", k=1, groups=["day 3", "day 9"], **asked)
        assert (items(again), again.paid.events) == ({"day 3": expected[:1], "day 9": ()}, ())
        listed = opened.top("article", k=2, groups=["day 9", "day 3"], mechanism="adaptive", **asked)
        assert items(listed) == {"day 3": expected, "day 9": ()}
        assert opened._ledger_account.ledger.verify(receipts=[release, again, listed]).sound


def test_users_in_all_their_groups_may_ask_a_plan_of_few_items(tmp_path: Path) -> None:
    """Such a plan adds up epsilons, and short lists are selections there: but not these, for which there are none."""
    budget = Budget(epsilon=1, delta="1e-6", items=3)
    with curator(table(tmp_path / "views.parquet", DAYS[:9]), tmp_path / "ledger", budget=budget) as opened:
        release = opened.top("article", per="country", groups_per_user="all", k=1)
        assert (release.mechanism, items(release)) == ("GroupedComposite", {})
        assert opened.status.spent.rho >= release.paid.rho > 0


def test_the_weights_of_a_user_count_the_pairs_of_all_groups(tmp_path: Path) -> None:
    """So many users that an item passes where they are in one group, and does not where each is in fifty."""
    shown = []
    for groups in (1, 50):
        rows = [(user, f"day {day}", "a") for user in range(12) for day in range(groups)]
        # Between a level of 5.7 and sums of 12 and of 1.7 lie eight standard deviations of the noise.
        release = podium.top(
            table(tmp_path / f"{groups}.parquet", rows), user="user_id", item="article", per="country",
            groups_per_user="all", k=1, epsilon=20, delta="1e-20",
        )  # fmt: skip
        shown.append(len(grouped(release).lists))
    assert shown == [1, 0]


def test_a_release_that_is_longer_than_what_strangers_may_send_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of a million groups are stored and told again; the limit is for documents that somebody sends."""
    with curator(two(tmp_path / "views.parquet"), tmp_path / "ledger") as opened:
        first = opened.top("article", per="country", k=3)
        monkeypatch.setattr("podium.release.release.LONGEST_TEXT", 100)
        with pytest.raises(InvalidArgument, match="at most 100 characters"):
            Release.from_json(first.to_json())
        again = opened.top("article", per="country", k=2)
        assert (items(again), again.paid.events) == ({"DE": ("a", "b"), "FR": ("a", "b")}, ())
