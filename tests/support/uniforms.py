"""The uniform number behind each candidate of a race, read off its stream of bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from podium.randomness.candidates import Lineup
from podium.randomness.replay import KeyedStreams

__all__ = ["float_uniforms", "many_candidates", "uniform"]


def uniform(streams: KeyedStreams, group: int, order: int, digits: int) -> Fraction:
    """The middle of the interval that the first ``digits`` bits leave."""
    found = 0
    for known in range(0, digits, 64):
        found = found << 64 | streams.more(group, order, known)
    return Fraction(2 * found + 1, 2 << digits)


def many_candidates(seed: int, size: int, scale: int) -> tuple[NDArray[np.int64], Lineup]:
    """Scores below 1009 in no order, and the candidates that they make at this scale of noise."""
    scores = ((np.arange(size) * 7919 + seed) % 1009).astype(np.int64)
    return scores, Lineup(scores, Fraction(1, scale))


def float_uniforms(streams: KeyedStreams, size: int) -> NDArray[np.float64]:
    """The uniform number behind each of so many candidates, as a float."""
    words = streams.heads(np.arange(size), np.ones(1, dtype=np.intp))
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
