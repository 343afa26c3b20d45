"""The uniform number behind each candidate of a race, read off its stream of bits."""

from __future__ import annotations

from fractions import Fraction

from podium.randomness.replay import KeyedStreams

__all__ = ["uniform"]


def uniform(streams: KeyedStreams, group: int, order: int, digits: int) -> Fraction:
    """The middle of the interval that the first ``digits`` bits leave."""
    found = 0
    for known in range(0, digits, 64):
        found = found << 64 | streams.more(group, order, known)
    return Fraction(2 * found + 1, 2 << digits)
