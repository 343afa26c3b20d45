"""Screening: most groups of an unknown number are so small that a bound decides that nothing comes out of them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import flint
import numpy as np

from podium.exact import ball, ball_precision, rational_bounds
from podium.histogram import Histogram, TopRows
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
from podium.randomness import BitSource, Coins, race
from podium.randomness.coins import HEAD_DIGITS
from podium.release import Release

__all__ = ["Screen"]

_WHOLE = 1 << HEAD_DIGITS
_MAX_KNOWN = 1 << 16


class Screen:
    """A limited domain in two steps: a coin says whether anything comes out at all, then what comes out is drawn.

    Together they have exactly the distribution of the mechanism (docs/proofs/groups.md, Lemma 1). A million groups
    with a few rows each need one coin each, and nearly no coin needs the probability itself.
    """

    def __init__(self, inner: LimitedDomain, bits: BitSource | None = None) -> None:
        self._inner = inner
        self._bits = bits
        self._coins = Coins(bits)
        self._known: dict[tuple[int, int, int], tuple[int, int]] = {}

    def hides(self, histogram: Histogram) -> bool:
        """Toss the coin of a group: whether nothing comes out of it."""
        head = self._coins.head()
        largest, next_count = histogram.extremes()
        if not largest:
            return True
        if len(histogram) <= self._inner.max_rows:
            low, high = self._bounds(len(histogram), largest, next_count)
            if head >= high:
                return True
            if head < low:
                return False
        rows = histogram.top(self._inner.max_rows)
        return not self._coins.below(head, lambda: self._chance(rows))

    def release(self, histogram: Histogram) -> Release:
        """What comes out of a group, given that something does."""
        inner, rows = self._inner, histogram.top(self._inner.max_rows)
        scale = 1 / inner.rate
        (first,) = race(rows.counts, k=1, scale=scale, bits=self._bits).groups
        chosen, stopped = [first], False
        if inner.k > 1:
            others = [i for i in range(len(rows.items)) if i != first]
            bottom = len(others)
            scores = np.append(rows.counts[others], rows.next_count)
            lead = self._bottom(rows.next_count) - rows.next_count
            finish = race(scores, k=inner.k - 1, scale=scale, handicaps={bottom: lead}, bits=self._bits)
            stopped = bottom in finish.groups
            ahead = finish.groups[: finish.groups.index(bottom)] if stopped else finish.groups
            chosen += [others[i] for i in ahead]
        return inner.release_of(tuple(rows.items[i] for i in chosen), stopped=stopped)

    def _bottom(self, next_count: int) -> Fraction:
        return self._inner.bottom_at(self._inner.max_rows, next_count)

    def _bounds(self, rows: int, largest: int, next_count: int) -> tuple[int, int]:
        """Bounds on 2^64 times the probability that something comes out of so many rows.

        The largest row alone is the least that there can be; that all are as large is the most.
        """
        found = self._known.get((rows, largest, next_count))
        if found is None:
            with ball_precision(2 * HEAD_DIGITS):
                weight = ball((largest - self._bottom(next_count)) * self._inner.rate).exp()
                low = rational_bounds(_share(weight))[0]
                high = rational_bounds(_share(weight * rows))[1]
            found = math.floor(low * _WHOLE), math.ceil(high * _WHOLE)
            if len(self._known) < _MAX_KNOWN:
                self._known[rows, largest, next_count] = found
        return found

    def _chance(self, rows: TopRows) -> flint.arb:
        """The probability that BOTTOM does not come first."""
        weight, bottom = flint.arb(0), self._bottom(rows.next_count)
        for count, members in Counter(rows.counts.tolist()).items():
            weight += members * ball((count - bottom) * self._inner.rate).exp()
        return _share(weight)


def _share(weight: flint.arb) -> flint.arb:
    """weight/(1 + weight), which is monotone in balls too."""
    return 1 / (1 + 1 / weight) if weight > 0 else flint.arb(0)
