"""Recall of any mechanism for a known domain: from its law where that is fast, else by seeded simulation."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bench.known.data import DataSet
from bench.known.distributions import canonical_recall, joint_recall
from podium.mechanisms import CanonicalTopK, ExponentialTopK, JointTopK, NoisyTopK, RisingTopK, TestedTopK
from podium.mechanisms.base import Mechanism

__all__ = ["Estimate", "Recall"]

_MOST_AT_ONCE = 1 << 20
_NEVER = 1e-5


@dataclass(frozen=True, eq=False)
class Estimate:
    """The recall of each run; a single number where it follows from the law.

    Runs of different mechanisms use the same random numbers where the noise is the same, so that differences are more
    certain than either number.
    """

    runs: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """The expected recall, as far as known."""
        return float(self.runs.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean; 0 where it follows from the law."""
        return float(self.runs.std(ddof=1) / math.sqrt(len(self.runs))) if len(self.runs) > 1 else 0.0

    def minus(self, other: Estimate) -> Estimate:
        """The difference, run by run."""
        return Estimate(self.runs - other.runs)


class Recall:
    """Recall on one data set; what was computed once is not computed again."""

    def __init__(self, data: DataSet, runs: int) -> None:
        self._data, self._runs = data, runs
        self._known: dict[Mechanism, Estimate] = {}

    def of(self, mechanism: Mechanism) -> Estimate:
        """The share of the k returned items that have at least the k-th largest count."""
        if mechanism not in self._known:
            self._known[mechanism] = self._measured(mechanism)
        return self._known[mechanism]

    def _measured(self, mechanism: Mechanism) -> Estimate:
        match mechanism:
            case ExponentialTopK():
                return self._race([(mechanism.k, mechanism.epsilon_per_item)], "gumbel")
            case RisingTopK():
                return self._race(mechanism.quarters, "gumbel")
            case NoisyTopK(noise="exponential"):
                return self._race([(mechanism.k, mechanism.epsilon / mechanism.k)], "exponential")
            case CanonicalTopK():
                return Estimate(np.array([canonical_recall(mechanism, self._data)]))
            case JointTopK():
                return Estimate(np.array([joint_recall(mechanism, self._data)]))
            case TestedTopK():
                return self._tested(mechanism)
        raise TypeError(f"no recall for {type(mechanism).__name__}")

    def _tested(self, mechanism: TestedTopK) -> Estimate:
        """Both ways, weighted by what the test says: its chances are known exactly."""
        at_once = self.chance_at_once(mechanism)
        runs = np.zeros(1)
        if at_once > _NEVER:
            runs = runs + at_once * self.of(mechanism.at_once).runs
        if 1.0 - at_once > _NEVER:
            runs = runs + (1.0 - at_once) * self.of(mechanism.in_turn).runs
        return Estimate(runs)

    def chance_at_once(self, mechanism: TestedTopK) -> float:
        """The probability that the test says: choose all at once."""
        odds = float(mechanism.log_odds(self._data.histogram))
        return 1.0 / (1.0 + math.exp(-max(min(odds, 600.0), -600.0)))

    def _race(self, stages: Sequence[tuple[int, Fraction]], noise: str) -> Estimate:
        """In each stage the so many largest, of those that are left, of rate * count + noise that is not secure."""
        k = sum(places for places, _ in stages)
        counts, right = self._data.counts, self._data.right(k)
        rng = np.random.default_rng(zlib.crc32(f"{self._data.name} {k} {noise}".encode()))
        found = []
        for at_once in _batches(self._runs, max(1, _MOST_AT_ONCE // len(counts))):
            chosen = np.zeros((at_once, len(counts)), dtype=np.bool_)
            for places, rate in stages:
                values = rng.standard_exponential(chosen.shape)
                if noise == "gumbel":
                    values = -np.log(values)
                values += float(rate) * counts
                values[chosen] = -np.inf
                worst = np.partition(values, len(counts) - places, axis=1)[:, len(counts) - places]
                chosen |= values >= worst[:, None]
            found.append(np.count_nonzero(chosen[:, :right], axis=1) / k)
        return Estimate(np.concatenate(found))


def _batches(runs: int, most: int) -> list[int]:
    return [min(most, runs - start) for start in range(0, runs, most)]
