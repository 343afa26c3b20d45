"""Selections from counts, as seeded NumPy simulations: fair for accuracy, of no use for privacy."""

from __future__ import annotations

import math

import numpy as np

from bench.utility.data import Integers

__all__ = ["peel", "select_in_turn"]


def select_in_turn(
    counts: Integers,
    order: Integers,
    k: int,
    single: float,
    call: float,
    rng: np.random.Generator,
    rows: int | None = None,
) -> Integers:
    """Successive selections among the top rows, by default max(10 k, 1000), against a threshold (Durfee & Rogers).

    ``order`` has the items by their count; ``single`` is epsilon per item, ``call`` the delta of the threshold.
    """
    k_bar = max(10 * k, 1000) if rows is None else rows
    top = order[:k_bar]
    after = counts[order[k_bar]] if len(order) > k_bar else 0
    bar = after + 1 + math.log(k_bar / call) / single + rng.gumbel() / single
    noisy = counts[top] + rng.gumbel(size=len(top)) / single
    best = np.argsort(-noisy)
    found: Integers = top[best[noisy[best] > bar]][:k]
    return found


def peel(counts: Integers, found: Integers, k: int, single: float, rng: np.random.Generator) -> Integers:
    """The best k of what was found, by their counts, with epsilon ``single`` for each."""
    noisy = counts[found] + rng.gumbel(size=len(found)) / single
    best: Integers = found[np.argsort(-noisy)][:k]
    return best
