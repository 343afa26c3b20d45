"""What a mechanism in rounds asks of a source: each round is a question of its own, in the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from podium.curator.prepare import Asked
from podium.histogram import Histogram, Item
from podium.mechanisms.gaussian.sparse_histogram import GaussianSparseHistogram
from podium.mechanisms.weights import Weights
from podium.release import Release
from podium.sources import CountQuery, DomainItems, Source

__all__ = ["SourceReader"]


@dataclass(frozen=True, slots=True)
class SourceReader:
    """A source, the question, and the salt by which users with too many items keep the same ones in all rounds."""

    source: Source
    asked: Asked
    salt: str

    def discover(self, stage: GaussianSparseHistogram, without: tuple[Item, ...]) -> Release:
        """Run the stage on tallies; only the winners are named."""
        with self.source.snapshot(self.asked.weighted(stage.weights, without, self.salt)) as snapshot:
            counts, sizes = snapshot.counts_of_counts()
            tally = dict(zip(counts, sizes, strict=True))
            release = stage.release(
                Histogram.from_counts_of_counts(tally, lambda count, rank: (count, rank), known=False)
            )
            places: list[Any] = list(release.items)
            return replace(release, outcome=snapshot.names(places) if places else ())

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] of the items."""
        question = self.asked.question
        reading = CountQuery(question.items, self.asked.user, question.where)
        with self.source.snapshot(reading, domain=DomainItems(items)) as snapshot:
            return snapshot.sizes(edges)

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted count of each of the items, with t counted among them only."""
        reading = self.asked.weighted(weights, (), self.salt)
        with self.source.snapshot(reading, domain=DomainItems(items)) as snapshot:
            top = snapshot.top_rows(len(items)).top(len(items))
        found = dict(zip(top.items, (int(count) for count in top.counts), strict=True))
        return tuple(found.get(item, 0) for item in items)
