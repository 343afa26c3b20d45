"""Tables of amounts in memory: what a source answers to mechanisms on sums of clipped contributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from podium.histogram import Histogram, Item, Scores
from podium.mechanisms.exponential import ExponentialTopK
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION
from podium.mechanisms.measures.clipped_sums import grid_bits_of
from podium.mechanisms.measures.norm_weights import NormWeights
from podium.mechanisms.reader import Discovery
from podium.mechanisms.weights import Weights
from podium.query.ranked_by import MAX_CLIP
from podium.randomness import BitSource
from podium.release import Release

__all__ = [
    "AmountsTable", "ClippedTable", "Table", "bucket_of", "clip_histograms", "norm_bucket", "normed", "user_histograms",
]  # fmt: skip

Table = Sequence[Mapping[Any, int]]
"""For each user the amounts of their items, all above 0 unless they are signed."""


def bucket_of(amount: int, buckets: int = BUCKETS) -> int:
    """0 for 1, j for what is above 2^(j-1) and at most 2^j; the last bucket takes the rest."""
    return min((amount - 1).bit_length(), buckets - 1)


def user_histograms(
    amounts: Sequence[int], buckets: int = BUCKETS, resolution: int = RESOLUTION
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What one user with these amounts adds to the two histograms from which clips are chosen."""
    parts, users = [0] * buckets, [0] * buckets
    if amounts:
        for amount in amounts:
            parts[bucket_of(amount, buckets)] += 1
        users[bucket_of(len(amounts), buckets)] = 1
    # One division for all pairs in a bucket, rounded down: no user adds more than 1 in all.
    return tuple(number * (resolution // max(1, len(amounts))) for number in parts), tuple(users)


def clip_histograms(
    table: Table, buckets: int = BUCKETS, resolution: int = RESOLUTION
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both histograms of a table."""
    each = [user_histograms(list(user.values()), buckets, resolution) for user in table]
    parts, users = ([sum(column) for column in zip(*(one[side] for one in each), strict=True)] for side in (0, 1))
    empty = [0] * buckets
    return tuple(parts or empty), tuple(users or empty)


def norm_bucket(amounts: Sequence[int], buckets: int = BUCKETS) -> int:
    """The bucket of the length of these amounts: the j for which its square is at most 4^j."""
    square = sum(amount**2 for amount in amounts)
    return next((j for j in range(buckets) if square <= 4**j), buckets - 1)


def normed(user: Mapping[Any, int], weights: NormWeights) -> dict[Any, int]:
    """What a user with these amounts adds to each item, in weighted parts."""
    parts = {item: weights.parts(amount) for item, amount in user.items()}
    parts = {item: part for item, part in parts.items() if part > 0}
    weight = weights.weight(weights.square(list(parts.values()))) if parts else 0
    return {item: weight * part for item, part in parts.items()}


class AmountsTable:
    """A table of amounts that answers as a source does, and remembers at which clips it was asked."""

    def __init__(self, table: Table, *, falls_by: int = 0, bits: BitSource | None = None) -> None:
        self._table = table
        self._falls_by = falls_by
        self._bits = bits
        self.asked: list[int] = []

    def clip_histograms(self, buckets: int, resolution: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both histograms of the amounts."""
        return clip_histograms(self._table, buckets, resolution)

    def norm_histograms(self, buckets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Users by length and by sum."""
        lengths, sums = [0] * buckets, [0] * buckets
        for amounts in (list(user.values()) for user in self._table if user):
            lengths[norm_bucket(amounts, buckets)] += 1
            sums[bucket_of(sum(amounts), buckets)] += 1
        return tuple(lengths), tuple(sums)

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        """Run the stage on the amounts as they are."""
        return self._whole.discover(stage, without)

    def norm_sizes(self, items: tuple[Item, ...], weights: NormWeights, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have which Q among the items."""
        return self._whole.norm_sizes(items, weights, edges)

    def norm_sums(self, items: tuple[Item, ...], weights: NormWeights) -> tuple[int, ...]:
        """The sums of what users add to the items in weighted parts."""
        return self._whole.norm_sums(items, weights)

    @property
    def _whole(self) -> ClippedTable:
        return ClippedTable(self._table, MAX_CLIP, 0, bits=self._bits)

    def at_clip(self, clip: int) -> ClippedTable:
        """The table with clipped amounts."""
        self.asked.append(clip)
        return ClippedTable(self._table, clip, self._falls_by, bits=self._bits)


class ClippedTable:
    """Contributions: amounts clipped by user and item, without those that are 0."""

    def __init__(self, table: Table, clip: int, falls_by: int, *, bits: BitSource | None) -> None:
        clipped = ({item: max(-falls_by, min(amount, clip)) for item, amount in user.items()} for user in table)
        self._users = [{item: amount for item, amount in user.items() if amount} for user in clipped]
        self._bits = bits
        self._clip = clip

    def select(self, mechanism: LimitedDomain) -> Release:
        """Run the mechanism on the sums above 0."""
        cap = mechanism.max_items_per_user or max(map(len, self._users), default=0) or 1
        sums = self._sums(Weights.bounded(cap), None, ())
        positive = {item: amount for item, amount in sums.items() if amount > 0}
        return mechanism.release(Histogram(positive, known=False), bits=self._bits)

    def select_known(self, mechanism: ExponentialTopK) -> Release:
        """Run the mechanism on the rounded sums; every item that somebody has is the domain."""
        bits = grid_bits_of(mechanism.epsilon_per_item)
        sums = self._sums(Weights.bounded(max(map(len, self._users), default=1)), None, ())
        rounded = {item: (amount << bits) // self._clip for item, amount in sums.items()}
        return mechanism.release(Scores(rounded, rises_by=1 << bits), bits=self._bits)

    def sums_of(self, items: tuple[Item, ...]) -> tuple[int, ...]:
        """The plain sums."""
        return self.sums(items, Weights.bounded(len(items)))

    def discover(self, stage: Discovery, without: tuple[Item, ...]) -> Release:
        """Run the stage on weighted sums."""
        weights: Any = stage.weights
        if isinstance(weights, NormWeights):
            return stage.release(Histogram(self._normed(weights, None, without), known=False), bits=self._bits)
        return stage.release(Histogram(self._sums(weights, None, without), known=False), bits=self._bits)

    def norm_sizes(self, items: tuple[Item, ...], weights: NormWeights, edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have which Q among the items."""
        parts = ([part for item in items if (part := weights.parts(user.get(item, 0))) > 0] for user in self._users)
        return between(map(weights.square, parts), edges)

    def norm_sums(self, items: tuple[Item, ...], weights: NormWeights) -> tuple[int, ...]:
        """The sums of what users add to the items in weighted parts."""
        sums = self._normed(weights, items, ())
        return tuple(sums.get(item, 0) for item in items)

    def _normed(
        self, weights: NormWeights, only: tuple[Item, ...] | None, without: tuple[Item, ...]
    ) -> dict[Item, int]:
        sums: dict[Item, int] = {}
        left_out, wanted = set(without), None if only is None else set(only)
        for user in self._users:
            own = (item for item in user if item not in left_out and (wanted is None or item in wanted))
            kept = [item for item in sorted(own, key=repr) if weights.parts(user[item])][: weights.cap]
            for item, part in normed({item: user[item] for item in kept}, weights).items():
                sums[item] = sums.get(item, 0) + part
        return sums

    def sizes(self, items: tuple[Item, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
        """How many users have edges[i] <= t < edges[i+1] of the items."""
        return between((sum(item in user for item in items) for user in self._users), edges)

    def sums(self, items: tuple[Item, ...], weights: Weights) -> tuple[int, ...]:
        """The weighted sum of each of the items."""
        sums = self._sums(weights, items, ())
        return tuple(sums.get(item, 0) for item in items)

    def _sums(self, weights: Weights, only: tuple[Item, ...] | None, without: tuple[Item, ...]) -> dict[Item, int]:
        sums: dict[Item, int] = {}
        left_out, wanted = set(without), None if only is None else set(only)
        for user in self._users:
            own = [item for item in user if item not in left_out and (wanted is None or item in wanted)]
            # By the items alone: a rule that sees only this user's rows.
            kept = sorted(own, key=repr)[: weights.cap]
            for item in kept:
                sums[item] = sums.get(item, 0) + weights.weight(len(kept)) * user[item]
        return sums


def between(numbers: Iterable[int], edges: tuple[int, ...]) -> tuple[int, ...]:
    """How many of the numbers lie from each edge to the next; none is counted below the first."""
    found = [0] * len(edges)
    for number in numbers:
        if number >= edges[0]:
            found[max(place for place, edge in enumerate(edges) if edge <= number)] += 1
    return tuple(found)
