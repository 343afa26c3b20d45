"""An envelope over the classes of subsets: integer weights that dominate the true ones, and few of them.

The classes (a, t) are covered by rectangles, split only where they carry weight and their losses differ. The true
weight of a rectangle, a count of subsets times an exponential, is bounded by one binomial and the smallest loss
in it. Nothing is ever dropped: a rectangle that hardly matters is just left coarse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from podium.exact import ball, ball_precision
from podium.mechanisms.canonical.classes import Floats, Integers, Loss, Ranking
from podium.randomness import BitSource, uniform_below
from podium.randomness.noise import float_stage_is_sound

__all__ = ["GRID", "LOOSENESS", "SLACK", "Envelope", "binomial", "log_binomial"]

GRID = 40
"""Weights are whole multiples of 2^-40 of the heaviest: from integers one can choose exactly."""
LOOSENESS = 0.0065
"""By how much the bound on a log binomial may exceed it, beside rounding."""
SLACK = 2.0**-40

_WASTE = 0.5
_TYPICAL = 0.5


def log_binomial(below: Integers, above: Integers) -> Floats:
    """Floats not below log C(below + above, below), and above it by less than 0.0065 + 2^-40 of it.

    Robbins: n! = sqrt(2 pi n) (n/e)^n e^r with 1/(12n) - 1/(360n^3) < r < 1/(12n). Written so that all terms of
    size have the same sign, for any n that a float can hold.
    """
    if not float_stage_is_sound():
        return _log_binomial_by_balls(below, above)
    small = np.minimum(below, above).astype(np.float64)
    large = np.maximum(below, above).astype(np.float64)
    n = small + large
    some = np.maximum(small, 1.0)
    other = np.maximum(large, 1.0)
    share = np.minimum(small / np.maximum(n, 1.0), 0.5)
    size = some * np.log(n / some + (small == 0.0)) - other * np.log1p(-share)
    shape = 0.5 * np.log(np.maximum(n, 1.0) / some / other / (2.0 * np.pi))
    tail = 1.0 / (12.0 * np.maximum(n, 1.0)) - (1.0 - 1.0 / 30.0 / some / some) / (12.0 * some)
    tail -= (1.0 - 1.0 / 30.0 / other / other) / (12.0 * other)
    return np.where(small == 0.0, 0.0, size + shape + tail + SLACK / 4.0 * (1.0 + size))


def _log_binomial_by_balls(below: Integers, above: Integers) -> Floats:
    def upper(m: int, rest: int) -> float:
        with ball_precision(128 + 2 * (m + rest).bit_length()):
            return float(binomial(m + rest, m).log().upper().mid()) * (1.0 + SLACK)

    return np.array([upper(int(m), int(rest)) for m, rest in zip(below, above, strict=True)])


def binomial(n: int, m: int) -> flint.arb:
    """C(n, m) as a ball, at a cost that does not grow with either."""
    return (ball(n + 1).lgamma() - ball(m + 1).lgamma() - ball(n - m + 1).lgamma()).exp()


@dataclass(frozen=True, slots=True)
class _Rectangles:
    """Rectangles of blocks: heads ``corners[0]``..``corners[1]``, tails ``corners[2]``..``corners[3]``.

    ``size`` is not below the log of the number of proposals, ``best`` not above the smallest loss, ``spread`` about
    by how much the losses differ. ``kind`` says how to propose: bit 0, a is free; bit 1, t is free.
    """

    corners: NDArray[np.intp]
    size: Floats
    best: Floats
    spread: Floats
    kind: NDArray[np.intp]

    def where(self, chosen: NDArray[Any]) -> _Rectangles:
        return _Rectangles(
            self.corners[:, chosen], self.size[chosen], self.best[chosen], self.spread[chosen], self.kind[chosen]
        )

    def join(self, other: _Rectangles) -> _Rectangles:
        return _Rectangles(
            np.concatenate([self.corners, other.corners], axis=1),
            np.concatenate([self.size, other.size]),
            np.concatenate([self.best, other.best]),
            np.concatenate([self.spread, other.spread]),
            np.concatenate([self.kind, other.kind]),
        )


class Envelope:
    """Whole-number weights that dominate the weight of every rectangle; the last one is the top k itself.

    One unit is e^top / 2^40, where the top k weighs 1.
    """

    def __init__(self, ranking: Ranking, loss: Loss) -> None:
        self._k = ranking.k
        self._loss = loss
        self._heads, self._tails = ranking.blocks(loss)
        self._rectangles = self._refine()
        heights = np.append(self._rectangles.size - self._rectangles.best, 0.0)
        top = float(heights.max())
        self.top: Fraction = Fraction(top)
        with np.errstate(under="ignore"):
            weights = _computed(np.exp, flint.arb.exp, heights - top) * (2.0**GRID * (1.0 + 2.0**-34))
        self.weights: NDArray[np.int64] = weights.astype(np.int64) + 1
        self._sums = np.cumsum(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return int(self._sums[-1])

    def pick(self, bits: BitSource) -> int:
        """A rectangle, or the top k, with probability exactly proportional to its weight."""
        return int(np.searchsorted(self._sums, uniform_below(self.total, bits), side="right"))

    def log_size(self, index: int) -> float:
        """A float not below the log of the number of proposals of a rectangle."""
        return float(self._rectangles.size[index])

    def ranges(self, index: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The smallest and largest a, and the smallest and largest t, of a rectangle."""
        first, last, left, right = self._rectangles.corners[:, index].tolist()
        return (
            (int(self._heads.first[first]), int(self._heads.last[last])),
            (int(self._tails.first[left]), int(self._tails.last[right])),
        )

    def kind(self, index: int) -> int:
        """How a rectangle proposes: bit 0, a is free; bit 1, t is free."""
        return int(self._rectangles.kind[index])

    def _refine(self) -> _Rectangles:
        """Split until what the losses inside rectangles may waste is a fraction of what is surely there."""
        whole = np.array([[0], [len(self._heads) - 1], [0], [len(self._tails) - 1]], dtype=np.intp)
        rectangles = self._measure(whole)
        while True:
            heights = rectangles.size - rectangles.best
            top = max(float(heights.max()), 0.0)
            with np.errstate(under="ignore"):
                weights = np.exp(heights - top)
                solid = weights * np.exp(-rectangles.spread)
                enough = _WASTE * (_TYPICAL * float(solid.sum()) + float(np.exp(-top)))
            waste = weights - solid
            order = np.argsort(waste)
            split = order[np.cumsum(waste[order]) > enough]
            if not len(split):
                return rectangles
            keep = np.ones(len(weights), dtype=np.bool_)
            keep[split] = False
            rectangles = rectangles.where(keep).join(self._measure(self._halves(rectangles.corners[:, split])))

    def _halves(self, corners: NDArray[np.intp]) -> NDArray[np.intp]:
        """Each rectangle cut in the direction in which its loss varies more."""
        first, last, left, right = corners
        rise = self._heads.floats[first] - self._heads.floats[last]
        drop = self._tails.floats[right] - self._tails.floats[left]
        across = (rise >= drop) & (last > first) | (right == left)
        head, tail = (first + last) // 2, (left + right) // 2
        upper = np.array([first, np.where(across, head, last), left, np.where(across, right, tail)])
        lower = np.array([np.where(across, head + 1, first), last, np.where(across, left, tail + 1), right])
        return np.concatenate([upper, lower], axis=1)

    def _measure(self, corners: NDArray[np.intp]) -> _Rectangles:
        first, last, left, right = corners
        heads, tails = self._heads, self._tails
        best = self._loss.rounded_floats(heads.floats[last] + tails.floats[left]) * (1.0 - SLACK)
        worst = self._loss.rounded_floats(heads.floats[first] + tails.floats[right])
        size, kind = self._sizes(heads.first[first], heads.last[last], tails.first[left], tails.last[right])
        # Whatever rounding did, one block has one loss.
        single = (first == last) & (left == right)
        spread = np.where(single, 0.0, np.maximum(worst * (1.0 - SLACK) - best, 0.0))
        return _Rectangles(corners, size, best, spread, kind)

    def _sizes(
        self, first: Integers, last: Integers, left: Integers, right: Integers
    ) -> tuple[Floats, NDArray[np.intp]]:
        """The smallest of the four families of proposals, and the log of its size.

        All four are C(n, m), the size of the largest class (a0, t1), times a factor.
        """
        m, rest = self._k - 1 - first, right - self._k - 1
        below, above = m.astype(np.float64), rest.astype(np.float64)
        n = below + above
        heads, tails = (last - first + 1).astype(np.float64), (right - left + 1).astype(np.float64)
        a_free, t_free = (n + 1.0) / (above + 1.0), (n + 1.0) / (below + 1.0)
        both = a_free * (n + 2.0) / (below + 1.0)
        factors = np.array([heads * tails, a_free * tails, heads * t_free, both])
        kind = np.argmin(factors, axis=0)
        return log_binomial(m, rest) + _computed(np.log, flint.arb.log, np.min(factors, axis=0)) + SLACK, kind


def _computed(fast: Callable[[Floats], Floats], slow: Callable[[flint.arb], flint.arb], points: Floats) -> Floats:
    """A function to well within the slack, whatever NumPy's own accuracy on this platform."""
    if float_stage_is_sound():
        return fast(points)
    with ball_precision(128):
        return np.array([float(slow(flint.arb(float(point))).mid()) for point in points])
