"""What the default is measured against in the regimes: NumPy simulations at the same guarantee, seeded, inexact noise.

Those that bound users to D items are run for every D, so that the best can be picked by hindsight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from bench.utility.regimes.rounds import Rounds
from bench.utility.regimes.tables import Floats, Integers, Table
from bench.utility.regimes.thresholds import (
    algorithm_4_delta,
    best_call,
    cutoff_gaussian,
    cutoff_laplace,
    dr_epsilon,
    gaussian_mu,
    hidden_gaussian,
    optimal_partition,
    total_rho,
    zcdp_epsilon,
)
from bench.utility.selections import peel, select_in_turn

__all__ = ["BOUNDS", "BRANCHES", "CONTESTANTS", "Answer", "by_list", "cut_off_laplace", "limited_domain", "once"]

BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128)
CONTESTANTS = (
    "limited domain, DR",
    "limited domain, zCDP",
    "Algorithm 4",
    "Laplace threshold",
    "Gaussian threshold",
    "optimal partition",
    "set union, peel",
    "weighted Gaussian, peel",
    "rounds",
)
BRANCHES = ("limited domain", "cut-off Laplace", "cut-off rounds", "one discovery")
"""What the rule chooses from, each with the whole budget: the table shows what choosing could gain."""

Answer = tuple[str, Integers]
"""A name, with its D where it has one, and items, best first."""


def limited_domain(
    table: Table, k: int, single: float, call: float, rng: np.random.Generator, rows: int | None = None
) -> Integers:
    """Successive selections among the top rows, against a threshold."""
    return select_in_turn(table.counts, table.order, k, single, call, rng, rows)


def once(table: Table, epsilon: float, delta: float, rng: np.random.Generator) -> Iterator[Answer]:
    """Everything whose noise does not depend on k: noise on all counts, and a threshold."""
    bound_of_all = int(table.sizes.max(initial=1))
    mu = gaussian_mu(epsilon, delta)
    for bound in BOUNDS:
        if bound >= 2 * bound_of_all:
            break
        counts = table.spread(bound, 0.0)
        present = np.flatnonzero(counts)
        sums = counts[present]
        scale = bound / epsilon
        laplace = sums + rng.laplace(scale=scale, size=len(present))
        each = -math.expm1(math.log1p(-delta) / bound)
        yield f"Laplace threshold D={bound}", _above(present, laplace, 1 - scale * math.log(2 * each))
        call = algorithm_4_delta(bound, epsilon, delta)
        if call is not None:
            bar = 1 + math.log(bound / call) * scale + rng.laplace(scale=scale)
            yield f"Algorithm 4 D={bound}", _above(present, laplace, bar)
        cut = optimal_partition(bound, epsilon, delta)
        step = -math.expm1(-1 / scale)
        discrete = sums + rng.geometric(step, len(present)) - rng.geometric(step, len(present))
        yield f"optimal partition D={bound}", _above(present, discrete, cut)
        sigma = math.sqrt(bound) / mu
        gaussian = sums + sigma * rng.standard_normal(len(present))
        bar = float(1 - sigma * ndtri(-math.expm1(math.log1p(-delta / 2) / bound)))
        yield f"Gaussian threshold D={bound}", _above(present, gaussian, bar)
    yield "cut-off Laplace", cut_off_laplace(table, epsilon, delta, rng)


def by_list(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> Iterator[Answer]:
    """Everything that is calibrated for the length of the list."""
    rho, mu = total_rho(epsilon, delta), gaussian_mu(epsilon, delta)
    half = delta / 2
    yield "limited domain, DR", limited_domain(table, k, dr_epsilon(k, epsilon, delta), half, rng)
    yield "limited domain, zCDP", limited_domain(table, k, max(zcdp_epsilon(k, rho), epsilon / k), half, rng)
    yield "limited domain", limited_domain(table, k, *best_call(k, epsilon, delta), rng)
    single = zcdp_epsilon(k, rho / 2)
    sigma = 1 / math.sqrt(rho)
    for bound in (1, 4, 16, 128):
        if bound < 2 * int(table.sizes.max(initial=1)):
            union = _found(table, bound, sigma, hidden_gaussian(sigma, half, bound), rng)
            yield f"set union, peel D={bound}", peel(table.counts, union, k, single, rng)
    union = _found(table, 1000, sigma, cutoff_gaussian(sigma, half, 1000), rng)
    yield "weighted Gaussian, peel", peel(table.counts, union, k, single, rng)
    yield "rounds", Rounds(table, k, mu**2, half, rng, cutoff=False).run()
    yield "cut-off rounds", Rounds(table, k, mu**2, half, rng).run()
    yield "one discovery", Rounds(table, k, mu**2, half, rng, single=True).run()


def cut_off_laplace(table: Table, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    """What cut-off Laplace noise finds, on votes that users share among their items."""
    sums = table.spread(1 << 30, 1.0)
    present = np.flatnonzero(sums)
    noisy = sums[present] + rng.laplace(scale=1 / epsilon, size=len(present))
    return _above(present, noisy, cutoff_laplace(epsilon, delta))


def _found(table: Table, bound: int, sigma: float, bar: float, rng: np.random.Generator) -> Integers:
    sums = table.spread(bound, 0.5)
    present = np.flatnonzero(sums)
    return _above(present, sums[present] + sigma * rng.standard_normal(len(present)), bar)


def _above(items: Integers, values: Floats, bar: float) -> Integers:
    passed = values > bar
    best: Integers = items[passed][np.argsort(-values[passed])]
    return best
