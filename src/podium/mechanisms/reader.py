"""What mechanisms read: each declares it, and whoever has the table obeys."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from podium.histogram import Item
from podium.release import Release

if TYPE_CHECKING:
    from podium.histogram import Histogram
    from podium.mechanisms.gaussian.noisy_ranking import NoisyRanking
    from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
    from podium.mechanisms.weights import Weights
    from podium.randomness import BitSource

__all__ = ["AmountsReader", "ClippedReader", "Discovery", "KnownRoundsReader", "Reads", "RoundsReader", "TableReader"]


class Reads(StrEnum):
    """What a mechanism asks of a table."""

    TOP_ROWS = "top rows"
    COUNTS_OF_COUNTS = "counts of counts"
    WEIGHTED_COUNTS = "weighted counts"
    ROUNDS = "rounds"


class Discovery(Protocol):
    """A mechanism that finds items by weighted counts."""

    @property
    def weights(self) -> Weights:
        """How much one user adds to each item."""
        ...

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run it on weighted counts."""
        ...


class RoundsReader(Protocol):
    """A table for a mechanism in rounds; everything it returns but ``discover`` is private and stays inside."""

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
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


class TableReader(RoundsReader, Protocol):
    """A table for a mechanism that chooses among others; what ``user_sizes`` returns is private too."""

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] items of all there are."""
        ...

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the plain counts of the top rows."""
        ...


class ClippedReader(RoundsReader, Protocol):
    """A table of amounts at one clip: weights and counts are of contributions, min(amount, clip) of a user and item."""

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the sums of contributions of the top rows; sums of 0 or less do not exist."""
        ...

    def sums_of(self, items: tuple[Item, ...]) -> tuple[int, ...]:
        """The sum of the contributions to each of the items; no user is cut."""
        ...


class AmountsReader(Protocol):
    """A table of amounts, integers above 0 unless they are signed; all that it returns is private."""

    def clip_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What ``ClipChoice`` releases with noise: pairs by amount, in parts of their user, and users by items."""
        ...

    def at_clip(self, clip: int, falls_by: int = 0) -> ClippedReader:
        """The table with every amount of a user and item clipped to at most clip, and at least -falls_by."""
        ...
