"""Whole questions by amounts on tables of extremes: right answers, or a refusal before anything is paid."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import podium
from podium.errors import InvalidArgument

pytestmark = pytest.mark.usefixtures("replayed_choices")

ASKED: dict[str, Any] = {"item": "label", "user": "who", "by": "sum(x)", "k": 3, "epsilon": 200, "delta": "1e-12"}
WAYS: dict[str, dict[str, Any]] = {
    "rounds": {},
    "rounds, stated": {"clip": 2**31},
    "limited domain": {"mechanism": "limited-domain", "counts": True},
    "known": {"domain": ["a", "b", "c", "d"], "counts": True},
    "groups": {"per": "part", "clip": 2**31},
}


def table(users: Any, labels: Any, amounts: pa.Array) -> pa.Table:
    part = pa.array(["all"] * len(amounts)).dictionary_encode().cast(pa.string())
    return pa.table({"who": pa.array(users, pa.int64()), "label": pa.array(labels), "x": amounts, "part": part})


def asked(source: pa.Table, way: str, **more: Any) -> Any:
    parts = {**ASKED, **WAYS[way], **more}
    unit = Decimal(str(parts.get("unit", 1)))
    if "clip" in parts:
        parts["clip"] = parts["clip"] * unit
    release = podium.top(source, **parts)
    return release.lists.get("all") if way == "groups" else release


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "amounts",
    [pa.array([None] * 40, pa.int64()), pa.array([-0.0, 0.0] * 20), pa.array([float("nan"), None] * 20, pa.float64())],
    ids=["all NULL", "zeros", "no numbers"],
)
def test_a_column_in_which_nothing_counts(amounts: pa.Array, way: str) -> None:
    """An ordinary list: empty, or any items of the domain, at the price of every other."""
    source = table(range(40), ["a", "b"] * 20, amounts)
    unit = {} if amounts.type == pa.int64() else {"unit": "0.1"}
    release = asked(source, way, **unit)
    if way == "known":
        assert len(release.items) == 3
        assert all(abs(value) < 50 for value in release.values)
    elif way != "groups":
        assert release.items == ()
        assert release.paid.events
    else:
        assert release is None


@pytest.mark.parametrize("way", ["rounds", "known"])
def test_many_users_with_the_largest_clip_and_one_with_many_rows(way: str) -> None:
    """What one user repeats a million times counts once, up to the clip, and names no item."""
    many, clip = 200_000, 2**31
    amounts = [clip, clip, 2**63 - 1, 5]
    numbers = [many, many // 2, 1_000_000, 1000]
    users = np.concatenate([np.arange(many), np.arange(many // 2), np.zeros(numbers[2], np.int64), np.arange(1000)])
    labels = np.repeat(np.array(["a", "b", "c", "d"]), numbers)
    release = asked(table(users, labels, pa.array(np.repeat(np.array(amounts), numbers))), way)
    assert release.items[:2] == ("a", "b")
    assert "c" not in release.items or way == "known"
    if release.values:
        measured = int(release.parameters["value_clip"])
        for value, number in zip(release.values[:2], numbers, strict=False):
            assert abs(value - number * min(clip, measured)) < 1000 * measured


@pytest.mark.parametrize("way", WAYS)
def test_decimals_of_38_digits(way: str) -> None:
    largest = Decimal("9" * 28 + "." + "9" * 10)
    amounts = [largest, largest, largest.copy_negate(), Decimal("0.0000000001")] * 300
    users = [user for user in range(300) for _ in range(4)]
    labels = [label for user in range(300) for label in ("a", "ab"[user % 2], "c", "d")]
    source = table(users, labels, pa.array(amounts, pa.decimal128(38, 10)))
    release = asked(source, way, unit="0.5")
    # What is above every clip counts as one; c is negative, and d less than a unit.
    assert release.items[:2] == ("a", "b")
    assert len(release.items) == (3 if way == "known" else 2)
    with pytest.raises(InvalidArgument, match="unit="):
        asked(source, way, unit="1e-60")
