"""The meter of queries with groups: the numbers of every group that come in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.histogram import Histogram, Item
from podium.sources import CountQuery, Group, GroupedPairs, GroupProfiles, Snapshot

__all__ = ["MeteredGroupNames", "MeteredGroupPairs", "MeteredGroups"]


class MeteredGroups:
    """What a metered snapshot answers about groups."""

    __slots__ = ()
    inner: Snapshot
    query: CountQuery

    def note(self, what: str, numbers: object) -> None:
        raise NotImplementedError

    def grouped_top_rows(self, limit: int) -> Iterator[tuple[Group, Histogram]]:
        return self._noted("grouped_top_rows", self.inner.grouped_top_rows(limit), limit)

    def grouped_profiles(self, limit: int) -> GroupProfiles:
        found = self.inner.grouped_profiles(limit)
        self.note("grouped_profiles", [number for counts, more in found.profiles for number in (*counts, more)])
        return found

    def grouped_rows(self, numbers: Sequence[int]) -> Iterator[tuple[Group, Histogram]]:
        return self.inner.grouped_rows(numbers)

    def grouped_tallies(self) -> Iterator[tuple[Group, tuple[int, ...], tuple[int, ...]]]:
        for group, counts, sizes in self.inner.grouped_tallies():
            self.note("grouped_tallies", counts)
            yield group, counts, sizes

    def grouped_names(self, places: Mapping[Group, Sequence[tuple[int, int]]]) -> dict[Group, tuple[Item, ...]]:
        self.note("grouped_names", [count for some in places.values() for count, _ in some])
        return self.inner.grouped_names(places)

    def _noted(
        self, what: str, lists: Iterator[tuple[Group, Histogram]], limit: int
    ) -> Iterator[tuple[Group, Histogram]]:
        for group, rows in lists:
            top = rows.top(limit)
            self.note(what, (*top.counts, top.next_count))
            yield group, rows


@dataclass(frozen=True, slots=True)
class MeteredGroupNames:
    """What metered pairs of named items of groups answer."""

    note: Callable[..., None]
    inner: GroupedPairs

    def sizes(self, edges: Sequence[int]) -> dict[Group, tuple[int, ...]]:
        sizes = self.inner.sizes(edges)
        for some in sizes.values():
            self.note("grouped_sizes", some)
        return sizes

    def sums(
        self, weights: Mapping[Group, Sequence[tuple[int, int]]], clip: int | None = None
    ) -> dict[Group, tuple[int, ...]]:
        sums = self.inner.sums(weights, clip)
        for group, some in sums.items():
            self.note("grouped_sums", some, tuple(weights[group]))
        return sums


class MeteredGroupPairs:
    """What metered kept pairs answer about groups, beside snapshots."""

    __slots__ = ()
    meter: Any
    inner: Any

    def grouped_among(self, items: Mapping[Group, Sequence[Item]]) -> GroupedPairs:
        return MeteredGroupNames(self.meter.note, self.inner.grouped_among(items))

    def grouped_users(self, groups: Collection[Group]) -> dict[Group, int]:
        found: dict[Group, int] = self.inner.grouped_users(groups)
        self.meter.note("grouped_users", found.values())
        return found

    def grouped_rest_totals(self, items: Any, clip: int, buckets: int) -> dict[Group, Any]:
        found: dict[Group, Any] = self.inner.grouped_rest_totals(items, clip, buckets)
        self.meter.note("rest_totals", (number for parts in found.values() for part in parts for number in part))
        return found
