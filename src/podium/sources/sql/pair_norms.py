"""Pair values scaled user by user: integer parts of a bound, times one weight for all parts of a user.

    pairs ──> parts (floor(v 2^bits / clip), those that are 0 left out) ──> at most N per user ──> times w(Q)
                                                                            │
                                                                            └──> Q = SUM(part^2) per user

The weight is a step function of Q. All numbers fit into 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from podium.sources.pair_norm import PairNorm
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import MEMBERS, SIZE, USER, VALUE, WEIGHT, column, row_number, rows
from podium.sources.sql.pairs import Pairs
from podium.sources.sql.salted_hash import salted_hash

__all__ = ["NormedPairs", "named_squares", "norm_buckets", "normed_sums", "parts_of", "step_of"]

_SIZED, _RANKED, _SQUARED, _PARTS, _LENGTHS = "sized", "ranked", "squared", "parts", "lengths"
_KEPT, _USERS = "podium_pairs", "podium_users"
_PLACE, _SQUARE, _SUM, _MOST = "place", "q", "s", "x"


def parts_of(pairs: exp.Select, held: Sequence[str], norm: PairNorm, dialect: Dialect) -> exp.Select:
    """The pairs with the parts of their values; ``held`` are their columns beside the value."""
    share = Fraction(2**norm.bits, norm.clip)
    value: exp.Expr = column(VALUE, _PARTS)
    if share.numerator > 1:
        value = exp.Mul(this=value, expression=exp.Literal.number(share.numerator))
    if share.denominator > 1:
        value = dialect.arithmetic.narrow(dialect.arithmetic.quotient(value, exp.Literal.number(share.denominator)))
    ceiling = exp.Literal.number(math.ceil(norm.most / share))
    over = exp.If(this=exp.GTE(this=column(VALUE, _PARTS), expression=ceiling), true=exp.Literal.number(norm.most))
    part = exp.Case(ifs=[over], default=value).as_(VALUE)
    some = exp.GTE(this=column(VALUE, _PARTS), expression=exp.Literal.number(math.ceil(1 / share)))
    named = (column(name, _PARTS).as_(name) for name in held)
    return exp.select(*named, part).from_(pairs.subquery(_PARTS, copy=False), copy=False).where(some, copy=False)


def step_of(value: exp.Expr, ends: Sequence[int], results: Sequence[int], beyond: int) -> exp.Expr:
    """The result of the first end that the value does not exceed, as a binary tree; ``beyond`` all of them the last."""
    if not ends:
        return exp.Literal.number(beyond)
    middle = len(ends) // 2
    below = exp.LTE(this=value.copy(), expression=exp.Literal.number(ends[middle]))
    low = step_of(value, ends[:middle], results[:middle], results[middle])
    return exp.Case(
        ifs=[exp.If(this=below, true=low)], default=step_of(value, ends[middle + 1 :], results[middle + 1 :], beyond)
    )


def _weight(norm: PairNorm, table: str) -> exp.Expr:
    ends, weights = zip(*norm.steps, strict=True)
    # No user is beyond the last step: nothing would bound what such a user adds.
    return step_of(column(_SQUARE, table), ends, weights, 0)


def _square(table: str) -> exp.Expr:
    return exp.Mul(this=column(VALUE, table), expression=column(VALUE, table))


@dataclass(frozen=True, slots=True)
class NormedPairs:
    """The pairs of a question whose values are parts, at most ``max_items`` of a user, each with its weight."""

    pairs: Pairs
    norm: PairNorm
    max_items: int

    def query(self) -> exp.Query:
        """One row per user and item, without the user."""
        return self._by_join() if self.pairs.dialect.materializes else self._by_window()

    def _parts(self) -> exp.Select:
        held = (USER, *self.pairs.places)
        return parts_of(self.pairs.within(user_first=True), held, self.norm, self.pairs.dialect)

    def _by_window(self) -> exp.Select:
        size = exp.Window(this=rows(), partition_by=[column(USER, _RANKED)])
        sized = exp.select(*self._columns(_RANKED, user=True), size.as_(SIZE)).from_(self._parts().subquery(_RANKED))
        # For users who keep all their items the order does not matter.
        hashed = salted_hash(self.pairs, _SIZED)
        return self._cut(sized, exp.Case(ifs=[exp.If(this=column(SIZE, _SIZED) > self.max_items, true=hashed)]))

    def _by_join(self) -> exp.Query:
        """A join with the users' weights: nothing is sorted for users who keep all their items."""
        few = exp.select(*self._columns(_KEPT), column(WEIGHT, _USERS).as_(WEIGHT)).from_(_KEPT)
        few = few.join(_USERS, on=self._same_user()).where(column(SIZE, _USERS) <= self.max_items)
        many = exp.select(*self._columns(_KEPT, user=True)).from_(_KEPT).join(_USERS, on=self._same_user())
        many = many.where(column(SIZE, _USERS) > self.max_items)
        every = exp.union(few, self._cut(many, salted_hash(self.pairs, _SIZED)), distinct=False, copy=False)
        # Pairs that a table keeps already are not copied.
        kept = self.pairs.kept is not None and self.pairs.without is None
        return every.with_(_KEPT, as_=self._parts(), materialized=not kept, copy=False).with_(
            _USERS, as_=self._users(), materialized=True, copy=False
        )

    def _users(self) -> exp.Select:
        # Of all pairs, also of users who are cut later: in the type of the engine's sums, which no user's pairs exceed.
        user, total = column(USER, _KEPT), exp.Sum(this=_square(_KEPT))
        squares = exp.select(user.as_(USER), rows().as_(SIZE), total.as_(_SQUARE)).from_(_KEPT).group_by(user.copy())
        named = (column(name, _SQUARED).as_(name) for name in (USER, SIZE))
        weight = exp.alias_(_weight(self.norm, _SQUARED), WEIGHT, copy=False)
        return exp.select(*named, weight, copy=False).from_(squares.subquery(_SQUARED, copy=False), copy=False)

    def _cut(self, pairs: exp.Select, order: exp.Expr) -> exp.Select:
        """At most ``max_items`` items of each user, the smallest in ``order``, and then their weight."""
        keys = [order, *(column(place, _SIZED) for place in self.pairs.places)]
        place = row_number([column(USER, _SIZED)], keys).as_(_PLACE)
        ranked = exp.select(*self._columns(_SIZED, user=True), place).from_(pairs.subquery(_SIZED, copy=False))
        # Squares are added up after the cut, so that there are never too many.
        total = exp.Window(this=exp.Sum(this=_square(_RANKED)), partition_by=[column(USER, _RANKED)])
        squared = exp.select(*self._columns(_RANKED), total.as_(_SQUARE)).from_(ranked.subquery(_RANKED, copy=False))
        squared = squared.where(column(_PLACE, _RANKED) <= self.max_items)
        weight = exp.alias_(_weight(self.norm, _SQUARED), WEIGHT, copy=False)
        return exp.select(*self._columns(_SQUARED), weight, copy=False).from_(squared.subquery(_SQUARED), copy=False)

    def _same_user(self) -> exp.Expr:
        return column(USER, _KEPT).eq(column(USER, _USERS))

    def _columns(self, table: str, *, user: bool = False) -> list[exp.Expr]:
        places = (USER, *self.pairs.held) if user else self.pairs.held
        return [column(place, table).as_(place) for place in places]


