"""AdaptiveTopK in NumPy: the same decisions as ``podium.mechanisms.gaussian.adaptive``, with seeded, inexact noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from bench.utility.regimes.tables import Floats, Integers, Table
from bench.utility.regimes.thresholds import cutoff_gaussian, hidden_gaussian
from podium.mechanisms.gaussian.border import EDGES, bucket_ends

__all__ = ["Rounds"]

_FIRST, _FOR_SIZES, _REFINEMENTS, _FEW = 0.1, 0.05, 3, 8
_THIRDS = (1 / 3, 1 / 3, 1 / 3)
_UNEVEN = (0.2, 0.6, 0.2)


@dataclass(slots=True)
class Rounds:
    """One run. ``cutoff``: noise conditioned at the threshold; ``single``: one discovery with the whole budget."""

    table: Table
    k: int
    mu_squared: float
    delta: float
    rng: np.random.Generator
    cap: int = 1000
    cutoff: bool = True
    single: bool = False
    left: float = 1.0
    threshold: float = 0.0
    crowded: bool = False
    turn: int = 0
    found: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    estimate: Floats = field(default_factory=lambda: np.zeros(0))
    sigma: float = 0.0

    def run(self) -> Integers:
        """The items, best first."""
        if self.single:
            self._discover(1.0)
            return self.found[: self.k]
        self._discover(_FIRST)
        if not self._enough():
            self._discover(self._second_share())
            if self.left > 1e-9 and len(self.found) <= self.k:
                self._discover(self.left)
        if self.left <= 1e-9 or len(self.found) <= self.k:
            return self.found[: self.k]
        return self._refine()[: self.k]

    def _discover(self, share: float) -> None:
        table = self.table
        sigma = 1 / math.sqrt(self.mu_squared * share)
        part = 1.0 if self.single else (_UNEVEN if self.cutoff else _THIRDS)[self.turn]
        bar = (cutoff_gaussian if self.cutoff else hidden_gaussian)(sigma, self.delta * part, self.cap)
        if len(self.found):
            out = np.zeros(len(table.counts), dtype=bool)
            out[self.found] = True
            sums = table.spread_over(table.kept(self.cap) & ~out[table.items], 0.5)
        else:
            sums = table.spread(self.cap, 0.5)
        present = np.flatnonzero(sums)
        values = sums[present] + sigma * self.rng.standard_normal(len(present))
        passed = values > bar
        most = max(2 * self.k, min(20 * self.k + 200, 20_000))
        best = np.argsort(-values[passed])[:most]
        self.crowded = len(best) == most
        found = np.concatenate([self.found, present[passed][best]])
        estimate = np.concatenate([self.estimate, values[passed][best]])
        order = np.argsort(-estimate, kind="stable")
        self.found, self.estimate = found[order], estimate[order]
        self.threshold, self.sigma, self.left, self.turn = bar, sigma, self.left - share, self.turn + 1

    def _enough(self) -> bool:
        if len(self.found) <= self.k:
            return False
        return self.crowded or self._first_border()[1] >= self.threshold

    def _first_border(self) -> tuple[float, float]:
        middle, margin = self.estimate[self.k - 1 : self.k + 1].mean(), 2 * self.sigma
        return max(middle * 3, middle + margin), min(middle / 3, middle - margin)

    def _second_share(self) -> float:
        number = len(self.found)
        if number < _FEW:
            return self.left if number <= self.k else 0.5
        middle = self.estimate[number // 2 - 1]
        power = math.log(2) / max(1e-9, math.log(middle / self.threshold)) if middle > self.threshold else 3.0
        power = min(max(power, 0.3), 3.0)
        if number * (self.left / _FIRST) ** (power / 2) / 1.1 < self.k:
            return self.left
        return float(min(max(_FIRST * (1.5 * self.k / number) ** (2 / power), 0.1), 0.5))

    def _refine(self) -> Integers:
        high, low = self._first_border()
        sure = np.zeros(0, dtype=np.int64)
        border, estimate, weight = self.found, self.estimate, np.zeros(len(self.found))
        for turn in range(_REFINEMENTS):
            sure = np.concatenate([sure, border[estimate > high]])
            inside = (estimate >= low) & (estimate <= high)
            border, estimate, weight = border[inside], estimate[inside], weight[inside]
            places = self.k - len(sure)
            if not 0 < places < len(border):
                break
            share = self.left if turn == _REFINEMENTS - 1 else self.left / (_REFINEMENTS + 1 - turn)
            values, sigma = self._measure(border, max(1.0, estimate[places - 1]), share)
            values += estimate.mean()
            estimate = (estimate * weight + values / sigma**2) / (weight + 1 / sigma**2)
            weight = weight + 1 / sigma**2
            order = np.argsort(-estimate, kind="stable")
            border, estimate, weight = border[order], estimate[order], weight[order]
            middle = estimate[places - 1 : places + 1].mean()
            margin = 2 * sigma + abs(middle) / 20
            high, low = middle + margin, middle - margin
        return np.concatenate([sure, border])

    def _measure(self, border: Integers, level: float, share: float) -> tuple[Floats, float]:
        table, number = self.table, len(border)
        among = np.zeros(len(table.counts), dtype=bool)
        among[border] = True
        pairs = among[table.items]
        users = table.users[pairs]
        sizes = np.bincount(users, minlength=len(table.sizes))
        for_sums = self.mu_squared * share * (1 - _FOR_SIZES)
        floor = self._floor(sizes, number, level, share * _FOR_SIZES, for_sums)
        energies = np.maximum(floor, _energy(np.maximum(sizes, 1), number))
        first = max(floor, _energy(np.ones(1), number)[0])
        weights = np.sqrt(first / energies)
        sums = np.bincount(table.items[pairs], weights[users], minlength=len(table.counts))[border]
        sigma = math.sqrt(first / for_sums)
        self.left -= share
        noisy = sums + sigma * self.rng.standard_normal(number)
        return noisy - noisy.mean(), sigma

    def _floor(self, sizes: Integers, number: int, level: float, share: float, for_sums: float) -> float:
        lower = np.array([edge for edge in EDGES if edge <= number])
        ends = np.array(bucket_ends(number), dtype=np.float64)
        users = np.bincount(np.searchsorted(lower, sizes[sizes > 0], side="right"), minlength=len(lower) + 1)[1:]
        sigma = 1 / math.sqrt(self.mu_squared * share)
        noisy = users + sigma * self.rng.standard_normal(len(users))
        noisy[noisy <= 2 * sigma] = 0.0
        least, most = _energy(np.array([1.0, number]), number)
        most = max(least, most)
        floors = np.unique(np.clip(np.append(ends, number), least, most))
        weight = float(noisy @ ends)
        if weight <= 0:
            return float(floors[-1] if number < 16 else min(4.0, floors[-1]))
        kept = np.sqrt(floors[:, None] / np.maximum(floors[:, None], _energy(ends, number)))
        lost = ((1 - kept) * (noisy * ends)).sum(axis=1)
        return float(floors[np.argmin(floors / for_sums + (1.5 * lost / weight * level) ** 2)])


def _energy(items: Floats | Integers, of: int) -> Floats:
    within = np.minimum(items, max(1, of // 2)) if of > 1 else np.zeros(len(items))
    energies: Floats = within * (of - within) / of
    return energies
