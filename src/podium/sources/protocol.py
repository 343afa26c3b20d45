"""The interface of a source: it counts, bounds, orders and names in the engine, and returns only what is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from podium.errors import InvalidArgument
from podium.exact import exact_integer, positive_integer
from podium.histogram import Histogram, Item
from podium.query.predicate import Predicate
from podium.query.ranked_by import MAX_CLIP
from podium.query.schema import Schema
from podium.sources.group_cut import Group, GroupCut, GroupedKeptPairs, GroupedPairs, GroupedSnapshot, GroupProfiles
from podium.sources.joined_table import JoinedTable
from podium.sources.pair_norm import PairNorm
from podium.user_columns import UserColumns, each_user_column

__all__ = [
    "MAX_CLIP",
    "CountQuery", "Domain", "DomainFile", "DomainItems", "DomainSize", "DomainTable", "Group", "GroupCut",
    "GroupProfiles", "GroupedKeptPairs", "GroupedPairs", "GroupedSnapshot", "KeptPairs", "NamedPairs", "PairValue",
    "Snapshot", "Source",
]  # fmt: skip

_SALT = re.compile(r"[0-9a-f]{32,128}")
_MAX_DOMAIN_SIZE = 2**63 - 1
_MAX_STEPS, _MAX_WEIGHT, _MAX_WITHOUT, _MAX_WITHOUT_IN_GROUPS = 100, 2**31, 10_000, 10_000_000
_MAX_GRID_BITS = 20


@dataclass(frozen=True, slots=True)
class PairValue:
    """What one user adds to one item: rows (``column`` None) or the sum of a numeric column, in integer units, clipped.

    A row counts floor(value / ``unit``), clipped to at most ``clip``; rows below 0 count 0, missing ones and NaN
    nothing. A row of a list of items counts once for each distinct element. The sum of a user's rows for an item is
    clipped to ``clip`` again, and pairs whose value is 0 do not exist. In a float column, value / unit is the quotient
    of two doubles, the second nearest to the unit, rounded as IEEE 754 says: the same on every engine.

    With a negative ``floor`` sums are signed and clipped to ``floor``..``clip``; rows are then clipped to -R..R, where
    R is the larger of both, and a negative row is rounded down as well. The count of an item is the sum S of its pairs,
    items with S <= 0 are treated as if no row had them. With ``grid_bits`` b it is floor(S * 2^b / clip) instead.
    """

    column: str | None = None
    unit: Fraction = Fraction(1)
    clip: int = MAX_CLIP
    floor: int = 0
    grid_bits: int | None = None

    def __post_init__(self) -> None:
        if positive_integer(self.clip, "clip") > MAX_CLIP:
            raise InvalidArgument("clip", self.clip, allowed="an integer from 1 to 2^40", hint="Take a larger unit.")
        if not -MAX_CLIP <= exact_integer(self.floor, "floor") <= 0:
            raise InvalidArgument("floor", self.floor, allowed="an integer from -2^40 to 0", hint="Take a larger unit.")
        if self.unit <= 0:
            raise InvalidArgument("unit", self.unit, allowed="a positive Fraction")
        if self.column is None and (self.unit != 1 or self.floor):
            raise InvalidArgument("unit", self.unit, allowed="the unit 1 and the floor 0 where rows are counted")
        if self.grid_bits is not None and (
            exact_integer(self.grid_bits, "grid_bits", minimum=0) > _MAX_GRID_BITS or self.floor
        ):
            allowed = f"an integer from 0 to {_MAX_GRID_BITS}, for sums that are not signed"
            raise InvalidArgument("grid_bits", self.grid_bits, allowed=allowed)

    @property
    def reach(self) -> int:
        """The most that a row counts, up or down."""
        return max(self.clip, -self.floor)


@dataclass(frozen=True, slots=True)
class CountQuery:
    """What to count: distinct users per item, or sums of pair values, among rows that satisfy ``where``.

    With several ``user`` columns their values together are one user, and a row where one is missing has none.

    With ``max_items_per_user`` each user keeps at most that many items: those with the smallest hash of ``salt``, user
    and item. The salt is hex text, fresh for each question and the same in all its queries.

    With ``weights``, steps (up_to, weight), a user who keeps t items adds to each of them the weight of the first step
    with t <= up_to instead of 1; the last step ends at ``max_items_per_user``. Counts are then exact sums of weights.

    Items in ``without`` are excluded, as if no row had them; with several item columns they are tuples.

    With ``value`` a user adds the value of the pair to an item instead of 1, with weights the product of both; t is
    the number of pairs whose value is not 0. With ``norm`` a user adds weighted parts of the value.

    With ``groups`` pairs are (user, group, item), there is a histogram for each group, and items in ``without`` are
    tuples that begin with the columns of their group.

    ``joins`` come first: columns are those of all joined tables, and rows those that have a match in each of them.
    """

    items: tuple[str, ...]
    user: UserColumns
    where: Predicate | None = None
    max_items_per_user: int | None = None
    salt: str | None = None
    weights: tuple[tuple[int, int], ...] | None = None
    without: tuple[Item, ...] = ()
    value: PairValue | None = None
    groups: GroupCut | None = None
    norm: PairNorm | None = None
    joins: tuple[JoinedTable, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that are counted: those of the group, then those of the item."""
        return self.items if self.groups is None else (*self.groups.columns, *self.items)

    @property
    def bounds(self) -> bool:
        """Whether a hash chooses what counts, for which a salt is needed."""
        return self.max_items_per_user is not None or (self.groups is not None and self.groups.bounds)

    def __post_init__(self) -> None:
        if self.norm is not None:
            _check_norm(self.norm, self)
        if not self.items or len(set(self.items)) != len(self.items):
            raise InvalidArgument("item", self.items, allowed="one or more distinct columns")
        if self.max_items_per_user is not None:
            positive_integer(self.max_items_per_user, "max_items_per_user")
        if self.bounds != (self.salt is not None):
            allowed = "a salt with max_items_per_user or groups of a user, and only then"
            raise InvalidArgument("salt", self.salt, allowed=allowed)
        if self.salt is not None and not _SALT.fullmatch(self.salt):
            raise InvalidArgument("salt", "another text", allowed="32 to 128 lower-case hex digits")
        if self.weights is not None:
            _check_weights(self.weights, self.max_items_per_user)
        most = _MAX_WITHOUT if self.groups is None else _MAX_WITHOUT_IN_GROUPS
        if len(self.without) > most:
            raise InvalidArgument("without", f"{len(self.without)} items", allowed=f"at most {most} items")
        if self.groups is not None:
            _check_groups(self.groups, self)
        if (
            self.weights is not None
            and self.value is not None
            and (self.value.floor or self.value.grid_bits is not None)
        ):
            raise InvalidArgument("weights", self.weights, allowed="no weights with signed sums or grid_bits")


