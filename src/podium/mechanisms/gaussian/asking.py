"""What a run in rounds asks of a table, as values: one table answers one run, or many runs with the same queries."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from podium.histogram import Item
from podium.mechanisms.measures.norm_weights import NormWeights
from podium.mechanisms.reader import Discovery
from podium.mechanisms.weights import Weights

__all__ = ["Asking", "Find", "NormSizes", "NormSums", "Rank", "Sizes", "Sums", "Wanted", "answered"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Find:
    """The release of a stage on the weighted counts of all items but these."""

    stage: Discovery
    without: tuple[Item, ...] = ()

    def answer(self, reader: Any) -> Any:
        """What one table says."""
        return reader.discover(self.stage, self.without)


@dataclass(frozen=True, slots=True)
class Rank:
    """The release of a stage on the weighted counts of a known domain."""

    stage: Discovery

    def answer(self, reader: Any) -> Any:
        """What one table says."""
        return reader.rank_known(self.stage)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many users have edges[i] <= t < edges[i+1] of the items."""

    items: tuple[Item, ...]
    edges: tuple[int, ...]

    def answer(self, reader: Any) -> Any:
        """What one table says."""
        return reader.sizes(self.items, self.edges)


@dataclass(frozen=True, slots=True)
class Sums:
    """The weighted count of each of the items, with t counted among them only."""

    items: tuple[Item, ...]
    weights: Weights

    def answer(self, reader: Any) -> Any:
        """What one table says."""
        return reader.sums(self.items, self.weights)


@dataclass(frozen=True, slots=True)
class NormSizes:
    """How many users have which square among these items."""

    items: tuple[Item, ...]
    weights: NormWeights
    edges: tuple[int, ...]

    def answer(self, reader: Any) -> Any:
        """What one table says."""
        return reader.norm_sizes(self.items, self.weights, self.edges)


@dataclass(frozen=True, slots=True)
class NormSums:
    """The sum of the weighted parts of each of the items."""

    items: tuple[Item, ...]
    weights: NormWeights

    def answer(self, reader: Any) -> Any:
        """What one table says."""
        return reader.norm_sums(self.items, self.weights)


Wanted: TypeAlias = Find | Rank | Sizes | Sums | NormSizes | NormSums
Asking: TypeAlias = Generator[Wanted, Any, T]
"""A run: it yields what it wants to know, is sent what the table says, and returns what came out."""


def answered(run: Asking[T], reader: Any) -> T:
    """What comes out of a run that one table answers."""
    answer: Any = None
    while True:
        try:
            wanted = run.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return] # what the generator returns
        answer = wanted.answer(reader)
