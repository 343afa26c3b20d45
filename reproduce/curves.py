"""Sweeps over epsilon or another parameter, as series with error bars, shared by the studies of top-k probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import beta

from reproduce import topk
from reproduce.families import Floats
from reproduce.study import Result, Series

__all__ = ["MECHANISMS", "interval", "points", "series_of", "sweep"]

MECHANISMS: dict[str, tuple[str, float | str]] = {
    "CANONICAL": ("canonical", 0.5),
    "CANONICAL, gamma=1": ("canonical", 1.0),
    "ONESHOT-Exp": ("race", "exponential"),
    "PEELING": ("race", "gumbel"),
}
_CONFIDENCE = 0.95


def points(low: float, high: float, per_decade: int) -> list[float]:
    """Numbers from low to high in equal ratios, to three digits."""
    number = max(3, round(math.log10(high / low) * per_decade))
    return [float(f"{value:.3g}") for value in np.geomspace(low, high, number)]


def sweep(
    scores: Sequence[Floats], epsilons: Sequence[float], k: int, mechanism: str, *, runs: int, seed: int
) -> Result:
    """The three probabilities for each pair of scores and epsilon; counted where they are sampled.

    PEELING of the exponential mechanism is one race with Gumbel noise.
    """
    kind, parameter = MECHANISMS[mechanism]
    found: dict[str, list[float]] = {name: [] for name in topk.GOALS}
    rng = np.random.default_rng([seed, k, list(MECHANISMS).index(mechanism)])
    for x, epsilon in zip(scores, epsilons, strict=True):
        if kind == "canonical":
            chances = topk.canonical(x, k, epsilon, float(parameter))
        else:
            hits = topk.race(x, k, epsilon, str(parameter), runs=runs, rng=rng)
            chances = {name: hit / runs for name, hit in hits.items()}
        for name in topk.GOALS:
            found[name].append(chances[name])
    return {"runs": 0 if kind == "canonical" else runs, **found}


def series_of(name: str, x: Sequence[float], result: Result, goal: str) -> Series:
    """One curve; where it was sampled, with 95 % intervals for each point."""
    y = result[goal]
    if not result["runs"]:
        return Series(name, x, y)
    ends = [interval(round(share * result["runs"]), result["runs"]) for share in y]
    return Series(name, x, y, [low for low, _ in ends], [high for _, high in ends])


def interval(hits: int, runs: int) -> tuple[float, float]:
    """The Clopper-Pearson interval of a probability."""
    tail = (1.0 - _CONFIDENCE) / 2
    low = float(beta.ppf(tail, hits, runs - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - tail, hits + 1, runs - hits)) if hits < runs else 1.0
    return low, high
