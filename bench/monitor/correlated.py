"""What noise that is correlated over time would reach on growing windows: a simulation in floats, for comparison only.

Each user adds an item at most once to a growing count. With the square root of the matrix of prefix sums
(Fichtenberger, Henzinger & Upadhyay 2023) the noise of every period grows like a logarithm of their number. Items that
nobody named come back when their noisy count exceeds a threshold. ``TopKMonitor`` does not do this:
docs/proofs/monitor.md, section 5.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bench.monitor.streams import Stream

__all__ = ["ITEMS_PER_USER", "noisy_counts", "prefix_root"]

ITEMS_PER_USER = 4
"""How many items of a user count, those with the earliest rows. Of 2, 4, 8 and 16 this was best for twelve months."""
Floats = NDArray[np.float64]


def prefix_root(periods: int) -> Floats:
    """The first column of the square root of the matrix of prefix sums: 1, 1/2, 3/8, ..."""
    root = np.ones(periods)
    for step in range(1, periods):
        root[step] = root[step - 1] * (2 * step - 1) / (2 * step)
    return root


def noisy_counts(stream: Stream, rho: Fraction, delta: Fraction, *, seed: int) -> tuple[Floats, Floats]:
    """The noisy count of every item in every period, and the threshold of each period."""
    draw = np.random.default_rng(seed)
    when, items = _first_rows(stream, draw)
    width = int(stream.items.max()) + 1
    root = prefix_root(stream.periods)
    squares = np.cumsum(root**2)
    sigma = sqrt(ITEMS_PER_USER * squares[-1] / (2 * float(rho)))
    added = np.zeros((stream.periods, width))
    np.add.at(added, (when, items), 1)
    fresh = draw.standard_normal(added.shape) * sigma
    noise = np.array([root[period::-1] @ fresh[: period + 1] for period in range(stream.periods)])
    counts = np.cumsum(added, axis=0)
    quantile = NormalDist().inv_cdf(1 - float(delta) / (ITEMS_PER_USER * stream.periods))
    # An item that nobody has is not in the table.
    return np.where(counts > 0, counts + noise, -np.inf), 1 + sigma * np.sqrt(squares) * quantile


def _first_rows(stream: Stream, draw: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Period and item of the first rows of each user with an item, for the earliest items of each user."""
    order = np.lexsort((stream.when, stream.items, stream.users))
    users, items, when = stream.users[order], stream.items[order], stream.when[order]
    first = np.r_[True, (users[1:] != users[:-1]) | (items[1:] != items[:-1])]
    users, items, when = users[first], items[first], when[first]
    order = np.lexsort((draw.random(len(users)), when, users))
    users, items, when = users[order], items[order], when[order]
    place = np.arange(len(users))
    begins = np.maximum.accumulate(np.where(np.r_[True, users[1:] != users[:-1]], place, 0))
    kept = place - begins < ITEMS_PER_USER
    return when[kept], items[kept]
