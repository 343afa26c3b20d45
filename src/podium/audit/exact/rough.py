"""A first look at exact distributions, in floats: what holds by far, and which outcomes can be the extreme ones.

Ratios are taken only where floats are good: every ball is positive, known to 2^-40 of itself and far from underflow.
Then a log ratio is wrong by less than 2^-38, and a Renyi divergence too. Everybody who decides by floats
keeps a margin of MARGIN, and asks the balls about what lies within it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

__all__ = ["MARGIN", "OutcomeTable", "TabulatedDistribution", "log_ratios", "paired_values", "renyi_divergences"]

MARGIN = 1e-9

_GOOD_BITS = 40
_SMALLEST = 1e-290


class OutcomeTable:
    """Numbers for outcomes, so that those of two distributions are matched without hashing them for every pair."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def tabulate(self, distribution: Mapping[Any, flint.arb]) -> TabulatedDistribution:
        """The same distribution, which keeps its floats beside its balls."""
        return TabulatedDistribution(self, distribution)

    def numbers(self, distribution: Mapping[Any, flint.arb]) -> NDArray[np.intp]:
        """The number of every outcome; a new outcome gets the next one."""
        known = self._numbers
        return np.array([known.setdefault(outcome, len(known)) for outcome in distribution], dtype=np.intp)


class TabulatedDistribution(dict[Any, flint.arb]):
    """An exact distribution and its floats, in the order of its outcomes. It must not be changed."""

    __slots__ = ("_by_number", "_good", "numbers", "rounded", "table")

    def __init__(self, table: OutcomeTable, distribution: Mapping[Any, flint.arb]) -> None:
        super().__init__(distribution)
        self.table: OutcomeTable = table
        self.numbers: NDArray[np.intp] = table.numbers(distribution)
        self.rounded: NDArray[np.float64] = np.array([float(x) for x in distribution.values()])
        self._by_number = np.zeros(0)
        self._good: bool | None = None

    @property
    def good(self) -> bool:
        """Whether every probability is positive, and its float good enough for ratios."""
        if self._good is None:
            self._good = all(map(_is_good, self.values()))
        return self._good

    def at(self, numbers: NDArray[np.intp]) -> NDArray[np.float64]:
        """The probabilities of numbered outcomes, zero for those that are not in this distribution."""
        if len(self._by_number) < len(self.table):
            self._by_number = np.zeros(len(self.table))
            self._by_number[self.numbers] = self.rounded
        return self._by_number[numbers]


def paired_values(
    p: Mapping[Any, flint.arb], q: Mapping[Any, flint.arb]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probabilities of the outcomes of p, under p and under q."""
    if isinstance(p, TabulatedDistribution) and isinstance(q, TabulatedDistribution) and p.table is q.table:
        return p.rounded, q.at(p.numbers)
    here = np.array([float(x) for x in p.values()])
    return here, np.array([float(q[outcome]) if outcome in q else 0.0 for outcome in p])


def log_ratios(p: Mapping[Any, flint.arb], q: Mapping[Any, flint.arb]) -> NDArray[np.float64] | None:
    """log(p/q) of the outcomes of p; None where floats are no guide, or where one of the two lacks an outcome."""
    p, q = _tabulated(p, q)
    here, there = p.rounded, q.at(p.numbers)
    if len(p) != len(q) or not (p.good and q.good and there.all()):
        return None
    return np.asarray(np.log(here) - np.log(there))


def renyi_divergences(
    p: Mapping[Any, flint.arb], q: Mapping[Any, flint.arb], orders: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The Renyi divergence of each order (above 1); None where ``log_ratios`` is."""
    p, q = _tabulated(p, q)
    ratios = log_ratios(p, q)
    if ratios is None:
        return None
    terms = np.log(p.rounded) + (orders - 1.0)[:, np.newaxis] * ratios
    largest = terms.max(axis=1)
    sums = np.exp(terms - largest[:, np.newaxis]).sum(axis=1)
    return np.asarray((largest + np.log(sums)) / (orders - 1.0))


def _tabulated(
    p: Mapping[Any, flint.arb], q: Mapping[Any, flint.arb]
) -> tuple[TabulatedDistribution, TabulatedDistribution]:
    if isinstance(p, TabulatedDistribution) and isinstance(q, TabulatedDistribution) and p.table is q.table:
        return p, q
    table = OutcomeTable()
    return table.tabulate(p), table.tabulate(q)


def _is_good(value: flint.arb) -> bool:
    return bool(value > _SMALLEST and value.rel_accuracy_bits() >= _GOOD_BITS)
