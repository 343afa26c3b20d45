"""Where noise is cut off for vectors of length 1: one user's items are hidden, however the length is shared out.

Equal parts are not the worst: for sigma of about 1 it is one large part and many small ones. The bound used here is
that of docs/proofs/measures.md, Lemma 9, which needs nothing of the shape of the function that is summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import flint

from podium.exact import ball, ball_precision, dyadic_above
from podium.mechanisms.truncated.cutoffs import escape_chance, gaussian_cutoff
from podium.mechanisms.weights import Weights
from podium.privacy.rounding import above

__all__ = ["is_bounded", "norm_cutoff"]

_PRECISION = 128
_MAX_CELLS = 20_000
_MARGIN_BITS = 12
"""The cutoff is at most about 2^-12 above the smallest that floats find."""
_MARGINS = 6
_STEPS = 200
_USUAL = Fraction(2**40)
_LEAST, _NARROW = 1e-200, 1e-4

Increasing = Callable[[Fraction], flint.arb]


@lru_cache(maxsize=256)
def norm_cutoff(items: int, sigma: Fraction, delta: Fraction) -> Fraction:
    """An A >= 1 with 1 - prod(1 - m(a_i)) <= delta for all a of ``items`` entries a_i >= 0 and length at most 1.

    m is ``escape_chance``. Floats look for A and for the slope of the certificate, balls decide; what they cannot
    decide counts as not hidden. The last resort is what every entry of 1 needs, which is larger.
    """
    sure = gaussian_cutoff(Weights([(items, 1)], unit=1), sigma, delta)
    if not (1 / _USUAL < sigma < _USUAL and 1 / _USUAL**20 < delta < Fraction(1, 2)):
        return sure
    guess, scale, most = _float_cutoff(items, float(sigma), float(delta), float(sure)), float(sigma), float(delta)
    for extra in range(_MARGINS):
        cutoff = above(max(Fraction(1), Fraction(guess) * (1 + Fraction(1 << extra, 1 << _MARGIN_BITS))))
        if cutoff >= sure:
            break
        slope = dyadic_above(Fraction(_float_bound(float(cutoff), items, scale)[1]) + Fraction(most) / 2**40, 400)
        with ball_precision(_PRECISION):
            chance = _chance_at(cutoff, sigma)
            if is_bounded(chance, items, delta, slope):
                return cutoff
    return sure


def _chance_at(cutoff: Fraction, sigma: Fraction) -> Increasing:
    return lambda part: escape_chance(cutoff, part, sigma)


def is_bounded(chance: Increasing, items: int, most: Fraction, slope: Fraction) -> bool:
    """Whether slope + items * max over r in [0, 1] of (chance(r) - slope r^2) is at most this, for sure.

    Then the sum of chance(a_i) is, for up to ``items`` entries of a vector whose length is at most 1. ``chance``
    increases, and has balls at the current precision. On [r, s] the bracket is at most chance(s) - slope r^2.
    """
    limit = (ball(most) - ball(slope)) / items
    cells, done = [(Fraction(0), Fraction(1))], 0
    while cells:
        low, high = cells.pop()
        done += 1
        if chance(high) - ball(slope * low**2) <= limit:
            continue
        if done > _MAX_CELLS:
            return False
        middle = (low + high) / 2
        cells += [(low, middle), (middle, high)]
    return True


def _float_cutoff(items: int, sigma: float, delta: float, high: float) -> float:
    low = 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if _float_bound(middle, items, sigma)[0] <= delta else (middle, high)
    return high


def _float_bound(cutoff: float, items: int, sigma: float) -> tuple[float, float]:
    """About the bound of ``is_bounded`` at its best slope, and that slope.

    As a function of the square, the chance is first concave and then convex, so the best line touches it at equal
    parts, or before them and at 1.
    """
    touch = 1 / items
    if not _clears(cutoff, touch, sigma):
        least = _LEAST
        for _ in range(_STEPS):
            middle = math.sqrt(least) * math.sqrt(touch)
            least, touch = (middle, touch) if _clears(cutoff, middle, sigma) else (least, middle)
    slope = _slope(cutoff, touch, sigma)
    best = max(_escape(cutoff, math.sqrt(touch), sigma) - slope * touch, _escape(cutoff, 1.0, sigma) - slope, 0.0)
    return slope + items * best, slope


def _clears(cutoff: float, square: float, sigma: float) -> bool:
    """Whether the tangent at this square is not below the chance at 1."""
    rise = _escape(cutoff, 1.0, sigma) - _escape(cutoff, math.sqrt(square), sigma)
    return _slope(cutoff, square, sigma) * (1 - square) >= rise


def _slope(cutoff: float, square: float, sigma: float) -> float:
    part = math.sqrt(square)
    bell = math.exp(-(((cutoff - part) / sigma) ** 2) / 2) / math.sqrt(2 * math.pi)
    return bell / _inside(cutoff, sigma) / (2 * sigma * part)


def _escape(cutoff: float, part: float, sigma: float) -> float:
    """About m(part), by the middle of a narrow interval where a difference of tails would lose all digits."""
    high, width = cutoff / sigma, part / sigma
    if width < _NARROW:
        tail = width * math.exp(-((high - width / 2) ** 2) / 2) / math.sqrt(2 * math.pi)
    else:
        tail = (math.erfc((high - width) / math.sqrt(2)) - math.erfc(high / math.sqrt(2))) / 2
    return tail / _inside(cutoff, sigma)


def _inside(cutoff: float, sigma: float) -> float:
    return math.erf(cutoff / sigma / math.sqrt(2))
