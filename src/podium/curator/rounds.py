"""A source as mechanisms read it: a plain count, or rounds that build on what earlier ones released."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from podium.curator.prepare import PlannedQuestion
from podium.errors import SourceFailure
from podium.histogram import Histogram, Item
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.reader import Discovery
from podium.mechanisms.weights import Weights
from podium.release import ItemSet, Release
from podium.sources import DomainItems, Snapshot, Source

__all__ = ["SourceReader"]


@dataclass(slots=True)
class SourceReader:
    """A source and a question; by the salt, users with too many items keep the same ones in all rounds.

    A plain count keeps one snapshot open until the winners are named; each round opens its own.
    """

    source: Source
    planned: PlannedQuestion
    salt: str
    _snapshot: Snapshot | None = None
    _rows: Histogram | None = None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Keep the snapshot of the plain count open while the block runs."""
        with self.source.snapshot(self.planned.count_query(self.salt), domain=self.planned.domain) as snapshot:
            self._snapshot = snapshot
            try:
                yield
            finally:
                self._snapshot = None

    def top_rows(self, limit: int) -> Histogram:
        """The ``limit`` items with the most users, and the count of the next."""
        self._rows = self._open_snapshot().top_rows(limit)
        return self._rows

    def tally(self) -> Histogram:
        """Every count with the number of its items; items are (count, rank) places until the winners are named."""
        counts, sizes = self._open_snapshot().counts_of_counts()
        return Histogram.from_counts_of_counts(dict(zip(counts, sizes, strict=True)), _place)

    def counts(self, release: Release) -> Histogram:
        """The true counts of the selected items, from the rows read or from the places themselves."""
        if self._rows is not None:
            return self._rows
        places: list[Any] = list(release.items)
        return Histogram({place: place[0] for place in places})

    def name(self, release: Release) -> Release:
        """Replace the (count, rank) places of a release by item names, in one query."""
        places: list[Any] = list(release.items)
        names = dict(zip(places, self._open_snapshot().names(places), strict=True))
        outcome = tuple(names.get(item, item) for item in release.outcome)
        if release.ordered:
            return replace(release, outcome=outcome)
        # Places are ordered by true count, names are not: each value stays with its name.
        named = ItemSet(outcome)
        by_name = dict(zip(map(names.get, places), release.values or (), strict=False))
        values = None if release.values is None else tuple(by_name[item] for item in named if item in by_name)
        return replace(release, outcome=named, values=values)

    def _open_snapshot(self) -> Snapshot:
        if self._snapshot is None:
            raise SourceFailure
        return self._snapshot

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        """Run the stage on weighted counts; only the names of winners are read."""
        with self.source.snapshot(self.planned.weighted_query(stage.weights, without, self.salt)) as snapshot:
            counts, sizes = snapshot.counts_of_counts()
            tally = dict(zip(counts, sizes, strict=True))
            release = stage.release(Histogram.from_counts_of_counts(tally, _place, known=False))
            places: list[Any] = list(release.items)
            return replace(release, outcome=snapshot.names(places) if places else ())

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the plain counts of the top rows."""
        with self.counting():
            return mechanism.release(self.top_rows(mechanism.max_rows))

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] items."""
        with self.source.snapshot(self.planned.size_query()) as snapshot:
            return snapshot.sizes(edges)

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] of the items."""
        with self.source.snapshot(self.planned.size_query(), domain=DomainItems(items)) as snapshot:
            return snapshot.sizes(edges)

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted count of each item, where t counts these items only."""
        query = self.planned.weighted_query(weights, (), self.salt)
        with self.source.snapshot(query, domain=DomainItems(items)) as snapshot:
            top = snapshot.top_rows(len(items)).top(len(items))
        found = dict(zip(top.items, (int(count) for count in top.counts), strict=True))
        return tuple(found.get(item, 0) for item in items)


def _place(count: int, rank: int) -> tuple[int, int]:
    return count, rank
