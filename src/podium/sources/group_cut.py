"""Groups of a question: which there may be, in how many of them a user counts, and what leaves the engine of each.

A group is a value of the group column, or a tuple of values where there are several; groups come in their binary order,
never by size. A pair is then (user, group, item).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.histogram import Histogram, Item

if TYPE_CHECKING:
    from podium.sources.protocol import CountQuery, Domain

__all__ = ["Group", "GroupCut", "GroupProfiles", "GroupedKeptPairs", "GroupedPairs", "GroupedSnapshot", "flat_items"]

Group: TypeAlias = Item


@dataclass(frozen=True, slots=True)
class GroupCut:
    """One histogram for each value of ``columns``; rows whose group is missing do not count.

    Each user counts in at most ``per_user`` groups, those with the smallest hash of salt, user and group: a rule that
    sees this user's rows only, and applies to ``per_user=1`` as well, because a user may have rows in two countries.
    None keeps all groups of a user, and weights may then count the pairs of all of them. ``known`` lists the groups
    that count at all; rows of others are dropped before the cut, and so are items outside a domain.

    ``max_items_per_user`` counts a user's (group, item) pairs over all groups that the user keeps. With
    ``within_group`` it counts the items of one group, and so does the t of weights. ``pairs_per_user`` is a cut that
    comes before all of that and is the same in every query of a question: of the pairs of all groups that a user keeps,
    those with the smallest hash of salt, user, group and item.
    """

    columns: tuple[str, ...]
    per_user: int | None = 1
    known: Domain | None = None
    within_group: bool = False
    pairs_per_user: int | None = None

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise InvalidArgument("per", self.columns, allowed="one or more distinct columns")
        if self.per_user is not None:
            positive_integer(self.per_user, "groups_per_user")
        if self.pairs_per_user is not None:
            positive_integer(self.pairs_per_user, "max_items_per_user")

    @property
    def bounds(self) -> bool:
        """Whether a hash chooses what counts."""
        return self.per_user is not None or self.pairs_per_user is not None


@dataclass(frozen=True, slots=True)
class GroupProfiles:
    """The largest counts of every group, without names; groups with the same counts share a profile.

    ``profiles[i]`` is (counts in descending order, count of the next item); ``of_group[r]`` is the index of the profile
    of group number r, where groups are numbered in their binary order. All of it is private.
    """

    profiles: tuple[tuple[tuple[int, ...], int], ...]
    of_group: NDArray[np.int32]


def flat_items(query: CountQuery, items: Mapping[Group, Sequence[Item]]) -> tuple[Item, ...]:
    """The items of each group of a query as tuples that begin with the columns of the group."""
    if query.groups is None:
        raise InvalidArgument("query", "one list", allowed="a query with groups")
    groups, alone = len(query.groups.columns), len(query.items) == 1
    return tuple(
        (*((group,) if groups == 1 else _parts(group)), *((item,) if alone else _parts(item)))
        for group, some in items.items()
        for item in some
    )


def _parts(values: Item) -> tuple[Item, ...]:
    return values if isinstance(values, tuple) else (values,)


class GroupedPairs(Protocol):
    """The kept pairs of a few named items in each group; t is how many of its group's items a user has."""

    def sizes(self, edges: Sequence[int]) -> dict[Group, tuple[int, ...]]:
        """For each group and edge, the users with at least ``edge`` of its items and fewer than the next edge."""
        ...

    def sums(
        self, weights: Mapping[Group, Sequence[tuple[int, int]]], clip: int | None = None
    ) -> dict[Group, tuple[int, ...]]:
        """The weighted count of each item of the groups that have weights; steps must reach the number of items.

        With a ``clip`` pair values are clipped to it; it is at most that of the kept pairs.
        """
        ...


class GroupedSnapshot(Protocol):
    """What a snapshot of a query with groups answers, by a number of engine queries that is the same for any groups."""

    def grouped_top_rows(self, limit: int) -> Iterator[tuple[Group, Histogram]]:
        """For every group with rows its ``limit`` largest items and the count of the next, in the order of the groups.

        A single query that keeps nothing and whose rows arrive in batches: call it once, and nothing else with it.
        """
        ...

    def grouped_profiles(self, limit: int) -> GroupProfiles:
        """The counts of ``grouped_top_rows`` without names: what is needed where there may be a million groups.

        The rows are kept in a table that lives as long as the snapshot.
        """
        ...

    def grouped_rows(self, numbers: Sequence[int]) -> Iterator[tuple[Group, Histogram]]:
        """The rows of the groups with these numbers in ``grouped_profiles``, which comes first; in their order."""
        ...

    def grouped_tallies(self) -> Iterator[tuple[Group, tuple[int, ...], tuple[int, ...]]]:
        """For every group with rows the distinct counts in descending order, and how many items have each.

        With a domain of items, those that nobody in the group has are included, under the count 0.
        """
        ...

    def grouped_names(self, places: Mapping[Group, Sequence[tuple[int, int]]]) -> dict[Group, tuple[Item, ...]]:
        """The items at these places (count, rank) of each group, as in ``names``; two queries for all groups."""
        ...


class GroupedKeptPairs(Protocol):
    """What the kept pairs of a query with groups answer, beside snapshots."""

    def grouped_among(self, items: Mapping[Group, Sequence[Item]]) -> GroupedPairs:
        """The pairs of these items of each group alone."""
        ...

    def grouped_users(self, groups: Collection[Group]) -> dict[Group, int]:
        """How many users each of these groups has."""
        ...

    def grouped_rest_totals(
        self, items: Mapping[Group, Sequence[Item]], clip: int, buckets: int
    ) -> dict[Group, tuple[tuple[int, ...], tuple[int, ...]]]:
        """What ``rest_totals`` says, for each of these groups beside its items: users count in each of their groups."""
        ...
