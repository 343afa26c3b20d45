"""A snapshot of a query with groups: every list at once, in batches, or only the groups where something came out."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.histogram import Histogram, Item
from podium.query.schema import Column, Kind
from podium.sources.domains import item_rows
from podium.sources.group_cut import Group, GroupProfiles
from podium.sources.protocol import DomainSize
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.expressions import COUNT
from podium.sources.sql.groups.queries import NUMBER, RANK, GroupedSql
from podium.sources.sql.loaded_items import loaded_groups
from podium.sources.sql.relation import ItemTable
from podium.sources.sql.snapshot import COUNTS, Session, SqlSnapshot, all_decoded, decoded

__all__ = ["GroupedSqlSnapshot"]

_Place = tuple[int, int]
_Row = tuple[Any, ...]


class GroupedSqlSnapshot(SqlSnapshot):
    """One question's view, with groups or without."""

    def __init__(
        self, builder: SqlBuilder, session: Session, *, table: str = COUNTS, keep_users: Callable[[], str] | None = None
    ) -> None:
        super().__init__(builder, session, table=table, keep_users=keep_users)
        self._grouped = GroupedSql(builder)
        self._width = len(builder.group_places)
        # Built once: there may be a million rows.
        self._group_columns, self._item_columns = builder.columns[: self._width], builder.columns[self._width :]
        self._numbers = count(1)
        self._limit: int | None = None

    def grouped_top_rows(self, limit: int) -> Iterator[tuple[Group, Histogram]]:
        """For every group with rows its ``limit`` largest items and the count of the next."""
        self._begin()
        self._streamed = True
        # One more than the limit: the count of the next item enters the threshold.
        query = self._grouped.top_rows(positive_integer(limit, "limit") + 1)
        return self._histograms(self._session.stream(self._dialect.sql(query)), limit)

    def grouped_profiles(self, limit: int) -> GroupProfiles:
        """The counts of every group without names, of rows that are kept."""
        self._begin()
        self._streamed, self._limit = True, positive_integer(limit, "limit")
        self._session.keep(self._table, self._grouped.ranked(limit + 1))
        profiles: dict[tuple[int, ...], int] = {}
        of_group = array("i")
        counts: list[int] = []
        for rows in self._session.stream(self._dialect.sql(self._grouped.ranked_counts(self._table))):
            for rank, number in rows:
                if rank == 1 and counts:
                    of_group.append(profiles.setdefault(tuple(counts), len(profiles)))
                    counts = []
                counts.append(number)
        if counts:
            of_group.append(profiles.setdefault(tuple(counts), len(profiles)))
        return GroupProfiles(tuple(_cut_at(some, limit) for some in profiles), np.array(of_group, dtype=np.int32))

    def grouped_rows(self, numbers: Sequence[int]) -> Iterator[tuple[Group, Histogram]]:
        """The rows of the groups with these numbers, in the order of the groups."""
        if self._limit is None:
            allowed = "numbers of grouped_profiles, which is read first"
            raise InvalidArgument("numbers", f"{len(numbers)} groups", allowed=allowed)
        wanted = f"{self._table}_wanted_{next(self._numbers)}"
        self._session.load(wanted, (Column(NUMBER, Kind.INTEGER),), [(number,) for number in sorted(set(numbers))])
        query = self._grouped.rows_of(self._table, wanted)
        return self._histograms(self._session.stream(self._dialect.sql(query)), self._limit)

    def grouped_tallies(self) -> Iterator[tuple[Group, tuple[int, ...], tuple[int, ...]]]:
        """For every group with rows the distinct counts in descending order, and how many items have each."""
        self._require_grouped()
        self._keep()
        size = self._domain_size()
        return self._tallies(self._session.stream(self._dialect.sql(self._grouped.tallies(self._table))), size)

    def grouped_names(self, places: Mapping[Group, Sequence[_Place]]) -> dict[Group, tuple[Item, ...]]:
        """The items at these places (count, rank) of each group."""
        self._require_grouped()
        self._keep()
        wanted = f"{self._table}_places_{next(self._numbers)}"
        columns = self._group_columns
        keys = dict(zip(places, item_rows(places, columns, "groups", self._dialect), strict=True))
        rows = [(*keys[group], *place) for group, some in places.items() for place in sorted(set(some))]
        self._session.load(wanted, loaded_groups(columns, COUNT, RANK), rows)
        found: dict[tuple[Group, int, int], Item] = {}
        for query in self._name_queries(wanted):
            for *texts, number, rank in self._fetch(query):
                group, item = self._decoded(texts)
                found[group, int(number), int(rank)] = item
        if isinstance(self._builder.domain, DomainSize):
            found |= self._unused_numbers(wanted, places)
        if any((group, *place) not in found for group, some in places.items() for place in some):
            raise InvalidArgument("places", "a place without an item", allowed="ranks below the size of their tally")
        return {group: tuple(found[group, number, rank] for number, rank in some) for group, some in places.items()}

    def _name_queries(self, wanted: str) -> Iterator[Any]:
        yield self._grouped.names(self._table, wanted)
        if isinstance(self._builder.domain, ItemTable):
            yield self._grouped.unused_names(self._table, wanted, self._builder.domain)

    def _unused_numbers(
        self, wanted: str, places: Mapping[Group, Sequence[_Place]]
    ) -> dict[tuple[Group, int, int], Item]:
        """The unused items of 0..N-1: their rank among those, plus how many used ones precede them."""
        used: dict[tuple[Group, int], int] = {}
        for *texts, rank, members in self._fetch(self._grouped.unused_shifts(self._table, wanted)):
            used[self._group(texts), int(rank)] = int(members)
        unused = ((group, rank) for group, some in places.items() for number, rank in some if number == 0)
        return {(group, 0, rank): rank + used.get((group, rank), 0) for group, rank in unused}

    def _domain_size(self) -> int:
        """How many items a known domain has, the same in every group; 0 if it is unknown."""
        domain = self._builder.domain
        if isinstance(domain, ItemTable):
            ((size,),) = self._fetch(self._grouped.domain_size(domain))
            return int(size)
        return 0 if domain is None else domain.size

    def _tallies(
        self, batches: Iterable[Sequence[_Row]], size: int
    ) -> Iterator[tuple[Group, tuple[int, ...], tuple[int, ...]]]:
        """Rows of group, count and number of items as tallies: the texts of a group tell where the next begins."""
        current: list[Any] | None = None
        tally: dict[int, int] = {}
        for rows in batches:
            for *texts, number, members in rows:
                if texts != current:
                    if current is not None:
                        yield self._tally(current, tally, size)
                    current, tally = texts, {}
                tally[int(number)] = int(members)
        if current is not None:
            yield self._tally(current, tally, size)

    def _tally(
        self, texts: Sequence[Any], tally: dict[int, int], size: int
    ) -> tuple[Group, tuple[int, ...], tuple[int, ...]]:
        unused = size - sum(tally.values())
        if unused > 0:
            tally[0] = unused
        return self._group(texts), tuple(tally), tuple(tally.values())

    def _histograms(self, batches: Iterable[Sequence[_Row]], limit: int) -> Iterator[tuple[Group, Histogram]]:
        """Rows in the order of groups and ranks as the largest rows of each group; a rank of 1 begins a group."""
        some: list[_Row] = []
        for rows in batches:
            for row in rows:
                if row[-1] == 1 and some:
                    yield self._histogram(some, limit)
                    some = []
                some.append(row)
        if some:
            yield self._histogram(some, limit)

    def _histogram(self, rows: Sequence[_Row], limit: int) -> tuple[Group, Histogram]:
        counts = [int(row[-2]) for row in rows]
        more = counts[limit] if len(counts) > limit else 0
        items = all_decoded(self._item_columns, (row[self._width : -2] for row in rows[:limit]))
        # An array is checked at once, and not count by count.
        return self._group(rows[0]), Histogram.top_rows(items, np.array(counts[:limit]), next_count=more)

    def _decoded(self, texts: Sequence[Any]) -> tuple[Group, Item]:
        return self._group(texts), decoded(self._item_columns, tuple(texts[self._width :]))

    def _group(self, texts: Sequence[Any]) -> Group:
        return decoded(self._group_columns, tuple(texts[: self._width]))

    def _require_grouped(self) -> None:
        if not self._width:
            raise InvalidArgument("query", "one list", allowed="a query with groups")

    def _begin(self) -> None:
        """Raise if something was read already: a stream is not shared."""
        self._require_grouped()
        if self._streamed or self._kept:
            raise InvalidArgument("snapshot", "already read", allowed="one way of reading")


def _cut_at(counts: tuple[int, ...], limit: int) -> tuple[tuple[int, ...], int]:
    """The counts that are listed, and the next."""
    return tuple(map(int, counts[:limit])), int(counts[limit]) if len(counts) > limit else 0
