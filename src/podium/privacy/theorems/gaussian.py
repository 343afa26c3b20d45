"""Exact accounting of Gaussian noise: the privacy profile of N(mu, 1) against N(0, 1), and its inverses.

Balle & Wang 2018, Theorem 8: Gaussian noise with mu = L2 sensitivity / sigma is (epsilon, delta)-DP exactly for

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

Mechanisms chosen on the way, each with a mu_i that may depend on earlier answers, are together as private as one whose
mu^2 was fixed in advance, if the sum of the mu_i^2 stays within it on every path (docs/proofs/adaptive.md, Theorem 1,
after Smith & Thakurta 2022; for fixed mu_i it is Dong, Roth & Su 2022, Corollary 3.3). The square is the parameter
here, because it is the rational one: it is twice the zCDP constant. Discrete Gaussian noise is not of this kind. In a
ledger a filter keeps the sum of rho instead.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, positive_fraction, probability
from podium.privacy.rounding import GRID_BITS, below, certified_bound, first_number, significant_above

if TYPE_CHECKING:
    import flint

__all__ = ["calibrate_gaussian", "gaussian_delta", "gaussian_epsilon"]

_MOST = 700
"""From here on floats have no e^epsilon."""


def gaussian_delta(mu_squared: Number, epsilon: Number) -> Fraction:
    """The delta of the Gaussian mechanism at this epsilon, rounded up to 64 significant bits."""
    target = exact_fraction(epsilon, "epsilon")
    if target < 0:
        raise InvalidArgument("epsilon", epsilon, allowed="a number, 0 or more")
    return _delta(positive_fraction(mu_squared, "mu_squared"), target)


def gaussian_epsilon(mu_squared: Number, delta: Number) -> Fraction:
    """The smallest multiple epsilon of 2^-64 with ``gaussian_delta(mu_squared, epsilon) <= delta``."""
    return _epsilon(positive_fraction(mu_squared, "mu_squared"), probability(delta, "delta"))


def calibrate_gaussian(epsilon: Number, delta: Number) -> Fraction:
    """The largest mu, to 64 significant bits, with ``gaussian_epsilon(mu^2, delta) <= epsilon``.

    Noise of scale ``sigma >= s/mu`` on values of L2 sensitivity s is then (epsilon, delta)-DP.
    """
    # Reported epsilons are multiples of 2^-64: what is reported later must not be above what was asked for.
    return _calibrate(below(positive_fraction(epsilon, "epsilon")), probability(delta, "delta"))


@lru_cache(maxsize=4096)
def _delta(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    def profile() -> flint.arb:
        mu, loss = ball(mu_squared).sqrt(), ball(epsilon)
        return _normal_cdf(mu / 2 - loss / mu) - loss.exp() * _normal_cdf(-mu / 2 - loss / mu)

    return min(Fraction(1), certified_bound(profile, significant_above))


def _normal_cdf(x: flint.arb) -> flint.arb:
    """Phi(x)."""
    return (-x / ball(2).sqrt()).erfc() / 2


@lru_cache(maxsize=4096)
def _epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    def suffices(steps: int) -> bool:
        return _delta.__wrapped__(mu_squared, Fraction(steps, 1 << GRID_BITS)) <= delta

    if suffices(0):
        return Fraction(0)
    enough = 1 << GRID_BITS
    while not suffices(enough):
        enough *= 2
    return Fraction(first_number(suffices, 0, enough), 1 << GRID_BITS)


@lru_cache(maxsize=4096)
def _calibrate(epsilon: Fraction, delta: Fraction) -> Fraction:
    def exceeds(mu: Fraction) -> bool:
        return _delta.__wrapped__(mu**2, epsilon) > delta

    size = Fraction(1)
    while exceeds(size):
        size /= 2
    while not exceeds(2 * size):
        size *= 2
    grid = size / (1 << GRID_BITS - 1)
    guess = int(Fraction(_float_mu(float(epsilon), float(delta), float(size))) / grid) if epsilon < _MOST else 0
    first_too_large = first_number(lambda steps: exceeds(steps * grid), 1 << GRID_BITS - 1, 1 << GRID_BITS, guess)
    return (first_too_large - 1) * grid


def _float_mu(epsilon: float, delta: float, size: float) -> float:
    """About the mu between ``size`` and twice that with this delta: where to look first."""
    low, high = size, 2 * size
    while low < (middle := (low + high) / 2) < high:
        cut = epsilon / middle
        tails = [math.erfc((cut - shift * middle / 2) / math.sqrt(2)) / 2 for shift in (1, -1)]
        low, high = (low, middle) if tails[0] - math.exp(epsilon) * tails[1] > delta else (middle, high)
    return low
