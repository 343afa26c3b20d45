"""Small worlds: every histogram over a few items with small counts, and everything that one user can change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import exact_integer, positive_integer

__all__ = ["Relation", "SmallHistogram", "World", "neighbours", "replacements", "world"]

SmallHistogram: TypeAlias = dict[str, int]
Relation: TypeAlias = Literal["add", "replace"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def world(items: Sequence[str] = ("a", "b", "c"), largest: int = 3) -> list[SmallHistogram]:
    """Every histogram over these items with counts 0..largest."""
    return [
        dict(zip(items, counts, strict=True)) for counts in itertools.product(range(largest + 1), repeat=len(items))
    ]


def neighbours(counts: Mapping[str, int], max_items: int | None = None) -> Iterator[SmallHistogram]:
    """Every histogram that one more user makes: 1 more on a nonempty set of at most ``max_items`` items."""
    for chosen in _baskets(counts, max_items):
        yield {item: count + (item in chosen) for item, count in counts.items()}


def replacements(counts: Mapping[str, int], max_items: int | None = None) -> Iterator[SmallHistogram]:
    """Every histogram where one user went and another came, each with at most ``max_items`` items."""
    seen = {tuple(counts.values())}
    baskets = [frozenset[str](), *_baskets(counts, max_items)]
    for gone, come in itertools.product(baskets, repeat=2):
        if all(counts[item] for item in gone):
            other = {item: count - (item in gone) + (item in come) for item, count in counts.items()}
            if tuple(other.values()) not in seen:
                seen.add(tuple(other.values()))
                yield other


def _baskets(counts: Mapping[str, int], max_items: int | None) -> Iterator[frozenset[str]]:
    """The nonempty sets of items that a user may have."""
    limit = len(counts) if max_items is None else min(max_items, len(counts))
    for size in range(1, limit + 1):
        yield from map(frozenset, itertools.combinations(counts, size))


@dataclass(frozen=True, slots=True, init=False)
class World:
    """All histograms over ``items`` with counts 0..largest, on top of ``lift``, and all their neighbours.

    ``relation="add"``: one user with at most ``max_items_per_user`` items is added or removed. ``"replace"``: one is
    replaced by another. ``lift`` adds fixed counts first, so that a world can lie where a threshold is.
    """

    items: tuple[str, ...]
    largest: int
    max_items_per_user: int | None
    relation: Relation
    lift: Mapping[str, int] = field(hash=False)

    def __init__(
        self,
        items: int | Sequence[str] = 3,
        largest: int = 2,
        *,
        max_items_per_user: int | None = None,
        relation: Relation = "add",
        lift: Mapping[str, int] | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "items", _named(items))
        put(self, "largest", exact_integer(largest, "largest", minimum=0))
        bound = None if max_items_per_user is None else positive_integer(max_items_per_user, "max_items_per_user")
        put(self, "max_items_per_user", bound)
        if relation not in ("add", "replace"):
            raise InvalidArgument("relation", relation, allowed="'add' or 'replace'")
        put(self, "relation", relation)
        known = {item: exact_integer(count, "lift", minimum=0) for item, count in (lift or {}).items()}
        if not set(known) <= set(self.items):
            raise InvalidArgument("lift", dict(lift or {}), allowed=f"counts for the items {', '.join(self.items)}")
        put(self, "lift", known)

    def histograms(self) -> list[SmallHistogram]:
        """Every histogram of the world; neighbours may lie one step outside."""
        return [
            {item: count + self.lift.get(item, 0) for item, count in counts.items()}
            for counts in world(self.items, self.largest)
        ]

    def neighbours(self, counts: Mapping[str, int]) -> Iterator[SmallHistogram]:
        """What one user can make of a histogram; the other direction is the same pair seen from the other end."""
        if self.relation == "add":
            return neighbours(counts, self.max_items_per_user)
        return replacements(counts, self.max_items_per_user)

    def __str__(self) -> str:
        lift = "".join(f", {item} from {count}" for item, count in self.lift.items())
        bound = "any number of" if self.max_items_per_user is None else f"at most {self.max_items_per_user}"
        moved = "added or removed" if self.relation == "add" else "replaced"
        return f"{len(self.items)} items, counts 0 to {self.largest}{lift}; one user with {bound} items {moved}"


def _named(items: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(items, int):
        if not 1 <= items <= len(_LETTERS):
            raise InvalidArgument("items", items, allowed=f"1 to {len(_LETTERS)} items, or their names")
        return tuple(_LETTERS[:items])
    names = tuple(items)
    if not names or len(set(names)) != len(names):
        raise InvalidArgument("items", items, allowed="distinct names, at least one")
    return names
