"""The default of the planner in NumPy: it pays for sizes and chooses with the product's own decision."""

from __future__ import annotations

import math

import numpy as np

from bench.utility.regimes.contestants import cut_off_laplace, limited_domain
from bench.utility.regimes.rounds import Rounds
from bench.utility.regimes.tables import Integers, Table
from bench.utility.regimes.thresholds import best_call, cutoff_gaussian, cutoff_laplace, gaussian_mu
from podium.mechanisms.by_sizes.clear_gap import is_within_reach
from podium.mechanisms.by_sizes.decision import (
    LONGEST_CALL,
    SIZE_EDGES,
    Branch,
    Thresholds,
    choose_branch,
    choose_short_branch,
    estimate_sizes,
)

__all__ = ["before", "by_rule"]

_FOR_SIZES, _FOR_LEAD = 0.05, 0.0125
_LONGEST_ASKED = 2


def before(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    """The default before: selections for up to ten items, plain rounds from then on."""
    if k <= 10:
        return limited_domain(table, k, *best_call(k, epsilon, delta), rng)
    mu = gaussian_mu(epsilon, delta)
    return Rounds(table, k, mu**2, delta / 2, rng, cutoff=False).run()


def by_rule(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> tuple[str, Integers]:
    """The branch that was chosen, and what it found."""
    if k <= _LONGEST_ASKED:
        return _by_lead(table, k, epsilon, delta, rng)
    rest = epsilon * (1 - _FOR_SIZES)
    scale = 1 / (epsilon * _FOR_SIZES)
    buckets = np.searchsorted(np.array(SIZE_EDGES), table.sizes, side="right") - 1
    users = np.bincount(buckets, minlength=len(SIZE_EDGES))
    sizes = estimate_sizes(list(users + rng.laplace(scale=scale, size=len(users))), scale)
    mu = gaussian_mu(rest, delta)
    single, call = best_call(k, rest, delta)
    thresholds = Thresholds(
        laplace=cutoff_laplace(rest, delta),
        gaussian=cutoff_gaussian(1 / (mu * math.sqrt(0.9)), delta / 2, sizes.cap),
        call=1 + math.log(max(10 * k, 1000) / call) / single if k <= LONGEST_CALL else None,
        selection=1 / single,
    )
    branch = choose_branch(k, sizes, thresholds)
    if branch is Branch.LIMITED_DOMAIN:
        return branch, limited_domain(table, k, single, call, rng)
    if branch is Branch.LAPLACE:
        return branch, cut_off_laplace(table, rest, delta, rng)[:k]
    one = branch is Branch.ONE_DISCOVERY
    return branch, Rounds(table, k, mu**2, delta / 2, rng, cap=sizes.cap, single=one).run()


def _by_lead(table: Table, k: int, epsilon: float, delta: float, rng: np.random.Generator) -> tuple[str, Integers]:
    """One or two places: selections if they surely return them, otherwise what most users have decides."""
    k_bar = max(10 * k, 1000)
    counts = np.sort(table.counts)[::-1]
    kth, after = (int(counts[place]) if len(counts) > place else 0 for place in (k - 1, k_bar))
    scale = 1 / (epsilon * _FOR_LEAD)
    single, call = best_call(k, round(epsilon * (1 - _FOR_LEAD), 12), delta)
    lead = kth - after + rng.laplace(scale=scale)
    if is_within_reach(lead, scale=scale, threshold=1 + math.log(k_bar / call) / single):
        return Branch.LIMITED_DOMAIN, limited_domain(table, k, single, call, rng)
    rest = round(epsilon * (1 - _FOR_LEAD - _FOR_SIZES), 12)
    ones = np.count_nonzero(table.sizes == 1)
    noisy = np.array([ones, len(table.sizes) - ones]) + rng.laplace(scale=1 / (epsilon * _FOR_SIZES), size=2)
    branch = choose_short_branch(*noisy)
    if branch is Branch.LAPLACE:
        return branch, cut_off_laplace(table, rest, delta, rng)[:k]
    return branch, limited_domain(table, k, *best_call(k, rest, delta), rng)
