"""The part that all SQL engines share: checks before the read, and a snapshot built from the builder's queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.exact import positive_integer
from podium.histogram import item_order
from podium.query.schema import Column, Kind, Schema
from podium.sources.domains import check_listed, item_rows, listed_rows, match_columns
from podium.sources.group_cut import Group, GroupCut
from podium.sources.item_text import COUNTABLE, element_of
from podium.sources.protocol import CountQuery, Domain, DomainFile, DomainItems, DomainSize, DomainTable
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.conditions import check_condition, depth_of
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.groups.grouped_lists import GroupedSqlSnapshot
from podium.sources.sql.groups.queries import GroupedSql, listed_texts
from podium.sources.sql.joining import JoiningSource
from podium.sources.sql.kept_pairs import KEPT_PAIRS, KEPT_USERS, SqlKeptPairs
from podium.sources.sql.loaded_items import KNOWN_GROUPS, LEFT_OUT, LISTED_ITEMS, loaded_columns, loaded_table
from podium.sources.sql.pair_values import check_value
from podium.sources.sql.relation import ItemTable
from podium.sources.sql.snapshot import COUNTS, Session, decoded, exact_edges
from podium.user_columns import each_user_column

__all__ = ["SqlSource"]

_ROWS = "podium_rows"


class SqlSource(JoiningSource):
    """A source whose engine speaks SQL: an engine's module says how to connect, and which table to read."""

    @property
    def dialect(self) -> str:
        """The name of the engine's SQL dialect."""
        return self.sql_dialect.name

    def max_clip(self, weight: int = 1) -> int:
        """The largest clip of pair values that are added up with weights up to this one: a public limit."""
        arithmetic = self.sql_dialect.arithmetic
        return min(arithmetic.max_clip, arithmetic.max_term // weight)

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
        schema = self.rows_for(query).schema
        for name in each_user_column(query.user):
            _require_countable("user", schema.column(name, role="user"))
        if query.groups is not None:
            self._check_groups(query.groups, schema)
        items = [schema.column(name, role="item") for name in query.items]
        for item in items:
            _require_countable("item", item)
        if sum(item.kind is Kind.LIST for item in items) > 1:
            raise InvalidArgument("item", query.items, allowed="at most one list column among the item columns")
        if query.where is not None:
            check_condition(query.where, lambda name: schema.column(name, role="where"))
        if domain is not None:
            self._check_domain(tuple(map(element_of, items)), domain)
        if query.value is not None:
            check_value(query, query.value, schema, self.sql_dialect)
        if query.without:
            groups = [schema.column(name) for name in query.keys[: len(query.keys) - len(items)]]
            _check_without(query, tuple(map(element_of, (*groups, *items))), domain, self.sql_dialect)

    def _check_groups(self, groups: GroupCut, schema: Schema) -> None:
        """Raise unless groups can be told apart, and those that are listed are of the columns' kinds."""
        columns = tuple(schema.column(name, role="per") for name in groups.columns)
        for column in columns:
            _require_countable("per", column)
        if isinstance(groups.known, DomainSize):
            raise InvalidArgument("groups", groups.known, allowed="a list, a file or a table of groups")
        if isinstance(groups.known, DomainTable):
            match_columns(self.domain_relation(groups.known.table), groups.known.columns, columns, "groups")
        elif groups.known is not None:
            check_listed(groups.known, columns, self.sql_dialect, "groups")

    def _check_plannable(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise unless the engine can plan the queries: engines limit their length and depth."""
        keys = tuple(element_of(self.rows_for(query).schema.column(name)) for name in query.keys)
        groups, items = keys[: -len(query.items)], keys[-len(query.items) :]
        with self.session() as session:
            self.load_lookups(session, query, rows=False)
            for table, columns in ((LISTED_ITEMS, items), (LEFT_OUT, keys), (KNOWN_GROUPS, groups)):
                # Without rows: their content does not change whether a plan is refused.
                if columns and _needs_tables(query, domain):
                    session.load(table, loaded_columns(columns), ())
            try:
                for select in self._query_shapes(query, domain):
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

    def _query_shapes(self, query: CountQuery, domain: Domain | None) -> Iterator[exp.Query]:
        """A query of each shape that reads the table; later rounds read kept pairs, whatever the condition was."""
        builder = self._builder(query, domain)
        if query.groups is not None:
            yield GroupedSql(builder).top_rows(2)
            yield builder.pairs_to_keep()
            return
        yield builder.top_rows(2) if domain is None and query.weights is None else builder.kept_counts()
        if query.weights is not None or query.value is not None:
            yield builder.pairs_to_keep()

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
        keep_pairs: bool = False,
        shown_as: str | None = None,
    ) -> tuple[str, ...]:
        """The SQL that would be sent: for ``sizes(edges)``, ``top_rows(limit)``, or without both for the other two.

        With ``keep_pairs`` they read kept pairs. ``shown_as`` replaces the table's name, for readers who should not
        see where the data is.
        """
        self._check_query(query, domain)
        builder, first = self._fenced_builder(query, domain, shown_as)
        if keep_pairs:
            first, builder = {**first, KEPT_PAIRS: builder.pairs_to_keep()}, builder.reading_kept(KEPT_PAIRS)
            if builder.keeps_users:
                first, builder = {**first, KEPT_USERS: builder.users()}, replace(builder, kept_users=KEPT_USERS)
        sent: list[exp.Expr] = [self.sql_dialect.keep(table, select) for table, select in first.items()]
        if edges is not None:
            if limit is not None:
                raise InvalidArgument("limit", limit, allowed="None where edges are given")
            sent.append(builder.sizes(exact_edges(edges)))
        elif query.groups is not None:
            sent += self._grouped_queries(builder, limit)
        elif limit is not None:
            sent.append(builder.top_rows(positive_integer(limit, "limit") + 1))
        else:
            kept = self.sql_dialect.keep(COUNTS, builder.kept_counts())
            sent += [kept, builder.counts_of_counts(COUNTS), builder.names(COUNTS, [(1, 0)])]
            if isinstance(domain, DomainSize):
                sent.append(builder.unseen(COUNTS, [0]))
        return tuple(map(self.sql_dialect.sql, sent))

    def _grouped_queries(self, builder: SqlBuilder, limit: int | None) -> Iterator[exp.Expr]:
        """What is sent for the top rows of all groups, or for their tallies and names."""
        grouped = GroupedSql(builder)
        if limit is not None:
            yield grouped.top_rows(positive_integer(limit, "limit") + 1)
            return
        yield self.sql_dialect.keep(COUNTS, builder.kept_counts())
        yield from grouped.shown(COUNTS, f"{COUNTS}_places")

    def _fenced_builder(
        self, query: CountQuery, domain: Domain | None, shown_as: str | None = None
    ) -> tuple[SqlBuilder, dict[str, exp.Select]]:
        """The builder, and the rows to keep before its queries: computed columns, where a subquery is no fence."""
        builder = self._builder(query, domain)
        if shown_as is not None:
            builder = replace(builder, relation=builder.relation.shown_as(shown_as))
        # A join may not need all rows of one side, so that a fence inside it would not be passed by all of them.
        keeps = self.sql_dialect.keeps_rows or bool(query.joins)
        return builder.keep_computed(_ROWS, LISTED_ITEMS, KNOWN_GROUPS) if keeps else (builder, {})

    def _builder(self, query: CountQuery, domain: Domain | None) -> SqlBuilder:
        relation = self.rows_for(query)
        keys = tuple(element_of(relation.schema.column(name)) for name in query.keys)
        columns = keys[-len(query.items) :]
        without = loaded_table(LEFT_OUT, keys, self.sql_dialect) if query.without else None
        listed: DomainSize | ItemTable | None
        if domain is None or isinstance(domain, DomainSize):
            listed = domain
        elif isinstance(domain, DomainTable):
            listed = match_columns(self.domain_relation(domain.table), domain.columns, columns)
        else:
            listed = loaded_table(LISTED_ITEMS, columns, self.sql_dialect)
        return SqlBuilder(relation, query, listed, without, groups=self._known_groups(query, keys))

    def _known_groups(self, query: CountQuery, keys: tuple[Column, ...]) -> ItemTable | None:
        """The groups that the query lists, as a table."""
        if query.groups is None or query.groups.known is None:
            return None
        known, columns = query.groups.known, keys[: -len(query.items)]
        if isinstance(known, DomainTable):
            return match_columns(self.domain_relation(known.table), known.columns, columns, "groups")
        return loaded_table(KNOWN_GROUPS, columns, self.sql_dialect)

    def known_groups(self, query: CountQuery) -> tuple[Group, ...]:
        """The groups that the query lists, in their order. Only this list is read, never the data."""
        self._check_query(query, None)
        if query.groups is None or query.groups.known is None:
            raise InvalidArgument("groups", None, allowed="a list, a file or a table of groups")
        schema, known = self.rows_for(query).schema, query.groups.known
        columns = tuple(map(schema.column, query.groups.columns))
        if isinstance(known, DomainItems | DomainFile):
            rows = listed_rows(known, columns, self.sql_dialect, "groups")
            return _in_order(row[0] if len(columns) == 1 else row for row in rows)
        with self._counting_session(query, None, data=False) as (builder, session):
            if builder.groups is None:
                raise InvalidArgument("groups", known, allowed="groups that the engine can list")
            texts = session.fetch(self.sql_dialect.sql(listed_texts(builder.groups, columns)))
        return _in_order(decoded(columns, row) for row in texts)

    def domain_size(self, query: CountQuery, domain: Domain) -> int:
        """How many items a known domain has. Only the domain is read, never the data."""
        if isinstance(domain, DomainSize):
            return domain.size
        with self._counting_session(query, domain, data=False) as (builder, session):
            if not isinstance(builder.domain, ItemTable):
                raise InvalidArgument("domain", domain, allowed="a domain that the engine can list")
            size_query = GroupedSql(builder).domain_size(builder.domain)
            ((size,),) = session.fetch(self.sql_dialect.sql(size_query))
        return int(size)

    @contextmanager
    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> Iterator[GroupedSqlSnapshot]:
        """A view of the data for one question."""
        self._check_query(query, domain)
        with self._counting_session(query, domain) as (builder, session):
            yield GroupedSqlSnapshot(builder, session)

    @contextmanager
    def keep_pairs(self, query: CountQuery, *, domain: Domain | None = None) -> Iterator[SqlKeptPairs]:
        """The pairs of a question that reads them several times; with a domain only those of its items."""
        self._check_query(query, domain)
        with self._counting_session(query, domain) as (builder, session):
            yield SqlKeptPairs(builder, session)

    @contextmanager
    def _counting_session(
        self, query: CountQuery, domain: Domain | None, *, data: bool = True
    ) -> Iterator[tuple[SqlBuilder, Session]]:
        """A session with the caller's items loaded as tables, and the builder for it.

        Without ``data`` no row of the data is read: domains are queried before anything is paid.
        """
        with self.session() as session:
            builder, first = self._fenced_builder(query, domain)
            if data:
                self.load_lookups(session, query)
            for table, select in first.items():
                if data or not table.startswith(_ROWS):
                    session.keep(table, select)
            groups, items = builder.columns[: -len(query.items)], builder.columns[-len(query.items) :]
            if isinstance(domain, DomainItems | DomainFile):
                rows = listed_rows(domain, items, self.sql_dialect)
                session.load(LISTED_ITEMS, loaded_columns(items), rows)
            if query.groups is not None and isinstance(query.groups.known, DomainItems | DomainFile):
                rows = listed_rows(query.groups.known, groups, self.sql_dialect, "groups")
                session.load(KNOWN_GROUPS, loaded_columns(groups), rows)
            if query.without:
                rows = item_rows(query.without, builder.columns, "without", self.sql_dialect)
                session.load(LEFT_OUT, loaded_columns(builder.columns), rows)
            yield builder, session


def _needs_tables(query: CountQuery, domain: Domain | None) -> bool:
    """Whether a query that reads the table compares it with items that are put into tables."""
    known = None if query.groups is None else query.groups.known
    return any(isinstance(listed, DomainItems | DomainFile) for listed in (domain, known)) or bool(query.without)


def _in_order(groups: Iterable[Group]) -> tuple[Group, ...]:
    return tuple(sorted(set(groups), key=item_order))


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
