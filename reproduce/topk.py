"""How likely the top k is right, nearly right, or good: exactly where a formula or an integral gives it, else sampled.

Scores come in descending order, so that rank 1 is at position 0. A set of k ranks is *top* if it is 1..k, *great* if it
has all of the first k/10 ranks and none beyond 11k/10, *good* if it has all of the first k/100 and none beyond 3k/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.special import gammaln

from reproduce.families import Floats, draw, log_cdf, log_survival

__all__ = ["GOALS", "Goal", "budget", "canonical", "goal", "race", "top_probability"]

Ranks: TypeAlias = NDArray[np.int64]

GOALS = ("TOP", "GREAT", "GOOD")

_NEGLIGIBLE = -40.0
"""Log weights below this, relative to the top k itself, are left out."""
_CHUNK = 256
_FAR = 25.0


@dataclass(frozen=True, slots=True)
class Goal:
    """The ranks 1..head must be there, ranks beyond tail must not."""

    head: int
    tail: int


def goal(name: str, k: int) -> Goal:
    """What TOP, GREAT and GOOD ask of k ranks."""
    return {
        "TOP": Goal(k, k),
        "GREAT": Goal(math.ceil(k / 10), k + k // 10),
        "GOOD": Goal(math.ceil(k / 100), k + k // 2),
    }[name]


def canonical(x: Floats, k: int, epsilon: float, gamma: float) -> dict[str, float]:
    """The exact probabilities of the canonical mechanism with Gumbel noise on monotone counts, from its classes."""
    if gamma == 1.0:
        return _canonical_by_tail(x, k, epsilon)
    rise = epsilon * (1.0 - gamma) * (x[:k] - x[k - 1])
    t = np.arange(k + 1, len(x) + 1)
    drop = epsilon * gamma * (x[k - 1] - x[k:])
    # All subsets that reach down to rank t, as if none lost anything at its head.
    kept = _log_choose(t - 1, k - 1) - drop > _NEGLIGIBLE
    t, drop = t[kept], drop[kept]
    # Row n of the windows has log n!, ..., log (n+k-1)!.
    windows = np.lib.stride_tricks.sliding_window_view(gammaln(np.arange(1, len(x) + 2)), k)
    across = gammaln(k - np.arange(k)) + rise
    # Sums in units of e^peak: the top k itself has the log weight 0.
    peak, total, weights = 0.0, 1.0, dict.fromkeys(GOALS, 1.0)
    for start in range(0, len(t), _CHUNK):
        rows = t[start : start + _CHUNK]
        logs = windows[rows - k - 1][:, ::-1] - across - (gammaln(rows - k) + drop[start : start + _CHUNK])[:, None]
        largest = max(peak, float(logs.max()))
        shrink, peak = math.exp(peak - largest), largest
        masses = np.exp(logs - largest)
        total = total * shrink + float(masses.sum())
        for name in GOALS:
            wanted = goal(name, k)
            weights[name] = weights[name] * shrink + float(masses[rows <= wanted.tail, wanted.head :].sum())
    return {name: weights[name] / total for name in GOALS}


def _canonical_by_tail(x: Floats, k: int, epsilon: float) -> dict[str, float]:
    """gamma = 1: a subset loses by its lowest rank t alone, so classes of one t are counted together."""
    t = np.arange(k + 1, len(x) + 1)
    drop = epsilon * (x[k - 1] - x[k:])
    logs = _log_choose(t - 1, k - 1) - drop
    peak = max(0.0, float(logs.max()))
    itself = math.exp(-peak)
    total = itself + float(np.exp(logs - peak).sum())
    chances = {}
    for name in GOALS:
        wanted = goal(name, k)
        inside = t <= wanted.tail
        having_head = _log_choose(t[inside] - 1 - wanted.head, k - 1 - wanted.head) - drop[inside]
        chances[name] = (itself + float(np.exp(having_head - peak).sum())) / total
    return chances


def _log_choose(n: Ranks, k: int) -> Floats:
    found: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return found


@dataclass(frozen=True, slots=True)
class _Best:
    """The law of the largest of score + noise over many scores: log P(largest <= v) on a grid."""

    grid: Floats
    log_cdf: Floats

    @classmethod
    def of(cls, scores: Floats, family: str, *, step: float = 0.02) -> _Best:
        values, sizes = np.unique(scores, return_counts=True)
        low = _lower_end(values, sizes, family)
        # Items far below add up to one term, because all families have the same tail up to a constant.
        coarse = low + np.concatenate([np.geomspace(1e-6, 0.5, 60), np.arange(0.55, _FAR + math.log(len(scores)), 0.1)])
        fine = np.arange(coarse[0], coarse[-1], step)
        smooth = CubicSpline(coarse, np.log(-_log_cdf_sum(coarse, values, sizes, family)))
        return cls(fine, -np.exp(smooth(fine)))

    def sample(self, rng: np.random.Generator, runs: int) -> Floats:
        """Draws of the largest, by inversion."""
        wanted = np.log(rng.exponential(size=runs))
        found: Floats = np.interp(-wanted, -np.log(-self.log_cdf), self.grid)
        return found


def _log_cdf_sum(grid: Floats, values: Floats, sizes: Ranks, family: str) -> Floats:
    far = values < grid[0] - _FAR
    near = np.zeros(len(grid))
    for start in range(0, len(grid), 64):
        part = grid[start : start + 64, None] - values[~far]
        near[start : start + 64] = log_cdf(family, part) @ sizes[~far]
    if far.any():
        mass = float(np.log(np.sum(sizes[far] * np.exp(values[far] - values[far].max()))) + values[far].max())
        constant = float(-log_cdf(family, np.array([_FAR]))[0] * math.exp(_FAR))
        near -= constant * np.exp(mass - grid)
    return near


def _lower_end(values: Floats, sizes: Ranks, family: str) -> float:
    """A level that the largest is below with probability e^-35 or less."""
    low, high = float(values[-1]) - 40.0, float(values[-1]) + math.log(float(sizes.sum())) + 5.0
    for _ in range(40):
        middle = (low + high) / 2
        below = _log_cdf_sum(np.array([middle]), values, sizes, family)[0] < -35.0
        low, high = (middle, high) if below else (low, middle)
    return high


def top_probability(x: Floats, k: int, epsilon: float, family: str) -> float:
    """P(the top k wins) of noise of scale k/epsilon on all scores: an integral over the best of the others."""
    scores = (epsilon / k) * x
    best = _Best.of(scores[k:], family, step=0.01)
    winners = scores[:k]
    # A winner further up than this loses with probability e^-40 or less.
    near = winners[winners < best.grid[-1] + 45.0]
    all_above = np.zeros(len(best.grid))
    for start in range(0, len(best.grid), 256):
        part = best.grid[start : start + 256, None] - near
        all_above[start : start + 256] = log_survival(family, part).sum(axis=1)
    chance = np.exp(all_above)
    steps = np.diff(np.exp(best.log_cdf))
    first, last = math.exp(best.log_cdf[0]), -math.expm1(best.log_cdf[-1])
    inside = float(np.sum(steps * (chance[1:] + chance[:-1]) / 2))
    return inside + first * float(chance[0]) + last * float(chance[-1])


def race(x: Floats, k: int, epsilon: float, family: str, *, runs: int, rng: np.random.Generator) -> dict[str, int]:
    """In how many of the runs the k largest of epsilon/k * score + noise were top, great and good.

    Ranks up to the border of good are drawn one by one; of all others only the largest matters.
    """
    scores = (epsilon / k) * x
    border = goal("GOOD", k).tail
    rest = _Best.of(scores[border:], family) if len(scores) > border else None
    hits = dict.fromkeys(GOALS, 0)
    chunk = max(1, 2_000_000 // border)
    for start in range(0, runs, chunk):
        number = min(chunk, runs - start)
        noisy = scores[:border] + draw(family, rng, (number, min(border, len(scores))))
        outside = rest.sample(rng, number) if rest is not None else np.full(number, -math.inf)
        for name, hit in _hits(noisy, outside, k).items():
            hits[name] += hit
    return hits


def _hits(noisy: Floats, outside: Floats, k: int) -> dict[str, int]:
    # The k-th largest of all; whoever is not below it is in.
    level = np.partition(noisy, -k, axis=1)[:, -k]
    clean = outside < level
    hits = {}
    for name in GOALS:
        wanted = goal(name, k)
        head = noisy[:, : wanted.head].min(axis=1) >= level
        tail = noisy[:, wanted.tail :].max(axis=1, initial=-math.inf) < level
        hits[name] = int(np.count_nonzero(clean & head & tail))
    return hits


def budget(probability: Callable[[float], float], *, reach: float, start: float) -> float:
    """The epsilon from which on the probability is at least ``reach``, by bisection in logarithms from a guess."""
    low = high = math.log(start)
    while probability(math.exp(high)) < reach:
        low, high = high, high + 1.0
    while probability(math.exp(low)) >= reach:
        low -= 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if probability(math.exp(middle)) >= reach else (middle, high)
    return math.exp(high)
