"""The rule of section 15.4 as it is written: what the default began as, and is measured against on the same cells."""

from __future__ import annotations

import math

import numpy as np

from bench.utility.regimes.contestants import cut_off_laplace, limited_domain
from bench.utility.regimes.rounds import Rounds
from bench.utility.regimes.tables import Floats, Integers, Table
from bench.utility.regimes.thresholds import best_call, cutoff_gaussian, cutoff_laplace, gaussian_mu

__all__ = ["by_formula"]

_FOR_SIZES = 0.05
_EDGES = np.array([1, 2, 3, 5, 9, 17, 33, 65])
_TAU = np.array([1, 2, 3.5, 6.3, 12, 23, 45, 110])
_CAPS = (8, 8, 8, 16, 32, 64, 128, 1000)


def by_formula(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    """What it finds. Up to two places go to the limited domain, with all of epsilon."""
    if k <= 2:
        return limited_domain(table, k, *best_call(k, epsilon, delta), rng)
    rest, scale = epsilon * (1 - _FOR_SIZES), 1 / (epsilon * _FOR_SIZES)
    mu_squared = gaussian_mu(rest, delta) ** 2
    users = np.bincount(np.searchsorted(_EDGES, table.sizes, side="right") - 1, minlength=len(_EDGES))
    noisy = users + rng.laplace(scale=scale, size=len(users))
    m = _kept(noisy, scale)
    one = noisy[0] / max(noisy.sum(), noisy[0]) if noisy[0] > 4 * scale else 0.0
    cap = _CAPS[int(np.argmax(np.cumsum(m) >= 0.98 * m.sum()))]
    n, pairs, roots = m.sum(), m @ _TAU, m @ np.sqrt(_TAU)
    laplace = 1.05 * cutoff_laplace(rest, delta) * pairs / n
    gaussian = 0.9 * cutoff_gaussian(1 / math.sqrt(0.9 * mu_squared), delta / 2, cap) * pairs / roots
    single, call = best_call(k, rest, delta)
    bar = 1 + math.log(max(10 * k, 1000) / call) / single
    kth, nearest = pairs / (10 * k), min(laplace, gaussian)
    far = kth >= 1.5 * nearest
    in_turn = k == 3 and one <= 0.75 and kth > bar + 1 / single and 0.95 * bar < 2 * nearest
    if in_turn or (not far and 0.95 * bar < nearest):
        return limited_domain(table, k, single, call, rng)
    if (one > 0.75) if far else laplace < gaussian:
        return cut_off_laplace(table, rest, delta, rng)[:k]
    # The text leaves open whether this holds for far items too, which hardly ever meet it.
    once = pairs / 8 < 8 * gaussian
    return Rounds(table, k, mu_squared, delta / 2, rng, cap=cap, single=once).run()


def _kept(noisy: Floats, scale: float) -> Floats:
    """The buckets that are more than noise; without any, the largest."""
    m = np.where(noisy > 4 * scale, noisy, 0.0)
    if not m.any():
        largest = int(np.argmax(noisy))
        m[largest] = noisy[largest] if noisy[largest] > 0 else 1.0
    return m
