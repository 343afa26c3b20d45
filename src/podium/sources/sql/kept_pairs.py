"""Pairs that are computed once: every round of a question reads them, and nothing reads the table again.

    rows ──> pairs (kept) ──> counts, weighted by how many items a user has: once for each discovery
                │
                └──> pairs of the named items (kept) ──> how often each occurs among users with t of them (kept)
                          │                                   └──> sizes, and sums for any weights
                          └──> pairs of fewer of them, ...

Later rounds ask about fewer items than earlier ones, so each takes its pairs from the smallest table that has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from sqlglot import exp

from podium.errors import InvalidArgument, SourceFailure
from podium.histogram import Item
from podium.sources.domains import item_rows
from podium.sources.item_text import decode_item
from podium.sources.protocol import CountQuery
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.loaded_items import LEFT_OUT, LISTED_ITEMS, loaded_columns, loaded_table
from podium.sources.sql.relation import ItemTable
from podium.sources.sql.snapshot import COUNTS, Session, SqlSnapshot, exact_edges

__all__ = ["KEPT_PAIRS", "SqlKeptPairs"]

KEPT_PAIRS = "podium_kept"
_AMONG, _BY_SIZE = "podium_among", "podium_by_size"


class SqlKeptPairs:
    """The pairs of one question in a temporary table of its session."""

    def __init__(self, builder: SqlBuilder, session: Session) -> None:
        session.keep(KEPT_PAIRS, builder.pairs_to_keep(), pairs=True)
        self._builder = builder.reading_kept(KEPT_PAIRS)
        self._session = session
        self._numbers = count(1)
        self._named: list[_NamedPairs] = []

    def snapshot(self, query: CountQuery) -> SqlSnapshot:
        """The pairs as this query bounds, weighs and excludes them."""
        kept = self._builder.query
        if (query.items, query.user, query.where) != (kept.items, kept.user, kept.where):
            raise InvalidArgument("query", "another question", allowed="the columns and condition of the kept pairs")
        builder, number = replace(self._builder, query=query), next(self._numbers)
        if query.without:
            builder = replace(builder, without=self._load(f"{LEFT_OUT}_{number}", query.without))
        return SqlSnapshot(builder, self._session, table=f"{COUNTS}_{number}")

    def among(self, items: tuple[Item, ...]) -> _NamedPairs:
        """The pairs of these items alone, kept the first time that they are asked for."""
        wanted = frozenset(items)
        for named in self._named:
            if named.items == items:
                return named
        # The most recent table has the fewest pairs.
        table = next((named.table for named in reversed(self._named) if wanted <= named.among), KEPT_PAIRS)
        number = next(self._numbers)
        listed = self._load(f"{LISTED_ITEMS}_{number}", items)
        builder = replace(self._builder, kept=table, kept_sizes=False, domain=listed, without=None)
        self._session.keep(f"{_AMONG}_{number}", builder.pairs(), pairs=True)
        builder = replace(builder, kept=f"{_AMONG}_{number}", domain=None)
        named = _NamedPairs(items, builder, self._session, f"{_AMONG}_{number}", f"{_BY_SIZE}_{number}")
        self._named.append(named)
        return named

    def _load(self, table: str, items: tuple[Item, ...]) -> ItemTable:
        columns, dialect = self._builder.columns, self._builder.relation.dialect
        self._session.load(table, loaded_columns(columns), item_rows(items, columns, "items", dialect))
        return loaded_table(table, columns, dialect)


@dataclass(slots=True)
class _NamedPairs:
    """The pairs of some items, and how often each occurs among the users who have t of them."""

    items: tuple[Item, ...]
    builder: SqlBuilder
    session: Session
    table: str
    by_size: str
    among: frozenset[Item] = field(init=False)
    _kept: bool = False

    def __post_init__(self) -> None:
        self.among = frozenset(self.items)

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users with at least ``edge`` of the items and fewer than the next edge."""
        lower = exact_edges(edges)
        numbers = [0] * len(lower)
        for size, pairs in self._fetch(self.builder.users_by_size(self.by_size)):
            place = sum(edge <= int(size) for edge in lower) - 1
            if place >= 0:
                # Every user with t items has t of these pairs.
                numbers[place] += int(pairs) // int(size)
        return tuple(numbers)

    def sums(self, weights: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """The weighted count of each item, in the given order."""
        if weights[-1][0] < len(self.among):
            raise InvalidArgument("weights", tuple(weights), allowed=f"steps that reach all {len(self.among)} items")
        rows = self._fetch(self.builder.weighted_sums(self.by_size, weights))
        try:
            found = {decode_item(self.builder.columns, tuple(row[:-1])): int(row[-1]) for row in rows}
        except (ValueError, ArithmeticError, TypeError):
            # The reason would quote the value.
            raise SourceFailure from None
        return tuple(found.get(item, 0) for item in self.items)

    def _fetch(self, query: exp.Query) -> Sequence[tuple[Any, ...]]:
        if not self._kept:
            self.session.keep(self.by_size, self.builder.items_by_size())
            self._kept = True
        return self.session.fetch(self.builder.relation.dialect.sql(query))
