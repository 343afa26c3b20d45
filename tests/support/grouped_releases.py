"""Releases with a list for each group, made by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from podium.privacy.events import LimitedDomainCall, Selection
from podium.privacy.guarantee import total
from podium.release import BOTTOM, GroupedRelease, RankedList, Receipt

__all__ = ["LISTS", "counted_lists", "grouped_release", "many_groups"]

_PAID = (LimitedDomainCall("0.01"), Selection(Fraction(1, 2)))
LISTS = {
    "FR": RankedList(("a", "<b>bold</b>", BOTTOM), 3),
    "DE": RankedList(("c", "b", "=d"), 3),
    "IT": RankedList((BOTTOM,), 3),
}
_COUNTS = {"FR": (10, 3), "DE": (100, 30, 7), "IT": ()}


def grouped_release(lists: Any = LISTS, **changes: Any) -> GroupedRelease:
    """Lists of three countries: one complete, one short, one empty."""
    parts: dict[str, Any] = {
        "mechanism": "LimitedDomain", "k": 3, "paid": Receipt(_PAID), "guarantee": total(_PAID),
        "theorem": "Durfee & Rogers 2019", "parameters": {"groups_per_user": "1"}, "user": "user_id",
        "columns": ("article",), "per": ("country",), "lists": lists,
    }  # fmt: skip
    return GroupedRelease(**{**parts, **changes})


def counted_lists(lists: Any = None, **changes: Any) -> GroupedRelease:
    """The same with counts and the law of their noise."""
    lists = lists or {
        group: RankedList(found.outcome, found.k, tuple(map(Fraction, _COUNTS[group])))
        for group, found in LISTS.items()
    }
    parameters = {"groups_per_user": "2", "count_noise": "gaussian", "count_scale": "5"}
    return grouped_release(lists, **{"value_kind": "counts", "parameters": parameters, **changes})


def many_groups(count: int, **changes: Any) -> GroupedRelease:
    """Complete lists of many groups."""
    names = [f"{number:04d}" for number in range(count)]
    lists = {name: RankedList(tuple(f"{name} item {place}" for place in range(3)), 3) for name in names}
    return grouped_release(lists, **changes)
