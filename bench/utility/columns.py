"""What podium's default is compared with: five ways to find the top k of unknown items, at the same guarantee.

NumPy simulations with seeded, inexact noise: fair for accuracy, of no use for privacy. The three that bound users to D
items are run for every D, so that the best can be picked by hindsight, which nobody can do with private data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.utility.data import Integers, Pairs
from bench.utility.regimes.thresholds import dr_epsilon, gaussian_mu, total_rho, zcdp_epsilon
from bench.utility.selections import peel, select_in_turn

__all__ = ["BOUNDS", "COLUMNS", "Answer", "answers"]

BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128)
DR, ZCDP = "limited domain, DR", "limited domain, zCDP"
LAPLACE, GAUSSIAN, UNION = "Laplace threshold", "Gaussian sparse", "set union, peel"
COLUMNS = (DR, ZCDP, LAPLACE, GAUSSIAN, UNION)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one run of one column found, best first; ``bound`` is D where users were bounded."""

    column: str
    bound: int | None
    epsilon: float
    k: int
    found: Integers
    estimates: Floats | None = None


def answers(
    pairs: Pairs, ks: tuple[int, ...], epsilons: tuple[float, ...], delta: float, rng: np.random.Generator
) -> Iterator[Answer]:
    """One run of everything. Bounds and lists of different lengths share their random cut and noise."""
    order = np.argsort(-pairs.counts, kind="stable")
    for epsilon in epsilons:
        for k in ks:
            by_rho = max(zcdp_epsilon(k, total_rho(epsilon, delta)), epsilon / k)
            for column, single in ((DR, dr_epsilon(k, epsilon, delta)), (ZCDP, by_rho)):
                found = select_in_turn(pairs.counts, order, k, single, delta / 2, rng)
                yield Answer(column, None, epsilon, k, found)
    places = pairs.shuffled_places(rng)
    widest = int(pairs.sizes.max())
    for bound in BOUNDS:
        if bound >= 2 * widest:
            break
        yield from _bounded(pairs, places < bound, bound, ks, epsilons, delta, rng)


def _bounded(
    pairs: Pairs,
    kept: NDArray[np.bool_],
    bound: int,
    ks: tuple[int, ...],
    epsilons: tuple[float, ...],
    delta: float,
    rng: np.random.Generator,
) -> Iterator[Answer]:
    counts = np.bincount(pairs.items[kept], minlength=len(pairs.counts))
    weights = 1 / np.sqrt(np.minimum(pairs.sizes, bound))
    shares = weights[pairs.users[kept]]
    spread: Floats = np.bincount(pairs.items[kept], shares, minlength=len(pairs.counts)).astype(np.float64)
    for epsilon in epsilons:
        listed, values = _laplace(counts, bound, epsilon, delta, rng)
        for k in ks:
            yield Answer(LAPLACE, bound, epsilon, k, listed[:k], values[:k])
        listed, values = _gaussian(counts, bound, epsilon, delta, rng)
        for k in ks:
            yield Answer(GAUSSIAN, bound, epsilon, k, listed[:k], values[:k])
        union = _union(spread, bound, epsilon, delta, rng)
        for k in ks:
            # Half of rho was for the union.
            single = zcdp_epsilon(k, total_rho(epsilon, delta) / 2)
            yield Answer(UNION, bound, epsilon, k, peel(pairs.counts, union, k, single, rng))


# Noise on every count of users who were bounded to D items


def _laplace(
    counts: Integers, bound: int, epsilon: float, delta: float, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    scale = bound / epsilon
    bar = 1 - scale * math.log(2 * _each(delta, bound))
    present = np.flatnonzero(counts)
    return _above(present, counts[present] + rng.laplace(scale=scale, size=len(present)), bar)


def _gaussian(
    counts: Integers, bound: int, epsilon: float, delta: float, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    """With the exact loss of Gaussian noise, which is less than zCDP says."""
    sigma = math.sqrt(bound) / gaussian_mu(epsilon, delta)
    bar = 1 - sigma * ndtri(_each(delta / 2, bound))
    present = np.flatnonzero(counts)
    return _above(present, counts[present] + sigma * rng.standard_normal(len(present)), bar)


def _union(spread: Floats, bound: int, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    """Items found with weights 1/sqrt(t), for half of rho (Gopi et al. 2020)."""
    sigma = 1 / math.sqrt(total_rho(epsilon, delta))
    sizes = np.arange(1, bound + 1)
    bar = np.max(1 / np.sqrt(sizes) - sigma * ndtri(-np.expm1(np.log1p(-delta / 2) / sizes)))
    present = np.flatnonzero(spread)
    return _above(present, spread[present] + sigma * rng.standard_normal(len(present)), float(bar))[0]


def _above(items: Integers, values: Floats, bar: float) -> tuple[Integers, Floats]:
    passed = values > bar
    best = np.argsort(-values[passed])
    return items[passed][best], values[passed][best]


def _each(delta: float, bound: int) -> float:
    """What each of D items may fail with so that all together fail with delta."""
    return -math.expm1(math.log1p(-delta) / bound)
