"""The part that all SQL engines share: checks before the read, and a snapshot built from the builder's queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, Protocol

from sqlglot import exp

from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.exact import positive_integer
from podium.histogram import Histogram, Item
from podium.query.schema import Column, Kind, Schema
from podium.sources.domains import check_listed, item_rows, listed_rows, match_columns
from podium.sources.item_text import COUNTABLE, decode_item, element_of
from podium.sources.protocol import CountQuery, Domain, DomainFile, DomainItems, DomainSize, DomainTable
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.conditions import check_condition, depth_of
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import ItemTable, Relation

__all__ = ["Session", "SqlSnapshot", "SqlSource"]

_COUNTS, _LISTED, _LEFT_OUT = "podium_counts", "podium_listed", "podium_left_out"
_ROWS = "podium_rows"
_NAMES_AT_ONCE = 2_000
_MAX_EDGES = 100


class Session(Protocol):
    """A connection for one question. Every method raises SourceFailure, and nothing else, if the engine fails."""

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query: names are texts, counts are integers."""
        ...

    def explain(self, query: str) -> None:
        """Have the engine plan a query without reading rows. Its estimates of costs and sizes are shown to nobody."""
        ...

    def keep(self, table: str, query: exp.Query) -> None:
        """Keep the rows of a query in a table, computed once, until the session ends: see ``Dialect.keep``."""
        ...

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """Load the caller's items into a table until the session ends; the columns are of countable kinds."""
        ...


