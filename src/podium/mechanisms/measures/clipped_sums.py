"""Sums of clipped contributions over a known domain, rounded down to a part of the clip so that many are equal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from podium.histogram import Groups, Histogram, Item, KnownDomain
from podium.mechanisms.measures.quantised import quantising_bits

__all__ = ["ClippedSums", "grid_bits_of"]

_MAX_BITS = 20
"""As finely as engines round."""


def grid_bits_of(epsilon_per_item: Fraction) -> int:
    """How finely sums are rounded for a selection of this epsilon: a user moves a rounded sum by 0 to 2^bits."""
    return min(quantising_bits(epsilon_per_item), _MAX_BITS)


class ClippedSums(KnownDomain):
    """How many items of a known domain have each rounded sum floor(S 2^bits / clip).

    One user adds an integer from 0 to clip to each S, so each rounded sum rises by an integer from 0 to 2^bits.
    """

    __slots__ = ("_tally", "bits")

    def __init__(self, tally: Mapping[int, int], bits: int) -> None:
        self._tally = Histogram.from_counts_of_counts(tally, _place)
        self.bits: int = bits

    def __len__(self) -> int:
        return len(self._tally)

    def groups(self) -> Groups:
        """The whole domain, one group per rounded sum; an item is its (sum, rank) until it is named."""
        return self._tally.groups()

    def span(self, *, monotone: bool) -> Fraction:
        """The most that one user moves a rounded sum, whatever the mechanism assumes of counts."""
        return Fraction(1 << self.bits)


def _place(total: int, rank: int) -> Item:
    return total, rank
