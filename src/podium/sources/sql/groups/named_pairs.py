"""The pairs of a few named items in each group: all groups in the same queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.histogram import Item
from podium.sources.domains import item_rows
from podium.sources.group_cut import Group
from podium.sources.protocol import CountQuery
from podium.sources.sql.expressions import SIZE, WEIGHT
from podium.sources.sql.groups.queries import GroupedSql
from podium.sources.sql.loaded_items import loaded_groups
from podium.sources.sql.snapshot import decoded, exact_edges

if TYPE_CHECKING:
    from podium.sources.sql.kept_pairs import SqlNamedPairs

__all__ = ["SqlGroupedPairs", "counting", "require_groups"]


class SqlGroupedPairs:
    """The kept pairs of some items of each group; t is how many of its group's items a user has."""

    def __init__(self, named: SqlNamedPairs, items: Mapping[Group, Sequence[Item]]) -> None:
        self._named, self._items = named, {group: tuple(some) for group, some in items.items()}
        self._builder = named.builder
        self._grouped = GroupedSql(named.builder)
        self._width = len(named.builder.group_places)
        # Built once: there may be many rows.
        self._group_columns = named.builder.columns[: self._width]
        self._item_columns = named.builder.columns[self._width :]

    def sizes(self, edges: Sequence[int]) -> dict[Group, tuple[int, ...]]:
        """For each group and edge, the users with at least ``edge`` of its items and fewer than the next edge."""
        lower = exact_edges(edges)
        numbers = {group: [0] * len(lower) for group in self._items}
        for *texts, size, pairs in self._fetch(self._grouped.users_by_size(self._named.by_size_at(None))):
            place = sum(edge <= int(size) for edge in lower) - 1
            if place >= 0:
                # Every user with t items has t of these pairs.
                numbers[self._group(texts)][place] += int(pairs) // int(size)
        return {group: tuple(some) for group, some in numbers.items()}

    def sums(
        self, weights: Mapping[Group, Sequence[tuple[int, int]]], clip: int | None = None
    ) -> dict[Group, tuple[int, ...]]:
        """The weighted count of each item of the groups that have weights, in the given order."""
        for group, steps in weights.items():
            if group not in self._items or steps[-1][0] < len(self._items[group]):
                raise InvalidArgument("weights", tuple(steps), allowed="steps that reach all items of a named group")
            self._named.require_exact(steps[0][1], clip)
        by_size, columns = self._named.by_size_at(clip), self._group_columns
        keys = item_rows(weights, columns, "weights", self._builder.relation.dialect)
        rows = [
            (*key, size, weight)
            for key, (group, steps) in zip(keys, weights.items(), strict=True)
            for size, weight in _by_size(steps, len(self._items[group]))
        ]
        table = f"{self._named.by_size}_weights_{next(self._named.numbers)}"
        self._named.session.load(table, loaded_groups(columns, SIZE, WEIGHT), rows)
        found: dict[tuple[Group, Item], int] = {}
        for *texts, total in self._fetch(self._grouped.weighted_sums(by_size, table)):
            item = decoded(self._item_columns, tuple(texts[self._width :]))
            found[self._group(texts), item] = int(total)
        return {group: tuple(found.get((group, item), 0) for item in self._items[group]) for group in weights}

    def _group(self, texts: Sequence[Any]) -> Group:
        return decoded(self._group_columns, tuple(texts[: self._width]))

    def _fetch(self, query: exp.Query) -> Sequence[tuple[Any, ...]]:
        return self._named.session.fetch(self._builder.relation.dialect.sql(query))


def counting(query: CountQuery, *, within_group: bool) -> CountQuery:
    """The query, with t counted within each group or over all of them; unchanged without groups."""
    return query if query.groups is None else replace(query, groups=replace(query.groups, within_group=within_group))


def require_groups(query: CountQuery, kept: CountQuery) -> None:
    """Raise unless the query has the groups of the kept pairs, cut in the same way."""
    wanted, there = (cut and replace(cut, within_group=False) for cut in (query.groups, kept.groups))
    if wanted != there or (there is not None and there.bounds and query.salt != kept.salt):
        raise InvalidArgument("query", "other groups", allowed="the groups of the kept pairs, and their salt")


def _by_size(steps: Sequence[tuple[int, int]], largest: int) -> list[tuple[int, int]]:
    """Each t up to the largest with its weight."""
    return [(size, next(weight for up_to, weight in steps if size <= up_to)) for size in range(1, largest + 1)]
