"""At most so many pairs of a user count, of all groups that the user keeps: chosen once, for all queries of a question.

    pairs of kept groups ──> users with too many ──> the first of their pairs by hash ──┐
                       └──────────── the pairs of all other users ──────────────────────┴──> pairs

The hash is that of contribution bounding, so the same pairs are kept as by a plain count with this salt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from podium.sources.sql.expressions import USER, column, row_number, rows
from podium.sources.sql.salted_hash import salted_hash

if TYPE_CHECKING:
    from podium.sources.sql.pairs import Pairs

__all__ = ["cut_pairs"]

# The names of common table expressions must differ from the tables that the query reads.
_KEPT, _OVER, _NUMBERED, _ORDERED = "podium_held", "podium_over", "podium_counted", "podium_ordered"
_CUT, _HASHED = "cut", "hashed"
_NUMBER, _PLACE, _HASH = "s", "place", "h"


def cut_pairs(pairs: Pairs, kept: exp.Select, most: int) -> exp.Select:
    """Of these pairs, the columns of which are ``pairs.held`` with the user, at most ``most`` of each user."""
    cut = _PairCut(pairs, most)
    return cut.by_join(kept) if pairs.dialect.computes_once else cut.by_window(kept)


@dataclass(frozen=True, slots=True)
class _PairCut:
    pairs: Pairs
    most: int

    def by_join(self, kept: exp.Select) -> exp.Select:
        """Nothing is hashed or sorted for users who keep all their pairs, who are most."""
        few = exp.select(*self._columns(_KEPT)).from_(_KEPT).where(exp.not_(self._has_more()))
        over = exp.select(column(USER)).from_(_KEPT).group_by(column(USER)).having(rows() > self.most)
        union = exp.union(few, self._first_of_many(), distinct=False, copy=False)
        for name, query in ((_KEPT, kept), (_OVER, over)):
            union = union.with_(name, as_=query, materialized=True, copy=False)
        return exp.select(*self._columns(_CUT)).from_(union.subquery(_CUT, copy=False), copy=False)

    def by_window(self, kept: exp.Select) -> exp.Select:
        """A window gives each pair its user's number of pairs, another its place by the hash if these are too many."""
        user = column(USER, _KEPT)
        number = exp.alias_(exp.Window(this=rows(), partition_by=[user]), _NUMBER)
        counted = exp.select(*self._columns(_KEPT), number).from_(_KEPT)
        # For users who keep all their pairs the order does not matter.
        many = column(_NUMBER, _NUMBERED) > self.most
        hashed = exp.Case(ifs=[exp.If(this=many, true=salted_hash(self.pairs, _NUMBERED))])
        ordered = exp.select(*self._columns(_NUMBERED), self._place(_NUMBERED, hashed)).from_(_NUMBERED)
        first = exp.select(*self._columns(_ORDERED)).from_(_ORDERED).where(column(_PLACE, _ORDERED) <= self.most)
        # In one chain of names with those before it, because some engines limit how deeply queries are nested.
        before = kept.args.get("with_")
        kept.set("with_", None)
        first.set("with_", before)
        for name, query in ((_KEPT, kept), (_NUMBERED, counted), (_ORDERED, ordered)):
            first = first.with_(name, as_=query, copy=False)
        return first

    def _first_of_many(self) -> exp.Select:
        """The pairs that users with too many keep."""
        hashed = exp.select(*self._columns(_KEPT), salted_hash(self.pairs, _KEPT).as_(_HASH))
        hashed = hashed.from_(_KEPT).where(self._has_more())
        ordered = exp.select(*self._columns(_HASHED), self._place(_HASHED, column(_HASH, _HASHED)))
        ordered = ordered.from_(hashed.subquery(_HASHED))
        first = exp.select(*self._columns(_ORDERED)).from_(ordered.subquery(_ORDERED))
        return first.where(column(_PLACE, _ORDERED) <= self.most)

    def _place(self, table: str, hashed: exp.Expr) -> exp.Expr:
        keys = [hashed, *(column(name, table) for name in self.pairs.places)]
        return exp.alias_(row_number([column(USER, table)], keys), _PLACE)

    def _has_more(self) -> exp.Expr:
        same = column(USER, _OVER).eq(column(USER, _KEPT))
        return exp.Exists(this=exp.select("1").from_(_OVER).where(same))

    def _columns(self, table: str) -> list[exp.Expr]:
        return [column(name, table).as_(name) for name in (USER, *self.pairs.held)]
