"""Tables, sources and curators that the tests of the whole path share."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.sources.wrapped import WrappedSource

from podium import Budget, Curator
from podium.histogram import Item
from podium.sources import (
    CountQuery,
    Domain,
    Group,
    GroupedPairs,
    KeptPairs,
    NamedPairs,
    Snapshot,
    Source,
    open_source,
)

__all__ = ["BUDGET", "COUNTS", "PURE", "Watched", "curator", "events", "tables_of_all_sizes", "views"]

BUDGET = Budget(epsilon=3, delta="1e-6", items=200, questions=20)
PURE = Budget(epsilon=1, items=10, questions=10)
COUNTS = {"a": 3000, "b": 2000, "c": 1000}
"""Readers per article of ``views``: so far apart that at these budgets the order is certain (below 1e-9)."""


def events(path: Path, counts: Mapping[Any, int], **more: Any) -> Path:
    """A Parquet file in which ``counts[article]`` users read each article; ``more`` are columns of one value."""
    rows = [(user, item) for item, count in counts.items() for user in range(count)]
    items = pa.array([item for _, item in rows], None if rows else pa.string())
    columns = {"user_id": pa.array([user for user, _ in rows], pa.int64()), "article": items}
    for name, value in more.items():
        columns[name] = pa.array([value] * len(rows), None if rows else pa.string())
    pq.write_table(pa.table(columns), path)
    return path


def tables_of_all_sizes(folder: Path) -> Iterator[tuple[dict[str, int], int, Path]]:
    """No row, one user, one item and six: the readers, how many items surely come out, and the file."""
    for number, counts in enumerate(({}, {"a": 1}, {"a": 3000}, dict.fromkeys("abcdef", 3000))):
        own = folder / str(number)
        own.mkdir()
        yield counts, 0 if number < 2 else len(counts), events(own / "views.parquet", counts)


def views(path: Path) -> Path:
    """A table with a column of every kind that a question may name."""
    return events(
        path,
        COUNTS,
        country="DE",
        day=dt.date(2026, 1, 31),
        at=dt.datetime(2026, 1, 31, 12),  # noqa: DTZ001 - podium's timestamps have no zone
        price=Decimal("1.50"),
        flag=True,
        rating=0.5,
        tags=["x", "y"],
    )


@dataclass(frozen=True, slots=True)
class _WatchedPairs:
    inner: KeptPairs
    watched: Watched

    def snapshot(self, query: CountQuery) -> Snapshot:
        self.watched.note_round(query)
        return self.inner.snapshot(query)

    def among(self, items: tuple[Item, ...]) -> NamedPairs:
        self.watched.note_round(items)
        return self.inner.among(items)

    def grouped_among(self, items: Mapping[Group, Sequence[Item]]) -> GroupedPairs:
        return self.inner.grouped_among(items)

    def grouped_users(self, groups: Collection[Group]) -> dict[Group, int]:
        return self.inner.grouped_users(groups)

    def grouped_rest_totals(self, items: Any, clip: int, buckets: int) -> dict[Group, Any]:
        return self.inner.grouped_rest_totals(items, clip, buckets)

    def rest_totals(self, items: Any, clip: int, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.inner.rest_totals(items, clip, buckets)

    def value_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.inner.value_histograms(buckets, resolution)

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.inner.norm_histograms(buckets)


class Watched(WrappedSource):
    """A source that remembers what its rows were read for, and fails when told to.

    ``readings`` are the reads of the table, ``rounds`` those of the pairs that one of them kept.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.readings: list[CountQuery] = []
        self.rounds: list[CountQuery | tuple[Item, ...]] = []
        self.failure: BaseException | None = None

    def note_round(self, what: CountQuery | tuple[Item, ...]) -> None:
        self.rounds.append(what)
        if self.failure is not None:
            raise self.failure

    @property
    def snapshots(self) -> int:
        return len(self.readings)

    def snapshot(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[Snapshot]:
        self.readings.append(query)
        if self.failure is not None:
            raise self.failure
        return self.inner.snapshot(query, domain=domain)

    def keep_pairs(self, query: CountQuery, *, domain: Domain | None = None) -> AbstractContextManager[KeptPairs]:
        self.readings.append(query)
        if self.failure is not None:
            raise self.failure
        return self._kept(query, domain)

    @contextmanager
    def _kept(self, query: CountQuery, domain: Domain | None) -> Iterator[KeptPairs]:
        with self.inner.keep_pairs(query, domain=domain) as pairs:
            yield _WatchedPairs(pairs, self)


@contextmanager
def curator(path: Path, budget: Budget = BUDGET, **options: Any) -> Iterator[tuple[Curator, Watched]]:
    """A curator of the data set 'views' whose ledger lies beside the table, and its watched source."""
    source = Watched(open_source(path))
    try:
        with Curator(
            source, dataset="views", user="user_id", ledger=path.with_name("ledger.db"), budget=budget, **options
        ) as made:
            yield made, source
    finally:
        source.close()
