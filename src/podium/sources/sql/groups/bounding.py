"""At most ``per_user`` groups of a user count, chosen by a salted hash: nothing but this user's rows decides.

    every pair ──> users with too many groups ──> the first of their groups by hash ──> pairs of those groups
              └──────────────────── the pairs of all other users ─────────────────────────┘

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
_EVERY, _MANY, _CHOSEN = "podium_every", "podium_many", "podium_chosen"
_NUMBERED, _SIZED, _RANKED = "podium_numbered", "podium_sized", "podium_ranked"
_CUT = "cut"
_NUMBER, _GROUPS, _PLACE, _HASH = "d", "s", "place", "h"


def bounded_groups(pairs: Pairs, every: exp.Select, per_user: int) -> exp.Select:
    """Of these pairs, the columns of which are ``pairs.held`` with the user, those of each user's chosen groups."""
    cut = _GroupBound(pairs, per_user)
    return cut.by_join(every) if pairs.dialect.computes_once else cut.by_window(every)


@dataclass(frozen=True, slots=True)
class _GroupBound:
    pairs: Pairs
    per_user: int

    def by_join(self, every: exp.Select) -> exp.Select:
        """Nothing is hashed or sorted for users who keep all their groups, who are most."""
        few = exp.select(*self._columns(_EVERY)).from_(_EVERY).where(exp.not_(self._has_many(_EVERY)))
        same = [column(name, _EVERY).eq(column(name, _CHOSEN)) for name in self._keys()]
        some = exp.select(*self._columns(_EVERY)).from_(_EVERY).join(_CHOSEN, on=exp.and_(*same))
        union = exp.union(few, some, distinct=False, copy=False)
        for name, query in ((_EVERY, every), (_MANY, self._many()), (_CHOSEN, self._chosen())):
            union = union.with_(name, as_=query, materialized=True, copy=False)
        return exp.select(*self._columns(_CUT)).from_(union.subquery(_CUT, copy=False), copy=False)

    def by_window(self, every: exp.Select) -> exp.Select:
        """The groups of each user are numbered twice: to know how many there are, and by their hash if too many.

        In a chain of names, because some engines limit how deeply queries are nested.
        """
        user, order = [column(USER, _EVERY)], [column(name, _EVERY) for name in self.pairs.group_places]
        number = exp.alias_(_dense_rank(user, order), _NUMBER)
        numbered = exp.select(*self._columns(_EVERY), number).from_(_EVERY)
        groups = exp.Window(this=exp.Max(this=column(_NUMBER, _NUMBERED)), partition_by=[column(USER, _NUMBERED)])
        sized = exp.select(*self._columns(_NUMBERED), exp.alias_(groups, _GROUPS)).from_(_NUMBERED)
        # For users who keep all their groups the order does not matter.
        many = column(_GROUPS, _SIZED) > self.per_user
        hashed = exp.Case(ifs=[exp.If(this=many, true=self._hash(_SIZED))])
        place = _dense_rank([column(USER, _SIZED)], [hashed, *(column(n, _SIZED) for n in self.pairs.group_places)])
        ranked = exp.select(*self._columns(_SIZED), exp.alias_(place, _PLACE)).from_(_SIZED)
        kept = exp.select(*self._columns(_RANKED)).from_(_RANKED).where(column(_PLACE, _RANKED) <= self.per_user)
        for name, query in ((_EVERY, every), (_NUMBERED, numbered), (_SIZED, sized), (_RANKED, ranked)):
            kept = kept.with_(name, as_=query, copy=False)
        return kept

    def _many(self) -> exp.Select:
        """The users with more groups than they keep."""
        of_users = exp.select(*map(column, self._keys())).distinct().from_(_EVERY).subquery(_NUMBERED)
        users = exp.select(column(USER, _NUMBERED).as_(USER)).from_(of_users).group_by(column(USER, _NUMBERED))
        return users.having(rows() > self.per_user)

    def _chosen(self) -> exp.Select:
        """The groups that those users keep."""
        names = self._keys()
        groups = exp.select(*(column(name, _EVERY).as_(name) for name in names)).distinct().from_(_EVERY)
        groups = groups.where(self._has_many(_EVERY))
        hashed = exp.select(*(column(name, _NUMBERED).as_(name) for name in names), self._hash(_NUMBERED).as_(_HASH))
        hashed = hashed.from_(groups.subquery(_NUMBERED))
        for change in self.pairs.dialect.hash_order():
            # A query for each, because it needs the hash more than once.
            named = (column(name, _SIZED).as_(name) for name in names)
            hashed = exp.select(*named, change(column(_HASH, _SIZED)).as_(_HASH)).from_(hashed.subquery(_SIZED))
        keys = [column(_HASH, _RANKED), *(column(name, _RANKED) for name in self.pairs.group_places)]
        place = row_number([column(USER, _RANKED)], keys).as_(_PLACE)
        ranked = exp.select(*(column(name, _RANKED).as_(name) for name in names), place)
        ranked = ranked.from_(hashed.subquery(_RANKED))
        chosen = exp.select(*(column(name, _SIZED).as_(name) for name in names)).from_(ranked.subquery(_SIZED))
        return chosen.where(column(_PLACE, _SIZED) <= self.per_user)

    def _has_many(self, table: str) -> exp.Expr:
        same = column(USER, _MANY).eq(column(USER, table))
        return exp.Exists(this=exp.select("1").from_(_MANY).where(same))

    def _keys(self) -> tuple[str, ...]:
        return (USER, *self.pairs.group_places)

    def _columns(self, table: str) -> list[exp.Expr]:
        return [column(name, table).as_(name) for name in (USER, *self.pairs.held)]

    def _hash(self, table: str) -> exp.Expr:
        """Of salt, user and group: without the item, so that a user keeps whole groups."""
        pairs = self.pairs
        declared = [pairs.user_column, *pairs.columns[: len(pairs.group_places)]]
        values = zip((column(name, table) for name in self._keys()), declared, strict=True)
        return hash_of(pairs.query.salt, values, pairs.dialect)


def _dense_rank(users: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """The number of each row's group among those of its user, from 1."""
    by = exp.Order(expressions=[exp.Ordered(this=key, desc=False) for key in order])
    return exp.Window(this=exp.Anonymous(this="DENSE_RANK"), partition_by=list(users), order=by)
