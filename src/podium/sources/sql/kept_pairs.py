"""Pairs that are computed once: every round of a question reads them, and nothing reads the table again.

    rows ──> pairs (kept) ──> counts, weighted by how many items a user has: once for each discovery
                │             (where a join is cheaper than a window, these numbers are kept too)
                │
                └──> pairs of the named items (kept) ──> how often each occurs among users with t of them
                          │                                   └──> sizes, and sums for any weights
                          └──> pairs of fewer of them, ...

Later rounds ask about fewer items than earlier ones, so each takes its pairs from the smallest table that has them.
How often n items occur for each t is at most n^2 numbers: if n is small they leave the engine, in one query, and if
not they are kept there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.histogram import Item
from podium.sources.domains import item_rows
from podium.sources.group_cut import Group, flat_items
from podium.sources.pair_norm import PairNorm
from podium.sources.protocol import CountQuery, PairValue
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.groups.group_totals import BesideGroups
from podium.sources.sql.groups.grouped_lists import GroupedSqlSnapshot
from podium.sources.sql.groups.named_pairs import SqlGroupedPairs, counting, require_groups
from podium.sources.sql.items_by_size import ItemsBySize
from podium.sources.sql.loaded_items import LEFT_OUT, LISTED_ITEMS, loaded_columns, loaded_table
from podium.sources.sql.pair_values import check_value
from podium.sources.sql.relation import ItemTable
from podium.sources.sql.snapshot import COUNTS, Session, all_decoded, exact_edges

__all__ = ["FEW_ITEMS", "KEPT_PAIRS", "KEPT_USERS", "SqlKeptPairs"]

KEPT_PAIRS, KEPT_USERS = "podium_kept", "podium_kept_users"
_AMONG, _BY_SIZE = "podium_among", "podium_by_size"
_MAX_BUCKETS, _MAX_RESOLUTION = 64, 2**31
FEW_ITEMS = 300
"""Of so many items, which a round released, the numbers for each t leave the engine: 90,000 at most."""


class SqlKeptPairs:
    """The pairs of one question in a temporary table of its session."""

    def __init__(self, builder: SqlBuilder, session: Session) -> None:
        session.keep(KEPT_PAIRS, builder.pairs_to_keep(), pairs=True)
        self._builder = builder.reading_kept(KEPT_PAIRS)
        self._session = session
        self._numbers = count(1)
        self._named: list[SqlNamedPairs] = []
        self._users_kept = False

    def snapshot(self, query: CountQuery) -> GroupedSqlSnapshot:
        """The pairs as this query bounds, weighs and excludes them."""
        kept = self._builder.query
        if (query.items, query.user, query.where) != (kept.items, kept.user, kept.where):
            raise InvalidArgument("query", "another question", allowed="the columns and condition of the kept pairs")
        require_groups(query, kept)
        _require_value(query.value, kept.value)
        if query.value is not None:
            check_value(query, query.value, self._builder.relation.schema, self._builder.relation.dialect)
        builder, number = self._asking(query), next(self._numbers)
        if query.without:
            builder = replace(builder, without=self._load(f"{LEFT_OUT}_{number}", query.without))
        keep_users = self._keep_users if builder.keeps_users else None
        return GroupedSqlSnapshot(builder, self._session, table=f"{COUNTS}_{number}", keep_users=keep_users)

    def _keep_users(self) -> str:
        """Users with their numbers of items: for sizes, and for the weights of a discovery."""
        if not self._users_kept:
            self._session.keep(KEPT_USERS, self._builder.users())
            self._users_kept = True
        return KEPT_USERS

    def _asking(self, query: CountQuery) -> SqlBuilder:
        """The builder of a query of the kept pairs; kept sizes are of one way to count the items of a user."""
        sized = query.groups is None or query.groups == self._builder.query.groups
        return replace(self._builder, query=query, kept_sizes=self._builder.kept_sizes and sized)

    def grouped_among(self, items: Mapping[Group, Sequence[Item]]) -> SqlGroupedPairs:
        """The pairs of these items of each group alone."""
        return SqlGroupedPairs(self.among(flat_items(self._builder.query, items)), items)

    def among(self, items: tuple[Item, ...]) -> SqlNamedPairs:
        """The pairs of these items alone, kept the first time that they are asked for."""
        wanted = frozenset(items)
        for named in self._named:
            if named.items == items:
                return named
        # The most recent table has the fewest pairs.
        tables = (named.table for named in reversed(self._named) if named.kept and wanted <= named.among)
        number = next(self._numbers)
        listed = self._load(f"{LISTED_ITEMS}_{number}", tuple(dict.fromkeys(items)))
        query = counting(self._builder.query, within_group=True)
        kept = next(tables, KEPT_PAIRS)
        builder = replace(self._builder, query=query, kept=kept, kept_sizes=False, named=listed, without=None)
        named = SqlNamedPairs(items, builder, self._session, f"{_AMONG}_{number}", f"{_BY_SIZE}_{number}")
        self._named.append(named)
        return named

    def value_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Pairs by the size of their value, each user's shared out, and users by their number of pairs."""
        if self._builder.query.value is None:
            raise InvalidArgument("query", "distinct users", allowed="pairs that have a value")
        if not 2 <= positive_integer(buckets, "buckets") <= _MAX_BUCKETS:
            raise InvalidArgument("buckets", buckets, allowed=f"an integer from 2 to {_MAX_BUCKETS}")
        if positive_integer(resolution, "resolution") > _MAX_RESOLUTION:
            raise InvalidArgument("resolution", resolution, allowed="an integer from 1 to 2^31")
        fetch, sql = self._session.fetch, self._builder.relation.dialect.sql
        shares = {int(j): int(total) for j, total in fetch(sql(self._builder.value_sizes(buckets, resolution)))}
        builder = self._asking(counting(self._builder.query, within_group=False))
        (users,) = fetch(sql(builder.sizes([1, *(2**j + 1 for j in range(buckets - 1))])))
        return tuple(shares.get(j, 0) for j in range(buckets)), tuple(map(int, users))

    def rest_totals(self, items: tuple[Item, ...], clip: int, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by what they add to all items but these, and what they add: each pair at most ``clip``."""
        builder = self._resting(items, clip, buckets)
        fetch, sql = self._session.fetch, self._builder.relation.dialect.sql
        rows = {int(j): (int(users), int(total)) for j, users, total in fetch(sql(builder.rest_totals(buckets)))}
        found = [rows.get(j, (0, 0)) for j in range(buckets)]
        return tuple(users for users, _ in found), tuple(total for _, total in found)

    def grouped_users(self, groups: Collection[Group]) -> dict[Group, int]:
        """How many users each of these groups has."""
        return BesideGroups(self._builder, self._session, self._numbers).users(groups)

    def grouped_rest_totals(
        self, items: Mapping[Group, Sequence[Item]], clip: int, buckets: int
    ) -> dict[Group, tuple[tuple[int, ...], tuple[int, ...]]]:
        """The same of each of these groups and the items of its list."""
        builder = self._resting(flat_items(self._builder.query, items), clip, buckets)
        return BesideGroups(builder, self._session, self._numbers).totals(items, buckets)

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by the length of their values, and by their sum."""
        if not 2 <= positive_integer(buckets, "buckets") <= _MAX_BUCKETS:
            raise InvalidArgument("buckets", buckets, allowed=f"an integer from 2 to {_MAX_BUCKETS}")
        lengths, sums = [0] * buckets, [0] * buckets
        sql = self._builder.relation.dialect.sql(self._builder.users_by_amounts(buckets))
        for length, total, users in self._session.fetch(sql):
            lengths[int(length)] += int(users)
            sums[int(total)] += int(users)
        return tuple(lengths), tuple(sums)

    def _resting(self, items: tuple[Item, ...], clip: int, buckets: int) -> SqlBuilder:
        """The builder of pairs without these items, each at most ``clip``."""
        query = self._builder.query
        if query.value is None:
            raise InvalidArgument("query", "distinct users", allowed="pairs that have a value")
        value = replace(query.value, clip=clip)
        _require_value(value, query.value)
        if not 2 <= positive_integer(buckets, "buckets") <= _MAX_BUCKETS:
            raise InvalidArgument("buckets", buckets, allowed=f"an integer from 2 to {_MAX_BUCKETS}")
        builder = replace(self._builder, query=replace(query, value=value))
        if not items:
            return builder
        return replace(builder, without=self._load(f"{LEFT_OUT}_{next(self._numbers)}", items))

    def _load(self, table: str, items: tuple[Item, ...]) -> ItemTable:
        columns, dialect = self._builder.columns, self._builder.relation.dialect
        self._session.load(table, loaded_columns(columns), item_rows(items, columns, "items", dialect))
        return loaded_table(table, columns, dialect)


@dataclass(slots=True)
class SqlNamedPairs:
    """The pairs of some items, and how often each occurs among the users who have t of them.

    Both are kept as soon as t matters; until then ``builder`` finds the pairs in the table of more items. Where that
    table has few pairs itself, those of a few items are found there again, at less cost than another table.
    """

    items: tuple[Item, ...]
    builder: SqlBuilder
    session: Session
    table: str
    by_size: str
    kept: bool = False
    among: frozenset[Item] = field(init=False)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _kept: dict[int | None, str] = field(default_factory=dict)
    _read: dict[int | None, ItemsBySize] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.among = frozenset(self.items)

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users with at least ``edge`` of the items and fewer than the next edge."""
        lower = exact_edges(edges)
        numbers = [0] * len(lower)
        if self._few:
            by_size = self._read_at(None).pairs_by_size()
        else:
            by_size = self._fetch(self.builder.users_by_size(self.by_size_at(None)))
        for size, pairs in by_size:
            place = sum(edge <= int(size) for edge in lower) - 1
            if place >= 0:
                # Every user with t items has t of these pairs.
                numbers[place] += int(pairs) // int(size)
        return tuple(numbers)

    def sums(self, weights: Sequence[tuple[int, int]], clip: int | None = None) -> tuple[int, ...]:
        """The weighted count of each item, in the given order."""
        if weights[-1][0] < len(self.among):
            raise InvalidArgument("weights", tuple(weights), allowed=f"steps that reach all {len(self.among)} items")
        self.require_exact(weights[0][1], clip)
        if self._few and (len(weights) > 1 or clip in self._read):
            found = self._read_at(clip).sums(weights)
            return tuple(found.get(item, 0) for item in self.items)
        if len(weights) == 1 and clip not in self._kept:
            # Whoever has how many of the items adds the same.
            query = replace(self.builder, query=self._query_at(clip)).equal_sums(weights[0][1])
        else:
            query = self.builder.weighted_sums(self.by_size_at(clip), weights)
        return self._in_order(self._fetch(query))

    def norm_sizes(self, norm: PairNorm, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users whose Q is at least ``edge`` and less than the next edge."""
        lower = exact_edges(edges)
        self._require_named(norm)
        self._keep()
        found = {int(place): int(users) for place, users in self._fetch(self.builder.norm_sizes(norm, lower))}
        return tuple(found.get(place, 0) for place in range(len(lower)))

    def norm_sums(self, norm: PairNorm) -> tuple[int, ...]:
        """For each item, in the given order, the sum of the weighted parts of all users."""
        self._require_named(norm)
        self._keep()
        return self._in_order(self._fetch(self.builder.norm_sums(norm)))

    def _require_named(self, norm: PairNorm) -> None:
        if self.builder.query.value is None or norm.named != len(self.items):
            raise InvalidArgument("norm", norm.named, allowed="the number of the items, of pairs that have a value")

    def _in_order(self, rows: Sequence[tuple[Any, ...]]) -> tuple[int, ...]:
        items = all_decoded(self.builder.columns, (tuple(row[:-1]) for row in rows))
        found = dict(zip(items, (int(row[-1]) for row in rows), strict=True))
        return tuple(found.get(item, 0) for item in self.items)

    def require_exact(self, weight: int, clip: int | None) -> None:
        """Raise if a sum with this weight and clip may be more than the engine adds up."""
        value, most = self.builder.query.value, self.builder.relation.dialect.arithmetic.max_term
        if value is not None and weight * (clip or value.clip) > most:
            allowed = f"a clip times the largest weight of at most {most} on this engine"
            raise InvalidArgument("clip", clip, allowed=allowed)

    def by_size_at(self, clip: int | None) -> str:
        """The table of how often each item occurs among users with t items, and of the sums of values at this clip."""
        if clip not in self._kept:
            query, table = self._query_at(clip), self.by_size if clip is None else f"{self.by_size}_{clip}"
            self._keep()
            self.session.keep(table, replace(self.builder, query=query).items_by_size())
            self._kept[clip] = table
        return self._kept[clip]

    @property
    def _few(self) -> bool:
        """Whether the numbers for each t are read: those of groups are added up in the engine."""
        return len(self.among) <= FEW_ITEMS and self.builder.query.groups is None

    def _read_at(self, clip: int | None) -> ItemsBySize:
        """How often each item occurs among users with t items, and the sums of values at this clip."""
        if clip not in self._read:
            if self.builder.kept == KEPT_PAIRS or self.builder.relation.dialect.computes_once:
                self._keep()
            query, columns = self._query_at(clip), self.builder.columns
            rows = self._fetch(replace(self.builder, query=query).named_by_size())
            items = all_decoded(columns, (tuple(row[: len(columns)]) for row in rows))
            # Without values the last number is that of the users.
            size, members = len(columns), len(columns) + 1
            self._read[clip] = ItemsBySize(
                [(item, int(row[size]), int(row[members]), int(row[-1])) for item, row in zip(items, rows, strict=True)]
            )
        return self._read[clip]

    def _keep(self) -> None:
        if not self.kept:
            self.session.keep(self.table, self.builder.pairs(), pairs=True)
            self.builder, self.kept = replace(self.builder, kept=self.table, named=None), True

    def _query_at(self, clip: int | None) -> CountQuery:
        """The query of the pairs, with this clip of their values."""
        query = self.builder.query
        if clip is None:
            return query
        if query.value is None:
            raise InvalidArgument("clip", clip, allowed="None where distinct users are counted")
        value = replace(query.value, clip=clip)
        _require_value(value, query.value)
        return replace(query, value=value)

    def _fetch(self, query: exp.Query) -> Sequence[tuple[Any, ...]]:
        return self.session.fetch(self.builder.relation.dialect.sql(query))


def _require_value(wanted: PairValue | None, kept: PairValue | None) -> None:
    """Raise unless the kept pair values give these: the same but for a smaller clip, and for the grid of counts."""
    if wanted is None or kept is None:
        same = wanted is kept
    else:
        same = wanted.clip <= kept.clip and replace(wanted, clip=kept.clip, grid_bits=kept.grid_bits) == kept
    if not same:
        raise InvalidArgument("query", "another value", allowed="the value of the kept pairs, with their clip or less")
