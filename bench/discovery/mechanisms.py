"""Domain discovery and top-k by other authors, in NumPy: fair for accuracy, of no use for privacy.

- Weighted Gaussian mechanism, then peeling (Dick, Joseph & Raman 2026), from Algorithms 1 to 3, Theorem 3.2 and Lemma
  B.1 of "Missing Mass for Differentially Private Domain Discovery" and the authors' published code.
- MaxAdaptiveDegree, then the same peeling (Chen, Cohen-Addad, Epasto & Zadimoghaddam 2025). The paper was not at hand:
  the steps are reconstructed from its abstract and its authors' article about it. What each user adds beside the
  rerouted weight is therefore not theirs but the most that keeps the L2 sensitivity at 1; see ``extra_weight``. Their
  second round, in which the first biases the weights, is left out.
- Top stable (Carvalho, Wang, Gondara & Miao 2020), from the abstract and the authors' published code. It returns a
  set, which may be shorter than k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from bench.utility.regimes.tables import Floats, Integers, Table
from bench.utility.regimes.thresholds import total_rho, zcdp_epsilon
from bench.utility.selections import peel

__all__ = [
    "BETA",
    "MAX_DEGREE",
    "adaptive_threshold",
    "adaptive_weights",
    "discover_then_peel",
    "extra_weight",
    "gaussian_sigma",
    "peeling_epsilon",
    "stable_failure",
    "stable_sequence",
    "top_stable",
    "weighted_threshold",
]

MAX_DEGREE, BETA = 50, 2.0
"""Of MaxAdaptiveDegree: whose weight is rerouted, and how many sigmas above the threshold weight is excess."""

Weigh = Callable[[Table, int, float, float], Floats]
"""Weights of all items from a table, a bound on the items of one user, a sigma and a threshold."""


@lru_cache(maxsize=256)
def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The least sigma for which noise on weights of L2 sensitivity 1 is (epsilon, delta)-private (Balle & Wang)."""

    def excess(sigma: float) -> float:
        mean = 1 / (2 * sigma)
        return float(ndtr(mean - epsilon * sigma) - math.exp(epsilon + log_ndtr(-mean - epsilon * sigma)) - delta)

    return float(brentq(excess, 1e-3, 1e5, xtol=1e-12, rtol=1e-14))


def weighted_threshold(sigma: float, delta: float, bound: int) -> float:
    """What items of one user alone pass with probability at most delta, for users of up to ``bound`` items."""
    sizes = np.arange(1, bound + 1)
    return float(np.max(sizes**-0.5 + _passed(sigma, delta, sizes)))


def _passed(sigma: float, delta: float, items: Integers) -> Floats:
    # The upper quantile at 1 - (1 - delta)^(1/t), computed without cancellation.
    quantiles: Floats = -sigma * ndtri(-np.expm1(np.log1p(-delta) / items))
    return quantiles


@lru_cache(maxsize=1024)
def extra_weight(size: int, degree: int = MAX_DEGREE) -> float:
    """What a user of so many items may add to each beside 1/size of rerouted weight, at an L2 sensitivity of 1.

    One user more adds ``1/size - e`` to an item of theirs, e being what was excess there, and at most E/degree to any
    item and E to all by rerouting, E being the sum of e. The square of the norm is convex in (e, shares of E), so its
    maximum is where m items are all excess and E/degree reaches all items of the user and ``degree - size`` others.
    """
    excess = np.arange(size + 1)
    rerouted = excess / (size * degree)
    linear = (size - excess) * (1 / size + rerouted) + excess * rerouted
    constant = (size - excess) * (1 / size + rerouted) ** 2 + excess * rerouted**2 + (degree - size) * rerouted**2
    # size x^2 + 2 linear x + constant <= 1 for every m.
    roots = (np.sqrt(linear**2 + size * (1 - constant)) - linear) / size
    return float(roots.min())


@lru_cache(maxsize=256)
def adaptive_threshold(sigma: float, delta: float, bound: int) -> float:
    """The same for adaptive weights: of a user's items t may be theirs alone, and the others excess."""
    worst = np.zeros(bound)
    for size in range(1, bound + 1):
        alone = np.arange(1, size + 1)
        if size > MAX_DEGREE:
            weights = np.full(size, size**-0.5)
        else:
            weights = 1 / size + extra_weight(size) + (size - alone) / (size * MAX_DEGREE)
        worst[:size] = np.maximum(worst[:size], weights)
    return float(np.max(worst + _passed(sigma, delta, np.arange(1, bound + 1))))


