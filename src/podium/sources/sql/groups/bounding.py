"""At most ``per_user`` groups of a user count, chosen by a salted hash: nothing but this user's rows decides.

    every pair ──> users and their groups ──> those of users with too many ──> all but the first by hash
         └─────────────────────── the pairs of every other group <─────────────────────┘

Hashing is expensive, so only users with too many groups are hashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from podium.sources.sql.expressions import USER, column, row_number, rows
from podium.sources.sql.salted_hash import hash_of

if TYPE_CHECKING:
    from podium.sources.sql.pairs import Pairs

__all__ = ["bounded_groups"]

# The names of common table expressions must differ from the tables that the query reads.
_EVERY, _GROUPS, _MANY, _CUT = "podium_every", "podium_user_groups", "podium_many", "podium_cut"
_NUMBERED, _SIZED, _HASHED, _RANKED = "podium_numbered", "podium_sized", "podium_hashed", "podium_ranked"
_LISTS, _PAIRS, _CHOSEN = "podium_lists", "pairs", "chosen"
_NUMBER, _SIZE, _PLACE, _HASH = "d", "s", "place", "h"
_SAME_LENGTH = 10**18
"""Added to numbers that are far smaller, so that their texts are in the same order."""


def bounded_groups(pairs: Pairs, every: exp.Select, per_user: int) -> exp.Select:
    """Of these pairs, the columns of which are ``pairs.held`` with the user, those of each user's chosen groups."""
    cut = _GroupBound(pairs, per_user)
    if pairs.dialect.computes_once:
        return cut.by_join(every)
    return cut.by_lists(every) if pairs.dialect.collects_items else cut.by_window(every)


