"""The sparse vector of Ding and others simulated on whole count vectors, with the scales that podium uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.mechanisms import SparseVector
from podium.mechanisms.sparse_vector.scales import SparseNoise
from reproduce.families import Floats

__all__ = ["Answers", "Sparse", "random_threshold"]

Items: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Answers:
    """One run: the items found, in the order asked, their branches (1 plain, 2 cheap) and their gaps."""

    items: Items
    branches: Items
    gaps: Floats


class Sparse:
    """A sparse vector with public scales, asked about every count in a random order.

    Queries below the threshold cost nothing, so that only the order of those found matters.
    """

    def __init__(self, k: int, epsilon: float, *, adaptive: bool, noise: SparseNoise) -> None:
        plan = SparseVector(0, k, repr(epsilon), adaptive=adaptive, noise=noise).plan()
        self.k = k
        self.noise = noise
        self.epsilon = epsilon
        self.threshold_price = float(plan.threshold_price)
        self.price = float(plan.price)
        self.threshold_scale = float(plan.threshold_scale)
        self.tests = [(b.number, float(b.scale), float(b.margin)) for b in plan.branches]

    def run(self, counts: Floats, threshold: float, rng: np.random.Generator, *, stop: int | None = None) -> Answers:
        """Ask about every count, until the budget ends or ``stop`` were found."""
        level = threshold + self._draw(self.threshold_scale, rng, 1)[0]
        branches = np.zeros(len(counts), dtype=np.intp)
        gaps = np.zeros(len(counts))
        for number, scale, margin in self.tests:
            lead = counts + self._draw(scale, rng, len(counts)) - level
            passed = (branches == 0) & (lead >= margin)
            branches[passed], gaps[passed] = number, lead[passed]
        found = rng.permutation(np.flatnonzero(branches))
        # In units of the cheaper price: 2k of them in all, 2 must be left for a query to be asked.
        whole = 1 << (len(self.tests) - 1)
        spent = np.cumsum(whole >> (branches[found] - 1))
        paid = np.concatenate([[0], spent[:-1]]) if len(found) else spent
        answered = found[paid <= whole * (self.k - 1)][:stop]
        return Answers(answered, branches[answered], gaps[answered])

    def spent(self, answers: Answers) -> float:
        """What a run cost, the threshold included."""
        return self.threshold_price + float(np.sum(self.price / 2.0 ** (answers.branches - 1)))

    def gap_variance(self, number: int = 1) -> float:
        """The variance of the noise in a gap of that branch."""
        (scale,) = (scale for branch, scale, _ in self.tests if branch == number)
        return (2.0 if self.noise == "laplace" else 1.0) * (scale**2 + self.threshold_scale**2)

    def _draw(self, scale: float, rng: np.random.Generator, size: int) -> Floats:
        if self.noise == "laplace":
            return rng.laplace(scale=scale, size=size)
        return rng.exponential(scale=scale, size=size) - scale


def random_threshold(counts: Floats, k: int, rng: np.random.Generator) -> float:
    """The count of a random rank from 2k to 8k, as in the paper."""
    return float(counts[int(rng.integers(2 * k, 8 * k + 1)) - 1])
