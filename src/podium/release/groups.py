"""A list for each group, as a value: what is in it decides how it is listed, compared, hashed and written."""

from __future__ import annotations

import bisect
import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from podium.errors import InvalidArgument
from podium.histogram import Item, item_order
from podium.release.beside import Beside
from podium.release.outcome import OneList, Outcome

__all__ = ["Group", "GroupLists", "RankedList", "group_key"]

Group: TypeAlias = Item
"""A value of the group column, or a tuple of values where there are several."""
_MAX_SHOWN = 10
G = TypeVar("G", bound=Item)


@dataclass(frozen=True, slots=True)
class RankedList(OneList):
    """What came out in one group: an outcome as that of a release, for ``k`` items, and values in its order.

    ``beside`` has the numbers beside the list of this group, where they were asked for.
    """

    outcome: Outcome
    k: int
    values: tuple[Fraction, ...] | None = None
    beside: Beside | None = None

    def __post_init__(self) -> None:
        self._keep_order()

    def __repr__(self) -> str:
        items = [*map(repr, self.items[:_MAX_SHOWN]), *["..."] * (len(self.items) > _MAX_SHOWN)]
        listed = f"[{', '.join(items)}]" if self.ordered else f"{{{', '.join(items)}}}"
        return f"RankedList({listed}, k={self.k})"


def group_key(group: Group) -> tuple[Any, ...]:
    """What two spellings of a group share: their order, and of moments with a time zone the moment."""
    if isinstance(group, tuple):
        return ("tuple", tuple(map(group_key, group)))
    if isinstance(group, dt.datetime) and group.tzinfo is not None:
        return item_order(group.astimezone(dt.UTC))
    return item_order(group)


class GroupLists(Mapping[Group, RankedList]):
    """The list of each group, in the order of the groups themselves, whatever order they came in.

    Groups are found by their order and not by a hash: groups with equal hashes, which whoever writes a document can
    choose, take no longer than others.
    """

    __slots__ = ("_groups", "_keys", "_lists")

    def __init__(self, lists: Mapping[G, RankedList] | Iterable[tuple[G, RankedList]] = ()) -> None:
        pairs = lists.items() if isinstance(lists, Mapping) else lists
        listed = sorted(((group_key(group), group, found) for group, found in pairs), key=lambda entry: entry[0])
        for (one, group, _), (other, _, _) in itertools.pairwise(listed):
            if one == other:
                raise InvalidArgument("lists", group, allowed="one list for each group")
        self._keys: tuple[tuple[Any, ...], ...] = tuple(key for key, _, _ in listed)
        self._groups: tuple[Group, ...] = tuple(group for _, group, _ in listed)
        self._lists: tuple[RankedList, ...] = tuple(found for _, _, found in listed)

    def __getitem__(self, group: Group) -> RankedList:
        key = group_key(group)
        place = bisect.bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            raise KeyError(group)
        return self._lists[place]

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, GroupLists):
            return self._keys == other._keys and self._groups == other._groups and self._lists == other._lists
        if isinstance(other, Mapping):
            return len(other) == len(self) and all(
                group in other and other[group] == found for group, found in self.items()
            )
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self._groups, self._lists))

    def __repr__(self) -> str:
        shown = [f"{group!r}: {found!r}" for group, found in list(self.items())[:_MAX_SHOWN]]
        return f"GroupLists({{{', '.join([*shown, *['...'] * (len(self) > _MAX_SHOWN)])}}})"

    def __reduce__(self) -> tuple[type[GroupLists], tuple[tuple[tuple[Group, RankedList], ...]]]:
        return (GroupLists, (tuple(self.items()),))
