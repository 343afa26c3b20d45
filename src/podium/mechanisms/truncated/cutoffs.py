"""Where noise is cut off: the smallest public bound at which one user's items are hidden well enough, rounded up."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import flint

from podium.exact import ball, ball_precision
from podium.mechanisms.gaussian.level_distribution import normal_below
from podium.mechanisms.weights import Weights
from podium.privacy.rounding import GRID_BITS, above, certified_bound, first_number

__all__ = ["escape_chance", "gaussian_cutoff", "laplace_cutoff"]

_PRECISIONS = (128, 256, 1024, 4096)
_STEP = Fraction(1, 1 << GRID_BITS)
_USUAL = Fraction(2**200)


@lru_cache(maxsize=256)
def gaussian_cutoff(weights: Weights, sigma: Fraction, delta: Fraction) -> Fraction:
    """The smallest A >= w(1), a multiple of 2^-64, with 1 - (1 - m(w(t)))^t <= delta for every t.

    m is ``escape_chance``. It falls as A grows from w on, so that each end of a step needs A to be large enough; within
    a step w is constant and 1 - (1-m)^t grows with t, so only the ends count. What balls cannot decide counts as not
    hidden, which rounds A up.
    """
    cutoff = above(Fraction(weights.weight(1), weights.unit))
    ends = [(end, Fraction(weight, weights.unit)) for end, weight in weights.steps]
    # The users with the most items need the most in most cases, so that the others take one comparison each.
    exposed = ends[-1:]
    while exposed:
        for end in exposed:
            if not _hides(cutoff, *end, sigma, delta):
                cutoff = _smallest_hiding(cutoff, *end, sigma, delta)
        exposed = [end for end in ends if not _hides(cutoff, *end, sigma, delta)]
        with ball_precision(_PRECISIONS[0]):
            exposed.sort(key=lambda end: float(escape_chance(cutoff, end[1], sigma) * end[0]), reverse=True)
    return cutoff


def _smallest_hiding(fails: Fraction, items: int, weight: Fraction, sigma: Fraction, delta: Fraction) -> Fraction:
    """The smallest multiple of 2^-64 above one that fails at which ``items`` items of this weight are hidden."""
    low, high = int(fails / _STEP), 2 * int(fails / _STEP)
    while not _hides(high * _STEP, items, weight, sigma, delta):
        low, high = high, 2 * high
    guess = _float_cutoff(low, high, items, weight, sigma, delta) if _is_usual(sigma, delta) else 0
    return _STEP * first_number(lambda steps: _hides(steps * _STEP, items, weight, sigma, delta), low, high, guess)


def _is_usual(sigma: Fraction, delta: Fraction) -> bool:
    """Whether floats can compute with them."""
    return 1 / _USUAL < sigma < _USUAL and 1 / _USUAL < delta < Fraction(1, 2)


def _float_cutoff(low: int, high: int, items: int, weight: Fraction, sigma: Fraction, delta: Fraction) -> int:
    """About the step between these two at which the items are hidden: where to look first."""
    scale, step, seen = float(sigma) * math.sqrt(2), math.ldexp(1.0, -GRID_BITS), float(weight)
    allowed = -math.expm1(math.log1p(-float(delta)) / items)
    bottom, top = low * step, high * step
    while bottom < (middle := (bottom + top) / 2) < top:
        outer = math.erfc(middle / scale)
        escaped = (math.erfc((middle - seen) / scale) - outer) / 2 / math.erf(middle / scale)
        bottom, top = (bottom, middle) if escaped <= allowed else (middle, top)
    return int(top / step)


def _hides(cutoff: Fraction, items: int, weight: Fraction, sigma: Fraction, delta: Fraction) -> bool:
    for bits in _PRECISIONS:
        with ball_precision(bits):
            chance = escape_chance(cutoff, weight, sigma)
            allowed = -(ball(-delta).log1p() / items).expm1()
            if chance <= allowed:
                return True
            if chance > allowed:
                return False
    return False


def escape_chance(cutoff: Fraction, weight: Fraction, sigma: Fraction) -> flint.arb:
    """m(w) = [Q((A-w)/sigma) - Q(A/sigma)] / (1 - 2 Q(A/sigma)), Q the upper tail of N(0, 1).

    The probability that noise N(0, sigma^2), given that its size is at most A, is below w - A: where a value without
    the user's weight w lies outside of what it can be with it.
    """
    end, scale = ball(cutoff), ball(sigma)
    outer, inside = normal_below(-end / scale), (end / scale / flint.arb(2).sqrt()).erf()
    return (normal_below((ball(weight) - end) / scale) - outer) / inside


@lru_cache(maxsize=256)
def laplace_cutoff(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A = max(1, ln(1 + (e^epsilon - 1)/(2 delta))/epsilon), rounded up to a multiple of 2^-64."""

    def cutoff() -> flint.arb:
        return (ball(epsilon).expm1() / (2 * ball(delta))).log1p() / ball(epsilon)

    return max(Fraction(1), certified_bound(cutoff, above))
