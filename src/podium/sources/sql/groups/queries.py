"""The queries of a question with groups: one list for each group, and as many queries whatever the number of groups.

counts per (group, item) ──> ranked in each group by a window ──> top rows, or kept: counts alone, then some groups
                 └──> kept: counts of counts of each group, then the items at some places
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.protocol import DomainSize
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import (
    BUCKET,
    COUNT,
    MEMBERS,
    PAIRS,
    SIZE,
    USER,
    VALUE,
    WEIGHT,
    ascending,
    column,
    row_number,
    rows,
)
from podium.sources.sql.pairs import LISTED, items_of
from podium.sources.sql.relation import ItemTable

__all__ = ["NUMBER", "RANK", "GroupedSql", "listed_texts"]

RANK, NUMBER = "r", "q"
_COUNTED, _RANKED, _WANTED, _FOUND, _SUMMED = "counted", "ranked", "wanted", "found", "summed"
_ZERO, _ONE = exp.Literal.number(0), exp.Literal.number(1)


@dataclass(frozen=True, slots=True)
class GroupedSql:
    """The SQL of one question with groups; tables are named by whoever keeps them."""

    builder: SqlBuilder

    def ranked(self, limit: int) -> exp.Select:
        """The ``limit`` items with the most users of each group, with their rank from 1: one window."""
        largest = exp.Ordered(this=column(COUNT, _COUNTED), desc=True)
        groups, items = ([column(name, _COUNTED) for name in names] for names in (self._groups, self._items))
        rank = row_number(groups, [largest, *items])
        counted = self.builder.counts()
        if self._dialect.limits_groups:
            # To number every count takes longer than to sort the first ones again.
            counted = self._limited(counted, [largest, *items], limit)
        ranked = exp.select(*self._held(_COUNTED, COUNT), rank.as_(RANK))
        ranked = ranked.from_(counted.subquery(_COUNTED, copy=False), copy=False)
        best = exp.select(*self._held(_RANKED, COUNT, RANK)).from_(ranked.subquery(_RANKED, copy=False), copy=False)
        return best.where(column(RANK, _RANKED) <= limit, copy=False)

    def _limited(self, counted: exp.Select, order: Sequence[exp.Expr], limit: int) -> exp.Select:
        """The first ``limit`` counts of each group."""
        groups = [column(group, _COUNTED) for group in self._groups]
        first = exp.select(*self._held(_COUNTED, COUNT)).from_(counted.subquery(_COUNTED, copy=False), copy=False)
        first = first.order_by(*groups, *order)
        first.set("limit", exp.Limit(expression=exp.Literal.number(limit), expressions=groups))
        return first

    def top_rows(self, limit: int) -> exp.Select:
        """The same as text, in the order of the groups, the largest first."""
        named = exp.select(*self._texts(_FOUND), *self._plain(_FOUND, COUNT, RANK))
        named = named.from_(self.ranked(limit).subquery(_FOUND, copy=False), copy=False)
        return named.order_by(*self._in_order(_FOUND), copy=False)

    def ranked_counts(self, kept: str) -> exp.Select:
        """The ranks and counts of kept rows, without names, in the order of the groups."""
        select = exp.select(*self._plain(_FOUND, RANK, COUNT)).from_(_named(kept, _FOUND))
        return select.order_by(*self._in_order(_FOUND))

    def rows_of(self, kept: str, wanted: str) -> exp.Select:
        """The kept rows of the groups whose numbers, from 0 in the order of the groups, are in a table."""
        number = exp.Sub(this=row_number([], [column(group) for group in self._groups]), expression=_ONE.copy())
        first = exp.select(*map(column, self._groups), number.as_(NUMBER)).from_(exp.to_table(kept))
        first = first.where(column(RANK).eq(1))
        chosen = exp.select(*(column(group, _RANKED).as_(group) for group in self._groups))
        chosen = chosen.from_(first.subquery(_RANKED))
        chosen = chosen.join(_named(wanted, _WANTED), on=column(NUMBER, _RANKED).eq(column(NUMBER, _WANTED)))
        select = exp.select(*self._texts(_FOUND), *self._plain(_FOUND, COUNT, RANK)).from_(_named(kept, _FOUND))
        select = select.join(chosen.subquery(_COUNTED), on=_same(_FOUND, _COUNTED, self._groups))
        return select.order_by(*self._in_order(_FOUND))

    def tallies(self, kept: str) -> exp.Select:
        """How many items of each group have each count, in the order of the groups, the largest count first."""
        keys = [*self._groups, COUNT]
        tallied = exp.select(*map(column, keys), rows().as_(MEMBERS)).from_(exp.to_table(kept))
        tallied = tallied.group_by(*map(column, keys))
        select = exp.select(*self._group_texts(_FOUND), *self._plain(_FOUND, COUNT, MEMBERS))
        select = select.from_(tallied.subquery(_FOUND))
        order = (ascending(group, _FOUND) for group in self._groups)
        return select.order_by(*order, exp.Ordered(this=column(COUNT, _FOUND), desc=True))

    def names(self, kept: str, places: str) -> exp.Select:
        """The items at the places of a table (group, count, rank), with group, count and rank."""
        keys = (*self._groups, COUNT)
        wanted = exp.select(*map(column, keys)).distinct().from_(self._loaded(places, _FOUND, COUNT)).subquery(_WANTED)
        rank = row_number([column(key, _COUNTED) for key in keys], [column(item, _COUNTED) for item in self._items])
        ranked = exp.select(*self._held(_COUNTED, COUNT), exp.Sub(this=rank, expression=_ONE.copy()).as_(RANK))
        ranked = ranked.from_(_named(kept, _COUNTED)).join(wanted, on=_same(_COUNTED, _WANTED, keys))
        return self._at_places(ranked, places)

    def unused_names(self, kept: str, places: str, domain: ItemTable) -> exp.Select:
        """The same for items of a listed domain that nobody in the group has, whose places have the count 0."""
        items = self._items
        wanted = exp.select(*map(column, self._groups)).distinct().from_(self._loaded(places, _COUNTED, COUNT))
        wanted = wanted.where(column(COUNT).eq(0))
        both = [
            *(column(group, _WANTED).as_(group) for group in self._groups),
            *(column(item, LISTED).as_(item) for item in items),
        ]
        every = exp.select(*both).from_(wanted.subquery(_WANTED))
        every = every.join(items_of(domain, items).subquery(LISTED), join_type="cross")
        rank = row_number([column(group, _FOUND) for group in self._groups], [column(item, _FOUND) for item in items])
        rank = exp.Sub(this=rank, expression=_ONE.copy())
        unused = exp.select(*self._held(_FOUND), exp.alias_(_ZERO.copy(), COUNT), rank.as_(RANK))
        unused = unused.from_(every.subquery(_FOUND))
        same = _same(_COUNTED, _FOUND, self.builder.places)
        unused = unused.join(_named(kept, _COUNTED), on=same, join_type="left")
        # Where nothing matches, some engines give 0 and not NULL.
        number = exp.Coalesce(this=column(COUNT, _COUNTED), expressions=[_ZERO.copy()])
        return self._at_places(unused.where(number.eq(0)), places)

    def unused_shifts(self, kept: str, places: str) -> exp.Select:
        """For each place with the count 0 in a domain 0..N-1 how many used items precede it, unless there is none.

        The i-th used item, from 0, has ``item - i`` unused ones before it: see ``SqlBuilder.unseen``.
        """
        (item,) = self._items
        number = row_number([column(group) for group in self._groups], [column(item)])
        before = exp.Sub(this=column(item), expression=exp.paren(exp.Sub(this=number, expression=_ONE.copy())))
        shifts = exp.select(*map(column, self._groups), before.as_(SIZE)).from_(exp.to_table(kept))
        keys = [column(key, _WANTED) for key in (*self._groups, RANK)]
        joined = exp.select(*(key.as_(key.name) for key in keys), rows().as_(MEMBERS)).from_(
            self._loaded(places, _WANTED, COUNT, RANK)
        )
        joined = joined.join(shifts.subquery(_RANKED), on=_same(_WANTED, _RANKED, self._groups))
        joined = joined.where(column(COUNT, _WANTED).eq(0), column(SIZE, _RANKED) <= column(RANK, _WANTED))
        joined = joined.group_by(*(key.copy() for key in keys))
        return exp.select(*self._group_texts(_FOUND), *self._plain(_FOUND, RANK, MEMBERS)).from_(
            joined.subquery(_FOUND)
        )

    def users_by_size(self, by_size: str) -> exp.Select:
        """For each group and t the number of pairs of the users with t items in it, which is t times their number."""
        keys = [*self._groups, SIZE]
        pairs = self._dialect.total(column(MEMBERS))
        summed = exp.select(*map(column, keys), pairs.as_(COUNT)).from_(exp.to_table(by_size))
        select = exp.select(*self._group_texts(_FOUND), *self._plain(_FOUND, SIZE, COUNT))
        return select.from_(summed.group_by(*map(column, keys)).subquery(_FOUND))

    def weighted_sums(self, by_size: str, weights: str) -> exp.Select:
        """The weighted count of each item of the groups in a table (group, t, weight)."""
        measured = self.builder.query.value is not None
        number = column(VALUE if measured else MEMBERS, _COUNTED)
        term = exp.Mul(this=number, expression=column(WEIGHT, _WANTED))
        total = self._dialect.arithmetic.total(term) if measured else self._dialect.total(term)
        keys = [column(place, _COUNTED) for place in self.builder.places]
        summed = exp.select(*(key.as_(key.name) for key in keys), total.as_(COUNT)).from_(_named(by_size, _COUNTED))
        summed = summed.join(
            self._loaded(weights, _WANTED, SIZE, WEIGHT), on=_same(_COUNTED, _WANTED, (*self._groups, SIZE))
        )
        summed = summed.group_by(*(key.copy() for key in keys))
        return exp.select(*self._texts(_SUMMED), *self._plain(_SUMMED, COUNT)).from_(summed.subquery(_SUMMED))

    def users_of(self, wanted: str) -> exp.Select:
        """How many users each group of a table has."""
        pairs = self._of_groups(wanted).subquery(PAIRS)
        users = exp.select(*self._plain(PAIRS, *self._groups, USER)).distinct().from_(pairs)
        counted = exp.select(*map(column, self._groups), rows().as_(MEMBERS)).from_(users.subquery(_COUNTED))
        counted = counted.group_by(*map(column, self._groups))
        select = exp.select(*self._group_texts(_FOUND), *self._plain(_FOUND, MEMBERS))
        return select.from_(counted.subquery(_FOUND))

    def totals_of(self, wanted: str, buckets: int) -> exp.Select:
        """For each group of a table and each bucket, how many users add as much in all, and what they add together."""
        totals = self.builder.rest_totals(buckets, self._of_groups(wanted))
        select = exp.select(*self._group_texts(_FOUND), *self._plain(_FOUND, BUCKET, MEMBERS, COUNT))
        return select.from_(totals.subquery(_FOUND))

    def domain_size(self, domain: ItemTable) -> exp.Select:
        """How many items a listed domain has, which are the same in every group."""
        items = self._items
        return exp.select(rows().as_(COUNT)).from_(items_of(domain, items).subquery(LISTED))

    def shown(self, kept: str, places: str) -> tuple[exp.Select, ...]:
        """The queries for tallies and names of this question's domain."""
        domain, some = self.builder.domain, (self.tallies(kept), self.names(kept, places))
        if isinstance(domain, ItemTable):
            return (*some, self.unused_names(kept, places, domain))
        return (*some, self.unused_shifts(kept, places)) if isinstance(domain, DomainSize) else some

    @property
    def _groups(self) -> tuple[str, ...]:
        return self.builder.group_places

    @property
    def _items(self) -> tuple[str, ...]:
        return self.builder.places[len(self._groups) :]

    @property
    def _dialect(self) -> Dialect:
        return self.builder.relation.dialect

    def _of_groups(self, wanted: str) -> exp.Select:
        """The pairs of the groups of a table."""
        held = (USER, *self._groups, *((VALUE,) if self.builder.query.value is not None else ()))
        pairs = exp.select(*(column(name, PAIRS).as_(name) for name in held)).from_(
            self.builder.pairs().subquery(PAIRS)
        )
        return pairs.join(self._loaded(wanted, _WANTED), on=_same(PAIRS, _WANTED, self._groups))

    def _at_places(self, ranked: exp.Select, places: str) -> exp.Select:
        same = _same(_FOUND, _WANTED, (*self._groups, COUNT, RANK))
        select = exp.select(*self._texts(_FOUND), *self._plain(_FOUND, COUNT, RANK)).from_(ranked.subquery(_FOUND))
        return select.join(self._loaded(places, _WANTED, COUNT, RANK), on=same)

    def _loaded(self, table: str, alias: str, *more: str) -> exp.Subquery:
        """A table that begins with the groups and was loaded: its text has to be told how it compares."""
        kinds = self.builder.columns[: len(self._groups)]
        values: list[exp.Expr] = [
            self._dialect.binary(column(name)) if kind.kind is Kind.TEXT else column(name)
            for name, kind in zip(self._groups, kinds, strict=True)
        ]
        named = (value.as_(name) for value, name in zip(values, self._groups, strict=True))
        return exp.select(*named, *map(column, more)).from_(exp.to_table(table)).subquery(alias)

    def _in_order(self, table: str) -> list[exp.Expr]:
        return [ascending(name, table) for name in (*self._groups, RANK)]

    def _held(self, table: str, *more: str) -> list[exp.Expr]:
        return [column(name, table).as_(name) for name in (*self.builder.places, *more)]

    def _plain(self, table: str, *names: str) -> list[exp.Expr]:
        return [column(name, table).as_(name) for name in names]

    def _group_texts(self, table: str) -> list[exp.Expr]:
        return self._texts(table)[: len(self._groups)]

    def _texts(self, table: str) -> list[exp.Expr]:
        return self.builder.texts(table)


def listed_texts(listed: ItemTable, columns: Sequence[Column]) -> exp.Select:
    """The distinct rows of a listed table as text."""
    places = [f"group{place}" for place in range(len(columns))]
    dialect = listed.relation.dialect
    texts = (dialect.encode(column(p, LISTED), kind).as_(f"name{p}") for p, kind in zip(places, columns, strict=True))
    return exp.select(*texts).from_(items_of(listed, places).subquery(LISTED))


def _named(table: str, alias: str) -> exp.Expr:
    return exp.alias_(exp.to_table(table), alias, table=True)


def _same(left: str, right: str, names: Sequence[str]) -> exp.Expr:
    return exp.and_(*(column(name, left).eq(column(name, right)) for name in names))