@dataclass(frozen=True, slots=True)
class _GroupBound:
    pairs: Pairs
    per_user: int

    def by_join(self, every: exp.Select) -> exp.Select:
        """All pairs but those of the groups that are cut, which are few: one join, and nothing else is hashed."""
        same = exp.and_(*(column(name, _EVERY).eq(column(name, _CUT)) for name in self._keys()))
        cut = exp.select("1").from_(_CUT).where(same)
        kept = exp.select(*self._columns(_EVERY)).from_(_EVERY).where(exp.not_(exp.Exists(this=cut)))
        named = ((_EVERY, every), (_GROUPS, self._groups()), (_MANY, self._many()), (_CUT, self._cut()))
        for name, query in named:
            kept = kept.with_(name, as_=query, materialized=True, copy=False)
        return kept

    def by_lists(self, every: exp.Select) -> exp.Select:
        """Each user's pairs in a list, of which only one with too many groups is hashed: no pair is put in order."""
        dialect, user = self.pairs.dialect, exp.alias_(column(USER, _LISTS), USER)
        pairs, groups = column(_PAIRS, _LISTS), column(_GROUPS, _LISTS)
        named = exp.select(user, pairs, dialect.distinct_parts(pairs, len(self.pairs.group_places)).as_(_GROUPS))
        chosen = dialect.first_elements(groups, self.per_user, self._hash_of_element)
        sized = exp.select(user, pairs, groups, chosen.as_(_CHOSEN))
        kept = dialect.elements_among(pairs, column(_CHOSEN, _LISTS), len(self.pairs.group_places))
        # All of them are chosen where there are no more than that.
        many = dialect.list_length(groups) > self.per_user
        each = dialect.explode(exp.Case(ifs=[exp.If(this=many, true=kept)], default=pairs.copy()))
        exploded = exp.select(user, each.as_(_PAIRS))
        query = self._collected(every)
        for selected in (named, sized, exploded):
            query = selected.from_(query.subquery(_LISTS, copy=False), copy=False)
        columns = (dialect.part(column(_PAIRS, _LISTS), n).as_(name) for n, name in enumerate(self.pairs.held, 1))
        return exp.select(user, *columns).from_(query.subquery(_LISTS, copy=False), copy=False)

    def _collected(self, every: exp.Select) -> exp.Select:
        """Users, each with a list of their pairs, which makes them distinct."""
        every.set("distinct", None)
        pair = exp.Tuple(expressions=[column(name, _EVERY) for name in self.pairs.held])
        pairs = exp.Anonymous(this="groupUniqArray", expressions=[pair]).as_(_PAIRS)
        lists = exp.select(column(USER, _EVERY).as_(USER), pairs).from_(every.subquery(_EVERY, copy=False), copy=False)
        return lists.group_by(column(USER, _EVERY), copy=False)

    def _hash_of_element(self, element: exp.Expr) -> exp.Expr:
        number = len(self.pairs.group_places)
        parts = [element] if number == 1 else [self.pairs.dialect.part(element, n) for n in range(1, number + 1)]
        return self._hash_of([column(USER, _LISTS), *parts])

    def by_window(self, every: exp.Select) -> exp.Select:
        """The groups of each user are numbered, to know how many there are, and those of users with too many hashed.

        In a chain of names, because some engines limit how deeply queries are nested.
        """
        user, order = [column(USER, _EVERY)], [column(name, _EVERY) for name in self.pairs.group_places]
        number = exp.alias_(_dense_rank(user, order), _NUMBER)
        numbered = exp.select(*self._columns(_EVERY), number).from_(_EVERY)
        groups = exp.Window(this=exp.Max(this=column(_NUMBER, _NUMBERED)), partition_by=[column(USER, _NUMBERED)])
        sized = exp.select(*self._columns(_NUMBERED), column(_NUMBER, _NUMBERED), exp.alias_(groups, _SIZE))
        named: list[tuple[str, exp.Query]] = [
            (_EVERY, self.pairs.dialect.by_user(every)),
            (_NUMBERED, numbered),
            (_SIZED, sized.from_(_NUMBERED)),
        ]
        kept = self._first(named) if self.per_user == 1 else self._first_few(named)
        for name, query in named:
            kept = kept.with_(name, as_=query, copy=False)
        return kept

    def _first(self, named: list[tuple[str, exp.Query]]) -> exp.Select:
        """The pairs of each user's first group, without another sort: the least hash is a window without an order.

        Of equal hashes the one with the least number comes first.
        """
        dialect, number = self.pairs.dialect, column(_NUMBER, _SIZED) + _SAME_LENGTH
        key = dialect.binary(dialect.concat([self._hash(_SIZED), dialect.text(exp.paren(number))]))
        hashed = exp.select(*self._columns(_SIZED), self._of_many(key).as_(_HASH)).from_(_SIZED)
        least = exp.Window(this=exp.Min(this=column(_HASH, _HASHED)), partition_by=[column(USER, _HASHED)])
        ranked = exp.select(*self._columns(_HASHED), column(_HASH, _HASHED), exp.alias_(least, _PLACE)).from_(_HASHED)
        named += [(_HASHED, hashed), (_RANKED, ranked)]
        key = column(_HASH, _RANKED)
        kept = exp.or_(key.is_(exp.null()), key.eq(column(_PLACE, _RANKED)))
        return exp.select(*self._columns(_RANKED)).from_(_RANKED).where(kept)

    def _first_few(self, named: list[tuple[str, exp.Query]]) -> exp.Select:
        """The pairs of each user's first groups, numbered again by their hash."""
        # For users who keep all their groups the order does not matter.
        order = [self._of_many(self._hash(_SIZED)), *(column(name, _SIZED) for name in self.pairs.group_places)]
        place = exp.alias_(_dense_rank([column(USER, _SIZED)], order), _PLACE)
        named.append((_RANKED, exp.select(*self._columns(_SIZED), place).from_(_SIZED)))
        kept = exp.select(*self._columns(_RANKED)).from_(_RANKED)
        return kept.where(column(_PLACE, _RANKED) <= self.per_user)

    def _of_many(self, value: exp.Expr) -> exp.Case:
        """The value for users with more groups than they keep, else NULL."""
        return exp.Case(ifs=[exp.If(this=column(_SIZE, _SIZED) > self.per_user, true=value)])

    def _groups(self) -> exp.Select:
        """Users and their groups, found once among all pairs, of which there are many more."""
        return exp.select(*map(column, self._keys())).distinct().from_(_EVERY)

    def _many(self) -> exp.Select:
        """The users with more groups than they keep."""
        users = exp.select(column(USER)).from_(_GROUPS).group_by(column(USER))
        return users.having(rows() > self.per_user)

    def _cut(self) -> exp.Select:
        """The groups that those users do not keep."""
        names = self._keys()
        of_many = exp.Exists(this=exp.select("1").from_(_MANY).where(column(USER, _MANY).eq(column(USER, _GROUPS))))
        hashed = exp.select(*(column(name, _GROUPS).as_(name) for name in names), self._hash(_GROUPS).as_(_HASH))
        hashed = hashed.from_(_GROUPS).where(of_many)
        keys = [column(_HASH, _RANKED), *(column(name, _RANKED) for name in self.pairs.group_places)]
        place = row_number([column(USER, _RANKED)], keys).as_(_PLACE)
        ranked = exp.select(*(column(name, _RANKED).as_(name) for name in names), place)
        ranked = ranked.from_(hashed.subquery(_RANKED))
        cut = exp.select(*(column(name, _SIZED).as_(name) for name in names)).from_(ranked.subquery(_SIZED))
        return cut.where(column(_PLACE, _SIZED) > self.per_user)

    def _keys(self) -> tuple[str, ...]:
        return (USER, *self.pairs.group_places)

    def _columns(self, table: str) -> list[exp.Expr]:
        return [column(name, table).as_(name) for name in (USER, *self.pairs.held)]

    def _hash(self, table: str) -> exp.Expr:
        """Of salt, user and group: without the item, so that a user keeps whole groups."""
        return self._hash_of([column(name, table) for name in self._keys()])

    def _hash_of(self, keys: Sequence[exp.Expr]) -> exp.Expr:
        pairs = self.pairs
        declared = [pairs.user_column, *pairs.columns[: len(pairs.group_places)]]
        return hash_of(pairs.query.salt, zip(keys, declared, strict=True), pairs.dialect)


def _dense_rank(users: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """The number of each row's group among those of its user, from 1."""
    by = exp.Order(expressions=[exp.Ordered(this=key, desc=False) for key in order])
    return exp.Window(this=exp.Anonymous(this="DENSE_RANK"), partition_by=list(users), order=by)
