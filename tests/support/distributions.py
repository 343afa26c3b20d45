"""Tests of samplers against distributions, with a fixed false-alarm rate and a stated power.

A test of a sampler makes three assertions: draws agree with the true distribution, and disagree with the distributions
at 0.7 and 1.3 times the scale. The first fails for a sound sampler with probability below 1e-9; the other two show that
the test could have failed. Where bits are replayed a test that passed passes for ever, and the judge is Pearson's
chi-square; where they are fresh it is ``p_bound``, whose rate is proved for every number of draws.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from podium.release import Release

_Floats = NDArray[np.float64]

FALSE_ALARM = 1e-9
_MIN_CELL = 10.0
_BEYOND_DOUBT = 1e-12
_LOOK, _FEWEST = 500, 1_000


def p_value(draws: Iterable[Hashable], distribution: Mapping[Hashable, float]) -> float:
    """Pearson's test, which is accurate for many draws; an impossible outcome is a certain rejection."""
    cells = _cells(draws, distribution, _MIN_CELL)
    if cells is None:
        return 0.0
    observed, expected = cells
    if expected[-1] < 1.0:
        if observed[-1] > 30.0:
            return 0.0
        observed, expected = observed[:-1], expected[:-1]
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return float(stats.chi2.sf(statistic, max(len(expected) - 1, 1)))


def p_bound(
    draws: Iterable[Hashable], distribution: Mapping[Hashable, float], *, smallest_cell: float = _MIN_CELL
) -> float:
    """An upper bound on the probability of draws whose relative entropy is this large, for every number of draws.

    For n draws from c cells, E[exp(s n KL)] <= (1-s)^-(c-1) for 0 <= s < 1 (Agrawal, 2020), hence Markov's inequality
    at the best s gives P(n KL >= t) <= e^-t (e t/(c-1))^(c-1) for t above c - 1.
    """
    cells = _cells(draws, distribution, smallest_cell)
    if cells is None:
        return 0.0
    observed, expected = cells
    freedom, seen = max(int(np.count_nonzero(expected)) - 1, 1), observed > 0.0
    entropy = float(np.sum(observed[seen] * np.log(observed[seen] / expected[seen])))
    return 1.0 if entropy <= freedom else math.exp(freedom * (1.0 + math.log(entropy / freedom)) - entropy)


def _cells(
    draws: Iterable[Hashable], distribution: Mapping[Hashable, float], smallest: float
) -> tuple[_Floats, _Floats] | None:
    """How often outcomes came out and were to be expected, rare ones in one last cell; None if one is impossible."""
    seen = Counter(draws)
    total = sum(seen.values())
    assert total > 0, "no draws: an iterator that was used up?"
    if any(distribution.get(outcome, 0.0) <= 0.0 for outcome in seen):
        return None
    often = {outcome: chance * total for outcome, chance in distribution.items() if chance * total >= smallest}
    rare = sum(chance for outcome, chance in distribution.items() if outcome not in often) * total
    observed = [seen[outcome] for outcome in often]
    return np.array([*observed, total - sum(observed)], dtype=np.float64), np.array([*often.values(), rare])


def chances_of_cells(density: Callable[[float], float], edges: Sequence[float]) -> dict[float, float]:
    """The integrals of a density that takes long to compute between edges, by the lower one: good to seven digits."""
    return {
        low: float(integrate.quad(density, low, high, epsabs=1e-7, limit=40)[0])
        for low, high in itertools.pairwise(edges)
    }


def whole_steps(releases: Iterable[Release], level: float, candidates: int) -> list[int]:
    """How many whole steps each released value lies above the level, and -1 for each of the candidates left out."""
    steps: list[int] = []
    for release in releases:
        assert release.values is not None
        steps += [int((float(value) - level) // 1) for value in release.values]
        steps += [-1] * (candidates - len(release.items))
    return steps


def assert_three_way(
    draws: Iterable[Hashable],
    distribution_at: Callable[[Fraction], Mapping[Hashable, float]],
    *,
    scale: Fraction,
    judge: Callable[[Iterable[Hashable], Mapping[Hashable, float]], float] = p_value,
    look: int = _LOOK,
    fewest: int = _FEWEST,
) -> None:
    """The draws follow the distribution at ``scale``, and follow neither that at 0.7 nor that at 1.3 times it.

    Draws are taken, ``look`` at a time, until both wrong distributions are rejected beyond doubt. Which look is the
    last depends on the draws, so the n-th may raise a false alarm with 1/(n(n+1)) of the rate: all together stay within
    it.
    """
    source, kept, looks = iter(draws), list[Hashable](), 0
    wrong = {factor: distribution_at(scale * factor) for factor in (Fraction(7, 10), Fraction(13, 10))}
    while more := list(itertools.islice(source, look)):
        kept += more
        looks += 1
        if len(kept) >= fewest and all(judge(kept, distribution) < _BEYOND_DOUBT for distribution in wrong.values()):
            break
    assert judge(kept, distribution_at(scale)) > FALSE_ALARM / (looks * (looks + 1))
    for factor, distribution in wrong.items():
        assert judge(kept, distribution) < FALSE_ALARM, f"no power against scale x {factor}"
