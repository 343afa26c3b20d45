"""A release with a list for each group: one promise and one receipt for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

from podium.errors import InvalidArgument
from podium.histogram import Item
from podium.release.beside import Beside
from podium.release.decimals import value_decimals
from podium.release.groups import Group, GroupLists, RankedList
from podium.release.item_json import ValueKind, decode_columns, decode_item, decode_values, encode_item, of_type
from podium.release.outcome import BOTTOM
from podium.release.release import Release

__all__ = ["GroupedRelease"]

_FORMAT = 2
_WITHOUT_BOTTOM = frozenset({"GroupedRounds", "GroupedRoundsAtClip", "GroupedComposite"})
"""Mechanisms whose lists end without saying so: what is not found takes no part in a race against BOTTOM."""
_MAX_SHOWN = 10


def _has_one_list(name: str) -> property:
    def refuse(_: object) -> NoReturn:
        raise InvalidArgument(
            name, "a release with a list for each group", allowed=f"{name} of one list",
            hint=f"Say release.lists[group].{name}, or go through release.lists.items().",
        )  # fmt: skip

    return property(refuse)


@dataclass(frozen=True, slots=True)
class GroupedRelease(Release):
    """The outcome of a private selection in each group.

    ``lists`` holds the list of each group that is shown, in the order of the groups themselves; ``per`` names the group
    columns. ``paid`` is what all lists together cost. A single outcome, its items and values do not exist here: to read
    them is an error. Where there is a ``value_kind``, every list has values.
    """

    lists: GroupLists = field(kw_only=True)
    per: tuple[str, ...] = field(kw_only=True)
    # The fields of a single list: no fields here, so nothing builds, compares or copies them.
    outcome: ClassVar[Any] = _has_one_list("outcome")  # type: ignore[misc]
    values: ClassVar[Any] = _has_one_list("values")  # type: ignore[misc]
    items: ClassVar[Any] = _has_one_list("items")

    def __post_init__(self) -> None:
        if type(self.lists) is not GroupLists:
            object.__setattr__(self, "lists", GroupLists(self.lists))
        object.__setattr__(self, "guarantee", self.guarantee.stated)
        self._keep_stated()

    @property
    def nothing(self) -> RankedList:
        """The list of a group of which nothing came out."""
        outcome = () if self.mechanism in _WITHOUT_BOTTOM else (BOTTOM,)
        return RankedList(outcome, self.k, None if self.value_kind is None else ())

    @property
    def ordered(self) -> bool:
        """Whether the order of items within a list means anything."""
        return all(found.ordered for found in self.lists.values())

    @property
    def complete(self) -> bool:
        """Whether there are groups, and all k items came back in each that is shown."""
        return bool(self.lists) and all(found.complete for found in self.lists.values())

    def __repr__(self) -> str:
        return (
            f"GroupedRelease(mechanism={self.mechanism!r}, k={self.k}, per={self.per!r}, lists={self.lists!r}, "
            f"guarantee={self.guarantee!r})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The release as a JSON object; exact numbers are text."""
        return {
            "format": _FORMAT,
            **self._head(),
            "per": list(self.per),
            "lists": [self._list_to_dict(group, found) for group, found in self.lists.items()],
            "complete": self.complete,
            "value_kind": self.value_kind,
            "decimals": self._decimals(
                None if self.value_kind is None else [value_decimals(found.values) for found in self.lists.values()]
            ),
            **self._tail(),
        }

    def _list_to_dict(self, group: Group, found: RankedList) -> dict[str, Any]:
        parts = group if len(self.per) > 1 and isinstance(group, tuple) else (group,)
        return {
            "group": [encode_item(part) for part in parts],
            "items": [encode_item(item) for item in found.items],
            "values": None if found.values is None else [str(value) for value in found.values],
            "complete": found.complete,
            # A list may also be short without having said that it stopped.
            **({"bottom": True} if BOTTOM in found.outcome else {}),
            **({} if found.beside is None else {"beside": found.beside.to_dict()}),
        }

    @classmethod
    def _from_dict(cls, raw: dict[str, Any]) -> GroupedRelease:
        """The release of a document of format 2; its errors are those of a parser."""
        common = cls._common_parts(raw)
        per = decode_columns(raw["per"]) or ()
        if not per or raw["value_kind"] not in (None, "gaps", "counts"):
            raise ValueError
        ordered = of_type(raw["ordered"], bool)
        lists = [
            _list_from_dict(of_type(one, dict), len(per), common["k"], raw["value_kind"], ordered=ordered)
            for one in of_type(raw["lists"], list)
        ]
        return cls(**common, per=per, lists=GroupLists(lists), value_kind=raw["value_kind"])


def _list_from_dict(
    raw: dict[str, Any], columns: int, k: int, kind: ValueKind | None, *, ordered: bool
) -> tuple[Group, RankedList]:
    parts = [decode_item(part) for part in of_type(raw["group"], list)]
    items = [decode_item(item) for item in of_type(raw["items"], list)]
    if len(parts) != columns or _has_bottom(parts) or _has_bottom(items) or (kind is None) != (raw["values"] is None):
        raise ValueError
    if of_type(raw.get("bottom", False), bool):
        items.append(BOTTOM)
    values = decode_values(raw["values"], kind, len(items) - _has_bottom(items))
    outcome = tuple(items) if ordered else frozenset(items)
    beside = Beside.from_dict(raw.get("beside"))
    return (parts[0] if columns == 1 else tuple(parts)), RankedList(outcome, k, values, beside)


def _has_bottom(items: Sequence[Item]) -> bool:
    return any(item is BOTTOM for item in items)