class SqlSource(ABC):
    """A source whose engine speaks SQL: an engine's module says how to connect, and which table to read."""

    sql_dialect: Dialect
    """How this engine writes SQL."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of this source in messages."""

    @property
    def dialect(self) -> str:
        """The name of the engine's SQL dialect."""
        return self.sql_dialect.name

    @abstractmethod
    def relation(self) -> Relation:
        """The table of events."""

    def relation_for(self, query: CountQuery) -> Relation:
        """The table of events as this question needs it."""
        return self.relation()

    @abstractmethod
    def domain_relation(self, table: str) -> Relation:
        """Another table of the same engine, to read as a domain; SourceUnavailable if it does not exist."""

    @abstractmethod
    def session(self) -> AbstractContextManager[Session]:
        """A connection for one question; everything kept in it is removed afterwards."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection to the engine."""

    def implied_schemas(self) -> tuple[str, ...]:
        """The schemas that a table's name may omit, longest first; none if names are always complete."""
        return ()

    def schema(self) -> Schema:
        """The columns of the table and their kinds."""
        return self.relation().schema

    def check(self, query: CountQuery, *, domain: Domain | None = None, refresh: bool = True) -> None:
        """Raise unless the data still exists and the query can be answered: called before anything is paid."""
        if refresh:
            self._refresh()
        self._check_query(query, domain)
        self._check_plannable(query, domain)

    @abstractmethod
    def _refresh(self) -> None:
        """Describe the table again: it may have changed since it was opened."""

    def _check_query(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise unless the columns exist and are of kinds that can be counted and compared."""
        schema = self.schema()
        user = schema.column(query.user, role="user")
        _require_countable("user", user)
        items = [schema.column(name, role="item") for name in query.items]
        for item in items:
            _require_countable("item", item)
        if sum(item.kind is Kind.LIST for item in items) > 1:
            raise InvalidArgument("item", query.items, allowed="at most one list column among the item columns")
        if query.where is not None:
            check_condition(query.where, lambda name: schema.column(name, role="where"))
        if domain is not None:
            self._check_domain(tuple(map(element_of, items)), domain)
        if query.without:
            _check_without(query, tuple(map(element_of, items)), domain, self.sql_dialect)

    def _check_plannable(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise unless the engine can plan the queries: engines limit their length and depth."""
        columns = tuple(element_of(self.relation_for(query).schema.column(name)) for name in query.items)
        with self.session() as session:
            for table in (_LISTED, _LEFT_OUT):
                # Without rows: their content does not change whether a plan is refused.
                if _needs_tables(query, domain):
                    session.load(table, _loaded_columns(columns), ())
            try:
                for select in self._query_shapes(query, domain, columns):
                    session.explain(self.sql_dialect.sql(select))
            except SourceFailure:
                refused = SourceUnavailable(
                    f"source={self.name!r} does not accept the SQL of this question, whose condition is nested "
                    f"{depth_of(query.where)} deep; no row was read. Allowed: what the engine can plan. Ask with "
                    "fewer conditions, nested less deeply, and shorter lists."
                )
            else:
                return
        raise refused

    def _query_shapes(
        self, query: CountQuery, domain: Domain | None, columns: tuple[Column, ...]
    ) -> Iterator[exp.Query]:
        """A query of each shape that the question needs; in rounds, also those that exclude items or ask about some."""
        builder = self._builder(query, domain)
        yield builder.top_rows(2) if domain is None and query.weights is None else builder.kept_counts()
        if domain is None and query.weights is not None:
            found = self._loaded_table(_LISTED, columns)
            yield replace(builder, without=self._loaded_table(_LEFT_OUT, columns)).kept_counts()
            yield replace(builder, domain=found).top_rows(2)
            yield replace(builder, domain=found).sizes([1, 2])

    def _check_domain(self, columns: tuple[Column, ...], domain: Domain) -> None:
        if isinstance(domain, DomainSize):
            if len(columns) != 1 or columns[0].kind is not Kind.INTEGER:
                raise InvalidArgument(
                    "domain_size",
                    domain.size,
                    allowed="one item column of kind integer: a size means the items 0..N-1",
                    hint="Give the domain as a list, a file or a table.",
                )
        elif isinstance(domain, DomainTable):
            match_columns(self.domain_relation(domain.table), domain.columns, columns)
        else:
            check_listed(domain, columns, self.sql_dialect)

    def queries(
        self,
        query: CountQuery,
        *,
        limit: int | None = None,
        edges: Sequence[int] | None = None,
        domain: Domain | None = None,
        shown_as: str | None = None,
    ) -> tuple[str, ...]:
        """The SQL that would be sent: for ``sizes(edges)``, ``top_rows(limit)``, or without both for the other two.

        ``shown_as`` replaces the table's name, for readers who should not see where the data is.
        """
        self._check_query(query, domain)
        builder, first = self._fenced_builder(query, domain, shown_as)
        sent: list[exp.Expr] = [self.sql_dialect.keep(table, select) for table, select in first.items()]
        if edges is not None:
            if limit is not None:
                raise InvalidArgument("limit", limit, allowed="None where edges are given")
            sent.append(builder.sizes(_exact_edges(edges)))
        elif limit is not None:
            sent.append(builder.top_rows(positive_integer(limit, "limit") + 1))
        else:
            kept = self.sql_dialect.keep(_COUNTS, builder.kept_counts())
            sent += [kept, builder.counts_of_counts(_COUNTS), builder.names(_COUNTS, [(1, 0)])]
            if isinstance(domain, DomainSize):
                sent.append(builder.unseen(_COUNTS, [0]))
        return tuple(map(self.sql_dialect.sql, sent))

    def _fenced_builder(
        self, query: CountQuery, domain: Domain | None, shown_as: str | None = None
    ) -> tuple[SqlBuilder, dict[str, exp.Select]]:
        """The builder, and the rows to keep before its queries: computed columns, where a subquery is no fence."""
        builder = self._builder(query, domain)
        if shown_as is not None:
            table = exp.Table(this=exp.to_identifier(shown_as, quoted=True))
            builder = replace(builder, relation=replace(builder.relation, table=table))
        return builder.keep_computed(_ROWS, _LISTED) if self.sql_dialect.keeps_rows else (builder, {})

    def _builder(self, query: CountQuery, domain: Domain | None) -> SqlBuilder:
        relation = self.relation_for(query)
        columns = tuple(element_of(relation.schema.column(name)) for name in query.items)
        without = self._loaded_table(_LEFT_OUT, columns) if query.without else None
        listed: DomainSize | ItemTable | None
        if domain is None or isinstance(domain, DomainSize):
            listed = domain
        elif isinstance(domain, DomainTable):
            listed = match_columns(self.domain_relation(domain.table), domain.columns, columns)
        else:
            listed = self._loaded_table(_LISTED, columns)
        return SqlBuilder(relation, query, listed, without)

    def _loaded_table(self, table: str, columns: tuple[Column, ...]) -> ItemTable:
        """The session's table of the caller's items."""
        places = _loaded_columns(columns)
        loaded = Relation(exp.to_table(table), Schema(places), self.sql_dialect)
        return ItemTable(loaded, tuple(column.name for column in places))

    def domain_size(self, query: CountQuery, domain: Domain) -> int:
        """How many items a known domain has. Only the domain is read, never the data."""
        if isinstance(domain, DomainSize):
            return domain.size
        with self._counting_session(query, domain, data=False) as (builder, session):
            if not isinstance(builder.domain, ItemTable):
                raise InvalidArgument("domain", domain, allowed="a domain that the engine can list")
            ((size,),) = session.fetch(self.sql_dialect.sql(builder.domain_size(builder.domain)))
        return int(size)

    @contextmanager
    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> Iterator[SqlSnapshot]:
        """A view of the data for one question."""
        self._check_query(query, domain)
        with self._counting_session(query, domain) as (builder, session):
            yield SqlSnapshot(builder, session)

    @contextmanager
    def _counting_session(
        self, query: CountQuery, domain: Domain | None, *, data: bool = True
    ) -> Iterator[tuple[SqlBuilder, Session]]:
        """A session with the caller's items loaded as tables, and the builder for it.

        Without ``data`` no row of the data is read: domains are queried before anything is paid.
        """
        with self.session() as session:
            builder, first = self._fenced_builder(query, domain)
            for table, select in first.items():
                if data or table != _ROWS:
                    session.keep(table, select)
            if isinstance(domain, DomainItems | DomainFile):
                rows = listed_rows(domain, builder.columns, self.sql_dialect)
                session.load(_LISTED, _loaded_columns(builder.columns), rows)
            if query.without:
                rows = item_rows(query.without, builder.columns, "without", self.sql_dialect)
                session.load(_LEFT_OUT, _loaded_columns(builder.columns), rows)
            yield builder, session


class SqlSnapshot:
    """One question's view: a single query, or a kept table of counts."""

    def __init__(self, builder: SqlBuilder, session: Session) -> None:
        self._builder = builder
        self._session = session
        self._dialect = builder.relation.dialect
        self._table = _COUNTS
        self._streamed = False
        self._kept = False

    def top_rows(self, limit: int) -> Histogram:
        """The ``limit`` items with the most users and the count of the next."""
        if self._streamed or self._kept:
            raise InvalidArgument("snapshot", "already read", allowed="top_rows once, and nothing else with it")
        self._streamed = True
        # One more than the limit: the count of the next item enters the threshold.
        rows = self._fetch(self._builder.top_rows(positive_integer(limit, "limit") + 1))
        counts = [int(row[-1]) for row in rows]
        items = [self._item(row[:-1]) for row in rows[:limit]]
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
                found |= {(int(count), int(rank)): self._item(tuple(texts)) for count, rank, *texts in rows}
        if any(place not in found for place in wanted):
            raise InvalidArgument("places", "a place without an item", allowed="ranks below the size of their group")
        return tuple(found[place] for place in places)

    def sizes(self, edges: Sequence[int]) -> tuple[int, ...]:
        """For each edge, the number of users with at least ``edge`` items and fewer than the next edge."""
        (row,) = self._fetch(self._builder.sizes(_exact_edges(edges)))
        return tuple(map(int, row))

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
            self._session.keep(self._table, self._builder.kept_counts())
            self._kept = True

    def _fetch(self, query: exp.Query) -> Sequence[tuple[Any, ...]]:
        return self._session.fetch(self._dialect.sql(query))

    def _item(self, texts: tuple[Any, ...]) -> Item:
        try:
            return decode_item(self._builder.columns, texts)
        except (ValueError, ArithmeticError, TypeError):
            # The reason would quote the value.
            raise SourceFailure from None


def _needs_tables(query: CountQuery, domain: Domain | None) -> bool:
    """Whether items of the caller's, or of an earlier round, are put into tables."""
    return isinstance(domain, DomainItems | DomainFile) or bool(query.without) or query.weights is not None


def _require_countable(role: str, column: Column) -> None:
    kind = element_of(column).kind if role == "item" else column.kind
    if kind in COUNTABLE:
        return
    reason = f"Column {column.name!r} is of kind {column.kind.value}."
    if kind is Kind.FLOAT:
        reason = (
            f"Column {column.name!r} holds floating-point numbers, for which engines disagree on what is equal: "
            "declare it as an integer or a decimal, or cast it in the table."
        )
    allowed = ", ".join(known.value for known in COUNTABLE) + (", or a list of these" if role == "item" else "")
    raise InvalidArgument(role, column.name, allowed=f"a column of kind {allowed}", hint=reason)


def _check_without(query: CountQuery, columns: tuple[Column, ...], domain: Domain | None, dialect: Dialect) -> None:
    if domain is not None:
        raise InvalidArgument(
            "without",
            f"{len(query.without)} items",
            allowed="no items where there is a domain",
            hint="Leave them out of the domain.",
        )
    item_rows(query.without, columns, "without", dialect)


def _exact_edges(edges: Sequence[int]) -> list[int]:
    numbers = [positive_integer(edge, "edges") for edge in edges]
    if not 1 <= len(numbers) <= _MAX_EDGES or any(high <= low for low, high in pairwise(numbers)):
        raise InvalidArgument("edges", tuple(edges), allowed=f"1 to {_MAX_EDGES} increasing integers from 1")
    return numbers


def _loaded_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=f"item{place}") for place, column in enumerate(columns))
