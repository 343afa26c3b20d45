"""What mechanisms read: each declares it, and whoever has the table obeys."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from podium.histogram import Item
from podium.release import Release

if TYPE_CHECKING:
    from podium.histogram import Histogram
    from podium.mechanisms.exponential import ExponentialTopK
    from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
    from podium.mechanisms.measures.norm_weights import NormWeights
    from podium.mechanisms.noisy import NoisyTopK
    from podium.mechanisms.rising import RisingTopK
    from podium.mechanisms.weights import Weights
    from podium.randomness import BitSource

__all__ = [
    "AmountsReader",
    "Discovery",
    "KnownRoundsReader",
    "KnownTableReader",
    "Reads",
    "RoundsReader",
    "TableReader",
]


class Reads(StrEnum):
    """What a mechanism asks of a table."""

    TOP_ROWS = "top rows"
    COUNTS_OF_COUNTS = "counts of counts"
    WEIGHTED_COUNTS = "weighted counts"
    ROUNDS = "rounds"
    GROUPS = "groups"
    GROUPS_AT_CLIP = "groups at a chosen clip"
    GROUPS_IN_ROUNDS = "groups in rounds"
    GROUPS_IN_ROUNDS_AT_CLIP = "groups in rounds at a chosen clip"
    GROUPS_TOGETHER = "groups together"


class Discovery(Protocol):
    """A mechanism that finds or ranks items by weighted counts."""

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

    def rank_known(self, stage: Discovery) -> Release:
        """Run the stage on the weighted counts of all items of the domain; what it returns was released."""
        ...


class KnownTableReader(KnownRoundsReader, Protocol):
    """The same for a mechanism that chooses among others; gaps and ``user_sizes`` are private too."""

    def known_gap(self, k: int, max_items_per_user: int | None) -> int:
        """By how many users the k-th item of the domain is ahead of the next, where users are cut to so many items."""
        ...

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] items of the domain."""
        ...

    def choose_known(self, mechanism: NoisyTopK | RisingTopK, max_items_per_user: int | None) -> Release:
        """Run the mechanism on the counts of the whole domain, for which users are cut to so many items of it."""
        ...


class TableReader(RoundsReader, Protocol):
    """A table for a mechanism that chooses among others; ``user_sizes`` and ``lead`` are private too."""

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] items of all there are."""
        ...

    def lead(self, mechanism: LimitedDomain) -> int:
        """By how many users the k-th item is ahead of the one after the top rows of the mechanism."""
        ...

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the plain counts of the top rows."""
        ...


class AmountsReader(RoundsReader, Protocol):
    """A table of what users add to items; everything it returns but releases is private and stays inside."""

    def clip_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users' pairs by size, each user's adding up to at most ``resolution``, and users by number of pairs."""
        ...

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by sqrt(sum of x^2) over their amounts x, and by the sum of these."""
        ...

    def norm_sizes(self, items: tuple[Item, ...], weights: NormWeights, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= Q < edges[i+1], Q the square of their parts of these items."""
        ...

    def norm_sums(self, items: tuple[Item, ...], weights: NormWeights) -> tuple[int, ...]:
        """The sum for each of the items of what users add to it, in weighted parts."""
        ...

    def at_clip(self, clip: int) -> AmountsReader:
        """The same table, in which a user adds at most ``clip`` to an item."""
        ...

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the sums of the top rows."""
        ...

    def select_known(self, mechanism: ExponentialTopK) -> Release:
        """Run the mechanism on the sums of all items of a known domain, rounded down to a part of the clip."""
        ...

    def sums_of(self, items: tuple[Item, ...]) -> tuple[int, ...]:
        """The sum of each of the items."""
        ...
