"""Whether a short list is so far ahead that selections surely return it: then nothing else is asked.

Of a known domain it must be far ahead of the next item; of an unknown one, far above what hides which items there are.
On large tables short lists usually are. What is left is counts of items, which every engine computes in one pass over
the pairs; numbers of users by how many items they have cost a second one.
"""

from __future__ import annotations

import math

from podium.histogram import Histogram

__all__ = ["LONGEST_TESTED", "gap_after", "is_clear", "is_within_reach"]

LONGEST_TESTED = 10
"""Longer lists end among items that are close together; asking them would cost budget and say nothing."""
_SCALES_OF_GAP = 5.0
_SCALES_OF_LEAD = 4.0
_LARGEST_NOISE = 3.0
"""The largest of n noises is ln(n) + 3 of their scales or less in 19 cases of 20."""


def gap_after(histogram: Histogram, k: int, rows: int | None = None) -> int:
    """By how much the k-th largest count exceeds the one after the top ``rows``, the next if these are not given.

    One user more or less changes it by at most 1. It is 0 if there are fewer than k items.
    """
    top = histogram.top(k if rows is None else rows)
    return int(top.counts[k - 1]) - top.next_count if len(top.counts) >= k else 0


def is_clear(noisy: float, *, scale: float, noise: float, k: int, domain_size: int) -> bool:
    """Whether selections whose noise has this scale find the right k items, by a gap with noise of its own scale.

    Post-processing of a released number, so floats may decide. A wrong decision costs accuracy, never privacy.
    """
    reach = noise * (math.log(k * domain_size) + _LARGEST_NOISE)
    return noisy > _SCALES_OF_GAP * scale + reach


def is_within_reach(noisy: float, *, scale: float, threshold: float) -> bool:
    """Whether selections should return k items, given the noisy lead and the scale of its noise; floats may decide."""
    return noisy > _SCALES_OF_LEAD * scale + threshold
