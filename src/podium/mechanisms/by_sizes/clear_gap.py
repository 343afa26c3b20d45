"""Whether a short list ends at a gap so wide that no way of ranking could miss an item: then nothing else is asked.

On large tables short lists usually do. What is left is counts of items, which every engine computes in one pass over
the pairs; numbers of users by how many items they have cost a second one.
"""

from __future__ import annotations

import math

from podium.histogram import Histogram

__all__ = ["LONGEST_TESTED", "gap_after", "is_clear"]

LONGEST_TESTED = 10
"""Longer lists end among items that are close together; asking them would cost budget and say nothing."""
_SCALES_OF_GAP = 5.0
_LARGEST_NOISE = 3.0
"""The largest of n noises is ln(n) + 3 of their scales or less in 19 cases of 20."""


def gap_after(histogram: Histogram, k: int) -> int:
    """By how much the k-th largest count exceeds the next: one user more or less changes it by at most 1."""
    top = histogram.top(k)
    return int(top.counts[-1]) - top.next_count if len(top.counts) == k else 0


def is_clear(noisy: float, *, scale: float, noise: float, k: int, domain_size: int) -> bool:
    """Whether selections whose noise has this scale find the right k items, by a gap with noise of its own scale.

    Post-processing of a released number, so floats may decide. A wrong decision costs accuracy, never privacy.
    """
    reach = noise * (math.log(k * domain_size) + _LARGEST_NOISE)
    return noisy > _SCALES_OF_GAP * scale + reach
