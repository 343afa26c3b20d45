"""Tables of amounts in memory: what a source answers to mechanisms on sums of clipped contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION

__all__ = ["Table", "bucket_of", "clip_histograms", "user_histograms"]

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
    return tuple(resolution * number // max(1, len(amounts)) for number in parts), tuple(users)


def clip_histograms(
    table: Table, buckets: int = BUCKETS, resolution: int = RESOLUTION
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both histograms of a table."""
    each = [user_histograms(list(user.values()), buckets, resolution) for user in table]
    parts, users = ([sum(column) for column in zip(*(one[side] for one in each), strict=True)] for side in (0, 1))
    empty = [0] * buckets
    return tuple(parts or empty), tuple(users or empty)
