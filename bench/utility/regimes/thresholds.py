"""Thresholds and budgets of the contestants, in floats: fair for accuracy, of no use for privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from podium.errors import InvalidArgument
from podium.privacy import calibrate_epsilon, calibrate_gaussian, largest_rho, largest_selection_epsilon
from podium.privacy.theorems.conversion import split_delta

__all__ = [
    "algorithm_4_delta",
    "best_call",
    "cutoff_gaussian",
    "cutoff_laplace",
    "dr_epsilon",
    "gaussian_mu",
    "hidden_gaussian",
    "optimal_partition",
    "total_rho",
    "zcdp_epsilon",
]

_ENDS = np.unique(np.concatenate([np.arange(1, 33), np.geomspace(33, 1 << 20, 200).astype(np.int64)]))


def _rest(delta: float, calls: float) -> Fraction:
    return split_delta(Fraction(repr(delta)), Fraction(repr(calls)))


@lru_cache(maxsize=256)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Of Gaussian noise within (epsilon, delta), half of delta being for thresholds."""
    return float(calibrate_gaussian(repr(epsilon), _rest(delta, delta / 2)))


@lru_cache(maxsize=256)
def total_rho(epsilon: float, delta: float) -> float:
    """In zCDP, half of delta being for thresholds."""
    return float(largest_rho(repr(epsilon), _rest(delta, delta / 2)))


@lru_cache(maxsize=1024)
def dr_epsilon(k: int, epsilon: float, delta: float) -> float:
    """Per item, by Theorem 1 of Durfee & Rogers 2019: the smallest of three terms; half of delta is for the call."""
    log = math.log(2 / delta)

    def total(single: float) -> float:
        spread = single * math.sqrt(2 * k * log)
        return min(
            k * single, k * single * math.tanh(single / 2) + spread, k * single**2 / 2 + single * math.sqrt(k / 2 * log)
        )

    return float(brentq(lambda single: total(single) - epsilon, 1e-9, 50))


@lru_cache(maxsize=1024)
def zcdp_epsilon(k: int, rho: float) -> float:
    """Per item, if k items share rho."""
    return float(largest_selection_epsilon(Fraction(rho) / k))


@lru_cache(maxsize=1024)
def best_call(k: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Epsilon per item and delta of the call as the planner calibrates them."""
    try:
        plan = calibrate_epsilon(k, epsilon=repr(epsilon), delta=repr(delta))
    except InvalidArgument:
        return zcdp_epsilon(k, total_rho(epsilon, delta)), delta / 2
    return float(plan.epsilon_per_item), float(plan.delta_per_call)


@lru_cache(maxsize=1024)
def algorithm_4_delta(bound: int, epsilon: float, delta: float) -> float | None:
    """The parameter for which Algorithm 4 with D items per user is (epsilon, delta)-private; None if there is none."""

    def total(log: float) -> float:
        return math.log((math.exp(epsilon) + 1) / 4 * (2 + math.log(bound) - log)) + log - math.log(delta)

    low = -700.0
    return math.exp(brentq(total, low, -1e-9)) if total(low) < 0 < total(-1e-9) else None


@lru_cache(maxsize=1024)
def optimal_partition(bound: int, epsilon: float, delta: float) -> int:
    """The truncation of geometric noise that selects partitions optimally (Desfontaines, Voss, Gipson & Mandayam 2022).

    Each of D items has an equal share of epsilon and delta.
    """
    single, failure = epsilon / bound, delta / bound
    return math.ceil(math.log((math.expm1(single) + 2 * failure) / ((math.exp(single) + 1) * failure)) / single)


@lru_cache(maxsize=1024)
def cutoff_laplace(epsilon: float, delta: float) -> float:
    """A of FORMULAS2 15.1 for weights 1/t: noise of scale 1/epsilon conditioned on at most A."""
    return math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon


@lru_cache(maxsize=4096)
def cutoff_gaussian(sigma: float, delta: float, cap: int) -> float:
    """A of Gaussian noise conditioned on at most A, for weights 1/sqrt(t) with t up to the cap."""
    ends = _ENDS[cap >= _ENDS]
    weights = ends**-0.5

    def excess(bar: float) -> float:
        moved = (ndtr((weights - bar) / sigma) - ndtr(-bar / sigma)) / (1 - 2 * ndtr(-bar / sigma))
        return float(np.log(-np.expm1(ends * np.log1p(-np.minimum(moved, 1 - 1e-12)))).max() - math.log(delta))

    low, high = 1.0, 1.0 + 12 * sigma
    return low if excess(low) <= 0 else float(brentq(excess, low, high, xtol=1e-6))


@lru_cache(maxsize=4096)
def hidden_gaussian(sigma: float, delta: float, cap: int) -> float:
    """What plain Gaussian noise on a weight 1/sqrt(t) passes with probability delta, at the worst t."""
    ends = _ENDS[cap >= _ENDS]
    return float(np.max(ends**-0.5 - sigma * ndtri(-np.expm1(np.log1p(-delta) / ends))))
