"""Totals beside the lists of some groups: the users of each, and what they add to items that are not listed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from podium.query.schema import Column
from podium.sources.domains import item_rows
from podium.sources.group_cut import Group
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.groups.queries import GroupedSql
from podium.sources.sql.loaded_items import loaded_groups
from podium.sources.sql.snapshot import Session, decoded

__all__ = ["BesideGroups"]

_WANTED = "podium_wanted_groups"


@dataclass(slots=True)
class BesideGroups:
    """Queries about some groups of kept pairs: two tables and one answer, however many groups they are."""

    builder: SqlBuilder
    session: Session
    numbers: count[int]

    def users(self, groups: Collection[Group]) -> dict[Group, int]:
        """How many users each of these groups has."""
        found = {self._group(texts): int(users) for *texts, users in self._fetch("users", groups)}
        return {group: found.get(group, 0) for group in groups}

    def totals(self, groups: Collection[Group], buckets: int) -> dict[Group, tuple[tuple[int, ...], tuple[int, ...]]]:
        """For each group users by what they add in all, and what they add, as ``KeptPairs.rest_totals``."""
        rows: dict[tuple[Group, int], tuple[int, int]] = {}
        for *texts, bucket, users, total in self._fetch("totals", groups, buckets):
            rows[self._group(texts), int(bucket)] = int(users), int(total)
        nobody = (0, 0)
        found = {group: [rows.get((group, j), nobody) for j in range(buckets)] for group in groups}
        return {group: (tuple(n for n, _ in some), tuple(t for _, t in some)) for group, some in found.items()}

    def _fetch(self, what: str, groups: Collection[Group], buckets: int = 0) -> Sequence[tuple[Any, ...]]:
        dialect, table = self.builder.relation.dialect, f"{_WANTED}_{next(self.numbers)}"
        self.session.load(table, loaded_groups(self._columns), item_rows(groups, self._columns, "groups", dialect))
        grouped = GroupedSql(self.builder)
        query = grouped.users_of(table) if what == "users" else grouped.totals_of(table, buckets)
        return self.session.fetch(dialect.sql(query))

    @property
    def _columns(self) -> tuple[Column, ...]:
        return self.builder.columns[: len(self.builder.group_places)]

    def _group(self, texts: Sequence[Any]) -> Group:
        return decoded(self._columns, tuple(texts))