def named_squares(parts: exp.Select, items: int, dialect: Dialect) -> exp.Select:
    """Each user with the larger of n SUM(part^2) - SUM(part)^2 and floor(n MAX(part)^2 / 2)."""
    user, number = column(USER, _PARTS), exp.Literal.number(items)
    sums = exp.select(
        user.as_(USER),
        dialect.total(_square(_PARTS)).as_(_SQUARE),
        dialect.total(column(VALUE, _PARTS)).as_(_SUM),
        exp.Max(this=column(VALUE, _PARTS)).as_(_MOST),
    )
    sums = sums.from_(parts.subquery(_PARTS)).group_by(user.copy())
    one = exp.Mul(this=number, expression=column(_SQUARE, _LENGTHS))
    spread = exp.Sub(this=one, expression=exp.Mul(this=column(_SUM, _LENGTHS), expression=column(_SUM, _LENGTHS)))
    largest: exp.Expr = exp.Mul(this=column(_MOST, _LENGTHS), expression=column(_MOST, _LENGTHS))
    largest = exp.Mul(this=number.copy(), expression=exp.paren(largest))
    largest = dialect.arithmetic.narrow(dialect.arithmetic.quotient(largest, exp.Literal.number(2)))
    larger = exp.If(this=exp.GTE(this=exp.paren(spread), expression=exp.paren(largest)), true=spread.copy())
    square = exp.Case(ifs=[larger], default=largest.copy()).as_(_SQUARE)
    return exp.select(column(USER, _LENGTHS).as_(USER), square).from_(sums.subquery(_LENGTHS))


def norm_buckets(squares: exp.Select, edges: Sequence[int]) -> exp.Select:
    """How many users have which Q: bucket i is for edges[i] <= Q < edges[i+1], bucket -1 for less than all edges."""
    ends = [edge - 1 for edge in edges]
    bucket = step_of(column(_SQUARE, _SQUARED), ends, range(-1, len(edges) - 1), len(edges) - 1)
    keyed = exp.select(bucket.as_(_PLACE)).from_(squares.subquery(_SQUARED))
    return (
        exp.select(column(_PLACE, _LENGTHS), rows().as_(MEMBERS))
        .from_(keyed.subquery(_LENGTHS))
        .group_by(column(_PLACE, _LENGTHS))
    )


def normed_sums(
    parts: exp.Select, squares: exp.Select, places: Sequence[str], norm: PairNorm, count: str
) -> exp.Select:
    """For each item the sum of what users add to it."""
    weighted = exp.select(column(USER, _SQUARED).as_(USER), exp.alias_(_weight(norm, _SQUARED), WEIGHT, copy=False))
    weighted = weighted.from_(squares.subquery(_SQUARED))
    term = exp.Mul(this=column(VALUE, _PARTS), expression=column(WEIGHT, _LENGTHS))
    items = [column(place, _PARTS) for place in places]
    # A sum of products below 2^31, in the type that every engine has.
    total = exp.cast(exp.Sum(this=exp.cast(term, exp.DType.BIGINT)), exp.DType.BIGINT).as_(count)
    summed = exp.select(*(item.as_(item.name) for item in items), total).from_(parts.subquery(_PARTS))
    summed = summed.join(weighted.subquery(_LENGTHS), on=column(USER, _PARTS).eq(column(USER, _LENGTHS)))
    return summed.group_by(*(item.copy() for item in items))
