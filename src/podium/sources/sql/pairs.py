"""From rows to pairs: the distinct (user, item), both not NULL, of the rows that satisfy the condition.

If the query has a value, each pair has one: see ``pair_values``. Where several columns together are the user, a pair
has one text for all of them, from which each can be read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.item_text import element_of
from podium.sources.protocol import DomainSize, PairValue
from podium.sources.sql.conditions import columns_of, condition
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import MEMBERS, PAIRS, ROWS, SIZE, USER, VALUE, column, row_column, rows
from podium.sources.sql.groups.bounding import bounded_groups
from podium.sources.sql.groups.pair_bounding import cut_pairs
from podium.sources.sql.pair_values import clipped, pair_sum
from podium.sources.sql.question_tables import QuestionTables
from podium.sources.sql.relation import ItemTable
from podium.sources.sql.salted_hash import text_of
from podium.user_columns import each_user_column

__all__ = ["ELEMENTS", "LISTED", "Pairs", "items_of", "same_items"]

LISTED = "listed"
_SIZED, _SUMMED, _LEFT_OUT = "sized", "summed", "left_out"
ELEMENTS = "elements"
"""The column of ``Pairs.lists``."""


@dataclass(frozen=True, slots=True)
class Pairs(QuestionTables):
    """The pairs of one question before items are cut.

    With groups a pair is (user, group, item), and a user has those of the groups that it keeps.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """The group and item columns; a list column is replaced by its elements."""
        return tuple(element_of(self.relation.schema.column(name, role="item")) for name in self.query.keys)

    @property
    def user_columns(self) -> tuple[Column, ...]:
        """The columns of the table that say who the user is."""
        return tuple(self.relation.schema.column(name, role="user") for name in each_user_column(self.query.user))

    @property
    def user_column(self) -> Column:
        """The user of a pair: the column of the table, or one text for several."""
        columns = self.user_columns
        return columns[0] if len(columns) == 1 else Column(USER, Kind.TEXT)

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the group and item columns in the queries."""
        return (*self.group_places, *(f"item{place}" for place in range(len(self.query.items))))

    @property
    def group_places(self) -> tuple[str, ...]:
        """The names of the group columns in the queries."""
        return () if self.query.groups is None else tuple(f"group{n}" for n in range(len(self.query.groups.columns)))

    @property
    def owner(self) -> tuple[str, ...]:
        """Whose items are counted and cut: a user's, or a user's within a group."""
        within = self.query.groups is not None and self.query.groups.within_group
        return (USER, *self.group_places) if within else (USER,)

    @property
    def names(self) -> tuple[str, ...]:
        """Every column of the table that is read."""
        return (*each_user_column(self.query.user), *self.query.keys, *self._measured, *columns_of(self.query.where))

    @property
    def held(self) -> tuple[str, ...]:
        """The columns of a pair beside its user: the items, and the value if it has one."""
        return self.places if self.query.value is None else (*self.places, VALUE)

    @property
    def _measured(self) -> tuple[str, ...]:
        """The column that is summed, if there is one."""
        measured = None if self.query.value is None else self.query.value.column
        return () if measured is None else (measured,)

    @property
    def dialect(self) -> Dialect:
        """How the engine writes SQL."""
        return self.relation.dialect

    def sizes(self) -> exp.Select:
        """How many users have each number of items, before contribution bounding."""
        if self.has_sizes:
            # Every user with t items has t of these pairs.
            size, kept = column(SIZE, ROWS), self.kept_with_sizes().subquery(ROWS, copy=False)
            members = exp.IntDiv(this=rows(), expression=size)
            sizes = exp.select(size.as_(SIZE), members.as_(MEMBERS)).from_(kept, copy=False)
            return sizes.group_by(size.copy(), copy=False)
        users = self.users().subquery(_SIZED, copy=False)
        sizes = exp.select(column(SIZE), rows().as_(MEMBERS)).from_(users, copy=False)
        return sizes.group_by(column(SIZE), copy=False)

    def users(self) -> exp.Select:
        """Users and their number of items, before contribution bounding."""
        if self.has_users:
            user: exp.Expr = column(USER, ROWS)
            user = self.dialect.binary(user) if self.user_column.kind is Kind.TEXT else user
            kept = exp.alias_(exp.to_table(str(self.kept_users)), ROWS, table=True)
            return exp.select(user.as_(USER), column(SIZE, ROWS).as_(SIZE)).from_(kept, copy=False)
        pairs, owner = self.within(user_first=True).subquery(PAIRS, copy=False), [*map(column, self.owner)]
        users = exp.select(*owner, rows().as_(SIZE)).from_(pairs, copy=False)
        return users.group_by(*(key.copy() for key in owner), copy=False)

    def items_by_size(self) -> exp.Select:
        """For each item and each t, how many users with t items have it, before contribution bounding."""
        counted = [*(column(place) for place in self.places), column(SIZE)]
        sized = self._sized_by_join() if self.dialect.computes_once else self._sized_by_window()
        select = exp.select(*counted, rows().as_(MEMBERS)).from_(sized.subquery(_SIZED)).group_by(*counted)
        if self.query.value is None:
            return select
        return select.select(self.dialect.arithmetic.total(column(VALUE)).as_(VALUE))

    def _sized_by_window(self) -> exp.Select:
        size = exp.Window(this=rows(), partition_by=[column(name, PAIRS) for name in self.owner])
        pairs = self.within(user_first=True).subquery(PAIRS)
        return exp.select(*(column(place, PAIRS).as_(place) for place in self.held), size.as_(SIZE)).from_(pairs)

    def _sized_by_join(self) -> exp.Select:
        pairs = self.within(user_first=True)
        owner = [column(name, PAIRS) for name in self.owner]
        users = exp.select(*(key.as_(key.name) for key in owner), rows().as_(SIZE))
        users = users.from_(pairs.copy().subquery(PAIRS)).group_by(*(key.copy() for key in owner))
        sized = exp.select(*(column(place, PAIRS).as_(place) for place in self.held), column(SIZE, _SIZED).as_(SIZE))
        same = exp.and_(*(column(name, PAIRS).eq(column(name, _SIZED)) for name in self.owner))
        return sized.from_(pairs.subquery(PAIRS)).join(users.subquery(_SIZED), on=same)

    @property
    def has_sizes(self) -> bool:
        """Whether the kept sizes are those of these pairs: as soon as items are excluded, users have fewer."""
        return self.kept_sizes and self.without is None and self.named is None

    @property
    def has_users(self) -> bool:
        """Whether the kept users are those of these pairs."""
        return self.kept_users is not None and self.without is None and self.named is None

    def with_sizes(self, pairs: exp.Select) -> exp.Select:
        """These pairs, each with its user's number of items."""
        if self.collects_items:
            return self._sized_by_lists(pairs)
        size = exp.Window(this=rows(), partition_by=[column(name, PAIRS) for name in self.owner])
        named = (column(place, PAIRS).as_(place) for place in (USER, *self.held))
        return exp.select(*named, size.as_(SIZE)).from_(pairs.subquery(PAIRS, copy=False), copy=False)

    @property
    def collects_items(self) -> bool:
        """Whether the items of each user are collected in a list: a pair is then a user and one column."""
        return self.dialect.collects_items and len(self.held) == 1

    def lists(self, pairs: exp.Select) -> exp.Select:
        """Users, each with a list of the items of these pairs, which makes them distinct, and sorts nothing."""
        (place,), user = self.places, column(USER, PAIRS)
        pairs.set("distinct", None)
        items = exp.Anonymous(this="groupUniqArray", expressions=[column(place, PAIRS)])
        lists = exp.select(user.as_(USER), items.as_(ELEMENTS)).from_(pairs.subquery(PAIRS, copy=False), copy=False)
        return lists.group_by(user.copy(), copy=False)

    def _sized_by_lists(self, pairs: exp.Select) -> exp.Select:
        """Each item of a user's list, with the length of the list."""
        (place,), items = self.places, column(ELEMENTS, _SIZED)
        each, size = self.dialect.explode(items).as_(place), self.dialect.list_length(items.copy()).as_(SIZE)
        lists = self.lists(pairs).subquery(_SIZED, copy=False)
        return exp.select(column(USER, _SIZED).as_(USER), each, size).from_(lists, copy=False)

    def kept_with_sizes(self) -> exp.Select:
        """The kept pairs and sizes."""
        return self.distinct().select(column(SIZE, ROWS).as_(SIZE))

    def distinct(self, *, user_first: bool = False) -> exp.Select:
        """Distinct (user, item), both not NULL, of the rows that satisfy the condition."""
        if self.kept is not None:
            return self._from_kept(self.kept)
        table, raw, measured, where = self._raw()
        declared = [*self.user_columns, *self.columns]
        every = [self.relation.value(value, kind) for value, kind in zip(raw, declared, strict=True)]
        count = len(declared) - len(self.columns)
        values = [self._user(every[:count]), *every[count:]]
        chosen = [value.as_(place) for value, place in zip(values, (USER, *self.places), strict=True)]
        if not user_first:
            # An engine that finds distinct rows by sorting then has them in counting order.
            chosen = chosen[1:] + chosen[:1]
        select = exp.select(*chosen).from_(table, copy=False)
        if self.query.value is None:
            select = select.distinct(copy=False)
        if where is not None:
            # Without copies, here and wherever this becomes a subquery: a condition may be long.
            select = select.where(where, copy=False)
        for value, kind in zip(every, declared, strict=True):
            select = select.where(*self.dialect.usable(value.copy(), kind), copy=False)
        if count > 1:
            select = select.where(*self.dialect.usable_together(self._user_text(every[:count])), copy=False)
        if isinstance(self.domain, DomainSize):
            first, last = self.dialect.integer(0), self.dialect.integer(self.domain.size - 1)
            select = select.where(exp.Between(this=values[-1].copy(), low=first, high=last), copy=False)
        if self.without is not None:
            select = select.where(self._not_left_out(values[1:], self.without), copy=False)
        return select if self.query.value is None else self._summed(select, values, measured, self.query.value)

    def _user(self, values: list[exp.Expr]) -> exp.Expr:
        """The user of a row: its column, or one text for several; NULL where a part is missing or not usable."""
        if len(values) == 1:
            return values[0]
        parts = list(zip(values, self.user_columns, strict=True))
        known = exp.and_(*(each for value, kind in parts for each in self.dialect.usable(value.copy(), kind)))
        return self.dialect.binary(exp.Case(ifs=[exp.If(this=known, true=self._user_text(values))]))

    def _user_text(self, values: Sequence[exp.Expr]) -> exp.Expr:
        parts = zip(values, self.user_columns, strict=True)
        return text_of(((value.copy(), kind) for value, kind in parts), self.dialect)

    def _summed(
        self, select: exp.Select, keys: Sequence[exp.Expr], measured: exp.Expr | None, value: PairValue
    ) -> exp.Select:
        """The rows grouped by pair, with the clipped sum of each; pairs whose value is 0 are left out."""
        kind = self.relation.schema.column(value.column) if value.column is not None else None
        number = None if measured is None or kind is None else self.relation.value(measured, kind)
        select = select.select(pair_sum(number, kind, value, self.dialect).as_(VALUE), copy=False)
        select = select.group_by(*(key.copy() for key in keys), copy=False)
        total = column(VALUE, _SUMMED)
        some = exp.NEQ(this=total, expression=exp.Literal.number(0)) if value.floor else total > 0
        named = [column(key.alias, _SUMMED).as_(key.alias) for key in select.expressions[:-1]]
        named.append(clipped(total.copy(), value, self.dialect).as_(VALUE))
        return exp.select(*named).from_(select.subquery(_SUMMED, copy=False), copy=False).where(some, copy=False)

    def _from_kept(self, table: str) -> exp.Select:
        """The pairs of the table that keeps them: distinct and usable already."""
        declared = [self.user_column, *self.columns]
        names = (USER, *self.places)
        values: list[exp.Expr] = [
            self.dialect.binary(column(name, ROWS)) if kind.kind is Kind.TEXT else column(name, ROWS)
            for name, kind in zip(names, declared, strict=True)
        ]
        select = exp.select(*(value.as_(name) for value, name in zip(values, names, strict=True)))
        if self.query.value is not None:
            select = select.select(clipped(column(VALUE, ROWS), self.query.value, self.dialect).as_(VALUE))
        select = select.from_(exp.alias_(exp.to_table(table), ROWS, table=True))
        return select if self.without is None else select.where(self._not_left_out(values[1:], self.without))

    def within(self, *, user_first: bool = False) -> exp.Select:
        """The pairs whose item is in the domain, if that is listed, and of the groups that their user keeps."""
        groups = self.query.groups
        per_user = None if groups is None else groups.per_user
        # The groups of a user are numbered before anything is counted: sorted pairs are then in that order already.
        pairs = self.distinct(user_first=user_first or per_user is not None)
        if self.kept is not None:
            return self._among_named(pairs)
        if self.groups is not None:
            pairs = self._joined(pairs, self.groups, self.group_places)
        if isinstance(self.domain, ItemTable):
            # A domain lists items of every group, or each with its group.
            pairs = self._joined(pairs, self.domain, self.places[len(self.places) - len(self.domain.columns) :])
        if per_user is not None:
            pairs = bounded_groups(self, pairs, per_user)
        most = None if groups is None else groups.pairs_per_user
        return pairs if most is None else cut_pairs(self, pairs, most)

    def _among_named(self, pairs: exp.Select) -> exp.Select:
        """Of kept pairs those of the named items: few, because a round released them."""
        if self.named is None:
            return pairs
        # They were loaded once each, which spares a cluster a stage of its own.
        return self.dialect.join_few(self._joined(pairs, self.named, self.places, distinct=False), LISTED)

    def _joined(
        self, pairs: exp.Select, listed: ItemTable, places: Sequence[str], *, distinct: bool = True
    ) -> exp.Select:
        """The pairs that the table lists by these of their columns."""
        items = items_of(listed, places, distinct=distinct).subquery(LISTED)
        return (
            exp.select(*(column(place, PAIRS).as_(place) for place in (USER, *self.held)))
            .from_(pairs.subquery(PAIRS, copy=False), copy=False)
            .join(items, on=same_items(PAIRS, LISTED, places), copy=False)
        )

    def _raw(self) -> tuple[exp.Expr, list[exp.Expr], exp.Expr | None, exp.Expr | None]:
        """The table, its raw user and item columns, the one that is summed, and the condition if not applied yet."""
        users = each_user_column(self.query.user)
        names = (*users, *self.query.keys, *self._measured)
        declared = [self.relation.schema.column(name) for name in names]
        table = self.relation.rows(self.names)
        raw: list[exp.Expr] = [row_column(name) for name in names]
        where = None
        if self.query.where is not None:
            where = condition(self.query.where, self.relation.column, self.dialect)
        keys = len(users) + len(self.query.keys)
        if all(kind.kind is not Kind.LIST for kind in declared):
            return table, raw[:keys], raw[keys] if self._measured else None, where
        parts = (USER,) if len(users) == 1 else tuple(f"{USER}{place}" for place in range(len(users)))
        places = (*parts, *self.places, *(VALUE for _ in self._measured))
        single = (self._single(value, kind) for value, kind in zip(raw, declared, strict=True))
        elements = exp.select(*(value.as_(place) for value, place in zip(single, places, strict=True))).from_(table)
        if where is not None:
            elements = elements.where(where, copy=False)
        named: list[exp.Expr] = [column(place, ELEMENTS) for place in places]
        table = elements.subquery(ELEMENTS, copy=False)
        return table, named[:keys], named[keys] if self._measured else None, None

    def _single(self, value: exp.Expr, kind: Column) -> exp.Expr:
        if kind.kind is not Kind.LIST:
            return value
        values = self.relation.clean(value, kind)
        if self.query.value is not None:
            # A row counts once for an element that it has twice.
            values = self.dialect.arithmetic.distinct_elements(values)
        return self.dialect.explode(values)

    def _not_left_out(self, values: Sequence[exp.Expr], without: ItemTable) -> exp.Expr:
        relation = without.relation
        listed = [relation.value(column(name, _LEFT_OUT), relation.schema.column(name)) for name in without.columns]
        table = exp.alias_(relation.table.copy(), _LEFT_OUT, table=True)
        return self.dialect.absent([value.copy() for value in values], listed, table)


def items_of(listed: ItemTable, places: Sequence[str], *, distinct: bool = True) -> exp.Select:
    """The distinct items of the table that are not NULL; without ``distinct`` they are so already."""
    relation = listed.relation
    declared = [element_of(relation.schema.column(name)) for name in listed.columns]
    values = [relation.column(kind.name)[0] for kind in declared]
    select = exp.select(*(value.as_(place) for value, place in zip(values, places, strict=True)))
    select = select.distinct(copy=False) if distinct else select
    select = select.from_(relation.rows(listed.columns))
    for value, kind in zip(values, declared, strict=True):
        select = select.where(*relation.dialect.usable(value.copy(), kind))
    return select


def same_items(left: str, right: str, places: Sequence[str]) -> exp.Expr:
    """Whether two tables have the same item."""
    return exp.and_(*(column(place, left).eq(column(place, right)) for place in places))
