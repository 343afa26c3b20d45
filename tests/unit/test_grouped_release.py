"""A release with a list for each group: a value that says nothing but its lists, and survives JSON."""

from __future__ import annotations

import copy
import datetime as dt
import itertools
import json
import pickle
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import InvalidArgument
from podium.privacy.events import BottomEvent, LimitedDomainCall, Selection
from podium.privacy.guarantee import total
from podium.release import BOTTOM, GroupedRelease, GroupLists, ItemSet, RankedList, Receipt, Release

HALF = Fraction(1, 2)
PAID = (LimitedDomainCall("0.01"), Selection(HALF), BottomEvent(HALF))
LISTS = {"FR": RankedList(("a", BOTTOM), 2), "DE": RankedList(("c", "b"), 2)}


def made(lists: Any = LISTS, **changes: Any) -> GroupedRelease:
    parts: dict[str, Any] = {
        "mechanism": "LimitedDomain", "k": 2, "paid": Receipt(PAID), "guarantee": total(PAID),
        "theorem": "Durfee & Rogers 2019", "parameters": {"k": "2"}, "per": ("country",), "lists": lists,
    }  # fmt: skip
    return GroupedRelease(**{**parts, **changes})


parts = st.one_of(
    st.text(), st.integers(), st.booleans(), st.none(), st.dates(), st.datetimes(), st.decimals(allow_nan=False)
)
names = st.one_of(parts, st.tuples(parts, parts))
fractions = st.fractions()


@given(
    st.lists(st.tuples(parts, parts), max_size=4, unique_by=repr),
    st.lists(names, max_size=3),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, "gaps", "counts"]),
    st.none() | st.just("0f" * 32),
)
def test_json_round_trip(
    groups: list[Any], items: list[Any], ordered: bool, stopped: bool, kind: Any, entry: str | None
) -> None:
    told = list(items) if ordered else list(ItemSet(items))
    values = None if kind is None else tuple(map(Fraction, range(len(told))))
    outcome = (*told, *(BOTTOM,) * stopped)
    listed = RankedList(outcome if ordered else frozenset(outcome), 4, values)
    lists = GroupLists([(group, listed) for group in dict.fromkeys(groups)])
    release = made(lists, k=4, per=("a", "b"), value_kind=kind, paid=Receipt(PAID, entry), user="u", columns=("i",))
    again = Release.from_json(release.to_json())
    assert again == release
    assert (again.to_json(), hash(again.lists)) == (release.to_json(), hash(release.lists))


def test_what_is_written() -> None:
    document = json.loads(made().to_json())
    assert (document["format"], document["per"], document["ordered"], document["complete"]) == (
        2, ["country"], True, False
    )  # fmt: skip
    assert document["lists"] == [
        {"group": ["DE"], "items": ["c", "b"], "values": None, "complete": True},
        {"group": ["FR"], "items": ["a"], "values": None, "complete": False, "bottom": True},
    ]
    assert not {"outcome", "values"} & document.keys()


def test_a_group_of_several_columns_is_a_tuple_and_of_one_its_value() -> None:
    day = dt.date(2026, 11, 2)
    release = made({("DE", day): RankedList(("a", "b"), 2)}, per=("country", "day"))
    assert [*Release.from_json(release.to_json()).lists] == [("DE", day)]
    assert [*Release.from_json(made().to_json()).lists] == ["DE", "FR"]


def test_lists_come_in_the_order_of_their_groups_however_they_were_put_in() -> None:
    """Groups with colliding hashes, too: integers that are equal modulo the size of Python's hash."""
    collide = {group: RankedList((group,), 1) for group in (2**61 - 1, 0, 2 * (2**61 - 1), "DE", ("DE", 1))}
    told = {_told(GroupLists(order)) for order in itertools.permutations(collide.items())}
    assert len(told) == 1
    assert [*GroupLists(LISTS)] == ["DE", "FR"]


def _told(lists: GroupLists) -> tuple[Any, ...]:
    ways = (repr(lists), [*lists.items()], [*lists.values()], [*reversed([*lists])], hash(lists), pickle.dumps(lists))
    return tuple(map(repr, ways))


def test_lists_are_found_by_their_group_and_compared_by_value() -> None:
    lists = GroupLists(LISTS)
    assert lists["DE"] == LISTS["DE"]
    assert lists == LISTS == lists
    assert lists != {"DE": LISTS["DE"]}
    assert lists != GroupLists({**LISTS, "FR": RankedList(("a",), 2)})
    assert "IT" not in lists
    assert lists != ["DE", "FR"]
    assert GroupLists({1: LISTS["DE"]}) != {1: LISTS["FR"]}


