"""Contribution bounding: at most ``max_items_per_user`` items of a user count, chosen by a salted hash, and weighted.

The bound holds for any hash, and of equal hashes the smaller item comes first. Where hashing is expensive, only users
with too many items are hashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from podium.sources.sql.expressions import COUNT, PAIRS, ROWS, SIZE, USER, WEIGHT, column, row_number, rows
from podium.sources.sql.pairs import ELEMENTS, Pairs
from podium.sources.sql.salted_hash import hash_of, salted_hash

__all__ = ["bounded_counts", "bounded_pairs", "weight_by_size"]

_SIZED, _RANKED, _LISTS = "sized", "ranked", "lists"
# The names of common table expressions must differ from the tables that the query reads.
_KEPT, _USERS = "podium_pairs", "podium_users"
_PLACE = "place"


def bounded_pairs(pairs: Pairs, *, within: bool = True) -> exp.Query:
    """The bounded pairs, one row per user and item; with ``within`` only items of a listed domain.

    If the query has weights, each row has one.
    """
    max_items = pairs.query.max_items_per_user
    if max_items is None:
        return pairs.within() if within else pairs.distinct()
    bound = _ContributionBound(pairs, max_items)
    if pairs.dialect.computes_once:
        return bound.by_join()
    if pairs.has_sizes:
        return bound.by_kept_sizes()
    return bound.by_lists() if pairs.collects_items else bound.by_window()


def bounded_counts(pairs: Pairs, max_items: int) -> exp.Select:
    """Every item with the number of users who keep it, where hashes cost little.

    All pairs are hashed and sorted, once each: that takes less time than to find the users who are cut.
    """
    return _ContributionBound(pairs, max_items).counts()


def weight_by_size(size: exp.Expr, weights: Sequence[tuple[int, int]]) -> exp.Expr:
    """The weight of the first step (up_to, weight) that the size does not exceed; beyond all steps the last."""
    *some, last = ((up_to, exp.Literal.number(weight)) for up_to, weight in weights)
    cases = [
        exp.If(this=exp.LTE(this=size.copy(), expression=exp.Literal.number(up_to)), true=weight)
        for up_to, weight in some
    ]
    return exp.Case(ifs=cases, default=last[1]) if cases else last[1]


@dataclass(frozen=True, slots=True)
class _ContributionBound:
    pairs: Pairs
    max_items: int

    def by_window(self) -> exp.Select:
        """A window gives each pair its user's number of items: one pass, for engines that would otherwise make two."""
        sized = self.pairs.with_sizes(self._distinct())
        # For users who keep all their items the order does not matter.
        order = exp.Case(ifs=[exp.If(this=column(SIZE, _SIZED) > self.max_items, true=self._hash())])
        return self._cut(sized, order, self._weight())

    def by_lists(self) -> exp.Select:
        """Each user's items in a list, of which only a long one is hashed and sorted: no pair is put in order."""
        (place,), items, dialect = self.pairs.places, column(ELEMENTS, _LISTS), self.pairs.dialect
        cut = dialect.first_elements(items, self.max_items, self._hash_of_element)
        size = dialect.list_length(items.copy()).as_(SIZE)
        lists = self.pairs.lists(self._distinct()).subquery(_LISTS, copy=False)
        sized = exp.select(dialect.explode(cut).as_(place), size).from_(lists, copy=False).subquery(_SIZED, copy=False)
        return exp.select(*self._weighted_columns(self._weight()), copy=False).from_(sized, copy=False)

    def _hash_of_element(self, element: exp.Expr) -> exp.Expr:
        user, (item,) = (column(USER, _LISTS), self.pairs.user_column), self.pairs.columns
        return hash_of(self.pairs.query.salt, [user, (element, item)], self.pairs.dialect)

    def by_kept_sizes(self) -> exp.Query:
        """Kept pairs know their user's number of items: nothing is sorted for users who keep all their items."""
        few, many = (self.pairs.kept_with_sizes() for _ in range(2))
        kept = exp.select(*self._weighted_columns(self._weight()), copy=False)
        kept = kept.from_(few.subquery(_SIZED, copy=False), copy=False)
        kept = kept.where(column(SIZE, _SIZED) <= self.max_items, copy=False)
        many = many.where(column(SIZE, ROWS) > self.max_items, copy=False)
        return exp.union(kept, self._cut(many, self._hash(), self._last_weight()), distinct=False, copy=False)

    def by_join(self) -> exp.Query:
        """A join with the users' sizes: nothing is hashed or sorted for users who keep all their items."""
        cut = self._cut(self._pairs_of_cut_users(), self._hash(), self._last_weight())
        every = exp.union(self._items_of_uncut_users(), cut, distinct=False, copy=False)
        # Pairs that a table keeps already are not copied.
        kept = self.pairs.kept is not None and self.pairs.without is None and self.pairs.named is None
        pairs = every.with_(_KEPT, as_=self._distinct(), materialized=not kept, copy=False)
        return pairs.with_(_USERS, as_=self._users(), materialized=True, copy=False)

    def counts(self) -> exp.Select:
        """The items of all kept pairs, counted."""
        items = [column(place, PAIRS) for place in self.pairs.places]
        kept = self._cut(self._distinct(), self._hash(), None).subquery(PAIRS, copy=False)
        counted = exp.select(*(item.as_(item.name) for item in items), rows().as_(COUNT)).from_(kept, copy=False)
        return counted.group_by(*(item.copy() for item in items))

    def _users(self) -> exp.Select:
        """Users, their number of items, and their weight; without weights only those who are cut, who are few."""
        weight, known = self._weight(), self.pairs.has_users
        owner = [column(name, _KEPT) for name in self.pairs.owner]
        counted = exp.select(*(key.as_(key.name) for key in owner), rows().as_(SIZE)).from_(_KEPT)
        counted = counted.group_by(*(key.copy() for key in owner))
        sizes = self.pairs.users() if known else counted
        if weight is None:
            many = (column(SIZE, ROWS) if known else rows()) > self.max_items
            return sizes.where(many) if known else sizes.having(many)
        named = (column(name, _SIZED).as_(name) for name in (*self.pairs.owner, SIZE))
        # Without copies, here and below: weights are long.
        named_weight = exp.alias_(weight, WEIGHT, copy=False)
        return exp.select(*named, named_weight, copy=False).from_(sizes.subquery(_SIZED, copy=False), copy=False)

    def _items_of_uncut_users(self) -> exp.Select:
        """The items of users who have at most ``max_items``."""
        items = exp.select(*self._columns(_KEPT)).from_(_KEPT)
        if self.pairs.query.weights is None:
            cut = exp.select("1").from_(_USERS).where(self._same_owner())
            return items.where(exp.not_(exp.Exists(this=cut)))
        items = items.select(column(WEIGHT, _USERS).as_(WEIGHT)).join(_USERS, on=self._same_owner())
        return items.where(column(SIZE, _USERS) <= self.max_items)

    def _pairs_of_cut_users(self) -> exp.Select:
        """The pairs of users who have more than ``max_items``."""
        pairs = exp.select(*self._columns(_KEPT, user=True)).from_(_KEPT).join(_USERS, on=self._same_owner())
        return pairs.where(column(SIZE, _USERS) > self.max_items)

    def _cut(self, pairs: exp.Select, order: exp.Expr, weight: exp.Expr | None) -> exp.Select:
        """At most ``max_items`` items of each user, the smallest in ``order``."""
        keys = [order, *(column(place, _SIZED) for place in self.pairs.places)]
        kept = self._weighted_columns(weight)
        place = row_number([column(name, _SIZED) for name in self.pairs.owner], keys).as_(_PLACE)
        ranked = exp.select(*kept, place, copy=False).from_(pairs.subquery(_SIZED, copy=False), copy=False)
        names = (column(value.alias, _RANKED).as_(value.alias) for value in kept)
        placed = exp.select(*names).from_(ranked.subquery(_RANKED, copy=False), copy=False)
        return placed.where(column(_PLACE, _RANKED) <= self.max_items, copy=False)

    def _distinct(self) -> exp.Select:
        return self.pairs.within(user_first=True)

    def _same_owner(self) -> exp.Expr:
        return exp.and_(*(column(name, _KEPT).eq(column(name, _USERS)) for name in self.pairs.owner))

    def _columns(self, table: str, *, user: bool = False) -> list[exp.Expr]:
        places = (USER, *self.pairs.held) if user else self.pairs.held
        return [column(place, table).as_(place) for place in places]

    def _weighted_columns(self, weight: exp.Expr | None) -> list[exp.Expr]:
        columns = self._columns(_SIZED)
        return columns if weight is None else [*columns, exp.alias_(weight, WEIGHT, copy=False)]

    def _weight(self) -> exp.Expr | None:
        """The weight of each item of a user, by the user's number of items; users who are cut have the last."""
        if self.pairs.query.weights is None:
            return None
        return weight_by_size(column(SIZE, _SIZED), self.pairs.query.weights)

    def _last_weight(self) -> exp.Expr | None:
        weights = self.pairs.query.weights
        return None if weights is None else exp.Literal.number(weights[-1][1])

    def _hash(self) -> exp.Expr:
        return salted_hash(self.pairs, _SIZED)
