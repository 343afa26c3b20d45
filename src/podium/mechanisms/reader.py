"""What mechanisms read: each declares it, and whoever has the table obeys."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from podium.histogram import Item
from podium.release import Release

if TYPE_CHECKING:
    from podium.mechanisms.gaussian.noisy_ranking import NoisyRanking
    from podium.mechanisms.gaussian.sparse_histogram import GaussianSparseHistogram
    from podium.mechanisms.weights import Weights

__all__ = ["KnownRoundsReader", "Reads", "RoundsReader"]


class Reads(StrEnum):
    """What a mechanism asks of a table."""

    TOP_ROWS = "top rows"
    COUNTS_OF_COUNTS = "counts of counts"
    WEIGHTED_COUNTS = "weighted counts"
    ROUNDS = "rounds"


class RoundsReader(Protocol):
    """A table for a mechanism in rounds; everything it returns but ``discover`` is private and stays inside."""

    def discover(self, stage: GaussianSparseHistogram, without: tuple[Item, ...]) -> Release:
        """Run the stage on the weighted counts of all items but these."""
        ...

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] of the items."""
        ...

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted count of each of the items, with t counted among them only."""
        ...


class KnownRoundsReader(RoundsReader, Protocol):
    """The same with a known domain, of which everything can be ranked."""

    def rank_known(self, stage: NoisyRanking) -> Release:
        """Run the stage on the weighted counts of all items of the domain; what it returns was released."""
        ...
