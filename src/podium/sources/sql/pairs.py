"""From rows to pairs: the distinct (user, item), both not NULL, of the rows that satisfy the condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.item_text import element_of
from podium.sources.protocol import CountQuery, DomainSize
from podium.sources.sql.conditions import columns_of, condition
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import MEMBERS, PAIRS, ROWS, SIZE, USER, column, row_column, rows
from podium.sources.sql.relation import ItemTable, Relation

__all__ = ["LISTED", "Pairs", "items_of", "same_items"]

LISTED = "listed"
_ELEMENTS, _SIZED, _LEFT_OUT = "elements", "sized", "left_out"


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of one question before contribution bounding; ``without`` has the excluded items.

    ``kept`` is the table that keeps them, if they were computed before; ``kept_sizes`` says that each of its rows has
    the number of items of its user.
    """

    relation: Relation
    query: CountQuery
    domain: DomainSize | ItemTable | None = None
    without: ItemTable | None = None
    kept: str | None = None
    kept_sizes: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The item columns; a list column is replaced by its elements."""
        return tuple(element_of(self.relation.schema.column(name, role="item")) for name in self.query.items)

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the item columns in the queries."""
        return tuple(f"item{place}" for place in range(len(self.query.items)))

    @property
    def names(self) -> tuple[str, ...]:
        """Every column of the table that is read."""
        return (self.query.user, *self.query.items, *columns_of(self.query.where))

    @property
    def dialect(self) -> Dialect:
        """How the engine writes SQL."""
        return self.relation.dialect

    def sizes(self) -> exp.Select:
        """How many users have each number of items, before contribution bounding."""
        if self.has_sizes:
            # Every user with t items has t of these pairs.
            size, pairs = column(SIZE, ROWS), self.kept_with_sizes().subquery(ROWS)
            members = exp.IntDiv(this=rows(), expression=size)
            return exp.select(size.as_(SIZE), members.as_(MEMBERS)).from_(pairs).group_by(size.copy())
        pairs = self.within(user_first=True).subquery(PAIRS)
        users = exp.select(rows().as_(SIZE)).from_(pairs).group_by(column(USER))
        size = column(SIZE)
        return exp.select(size, rows().as_(MEMBERS)).from_(users.subquery(_SIZED)).group_by(size.copy())

    def items_by_size(self) -> exp.Select:
        """For each item and each t, how many users with t items have it, before contribution bounding."""
        counted = [*(column(place) for place in self.places), column(SIZE)]
        sized = self._sized_by_join() if self.dialect.computes_once else self._sized_by_window()
        return exp.select(*counted, rows().as_(MEMBERS)).from_(sized.subquery(_SIZED)).group_by(*counted)

    def _sized_by_window(self) -> exp.Select:
        size = exp.Window(this=rows(), partition_by=[column(USER, PAIRS)])
        pairs = self.within(user_first=True).subquery(PAIRS)
        return exp.select(*(column(place, PAIRS).as_(place) for place in self.places), size.as_(SIZE)).from_(pairs)

    def _sized_by_join(self) -> exp.Select:
        pairs = self.within(user_first=True)
        users = exp.select(column(USER, PAIRS).as_(USER), rows().as_(SIZE))
        users = users.from_(pairs.copy().subquery(PAIRS)).group_by(column(USER, PAIRS))
        sized = exp.select(*(column(place, PAIRS).as_(place) for place in self.places), column(SIZE, _SIZED).as_(SIZE))
        same = column(USER, PAIRS).eq(column(USER, _SIZED))
        return sized.from_(pairs.subquery(PAIRS)).join(users.subquery(_SIZED), on=same)

    @property
    def has_sizes(self) -> bool:
        """Whether the kept sizes are those of these pairs: as soon as items are excluded, users have fewer."""
        return self.kept_sizes and self.without is None and self.domain is None

    def with_sizes(self, pairs: exp.Select) -> exp.Select:
        """These pairs, each with its user's number of items."""
        if self.dialect.collects_items and len(self.places) == 1:
            return self._sized_by_lists(pairs)
        size = exp.Window(this=rows(), partition_by=[column(USER, PAIRS)])
        named = (column(place, PAIRS).as_(place) for place in (USER, *self.places))
        return exp.select(*named, size.as_(SIZE)).from_(pairs.subquery(PAIRS, copy=False), copy=False)

    def _sized_by_lists(self, pairs: exp.Select) -> exp.Select:
        """The items of each user in a list, which makes them distinct, knows their number, and sorts nothing."""
        (place,), user = self.places, column(USER, PAIRS)
        pairs.set("distinct", None)
        items = exp.Anonymous(this="groupUniqArray", expressions=[column(place, PAIRS)])
        lists = exp.select(user.as_(USER), items.as_(_ELEMENTS)).from_(pairs.subquery(PAIRS, copy=False), copy=False)
        lists = lists.group_by(user.copy(), copy=False)
        each = self.dialect.explode(column(_ELEMENTS, _SIZED)).as_(place)
        size = exp.Anonymous(this="length", expressions=[column(_ELEMENTS, _SIZED)]).as_(SIZE)
        return exp.select(column(USER, _SIZED).as_(USER), each, size).from_(
            lists.subquery(_SIZED, copy=False), copy=False
        )

    def kept_with_sizes(self) -> exp.Select:
        """The kept pairs and sizes."""
        return self.distinct().select(column(SIZE, ROWS).as_(SIZE))

    def distinct(self, *, user_first: bool = False) -> exp.Select:
        """Distinct (user, item), both not NULL, of the rows that satisfy the condition."""
        if self.kept is not None:
            return self._from_kept(self.kept)
        table, raw, where = self._raw()
        declared = [self.relation.schema.column(self.query.user, role="user"), *self.columns]
        values = [self.relation.value(value, kind) for value, kind in zip(raw, declared, strict=True)]
        chosen = [value.as_(place) for value, place in zip(values, (USER, *self.places), strict=True)]
        if not user_first:
            # An engine that finds distinct rows by sorting then has them in counting order.
            chosen = chosen[1:] + chosen[:1]
        select = exp.select(*chosen).distinct().from_(table, copy=False)
        if where is not None:
            # Without copies, here and wherever this becomes a subquery: a condition may be long.
            select = select.where(where, copy=False)
        for value, kind in zip(values, declared, strict=True):
            select = select.where(*self.dialect.usable(value.copy(), kind), copy=False)
        if isinstance(self.domain, DomainSize):
            first, last = self.dialect.integer(0), self.dialect.integer(self.domain.size - 1)
            select = select.where(exp.Between(this=values[1].copy(), low=first, high=last), copy=False)
        if self.without is not None:
            select = select.where(self._not_left_out(values[1:], self.without), copy=False)
        return select

    def _from_kept(self, table: str) -> exp.Select:
        """The pairs of the table that keeps them: distinct and usable already."""
        declared = [self.relation.schema.column(self.query.user, role="user"), *self.columns]
        names = (USER, *self.places)
        values: list[exp.Expr] = [
            self.dialect.binary(column(name, ROWS)) if kind.kind is Kind.TEXT else column(name, ROWS)
            for name, kind in zip(names, declared, strict=True)
        ]
        select = exp.select(*(value.as_(name) for value, name in zip(values, names, strict=True)))
        select = select.from_(exp.alias_(exp.to_table(table), ROWS, table=True))
        return select if self.without is None else select.where(self._not_left_out(values[1:], self.without))

    def within(self, *, user_first: bool = False) -> exp.Select:
        """The pairs whose item is in the domain, if that is listed."""
        pairs = self.distinct(user_first=user_first)
        if not isinstance(self.domain, ItemTable):
            return pairs
        joined = (
            exp.select(*(column(place, PAIRS).as_(place) for place in (USER, *self.places)))
            .from_(pairs.subquery(PAIRS, copy=False), copy=False)
            .join(
                items_of(self.domain, self.places).subquery(LISTED),
                on=same_items(PAIRS, LISTED, self.places),
                copy=False,
            )
        )
        # Of kept pairs only items that a round released are asked for; a stated domain may be long.
        return joined if self.kept is None else self.dialect.join_few(joined, LISTED)

    def _raw(self) -> tuple[exp.Expr, list[exp.Expr], exp.Expr | None]:
        """The table, its raw user and item columns, and the condition if it is not applied yet."""
        names = (self.query.user, *self.query.items)
        declared = [self.relation.schema.column(name) for name in names]
        table = self.relation.rows(self.names)
        raw: list[exp.Expr] = [row_column(name) for name in names]
        where = None
        if self.query.where is not None:
            where = condition(self.query.where, self.relation.column, self.dialect)
        if all(kind.kind is not Kind.LIST for kind in declared):
            return table, raw, where
        places = (USER, *self.places)
        single = (self._single(value, kind) for value, kind in zip(raw, declared, strict=True))
        elements = exp.select(*(value.as_(place) for value, place in zip(single, places, strict=True))).from_(table)
        if where is not None:
            elements = elements.where(where, copy=False)
        return elements.subquery(_ELEMENTS, copy=False), [column(place, _ELEMENTS) for place in places], None

    def _single(self, value: exp.Expr, kind: Column) -> exp.Expr:
        if kind.kind is not Kind.LIST:
            return value
        return self.dialect.explode(self.relation.clean(value, kind))

    def _not_left_out(self, values: Sequence[exp.Expr], without: ItemTable) -> exp.Expr:
        relation = without.relation
        listed = [relation.value(column(name, _LEFT_OUT), relation.schema.column(name)) for name in without.columns]
        table = exp.alias_(relation.table.copy(), _LEFT_OUT, table=True)
        return self.dialect.absent([value.copy() for value in values], listed, table)


def items_of(listed: ItemTable, places: Sequence[str]) -> exp.Select:
    """The distinct items of the table that are not NULL."""
    relation = listed.relation
    declared = [element_of(relation.schema.column(name)) for name in listed.columns]
    values = [relation.column(kind.name)[0] for kind in declared]
    select = exp.select(*(value.as_(place) for value, place in zip(values, places, strict=True))).distinct()
    select = select.from_(relation.rows(listed.columns))
    for value, kind in zip(values, declared, strict=True):
        select = select.where(*relation.dialect.usable(value.copy(), kind))
    return select


def same_items(left: str, right: str, places: Sequence[str]) -> exp.Expr:
    """Whether two tables have the same item."""
    return exp.and_(*(column(place, left).eq(column(place, right)) for place in places))
