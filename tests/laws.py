"""Chi-square tests of samplers against laws, with a fixed false-alarm rate and a stated power.

A test of a sampler makes three assertions: draws agree with the true law, and disagree with the laws at 0.7 and 1.3
times the scale. The first fails for a sound sampler with probability below 1e-9 (in fact never: the bits of
the tests are replayed); the other two show that the test could have failed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction

import numpy as np
from scipy import stats

FALSE_ALARM = 1e-9
_SMALLEST_CELL = 10.0
_BEYOND_DOUBT = 1e-12
_LOOK, _FEWEST = 500, 2_000


def p_value(draws: Iterable[Hashable], law: Mapping[Hashable, float]) -> float:
    """Pearson's test; rare outcomes share one cell, and an impossible outcome is a certain rejection."""
    seen = Counter(draws)
    total = sum(seen.values())
    assert total > 0, "no draws: an iterator that was used up?"
    if any(law.get(outcome, 0.0) <= 0.0 for outcome in seen):
        return 0.0
    expected, observed, rare_expected, rare_observed = [], [], 0.0, 0
    for outcome, probability in law.items():
        if probability * total >= _SMALLEST_CELL:
            expected.append(probability * total)
            observed.append(seen[outcome])
        else:
            rare_expected += probability * total
            rare_observed += seen[outcome]
    if rare_expected >= 1.0:
        expected.append(rare_expected)
        observed.append(rare_observed)
    elif rare_observed > 30:
        return 0.0
    differences = np.array(observed) - np.array(expected)
    statistic = float(np.sum(differences**2 / np.array(expected)))
    return float(stats.chi2.sf(statistic, max(len(expected) - 1, 1)))


def assert_three_way(
    draws: Iterable[Hashable], law_at: Callable[[Fraction], Mapping[Hashable, float]], *, scale: Fraction
) -> None:
    """The draws follow the law at ``scale``, and follow neither that at 0.7 nor that at 1.3 times it.

    Draws are taken until both wrong laws are rejected beyond doubt; when to stop does not depend on the true law.
    """
    source, kept = iter(draws), list[Hashable]()
    wrong = {factor: law_at(scale * factor) for factor in (Fraction(7, 10), Fraction(13, 10))}
    while more := list(itertools.islice(source, _LOOK)):
        kept += more
        if len(kept) >= _FEWEST and all(p_value(kept, law) < _BEYOND_DOUBT for law in wrong.values()):
            break
    assert p_value(kept, law_at(scale)) > FALSE_ALARM
    for factor, law in wrong.items():
        assert p_value(kept, law) < FALSE_ALARM, f"no power against scale x {factor}"