def adaptive_weights(table: Table, bound: int, sigma: float, threshold: float) -> Floats:
    """MaxAdaptiveDegree: weight far above the threshold goes back to its users, and on to their other items."""
    kept = table.kept(bound)
    users, items = table.users[kept], table.items[kept]
    size = np.bincount(users, minlength=len(table.sizes))[users]
    adaptive = size <= MAX_DEGREE
    share = np.where(adaptive, 1 / size, 0.0)
    enough = threshold + BETA * sigma
    initial = np.bincount(items, share, minlength=len(table.counts))
    excess = np.clip((initial - enough) / np.maximum(initial, enough), 0, None)
    returned = np.bincount(users, share * excess[items], minlength=len(table.sizes))
    extra = np.array([0.0] + [extra_weight(one) for one in range(1, MAX_DEGREE + 1)])
    direct = np.where(adaptive, extra[np.minimum(size, MAX_DEGREE)], size**-0.5)
    added = direct + np.where(adaptive, returned[users] / MAX_DEGREE, 0.0)
    weights: Floats = np.minimum(initial, enough) + np.bincount(items, added, minlength=len(table.counts))
    return weights


def _weighted(table: Table, bound: int, sigma: float, threshold: float) -> Floats:
    return table.spread(bound, 0.5)


def discover_then_peel(
    table: Table,
    k: int,
    bound: int,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    *,
    adaptive: bool,
    published: bool,
) -> Integers:
    """Find a domain, then select from it.

    ``published``: half of (epsilon, delta) for each step, by basic composition, as its authors do; otherwise both in
    one zCDP budget, half of its rho for each step, and half of delta for the threshold.
    """
    if published:
        sigma = gaussian_sigma(epsilon / 2, delta / 4)
        single, hidden = peeling_epsilon(k, epsilon / 2, delta / 2), delta / 4
    else:
        rho = total_rho(epsilon, delta)
        sigma, single, hidden = rho**-0.5, zcdp_epsilon(k, rho / 2), delta / 2
    weigh: Weigh = adaptive_weights if adaptive else _weighted
    threshold = (adaptive_threshold if adaptive else weighted_threshold)(sigma, hidden, bound)
    weights = weigh(table, bound, sigma, threshold)
    present = np.flatnonzero(table.spread(bound, 0.0))
    found = present[weights[present] + sigma * rng.standard_normal(len(present)) >= threshold]
    return peel(table.counts, found, k, single, rng)


def peeling_epsilon(k: int, epsilon: float, delta: float) -> float:
    """Of each of k selections, by Lemma B.1 of Dick, Joseph & Raman (Lemma 4.2 of Gillenwater et al. 2022)."""
    log = math.log(1 / delta)
    return max(epsilon / k, math.sqrt((8 * log + 8 * epsilon) / k) - math.sqrt(8 * log / k))


_FOR_QUERIES = 0.63
"""The share of epsilon that the authors of top stable spend on the gaps; the rest is for the threshold."""


def stable_failure(failure: float, epsilon: float) -> float:
    """The probability that a gap of 0 passes the threshold ``ln(1/failure)/(epsilon_2/2)``, exactly."""
    wide, narrow = 2 / (_FOR_QUERIES * epsilon), 1 / ((1 - _FOR_QUERIES) * epsilon)
    # Laplace noise of two scales: P(sum > t) for t = wide ln(1/failure).
    tails = wide**2 * failure - narrow**2 * failure ** (wide / narrow)
    return float(tails / (2 * (wide**2 - narrow**2)))


def stable_sequence(
    counts: Integers, k: int, epsilon: float, delta: float, rng: np.random.Generator
) -> tuple[int, float]:
    """How many of the largest counts are returned: the first gap from the k-th upwards that stands out, or 0."""
    failure = _failure(k, epsilon, delta)
    wide, narrow = 2 / (_FOR_QUERIES * epsilon), 1 / ((1 - _FOR_QUERIES) * epsilon)
    threshold = math.log(1 / failure) * wide + rng.laplace(scale=narrow)
    padded = np.concatenate([counts[: k + 1], np.zeros(max(0, k + 1 - len(counts)), dtype=np.int64)])
    gaps = np.maximum(padded[:k] - padded[1 : k + 1] - 1, 0)[::-1]
    passed = np.flatnonzero(gaps + rng.laplace(scale=wide, size=k) > threshold)
    return (k - int(passed[0]) if len(passed) else 0), threshold


@lru_cache(maxsize=256)
def _failure(k: int, epsilon: float, delta: float) -> float:
    return math.exp(brentq(lambda log: stable_failure(math.exp(log), epsilon) * k - delta, -700.0, -1e-6))


def top_stable(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    """The set of the largest counts down to a gap that stands out."""
    found, _ = stable_sequence(table.counts[table.order[: k + 1]], k, epsilon, delta, rng)
    best: Integers = table.order[: min(found, int(np.count_nonzero(table.counts)))]
    return best
