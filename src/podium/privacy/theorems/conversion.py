"""From Renyi curves and zCDP to (epsilon, delta), and back, certified on the safe side.

Every conversion minimises over the order ``1 + a``. The orders are taken from one fixed public grid,
``a = 2^(i/1024)``, and the objective has a single valley (its sublevel sets are intervals, because
``a * D`` is convex in a), so a binary search finds the grid's minimum. A minimum over a fixed set of
increasing functions is increasing: conversions are monotone in every argument, not only up to rounding.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, exact_fraction, positive_fraction, probability
from podium.privacy.rounding import GRID_BITS, above, below, certified_bound, significant_above

if TYPE_CHECKING:
    from collections.abc import Callable

    Curve: TypeAlias = Callable[[flint.arb], flint.arb]

__all__ = [
    "largest_rho",
    "pure_delta",
    "renyi_delta",
    "renyi_epsilon",
    "split_delta",
    "zcdp_delta",
    "zcdp_epsilon",
]

_STEPS = 1024
_REACH = 64 * _STEPS
_SEARCH_BITS = 256


def zcdp_epsilon(rho: Number, delta: Number) -> Fraction:
    """Smallest total epsilon at this delta, for rho-zCDP.

    Theorem: Canonne, Kamath & Steinke 2020, Proposition 12 with Corollary 13: for every a > 0 the mechanism is
    (epsilon, delta)-DP with ``epsilon = (1+a) rho + (ln(1/delta) - ln a + (1+a) ln(a/(1+a))) / a``.
    """
    return _zcdp_epsilon(_non_negative(rho, "rho"), probability(delta, "delta"))


@lru_cache(maxsize=4096)
def _zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    if rho == 0:
        return Fraction(0)
    return renyi_epsilon(lambda excess: (excess + 1) * ball(rho), delta)


def zcdp_delta(rho: Number, epsilon: Number) -> Fraction:
    """Smallest delta at this total epsilon, for rho-zCDP (the same theorem, solved for delta)."""
    return _zcdp_delta(_non_negative(rho, "rho"), _non_negative(epsilon, "epsilon"))


@lru_cache(maxsize=4096)
def _zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    if rho == 0:
        return Fraction(0)
    return renyi_delta(lambda excess: (excess + 1) * ball(rho), epsilon)


def renyi_epsilon(curve: Curve, delta: Fraction) -> Fraction:
    """Smallest total epsilon at this delta for a Renyi curve ``excess -> D_(1+excess)``.

    Theorem: Canonne, Kamath & Steinke 2020, Proposition 12. The curve must be one for which
    ``excess * curve(excess)`` is convex, as it is for every sum of worst pairs.
    """

    def objective(excess: flint.arb) -> flint.arb:
        return curve(excess) + (_slack(excess) - ball(delta).log()) / excess

    best = _valley(objective)
    return max(Fraction(0), certified_bound(lambda: objective(_excess(best)), above))


def renyi_delta(curve: Curve, epsilon: Fraction) -> Fraction:
    """Smallest delta at this total epsilon for a Renyi curve (the same theorem, solved for delta)."""

    def objective(excess: flint.arb) -> flint.arb:
        return excess * (curve(excess) - ball(epsilon)) + _slack(excess)

    best = _valley(objective)
    return min(Fraction(1), certified_bound(lambda: objective(_excess(best)).exp(), significant_above))


@lru_cache(maxsize=4096)
def _largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    def objective(excess: flint.arb) -> flint.arb:
        return -(ball(epsilon) - (_slack(excess) - ball(delta).log()) / excess) / (excess + 1)

    best = _valley(objective)
    rho = max(Fraction(0), certified_bound(lambda: -objective(_excess(best)), below))
    # The forward conversion rounds up once more, which can pass epsilon by less than one grid step of rho.
    while rho > 0 and _zcdp_epsilon(rho, delta) > epsilon:
        rho -= Fraction(1, 2**GRID_BITS)
    return max(Fraction(0), rho)


def largest_rho(epsilon: Number, delta: Number) -> Fraction:
    """The largest multiple rho of 2^-64 with ``zcdp_epsilon(rho, delta) <= epsilon``."""
    return _largest_rho(positive_fraction(epsilon, "epsilon"), probability(delta, "delta"))


def pure_delta(epsilon: Fraction, at: Fraction) -> Fraction:
    """Privacy profile of epsilon-DP below its epsilon: ``(e^epsilon - e^at) / (1 + e^epsilon)``.

    Theorem: randomised response is the worst epsilon-DP pair (Kairouz, Oh & Viswanath 2015, Theorem 3.3, k=1).
    """
    if at >= epsilon:
        return Fraction(0)
    return certified_bound(
        lambda: -ball(at - epsilon).expm1() / (1 + ball(-epsilon).exp()),
        significant_above,
    )


def split_delta(total: Fraction, used: Fraction) -> Fraction:
    """The delta' left for a conversion when a failure of probability ``used`` comes on top.

    Solves ``used + (1 - used) * delta' = total``; used-approximate rho-zCDP then gives (epsilon, total).
    """
    if used >= 1 or total < used:
        raise InvalidArgument(
            "delta",
            str(total),
            allowed=f"at least the failure probability {float(used):.3g} that the mechanisms spend themselves",
            hint="Raise delta, or lower the delta of each call.",
        )
    return (total - used) / (1 - used)


def _slack(excess: flint.arb) -> flint.arb:
    """``-ln a + (1+a) ln(a/(1+a))``, written as ``a ln(a/(1+a)) - ln(1+a)``."""
    return -excess * (1 / excess).log1p() - excess.log1p()


def _excess(index: int) -> flint.arb:
    return (flint.arb.const_log2() * index / _STEPS).exp()


def _valley(objective: Curve) -> int:
    """The grid index with the smallest objective, by bisection on the sign of the next difference."""
    low, high = -_REACH, _REACH
    with ball_precision(_SEARCH_BITS):
        while low < high:
            middle = (low + high) // 2
            if _falls(objective(_excess(middle + 1)) - objective(_excess(middle))):
                low = middle + 1
            else:
                high = middle
    return low


def _falls(difference: flint.arb) -> bool:
    # An undecided sign means that both orders are equally good to 200 bits, so either is right.
    return bool(difference.mid() < 0)


def _non_negative(value: Number, name: str) -> Fraction:
    number = exact_fraction(value, name)
    if number < 0:
        raise InvalidArgument(name, value, allowed="a number, 0 or more")
    return number