def _check_norm(norm: PairNorm, query: CountQuery) -> None:
    value, most = query.value, query.max_items_per_user
    other = query.weights is not None or query.groups is not None
    if value is None or value.floor or value.grid_bits is not None or other:
        raise InvalidArgument("norm", "a bound", allowed="with values above 0, without weights, grid_bits or groups")
    if norm.named is not None or most is None or most * norm.most**2 >= _MAX_DOMAIN_SIZE:
        raise InvalidArgument("max_items_per_user", most, allowed="a number, so that squares fit into 63 bits")


def _check_groups(groups: GroupCut, query: CountQuery) -> None:
    if not {*each_user_column(query.user), *query.items}.isdisjoint(groups.columns):
        raise InvalidArgument("per", groups.columns, allowed="other columns than the user's and the items'")
    if query.weights is not None and not groups.within_group and groups.per_user is not None:
        allowed = "weights by the number of items within a group, unless users keep all their groups"
        raise InvalidArgument("weights", query.weights, allowed=allowed)


def _check_weights(weights: tuple[tuple[int, int], ...], max_items_per_user: int | None) -> None:
    steps = [(positive_integer(up_to, "weights"), positive_integer(weight, "weights")) for up_to, weight in weights]
    if not 1 <= len(steps) <= _MAX_STEPS or steps[0][1] > _MAX_WEIGHT:
        raise InvalidArgument("weights", weights, allowed=f"1 to {_MAX_STEPS} steps with weights of at most 2^31")
    if any(right[0] <= left[0] or right[1] > left[1] for left, right in pairwise(steps)):
        raise InvalidArgument("weights", weights, allowed="steps (up_to, weight): up_to increases, weight does not")
    if steps[-1][0] != max_items_per_user:
        allowed = f"steps that end at {max_items_per_user=}"
        raise InvalidArgument("weights", weights, allowed=allowed, hint="Give both the same last number.")


@dataclass(frozen=True, slots=True)
class DomainSize:
    """The items 0..size-1, which are never listed."""

    size: int

    def __post_init__(self) -> None:
        if exact_integer(self.size, "domain_size", minimum=1) > _MAX_DOMAIN_SIZE:
            raise InvalidArgument("domain_size", self.size, allowed="an integer from 1 to 2^63 - 1")


