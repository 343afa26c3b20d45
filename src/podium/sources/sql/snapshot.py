"""A snapshot of the rows for one question, from the builder's queries; and the session that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, Protocol

from sqlglot import exp

from podium.errors import InvalidArgument, SourceFailure
from podium.exact import positive_integer
from podium.histogram import Histogram, Item
from podium.query.schema import Column
from podium.sources.item_text import decode_item, decode_items
from podium.sources.protocol import DomainSize
from podium.sources.sql.builder import SqlBuilder

__all__ = ["COUNTS", "Session", "SqlSnapshot", "all_decoded", "decoded", "exact_edges"]

COUNTS = "podium_counts"
_NAMES_AT_ONCE = 2_000
_MAX_EDGES = 100


class Session(Protocol):
    """A connection for one question. Every method raises SourceFailure, and nothing else, if the engine fails."""

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query: names are texts, counts are integers."""
        ...

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The same in batches; nothing else is asked before the last of them has come."""
        ...

    def explain(self, query: str) -> None:
        """Have the engine plan a query without reading rows. Its estimates of costs and sizes are shown to nobody."""
        ...

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """Keep the rows of a query in a table, computed once, until the session ends: see ``Dialect.keep``.

        ``pairs`` says that these are the pairs of several rounds: there are many, and they are grouped by user.
        """
        ...

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """Load the caller's items into a table until the session ends; the columns are of countable kinds."""
        ...


class SqlSnapshot:
    """One question's view: a single query, or a kept table of counts."""

    def __init__(
        self, builder: SqlBuilder, session: Session, *, table: str = COUNTS, keep_users: Callable[[], str] | None = None
    ) -> None:
        self._builder = builder
        self._session = session
        self._keep_users = keep_users
        self._dialect = builder.relation.dialect
        self._table = table
        self._streamed = False
        self._kept = False

    def top_rows(self, limit: int) -> Histogram:
        """The ``limit`` items with the most users and the count of the next."""
        if self._streamed or self._kept:
            raise InvalidArgument("snapshot", "already read", allowed="top_rows once, and nothing else with it")
        self._streamed = True
        # One more than the limit: the count of the next item enters the threshold.
        rows = self._fetch(self._counting().top_rows(positive_integer(limit, "limit") + 1))
        counts = [int(row[-1]) for row in rows]
        items = all_decoded(self._builder.columns, (tuple(row[:-1]) for row in rows[:limit]))
        return Histogram.top_rows(items, counts[:limit], next_count=counts[limit] if len(counts) > limit else 0)

    def counts_of_counts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The distinct counts in descending order, and how many items have each."""
        self._keep()
        rows = self._fetch(self._builder.counts_of_counts(self._table))
        pairs = sorted(((int(count), int(size)) for count, size in rows), reverse=True)
        counts, sizes = [count for count, _ in pairs], [size for _, size in pairs]
        if isinstance(self._builder.domain, DomainSize):
            unseen = self._builder.domain.size - sum(sizes)
            if unseen:
                counts.append(0)
                sizes.append(unseen)
        return tuple(counts), tuple(sizes)

    def names(self, places: Sequence[tuple[int, int]]) -> tuple[Item, ...]:
        """The items at these (count, rank), in the given order."""
        self._keep()
        wanted = sorted(set(places))
        found: dict[tuple[int, int], Item] = {}
        for start in range(0, len(wanted), _NAMES_AT_ONCE):
            some = wanted[start : start + _NAMES_AT_ONCE]
            if isinstance(self._builder.domain, DomainSize):
                found |= self._unseen([rank for count, rank in some if count == 0])
                some = [(count, rank) for count, rank in some if count]
            if some:
                rows = self._fetch(self._builder.names(self._table, some))
                items = all_decoded(self._builder.columns, (tuple(row[2:]) for row in rows))
                found |= {(int(row[0]), int(row[1])): item for row, item in zip(rows, items, strict=True)}
        if any(place not in found for place in wanted):
            raise InvalidArgument("places", "a place without an item", allowed="ranks below the size of their group")
        return tuple(found[place] for place in places)

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users with at least ``edge`` items and fewer than the next edge."""
        lower = exact_edges(edges)
        (row,) = self._fetch(self._knowing_users().sizes(lower))
        return tuple(map(int, row))

    def _counting(self) -> SqlBuilder:
        """The builder of counts: unless users are bounded, how many items they have does not matter."""
        return self._builder if self._builder.query.max_items_per_user is None else self._knowing_users()

    def _knowing_users(self) -> SqlBuilder:
        """The builder, with users and their numbers of items in a table where several queries of kept pairs need it."""
        return self._builder if self._keep_users is None else replace(self._builder, kept_users=self._keep_users())

    def _unseen(self, ranks: Sequence[int]) -> dict[tuple[int, int], Item]:
        if not ranks:
            return {}
        between = {int(place): int(seen) for place, seen in self._fetch(self._builder.unseen(self._table, ranks))}
        before = accumulate(between.get(place, 0) for place in range(len(ranks)))
        return {(0, rank): rank + seen for rank, seen in zip(ranks, before, strict=True)}

    def _keep(self) -> None:
        if self._streamed:
            raise InvalidArgument("snapshot", "already read", allowed="top_rows once, and nothing else with it")
        if not self._kept:
            self._session.keep(self._table, self._counting().kept_counts())
            self._kept = True

    def _fetch(self, query: exp.Query) -> Sequence[tuple[Any, ...]]:
        return self._session.fetch(self._dialect.sql(query))


def all_decoded(columns: tuple[Column, ...], rows: Iterable[tuple[Any, ...]]) -> list[Item]:
    """The items of many rows."""
    try:
        return decode_items(columns, rows)
    except (ValueError, ArithmeticError, TypeError):
        raise SourceFailure from None


def decoded(columns: tuple[Column, ...], texts: tuple[Any, ...]) -> Item:
    """The item of these columns."""
    try:
        return decode_item(columns, texts)
    except (ValueError, ArithmeticError, TypeError):
        # The reason would quote the value.
        raise SourceFailure from None


def exact_edges(edges: Sequence[int]) -> list[int]:
    """The edges of sizes as integers; raises unless they increase."""
    numbers = [positive_integer(edge, "edges") for edge in edges]
    if not 1 <= len(numbers) <= _MAX_EDGES or any(high <= low for low, high in pairwise(numbers)):
        raise InvalidArgument("edges", tuple(edges), allowed=f"1 to {_MAX_EDGES} increasing integers from 1")
    return numbers
