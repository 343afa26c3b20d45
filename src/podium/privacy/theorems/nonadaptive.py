"""The non-adaptive optimum for k bounded-range mechanisms, for comparison only.

**Not valid for top-k peeling**, nor for anything else whose next step depends on an answer: the adaptive
optimum is strictly larger. It is here so that a table can show how little adaptivity costs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from podium.errors import InvalidArgument
from podium.exact import Number, ball, positive_fraction, positive_integer, probability
from podium.privacy.rounding import above, certified_bound, significant_above

if TYPE_CHECKING:
    import flint

__all__ = ["MAX_K", "nonadaptive_optimum", "nonadaptive_optimum_delta"]

MAX_K = 300
"""The certificate costs k^2 ball operations, too many for a number that decides nothing beyond this k."""


def nonadaptive_optimum(epsilon: Number, k: int, delta: Number) -> Fraction:
    """Smallest total of k epsilon-bounded-range mechanisms that are all fixed in advance.

    Theorem: Dong, Durfee & Rogers 2020, Theorem 2 (all mechanisms use the same t in the worst case). Not valid for
    adaptive choices, so ``best_bound`` never uses it.
    """
    single, times, target = positive_fraction(epsilon, "epsilon"), _size(k), probability(delta, "delta")
    guess = _float_total(float(single), times, float(target))
    slack = Fraction(1, 2**40)
    while True:
        total = above(min(times * single, Fraction(guess) * (1 + slack)))
        if total >= times * single or nonadaptive_optimum_delta(single, times, total) <= target:
            return min(total, times * single)
        slack *= 8


def nonadaptive_optimum_delta(epsilon: Number, k: int, total: Number) -> Fraction:
    """The delta of the same theorem at this total: the largest of k+1 partial sums, each at its own best t."""
    single, times, target = positive_fraction(epsilon, "epsilon"), _size(k), positive_fraction(total, "total")
    sums = (_partial_sum(single, times, target, misses) for misses in range(times + 1))
    return max(Fraction(0), *sums)


def _size(k: int) -> int:
    times = positive_integer(k, "k")
    if times > MAX_K:
        raise InvalidArgument("k", k, allowed=f"at most {MAX_K} for the non-adaptive comparison")
    return times


def _best_shift(epsilon: Fraction, k: int, total: Fraction, misses: int) -> Fraction:
    """Where the sum over at most ``misses`` misses is largest: ``((k - misses) epsilon - total) / (k + 1)``."""
    return min(epsilon, max(Fraction(0), ((k - misses) * epsilon - total) / (k + 1)))


def _partial_sum(epsilon: Fraction, k: int, total: Fraction, misses: int) -> Fraction:
    shift = _best_shift(epsilon, k, total, misses)
    if shift in (0, epsilon):
        return Fraction(0)  # at both ends the two distributions agree, and the terms cannot be positive

    def value() -> flint.arb:
        hit = ball(-shift).expm1() / ball(-epsilon).expm1()
        odds = (1 - hit) / hit
        mass, result = hit**k, ball(0)
        for count in range(misses + 1):
            result += mass * -ball(total - (k - count) * epsilon + k * shift).expm1()
            mass *= odds * (k - count) / (count + 1)
        return result

    return certified_bound(value, significant_above)


def _float_total(epsilon: float, k: int, delta: float) -> float:
    """The same optimum in floats, by bisection: a first guess for the certificate."""
    misses = np.arange(k + 1)
    choose = np.array([math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1) for i in misses])
    low, high = 0.0, k * epsilon
    for _ in range(60):
        middle = (low + high) / 2
        shift = np.clip(((k - misses) * epsilon - middle) / (k + 1), 1e-12 * epsilon, epsilon * (1 - 1e-12))[:, None]
        hit = np.expm1(-shift) / np.expm1(-epsilon)
        mass = np.exp(choose + (k - misses) * np.log(hit) + misses * np.log1p(-hit))
        gains = -np.expm1(np.minimum(700.0, middle - (k - misses) * epsilon + k * shift))
        worst = float(np.max(np.sum(np.tril(mass * gains), axis=1)))
        low, high = (middle, high) if worst > delta else (low, middle)
    return high