def test_a_moment_is_one_group_in_every_time_zone() -> None:
    noon = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
    elsewhere = noon.astimezone(dt.timezone(dt.timedelta(hours=2)))
    lists = GroupLists({noon: LISTS["DE"], (noon, "x"): LISTS["FR"]})
    assert lists[elsewhere] == LISTS["DE"]
    assert lists[elsewhere, "x"] == LISTS["FR"]
    assert noon.replace(tzinfo=None) not in lists
    with pytest.raises(InvalidArgument, match="one list for each group"):
        GroupLists([(noon, LISTS["DE"]), (elsewhere, LISTS["FR"])])


def test_a_group_has_one_list() -> None:
    with pytest.raises(InvalidArgument, match=r"^lists='DE' is not valid\. Allowed: one list for each group\.$"):
        GroupLists([("DE", LISTS["DE"]), ("FR", LISTS["FR"]), ("DE", LISTS["DE"])])


@pytest.mark.parametrize("name", ["items", "outcome", "values"])
def test_what_one_list_has_is_asked_of_a_group(name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        getattr(made(), name)
    assert str(caught.value) == (
        f"{name}='a release with a list for each group' is not valid. Allowed: {name} of one list. "
        f"Say release.lists[group].{name}, or go through release.lists.items()."
    )


def test_a_release_with_one_list_has_no_lists() -> None:
    one = Release("LimitedDomain", ("a", BOTTOM), 2, Receipt(PAID), total(PAID), "Durfee & Rogers 2019")
    with pytest.raises(InvalidArgument, match=r"Say release\.items, or ask with per='COLUMN'"):
        _ = one.lists


def test_it_is_a_release_that_can_be_copied_and_changed() -> None:
    release = made()
    assert isinstance(release, Release)
    assert pickle.loads(pickle.dumps(release)) == release == copy.deepcopy(release)  # noqa: S301 - our own bytes
    assert replace(release, user="user_id").user == "user_id"
    assert replace(release, lists=GroupLists({"DE": LISTS["DE"]})) == made({"DE": LISTS["DE"]}) != release
    assert repr(release).startswith(
        "GroupedRelease(mechanism='LimitedDomain', k=2, per=('country',), "
        "lists=GroupLists({'DE': RankedList(['c', 'b'], k=2), 'FR': RankedList(['a'], k=2)}), "
    )


def test_a_set_in_each_group() -> None:
    lists = {"DE": RankedList(frozenset("cab"), 3)}
    release = made(lists, k=3)
    assert (release.ordered, release.complete, release.lists["DE"].items) == (False, True, ("a", "b", "c"))
    assert repr(release.lists["DE"]) == "RankedList({'a', 'b', 'c'}, k=3)"
    again = Release.from_json(release.to_json())
    assert again == release
    assert type(again.lists["DE"].outcome) is ItemSet


def changed(**parts: Any) -> str:
    return json.dumps({**json.loads(made().to_json()), **parts})


LIST = {"group": ["DE"], "items": ["a"], "values": None, "complete": False}


@pytest.mark.parametrize(
    "parts",
    [
        {"per": []}, {"per": None}, {"per": ["a", "a"]}, {"per": ["a", "b"]}, {"lists": None},
        {"lists": {}}, {"value_kind": "sizes"}, {"value_kind": "counts"}, {"ordered": 1},
        {"lists": [{**LIST, "values": ["1"]}]}, {"lists": [{**LIST, "group": "DE"}]},
        {"lists": [{**LIST, "group": []}]}, {"lists": [{**LIST, "group": [{"bottom": True}]}]},
        {"lists": [{**LIST, "items": ["a", {"bottom": True}]}]}, {"lists": [{**LIST, "bottom": 1}]},
        {"lists": [{"items": [], "values": None}]}, {"lists": ["DE"]}, {"k": -1}, {"paid": None},
        {"lists": [{**LIST, "items": {"a": 1}}]}, {"columns": []},
    ],
)  # fmt: skip
def test_foreign_text_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Release.from_json(changed(**parts))


def test_a_group_that_comes_twice_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="one list for each group"):
        Release.from_json(changed(lists=[LIST, LIST]))


def test_groups_of_one_hash_are_read_in_bounded_time() -> None:
    """A dictionary of so many integers with one hash would take an hour."""
    step = 2**61 - 1
    lists = [{"group": [step * number], "items": [], "values": None} for number in range(100_000)]
    start = time.process_time()
    release = Release.from_json(changed(lists=lists))
    assert time.process_time() - start < 20
    assert len(release.lists) == len(lists)
    assert release.lists[7 * step].items == ()
