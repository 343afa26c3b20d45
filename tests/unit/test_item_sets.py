"""A released set is its value and nothing else, however it was put together and wherever it has been."""

from __future__ import annotations

import copy
import datetime as dt
import itertools
import os
import pickle
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.collisions import COLLIDING, told
from tests.unit.test_release import made

from podium.release import BOTTOM, ItemSet

ITEMS = st.one_of(
    st.integers(), st.text(max_size=3), st.booleans(), st.binary(max_size=3), st.dates(), st.times(), st.none()
)


@pytest.mark.parametrize("kind", COLLIDING)
def test_every_way_to_fill_a_set_gives_the_same_release(kind: str) -> None:
    items = COLLIDING[kind]
    grown = frozenset({*items, *range(1000)}) - frozenset(range(1000)) | frozenset(items)
    ways: list[Any] = [frozenset(order) for order in itertools.permutations(items)]
    ways += [grown, frozenset(dict.fromkeys(reversed(items))), ItemSet(reversed(items)), set(items)]
    first, *others = (told(made(outcome=way, k=3)) for way in ways)
    assert all(other == first for other in others)


@given(st.lists(ITEMS, max_size=6), st.randoms())
def test_it_is_a_frozenset_in_one_order(items: list[Any], shuffled: Any) -> None:
    plain = frozenset(items)
    mixed = [*plain]
    shuffled.shuffle(mixed)
    released = ItemSet(mixed)
    assert (released, hash(released), len(released)) == (plain, hash(plain), len(plain))
    assert {plain: "found"}[released] == "found"
    assert isinstance(released, frozenset)
    assert tuple(released) == tuple(ItemSet(plain))
    assert repr(released) == repr(ItemSet(plain))
    assert all(item in released for item in plain)
    for again in (pickle.loads(pickle.dumps(released)), copy.copy(released), copy.deepcopy(released)):  # noqa: S301
        assert (type(again), tuple(again), repr(again)) == (ItemSet, tuple(released), repr(released))


def test_it_looks_like_a_frozenset() -> None:
    assert repr(ItemSet((8, 0))) == "frozenset({0, 8})"
    assert repr(ItemSet()) == "frozenset()"
    # In a table of eight places 9 lies before 2.
    assert [*frozenset((2, 9))] == [9, 2]
    assert [*ItemSet((9, 2))] == [2, 9]
    assert type(ItemSet((8, 0)) | {1}) is frozenset


@pytest.mark.parametrize(
    "alike",
    [[1, True, 1.0, Decimal(1), Decimal("1.0"), np.int64(1)], [Decimal(1), Decimal("1.0")], [0.0, -0.0]],
    ids=["of several types", "decimals", "zeros"],
)
def test_which_of_equal_items_stays_is_not_decided_by_who_came_first(alike: list[Any]) -> None:
    kept = {(type(item), repr(item)) for order in itertools.permutations(alike) for item in ItemSet(order)}
    assert len(kept) == 1


def test_items_that_cannot_be_compared_have_an_order_too() -> None:
    mixed: list[Any] = [
        BOTTOM,
        None,
        "a",
        b"a",
        1,
        dt.time(1),
        dt.time(1, tzinfo=dt.UTC),
        dt.date(2026, 1, 1),
        (1, "a"),
    ]
    mixed += [dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=dt.UTC), (None, 1), Decimal("nan")]  # noqa: DTZ001
    assert len({tuple(map(repr, ItemSet(order))) for order in (mixed, mixed[::-1], mixed[5:] + mixed[:5])}) == 1


def test_it_is_listed_alike_in_every_process() -> None:
    """Hashes of text are other ones in each; a plain set of ten words is in the same order in both once in millions."""
    code = "from podium.release import ItemSet; print(ItemSet(map(str, range(10))))"
    shown = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert shown == {f"frozenset({{{', '.join(repr(str(n)) for n in range(10))}}})\n".encode()}
