"""What a mechanism reads, made from plain counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.errors import InvalidArgument
from podium.histogram import Histogram, Item
from podium.mechanisms import (
    AdaptiveTopK,
    LimitedDomain,
    MeasuredTopK,
    NoisyTopK,
    RefinedTopK,
    RisingTopK,
    SetUnionThenTopK,
    SharedVoteTopK,
    SizedKnownTopK,
    SizedTopK,
    TruncatedLaplaceHistogram,
    TwoReadings,
    Weights,
)
from podium.mechanisms.by_sizes.clear_gap import gap_after
from podium.mechanisms.reader import Discovery
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["mechanism_input"]

_IN_ROUNDS = (AdaptiveTopK, MeasuredTopK, RefinedTopK, SizedKnownTopK, SizedTopK)
_SHARED = (SharedVoteTopK, TruncatedLaplaceHistogram)


def mechanism_input(mechanism: Any, counts: Mapping[str, int], *, bits: BitSource | None = None) -> Any:
    """A histogram; for mechanisms that weigh users by their number of items, a table where each user has one."""
    if not isinstance(mechanism, (*_IN_ROUNDS, *_SHARED, SetUnionThenTopK)):
        return Histogram(counts)
    if mechanism.max_items_per_user != 1:
        raise InvalidArgument(
            "max_items_per_user",
            mechanism.max_items_per_user,
            allowed="1 for an audit on counts",
            hint="Counts do not say how many items each user has; audit it end to end instead.",
        )
    if isinstance(mechanism, _IN_ROUNDS):
        return _OneItemEach(counts, bits)
    if isinstance(mechanism, _SHARED):
        return _weigh(counts, mechanism.weights)
    return TwoReadings(weighted=_weigh(counts, mechanism.weights), counts=Histogram(counts))


def _weigh(counts: Mapping[Any, int], weights: Weights) -> Histogram:
    return Histogram({item: weights.weight(1) * count for item, count in counts.items()})


@dataclass(frozen=True, slots=True)
class _OneItemEach:
    """A reader of a table where every user has one item, and adds 1 to it, for mechanisms that weigh users."""

    counts: Mapping[Any, int]
    bits: BitSource | None

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        """What the stage releases of all items but these."""
        rest = {item: count for item, count in self.counts.items() if item not in without}
        return stage.release(_weigh(rest, stage.weights), bits=self.bits)

    def rank_known(self, stage: Discovery) -> Release:
        """What the stage releases of all items, those that nobody has included."""
        return stage.release(_weigh(self.counts, stage.weights), bits=self.bits)

    def choose_known(self, mechanism: NoisyTopK | RisingTopK, max_items_per_user: int | None) -> Release:
        """What the mechanism releases of the counts."""
        return mechanism.release(Histogram(self.counts), bits=self.bits)

    def known_gap(self, k: int, max_items_per_user: int | None) -> int:
        """How far the k-th count is above the next."""
        return gap_after(Histogram(self.counts), k)

    def lead(self, mechanism: LimitedDomain) -> int:
        """How far the k-th count is above the one after the top rows."""
        return gap_after(Histogram(self.counts, known=False), mechanism.k, mechanism.max_rows)

    def select(self, mechanism: LimitedDomain) -> Release:
        """What the mechanism releases of the counts."""
        return mechanism.release(Histogram(self.counts, known=False), bits=self.bits)

    def user_sizes(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """Every user has one item."""
        return (sum(self.counts.values()), *[0] * (len(edges) - 1))

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """Every user of these items has one of them, and the first edge is 1."""
        users = sum(self.counts[item] for item in items)
        return (users, *[0] * (len(edges) - 1))

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted counts."""
        return tuple(weights.weight(1) * self.counts[item] for item in items)

    def clip_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """All amounts, and all numbers of items, are in the first bucket."""
        users, rest = sum(self.counts.values()), [0] * (buckets - 1)
        return (resolution * users, *rest), (users, *rest)

    def at_clip(self, clip: int) -> _OneItemEach:
        """No clip is below 1."""
        return self

    def sums_of(self, items: tuple[Item, ...]) -> tuple[int, ...]:
        """The counts."""
        return tuple(self.counts[item] for item in items)
