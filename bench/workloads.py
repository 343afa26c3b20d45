"""What the selection bench selects from: four shapes of scores, raw and as counts of counts.

Zipf is what real tables look like, flat is all ties, and distinct scores are where grouping cannot help. There
are two of the last because the race treats them differently: close together they still fit the grouping
table, far apart they do not.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHAPES", "TALLY_SHAPES", "Counts", "raw_scores", "tally"]

Counts: TypeAlias = NDArray[np.int64]

SHAPES = ("zipf", "flat", "distinct", "distinct-wide")
TALLY_SHAPES = ("zipf", "flat")

_ZIPF_TOP = 10**6
_FLAT = 1000
_WIDE = 1000


def raw_scores(shape: str, d: int, seed: int = 0) -> Counts:
    """One score per item of the domain, in no particular order."""
    rng = np.random.default_rng(seed)
    if shape == "zipf":
        counts = _ZIPF_TOP // np.arange(1, d + 1, dtype=np.int64)
        rng.shuffle(counts)
        return counts
    if shape == "flat":
        return np.full(d, _FLAT, dtype=np.int64)
    return rng.permutation(d).astype(np.int64, copy=False) * (1 if shape == "distinct" else _WIDE)


def tally(shape: str, d: int) -> tuple[Counts, Counts]:
    """(score, how many items have it): the same data for a domain too large to write down."""
    if shape == "flat":
        return np.array([_FLAT], dtype=np.int64), np.array([d], dtype=np.int64)
    head = _ZIPF_TOP // np.arange(1, min(d, _ZIPF_TOP) + 1, dtype=np.int64)
    scores, multiplicities = np.unique(head, return_counts=True)
    if d > _ZIPF_TOP:
        scores, multiplicities = np.append(0, scores), np.append(d - _ZIPF_TOP, multiplicities)
    return scores.astype(np.int64), multiplicities.astype(np.int64)