@dataclass(frozen=True, slots=True)
class DomainItems:
    """A list of items, given by the caller; with several item columns, tuples."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class DomainTable:
    """A table that the engine can read; ``columns`` in the order of the item columns, by default named like them."""

    table: str
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DomainFile:
    """A Parquet, CSV or JSON file on this machine, whatever the engine; ``columns`` as in DomainTable."""

    path: str | Path
    columns: tuple[str, ...] | None = None


Domain: TypeAlias = DomainSize | DomainItems | DomainTable | DomainFile
"""A known domain: public, enumerable, stated by the caller. Items outside it are dropped silently."""


class Snapshot(GroupedSnapshot, Protocol):
    """A consistent view of the data for one question.

    ``top_rows`` is a single query that keeps nothing: call it once, and not together with the next two.
    ``counts_of_counts`` and ``names`` share a table that lives as long as the snapshot. ``sizes`` is a separate query
    and can be called at any time; where an engine has no transactions it may see a later state than the others.
    """

    def top_rows(self, limit: int) -> Histogram:
        """The ``limit`` items with the most users and the count of the next: ``limit + 1`` rows leave the engine."""
        ...

    def counts_of_counts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The distinct counts in descending order, and how many items have each.

        With a domain, items without users are included, under the count 0.
        """
        ...

    def names(self, places: Sequence[tuple[int, int]]) -> tuple[Item, ...]:
        """The items at those places: (count, rank among the items with that count in their binary order, from 0)."""
        ...

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users with at least ``edge`` items and fewer than the next edge.

        The items are those that would be counted without contribution bounding; users with fewer items than the first
        edge are in no bucket. Edges are public and increasing; only these few numbers leave the engine.
        """
        ...


class NamedPairs(Protocol):
    """The kept pairs of a few named items; t is how many of these items a user has."""

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users with at least ``edge`` of the items and fewer than the next edge."""
        ...

    def sums(self, weights: Sequence[tuple[int, int]], clip: int | None = None) -> tuple[int, ...]:
        """The weighted count of each item, in the given order; the steps must reach the number of items.

        With a ``clip`` pair values are clipped to it; it is at most that of the kept pairs.
        """
        ...

    def norm_sizes(self, norm: PairNorm, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users whose Q is at least ``edge`` and less than the next edge."""
        ...

    def norm_sums(self, norm: PairNorm) -> tuple[int, ...]:
        """For each item, in the given order, the sum of the weighted parts of all users."""
        ...


class KeptPairs(GroupedKeptPairs, Protocol):
    """The distinct pairs of one question, computed once and kept in the engine: one state of the table.

    Whatever several rounds read comes from here. The pairs are private rows, so they are in temporary storage of the
    engine that nobody else can read, and are dropped when the question ends.
    """

    def snapshot(self, query: CountQuery) -> Snapshot:
        """The pairs as this query bounds, weighs and excludes them; its columns and condition are those kept.

        The clip of its value may be smaller than the one kept.
        """
        ...

    def among(self, items: tuple[Item, ...]) -> NamedPairs:
        """The pairs of these items alone."""
        ...

    def rest_totals(self, items: tuple[Item, ...], clip: int, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What users add to all items but these, each pair at most ``clip`` and each user at most 2^(buckets - 1).

        For each bucket, as in ``value_histograms``, how many users add as much, and what they add together.
        """
        ...

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by sqrt(SUM(value^2)), and users by SUM(value), in the same buckets; values are not signed.

        Where squares have 64 bits only, values above 2^30 are taken for that.
        """
        ...

    def value_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two histograms; bucket 0 is for 1, bucket j for more than 2^(j-1) and at most 2^j, the last is open.

        First pairs by the size of their value, |value| if it is signed: a user with t pairs, n of them in a bucket,
        adds n * floor(resolution / t) there. Second the users by t. Users without pairs are in no bucket. With groups t
        counts the pairs of all of them.
        """
        ...


@runtime_checkable
class Source(Protocol):
    """An engine with one table of events.

    Everything but ``snapshot`` works without reading rows of the data, so it may fail before anything is paid.
    """

    @property
    def name(self) -> str:
        """The name of this source in messages: no password, no row."""
        ...

    @property
    def dialect(self) -> str:
        """The name of the engine's SQL dialect."""
        ...

    def schema(self) -> Schema:
        """The columns of the table and their kinds."""
        ...

    def max_clip(self, weight: int = 1) -> int:
        """The largest clip of pair values that are added up with weights up to this one: a public limit."""
        ...

    def check(self, query: CountQuery, *, domain: Domain | None = None, refresh: bool = True) -> None:
        """Raise unless the columns exist and are of kinds that can be counted and compared.

        The table is described anew, because it may have changed; ``refresh=False`` is for a question that did so.
        """
        ...

    def queries(
        self,
        query: CountQuery,
        *,
        limit: int | None = None,
        edges: Sequence[int] | None = None,
        domain: Domain | None = None,
        keep_pairs: bool = False,
        shown_as: str | None = None,
    ) -> tuple[str, ...]:
        """The SQL that would be sent: for ``sizes(edges)``, ``top_rows(limit)``, or without both for the other two.

        With ``keep_pairs`` they read kept pairs. ``shown_as`` replaces the table's name, for readers who should not
        see where the data is.
        """
        ...

    def domain_size(self, query: CountQuery, domain: Domain) -> int:
        """How many items a known domain has. Only the domain is read, never the data."""
        ...

    def known_groups(self, query: CountQuery) -> tuple[Group, ...]:
        """The groups that the query lists, in their order. Only this list is read, never the data."""
        ...

    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[Snapshot]:
        """A view of the data for one question."""
        ...

    def keep_pairs(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[KeptPairs]:
        """The pairs of a question that reads them several times; with a domain only those of its items."""
        ...

    def close(self) -> None:
        """Close the connection to the engine."""
        ...
