"""Expected recall of a set or a list that is chosen at once, from the law of the mechanism: no sampling error.

``CanonicalTopK`` chooses a class of subsets and one of its subsets evenly; ``JointTopK`` an allowance and one of the
sequences within it evenly. The share of right items of such an even choice is a fraction, so only the classes, or
the allowances, have to be summed over. In floating point: what is measured here is utility, not privacy.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bench.known.data import DataSet
from podium.mechanisms import CanonicalTopK, JointTopK

__all__ = ["canonical_recall", "joint_recall"]

Floats = NDArray[np.float64]

_CHUNK = 1024
_NEGLIGIBLE = 40.0
"""Nats below the heaviest class: what lies further down weighs less than a rounding error."""
_SAME_LAW = 12.0
"""Nats: if the subsets together weigh e^12 times the best one, both noises have the same law but for e^-12."""
_NODES = np.polynomial.legendre.leggauss(32)
_MOST_ALLOWANCES = 1000
_UNLIKELY = 1e-9


@dataclass(frozen=True, slots=True)
class _Classes:
    """Per class of subsets: log of its size, loss in nats, expected share of right items."""

    sizes: Floats
    losses: Floats
    shares: Floats

    @property
    def weights(self) -> Floats:
        return self.sizes - self.losses

    def kept(self) -> _Classes:
        keep = self.weights > self.weights.max() - _NEGLIGIBLE
        return _Classes(self.sizes[keep], self.losses[keep], self.shares[keep])


def canonical_recall(mechanism: CanonicalTopK, data: DataSet) -> float:
    """The expected share of right items among the k of ``CanonicalTopK``, with either noise."""
    classes = _classes(data, mechanism.k, float(mechanism.epsilon), float(mechanism.gamma))
    total = float(logsumexp(classes.weights))
    if mechanism.noise == "exponential" and total < _SAME_LAW:
        return _permute_and_flip(classes)
    return float(np.exp(classes.weights - total) @ classes.shares)


@lru_cache(maxsize=2)
def _classes(data: DataSet, k: int, epsilon: float, gamma: float) -> _Classes:
    """All subsets but the light ones, by the ranks 1..a that they contain, a+1 that they miss and t that they reach."""
    counts = data.counts.astype(np.float64)
    right, size = data.right(k), len(counts)
    factorials = gammaln(np.arange(size + 1.0) + 1.0)
    a = np.arange(k)
    heads = (1.0 - gamma) * epsilon * (counts[:k] - counts[k - 1])
    parts = [_Classes(np.zeros(1), np.zeros(1), np.ones(1))]
    for start in range(k + 1, size + 1, _CHUNK):
        t = np.arange(start, min(start + _CHUNK, size + 1))[:, None]
        sizes = factorials[t - a - 2] - factorials[k - 1 - a] - factorials[t - k - 1]
        losses = heads + gamma * epsilon * (counts[k - 1] - counts[t - 1])
        between = np.maximum(t - a - 2, 1)
        inside = (k - 1 - a) * np.clip(np.minimum(right, t - 1) - a - 1, 0, None) / between
        shares = np.minimum(a + (t <= right) + inside, k) / k
        parts.append(_Classes(sizes.ravel(), losses.ravel(), shares.ravel()).kept())
    return _joined(parts).kept()


def _joined(parts: list[_Classes]) -> _Classes:
    def join(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in parts])

    return _Classes(join("sizes"), join("losses"), join("shares"))


def _permute_and_flip(classes: _Classes) -> float:
    """The integral over u from 0 to 1 of (sum of share * size * p/(1 - p u)) * (product of (1 - p u)^size).

    p is e^-loss. Sizes may exceed any float, so they are kept as weights, size * p. Panels shrink towards 0 by tens,
    because the product falls at once where there are many subsets.
    """
    losses, place = np.unique(classes.losses, return_inverse=True)
    weights = np.bincount(place, np.exp(classes.weights))
    right = np.bincount(place, np.exp(classes.weights) * classes.shares)
    # Below this e^-loss a factor is exp(-weight * u), to the last digit.
    chances = np.exp(-np.minimum(losses, _NEGLIGIBLE))
    edges = np.concatenate([[0.0], 10.0 ** np.arange(-7.0, 0.0), [0.4, 0.7, 1.0]])
    total = recall = 0.0
    for low, high in itertools.pairwise(edges):
        u = low + (high - low) * (_NODES[0] + 1.0) / 2.0
        passed = chances * u[:, None]
        still = np.exp((np.log1p(-passed) / chances) @ weights) * _NODES[1] * (high - low) / 2.0
        total += float(still @ ((1.0 / (1.0 - passed)) @ weights))
        recall += float(still @ ((1.0 / (1.0 - passed)) @ right))
    return recall / total


def joint_recall(mechanism: JointTopK, data: DataSet) -> float:
    """The expected share of right items among the k of ``JointTopK``.

    A sequence within allowance s has at each place an item at most s behind the true one. Summed by parts, the law is
    an allowance with weight (sequences within it) * e^(-rate s), s = 0, 1, ..., and an even choice among them. If a
    thousand allowances are not enough, those in between are interpolated.
    """
    k, rate = mechanism.k, float(mechanism.epsilon) / 2.0
    depths = data.counts[0] - data.counts
    low, high = 0, int(depths[-1])
    while True:
        allowances = np.unique(np.linspace(low, high, min(high - low + 1, _MOST_ALLOWANCES)).astype(np.int64))
        weights = _sequences(depths, k, allowances) - rate * allowances
        heavy = np.flatnonzero(weights > weights.max() - _NEGLIGIBLE)
        narrower = int(allowances[max(heavy[0] - 1, 0)]), int(allowances[min(heavy[-1] + 1, len(allowances) - 1)])
        if narrower == (low, high) or len(allowances) == high - low + 1:
            break
        low, high = narrower
    widths = np.gradient(allowances.astype(np.float64)) if len(allowances) > 1 else np.ones(1)
    if high == depths[-1]:
        widths[-1] = 1.0 / -np.expm1(-rate)  # All larger allowances allow the same.
    chances = np.exp(weights + np.log(widths) - logsumexp(weights + np.log(widths)))
    likely = chances > _UNLIKELY
    shares = [_even_share(depths, k, data.right(k), int(allowance)) for allowance in allowances[likely]]
    return float(chances[likely] @ np.array(shares) / chances[likely].sum())


def _allowed(depths: NDArray[np.int64], k: int, allowance: Any) -> NDArray[np.int64]:
    """How many items each of the k places may take, those of the places before it included."""
    allowed: NDArray[np.int64] = np.searchsorted(depths, allowance + depths[:k], side="right")
    return allowed


def _sequences(depths: NDArray[np.int64], k: int, allowances: NDArray[np.int64]) -> Floats:
    """The logarithm of the number of sequences within each allowance."""
    logs: Floats = np.log(_allowed(depths, k, allowances[:, None]) - np.arange(k)).sum(axis=1)
    return logs


def _even_share(depths: NDArray[np.int64], k: int, right: int, allowance: int) -> float:
    """The expected share of right items of an even choice: each place takes any allowed item that is left."""
    found = 0.0
    for place, allowed in enumerate(_allowed(depths, k, allowance).tolist()):
        found += 1.0 if allowed <= right else (right - found) / (allowed - place)
    return found / k
