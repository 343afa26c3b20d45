"""The SQL that podium sends, built once as an expression tree and written in the engine's dialect.

    rows ──> pairs ──> bounded ──> counts ──> top rows
             distinct  at most N   rows, or   or, kept for the length of a question: counts of counts, names by rank
             (user,    items per   weights,
             item)     user        per item

Users are counted as rows of distinct (user, item) pairs without NULL: COUNT(DISTINCT ...) treats NULL differently, and
is approximate on some engines. Where pairs have weights, the count of an item is the sum of its weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sqlglot import exp

from podium.query.schema import Column
from podium.sources.pair_norm import PairNorm
from podium.sources.sql.contribution_bounding import bounded_counts, bounded_pairs, weight_by_size
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
    any_of,
    ascending,
    column,
    descending,
    number_among,
    row_number,
    rows,
)
from podium.sources.sql.pair_norms import NormedPairs, named_squares, norm_buckets, normed_sums, parts_of
from podium.sources.sql.pair_values import listed_count, pair_count, size_bucket
from podium.sources.sql.pairs import LISTED, Pairs, items_of, same_items
from podium.sources.sql.question_tables import QuestionTables
from podium.sources.sql.relation import ItemTable
from podium.sources.sql.user_lengths import users_by_amounts

__all__ = ["SqlBuilder"]

_RANKED, _COUNTED, _BEST, _TALLIED = "ranked", "counted", "best", "tallied"
_RANK, _UNSEEN, _BUCKET = "r", "unseen", BUCKET
_ZERO, _ONE = exp.Literal.number(0), exp.Literal.number(1)


@dataclass(frozen=True, slots=True)
class SqlBuilder(QuestionTables):
    """The SQL of one question."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The group and item columns; a list column is replaced by its elements."""
        return self._pairs.columns

    @property
    def _pairs(self) -> Pairs:
        kept = self.kept, self.kept_sizes, self.groups, self.kept_users, self.named
        return Pairs(self.relation, self.query, self.domain, self.without, *kept)

    @property
    def _dialect(self) -> Dialect:
        return self.relation.dialect

    def computes(self) -> bool:
        """Whether a user-defined expression computes a column that the query, or its domain, reads."""
        listed = any(isinstance(table, ItemTable) and table.computes for table in (self.domain, self.groups))
        return listed or self.relation.computes(self._pairs.names)

    def keep_computed(self, rows: str, listed: str, grouped: str) -> tuple[SqlBuilder, dict[str, exp.Select]]:
        """The same queries on computed rows kept in tables of these names, and the rows to keep there first."""
        domain, groups = self.domain, self.groups
        relation, first = self.relation.kept_rows(self._pairs.names, rows)
        if isinstance(domain, ItemTable) and domain.computes:
            first[listed] = domain.relation.fence(domain.columns)
            domain = replace(domain, relation=domain.relation.kept_as(listed))
        if groups is not None and groups.computes:
            first[grouped] = groups.relation.fence(groups.columns)
            groups = replace(groups, relation=groups.relation.kept_as(grouped))
        return replace(self, relation=relation, domain=domain, groups=groups), first

    def top_rows(self, limit: int) -> exp.Select:
        """The ``limit`` items with the most users, ties in the order of the items, names as text."""
        best = self.counts().limit(limit, copy=False)
        best = best.order_by(descending(COUNT), *map(ascending, self.places), copy=False)
        return (
            exp.select(*self.texts(_BEST), column(COUNT, _BEST).as_(COUNT))
            .from_(best.subquery(_BEST, copy=False), copy=False)
            .order_by(descending(COUNT, _BEST), *(ascending(item, _BEST) for item in self.places), copy=False)
        )

    def kept_counts(self) -> exp.Select:
        """Every item with its count; with a listed domain also items without users, unless there are groups."""
        if not isinstance(self.domain, ItemTable) or self.query.groups is not None:
            return self.counts()
        # Items outside the domain go in the join below, unless they must go before a user's items are chosen.
        counted = self.counts(within=self.query.max_items_per_user is not None)
        count = exp.Coalesce(this=column(COUNT, _COUNTED), expressions=[_ZERO.copy()])
        return (
            exp.select(*(column(item, LISTED).as_(item) for item in self.places), count.as_(COUNT))
            .from_(items_of(self.domain, self.places).subquery(LISTED))
            .join(counted.subquery(_COUNTED), on=same_items(LISTED, _COUNTED, self.places), join_type="left")
        )

    def pairs(self) -> exp.Select:
        """The distinct pairs, of a listed domain only those of its items: what several queries share is kept."""
        return self._pairs.within(user_first=True)

    def pairs_to_keep(self) -> exp.Select:
        """The same for the table of all rounds; with the users' numbers of items where the engine would sort for them.

        Distinct pairs that were found by sorting are in the order of their users, so they are numbered in passing.
        """
        return self._pairs.with_sizes(self.pairs()) if self._dialect.keeps_sizes else self.pairs()

    def reading_kept(self, table: str) -> SqlBuilder:
        """The builder of queries that read the table of all rounds."""
        return replace(self, kept=table, kept_sizes=self._dialect.keeps_sizes)

    @property
    def keeps_users(self) -> bool:
        """Whether users with their numbers of items, of all kept pairs, are worth a table."""
        plain = self.query.value is None and self.query.groups is None and not self.query.without
        return plain and self.named is None and self._dialect.computes_once

    def users(self) -> exp.Select:
        """Users and their number of items: what several queries join."""
        return self._pairs.users()

    def items_by_size(self) -> exp.Select:
        """How often each item occurs among the users with t items, for each t: what any weights by t need."""
        return self._pairs.items_by_size()

    def named_by_size(self) -> exp.Select:
        """The same, names as text."""
        numbers = (SIZE, MEMBERS) if self.query.value is None else (SIZE, MEMBERS, VALUE)
        every = self.items_by_size().subquery(_BEST, copy=False)
        return exp.select(*self.texts(_BEST), *(column(name, _BEST) for name in numbers)).from_(every, copy=False)

    def users_by_size(self, kept: str) -> exp.Select:
        """For each t the number of pairs of the users with t items, which is t times their number."""
        pairs = self._dialect.total(column(MEMBERS))
        return exp.select(column(SIZE), pairs.as_(COUNT)).from_(exp.to_table(kept)).group_by(column(SIZE))

    def weighted_sums(self, kept: str, weights: Sequence[tuple[int, int]]) -> exp.Select:
        """The weighted count of each item, in any order, names as text."""
        # Without copies: weights are long.
        step = exp.paren(weight_by_size(column(SIZE), weights), copy=False)
        if self.query.value is None:
            total = self._dialect.total(exp.Mul(this=column(MEMBERS), expression=step))
        else:
            total = self._dialect.arithmetic.total(exp.Mul(this=column(VALUE), expression=step))
        items = [column(item) for item in self.places]
        summed = exp.select(*items, exp.alias_(total, COUNT, copy=False), copy=False)
        summed = summed.from_(exp.to_table(kept), copy=False).group_by(*items, copy=False)
        best = summed.subquery(_BEST, copy=False)
        return exp.select(*self.texts(_BEST), column(COUNT, _BEST).as_(COUNT)).from_(best, copy=False)

    def equal_sums(self, weight: int) -> exp.Select:
        """The count of each item if all users have this weight, in any order, names as text."""
        if self.query.value is None:
            total: exp.Expr = exp.Mul(this=rows(), expression=exp.Literal.number(weight))
        else:
            term = exp.Mul(this=column(VALUE), expression=exp.Literal.number(weight))
            total = self._dialect.arithmetic.total(term)
        items = [column(item) for item in self.places]
        summed = exp.select(*items, total.as_(COUNT)).from_(self.pairs().subquery(PAIRS)).group_by(*items)
        return exp.select(*self.texts(_BEST), column(COUNT, _BEST).as_(COUNT)).from_(summed.subquery(_BEST))

    def counts_of_counts(self, kept: str) -> exp.Select:
        """How many items have each count, in any order: sorting on a cluster would cost another pass."""
        return exp.select(column(COUNT), rows().as_(MEMBERS)).from_(exp.to_table(kept)).group_by(column(COUNT))

    def sizes(self, edges: Sequence[int]) -> exp.Select:
        """One row: for each edge, how many users have at least ``edge`` items and fewer than the next edge."""
        buckets = (
            exp.Coalesce(this=self._dialect.total(_members_between(low, high)), expressions=[_ZERO.copy()])
            for low, high in zip(edges, (*edges[1:], None), strict=True)
        )
        named = (exp.alias_(bucket, f"{MEMBERS}{place}", copy=False) for place, bucket in enumerate(buckets))
        return exp.select(*named, copy=False).from_(self._pairs.sizes().subquery(_TALLIED, copy=False), copy=False)

    def value_sizes(self, buckets: int, resolution: int) -> exp.Select:
        """For each bucket of pair values, the sum over its pairs of floor(resolution / pairs of the user)."""
        bucket = size_bucket(exp.Abs(this=column(VALUE)), buckets)
        keyed = exp.select(column(USER), bucket.as_(_BUCKET)).from_(self.pairs().subquery(PAIRS))
        share = self._dialect.arithmetic.quotient(exp.Literal.number(resolution), column(SIZE))
        if self._dialect.computes_once:
            user = column(USER, PAIRS)
            users = exp.select(user.as_(USER), rows().as_(SIZE)).from_(self.pairs().subquery(PAIRS))
            users = users.group_by(user.copy())
            same = column(USER, _COUNTED).eq(column(USER, _RANKED))
            sized = exp.select(column(_BUCKET), column(SIZE)).from_(keyed.subquery(_COUNTED))
            sized = sized.join(users.subquery(_RANKED), on=same)
        else:
            # A user has few buckets: less to sort for the window.
            keys = [column(USER), column(_BUCKET)]
            parts = exp.select(*keys, rows().as_(MEMBERS)).from_(keyed.subquery(PAIRS)).group_by(*keys)
            size = exp.Window(this=exp.Sum(this=column(MEMBERS)), partition_by=[column(USER)]).as_(SIZE)
            sized = exp.select(column(_BUCKET), column(MEMBERS), size).from_(parts.subquery(_COUNTED))
            share = exp.Mul(this=column(MEMBERS), expression=exp.paren(self._dialect.arithmetic.narrow(share)))
        summed = exp.select(column(_BUCKET), self._dialect.total(share).as_(COUNT)).from_(sized.subquery(_TALLIED))
        return summed.group_by(column(_BUCKET))

    def users_by_amounts(self, buckets: int) -> exp.Select:
        """How many users have which sum of squares and which sum of their values: bucket j is up to 4^j, and 2^j."""
        return users_by_amounts(self.pairs(), buckets, self._dialect)

    def rest_totals(self, buckets: int, pairs: exp.Select | None = None) -> exp.Select:
        """For each bucket of what users add in all, at most 2^(buckets - 1), how many they are, and their sum.

        With groups it is for each group and bucket what users add in that group; ``pairs`` may be those of some groups.
        """
        arithmetic, most = self._dialect.arithmetic, exp.Literal.number(2 ** (buckets - 1))
        user, total = column(USER, PAIRS), arithmetic.total(column(VALUE, PAIRS))
        users = exp.select(*self._groups_of(PAIRS), total.as_(VALUE))
        users = users.from_((self.pairs() if pairs is None else pairs).subquery(PAIRS))
        users = users.group_by(*(column(group, PAIRS) for group in self.group_places), user)
        over = exp.If(this=exp.GT(this=column(VALUE, _COUNTED), expression=most), true=most.copy())
        cut = arithmetic.narrow(exp.Case(ifs=[over], default=column(VALUE, _COUNTED)))
        cut_users = exp.select(*self._groups_of(_COUNTED), cut.as_(VALUE)).from_(users.subquery(_COUNTED))
        bucket = size_bucket(column(VALUE, _TALLIED), buckets).as_(_BUCKET)
        keyed = exp.select(*self._groups_of(_TALLIED), bucket, column(VALUE, _TALLIED).as_(VALUE))
        keyed = keyed.from_(cut_users.subquery(_TALLIED))
        summed = listed_count(arithmetic.total(column(VALUE, _RANKED)), self._dialect).as_(COUNT)
        keys = [*(column(group, _RANKED) for group in self.group_places), column(_BUCKET, _RANKED)]
        found = exp.select(*self._groups_of(_RANKED), column(_BUCKET, _RANKED), rows().as_(MEMBERS), summed)
        return found.from_(keyed.subquery(_RANKED)).group_by(*keys)

    def _groups_of(self, table: str) -> list[exp.Expr]:
        return [column(group, table).as_(group) for group in self.group_places]

    def norm_sizes(self, norm: PairNorm, edges: Sequence[int]) -> exp.Select:
        """How many users have which square among named items."""
        return norm_buckets(self._named_squares(norm), edges)

    def norm_sums(self, norm: PairNorm) -> exp.Select:
        """The sum of weighted parts of each named item, in any order, names as text."""
        summed = normed_sums(self._named_parts(norm), self._named_squares(norm), self.places, norm, COUNT)
        return exp.select(*self.texts(_BEST), column(COUNT, _BEST).as_(COUNT)).from_(summed.subquery(_BEST))

    def _named_parts(self, norm: PairNorm) -> exp.Select:
        return parts_of(self.pairs(), (USER, *self.places), norm, self._dialect)

    def _named_squares(self, norm: PairNorm) -> exp.Select:
        return named_squares(self._named_parts(norm), norm.named or 1, self._dialect)

    def names(self, kept: str, places: Iterable[tuple[int, int]]) -> exp.Select:
        """The names of the items at those (count, rank), with count and rank."""
        # Counts that are wanted with the same ranks share a condition.
        wanted: dict[tuple[int, ...], list[int]] = {}
        for count, ranks in groupby(sorted(places), lambda pair: pair[0]):
            wanted.setdefault(tuple(rank for _, rank in ranks), []).append(count)
        rank = exp.Sub(this=row_number([column(COUNT)], [column(item) for item in self.places]), expression=_ONE.copy())
        ranked = (
            exp.select(*map(column, (*self.places, COUNT)), rank.as_(_RANK), copy=False)
            .from_(exp.to_table(kept), copy=False)
            .where(number_among(column(COUNT), [count for counts in wanted.values() for count in counts]), copy=False)
        )
        at_places = [
            exp.paren(
                exp.and_(
                    number_among(column(COUNT, _RANKED), counts),
                    number_among(column(_RANK, _RANKED), ranks),
                    copy=False,
                ),
                copy=False,
            )
            for ranks, counts in wanted.items()
        ]
        return (
            exp.select(column(COUNT, _RANKED), column(_RANK, _RANKED), *self.texts(_RANKED), copy=False)
            .from_(ranked.subquery(_RANKED, copy=False), copy=False)
            .where(any_of(at_places), copy=False)
        )

    def unseen(self, kept: str, ranks: Sequence[int]) -> exp.Select:
        """How many seen items lie between these ranks of the unseen items of 0..N-1; ``ranks`` are increasing.

        The i-th seen item, from 0, has ``item - i`` unseen ones before it; so the unseen item of rank r has before it
        the seen ones for which that is at most r. Its name is then r plus their number. The domain is never listed.
        Bisection assigns each seen item to the first rank that it precedes. The result has rows (index of that rank,
        number of items), without empty ones; the sum up to the index of r is the number wanted.
        """
        (item,) = self.places
        place = exp.Sub(this=row_number([], [column(item)]), expression=_ONE.copy())
        before = exp.Sub(this=column(item), expression=exp.paren(place, copy=False))
        shifts = exp.select(before.as_(_UNSEEN)).from_(exp.to_table(kept))
        # Without copies: each step would copy a tree of thousands of comparisons.
        within = exp.select(exp.alias_(_first_rank(ranks, 0), _RANK, copy=False), copy=False)
        within = within.from_(shifts.subquery(_RANKED), copy=False).where(column(_UNSEEN) <= ranks[-1], copy=False)
        counted = exp.select(column(_RANK), rows().as_(MEMBERS)).from_(within.subquery(_BEST, copy=False), copy=False)
        return counted.group_by(column(_RANK), copy=False)

    def listed_items(self) -> exp.Select:
        """The distinct items of the table as text: for a table that is itself a domain."""
        distinct = items_of(ItemTable(self.relation, self.query.items), self.places)
        return exp.select(*self.texts(LISTED)).from_(distinct.subquery(LISTED))

    def counts(self, *, within: bool = True) -> exp.Select:
        """Every item with its count; with ``within`` only items of a listed domain."""
        norm, most, value = self.query.norm, self.query.max_items_per_user, self.query.value
        plain = value is None and self.query.groups is None and self.query.weights is None
        if plain and most is not None and self._dialect.computes_once:
            return bounded_counts(self._pairs, most)
        if norm is not None and most is not None:
            pairs: exp.Query = NormedPairs(self._pairs, norm, most).query()
        else:
            pairs = bounded_pairs(self._pairs, within=within)
        if value is not None:
            count = pair_count(self.query, value, self._dialect)
        else:
            weights = self.query.weights
            count = rows() if weights is None else self._dialect.total_of_weights(column(WEIGHT), weights[0][1])
        grouped = [column(item) for item in self.places]
        counted = exp.select(*grouped, count.as_(COUNT)).from_(pairs.subquery(PAIRS, copy=False), copy=False)
        counted = counted.group_by(*grouped, copy=False)
        return counted if value is None else counted.having(count.copy() > 0, copy=False)

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the group and item columns in the queries."""
        return self._pairs.places

    @property
    def group_places(self) -> tuple[str, ...]:
        """The names of the group columns in the queries."""
        return self._pairs.group_places

    def texts(self, table: str) -> list[exp.Expr]:
        """The group and item columns of a table as text."""
        return [
            self._dialect.encode(column(item, table), kind).as_(f"name{place}")
            for place, (item, kind) in enumerate(zip(self.places, self.columns, strict=True))
        ]


def _first_rank(ranks: Sequence[int], first: int) -> exp.Expr:
    """The index, counted from ``first``, of the first of these ranks that is not below a row's number.

    As a binary tree, so that a thousand ranks cost ten comparisons per row.
    """
    if len(ranks) == 1:
        return exp.Literal.number(first)
    half = len(ranks) // 2
    low, high = _first_rank(ranks[:half], first), _first_rank(ranks[half:], first + half)
    below = exp.LTE(this=column(_UNSEEN), expression=exp.Literal.number(ranks[half - 1]))
    return exp.Case(ifs=[exp.If(this=below, true=low)], default=high)


def _members_between(low: int, high: int | None) -> exp.Expr:
    """The number of users of a row if they have ``low`` to ``high - 1`` items; else 0."""
    size = column(SIZE)
    fits: exp.Expr = size >= low
    if high is not None:
        fits = exp.and_(fits, size.copy() < high)
    return exp.Case(ifs=[exp.If(this=fits, true=column(MEMBERS))], default=_ZERO.copy())
