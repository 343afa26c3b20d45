"""The numeric audit: traces of floating-point arithmetic in a sampler, and draws from the wrong distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from podium.audit.reports import DistributionReport, StatisticalReport
from podium.audit.statistical.draws import BlackBox, Recorder
from podium.audit.statistical.sequential import DEFAULT_ALPHA, statistical_audit
from podium.audit.statistical.views import NUMERIC_VIEWS
from podium.errors import InvalidArgument, UnusableOutcome
from podium.exact import Number, positive_integer, probability
from podium.privacy.guarantee import Guarantee

__all__ = ["distribution_audit", "numeric_audit"]

_MIN_CELL = 10.0
_TOLERANCE = 1e-9


def numeric_audit(
    sampler: Any, claim: Guarantee | Number | None = None, *, pairs: Iterable[Any] | None = None, **options: Any
) -> StatisticalReport:
    """Whether the low bits of released numbers tell the inputs apart: which grid they lie on, how they end.

    Naive noise in floating point leaves values that are possible under one input and impossible under its neighbour, at
    any scale of the noise (Mironov 2012). The bound is as in ``statistical_audit``, which takes the same options.
    """
    return statistical_audit(sampler, claim, pairs=pairs, views=NUMERIC_VIEWS, **options)


def distribution_audit(
    sampler: Any,
    distribution: Mapping[Any, float],
    data: Any,
    *,
    draws: int = 5_000,
    alpha: Number = DEFAULT_ALPHA,
    batch: bool = False,
    outcome: Callable[[Any], Hashable] | None = None,
    name: str | None = None,
) -> DistributionReport:
    """Pearson's chi-square test of a sampler's draws on one input against the distribution that it claims to have.

    Outcomes that are expected fewer than 10 times share a cell. An outcome of probability 0 is a certain violation.
    """
    number, level = positive_integer(draws, "draws"), float(probability(alpha, "alpha"))
    total = float(sum(distribution.values()))
    if abs(total - 1.0) > _TOLERANCE or min(distribution.values()) < 0:
        raise InvalidArgument("distribution", f"one that sums to {total:.12g}", allowed="probabilities that sum to 1")
    box = BlackBox(sampler, batch=batch, outcome=outcome)
    # Recording checks that outcomes can be counted at all, with the errors of the other audits.
    seen = _count_outcomes(box, data, number)
    expected, observed, names = _cells(distribution, seen, number)
    terms = (observed - expected) ** 2 / expected
    statistic = float(terms.sum())
    impossible = tuple(repr(out) for out in seen if distribution.get(out, 0.0) <= 0.0)
    return DistributionReport(
        subject=name or str(getattr(sampler, "__name__", type(sampler).__name__)),
        draws=number,
        cells=len(expected),
        statistic=statistic,
        p_value=float(stats.chi2.sf(statistic, max(len(expected) - 1, 1))),
        alpha=level,
        impossible=impossible,
        largest=names[int(np.argmax(terms))],
    )


def _count_outcomes(box: BlackBox, data: Any, number: int) -> Counter[Hashable]:
    recorder = Recorder()
    drawn = box.draw(recorder, data, number, "given")
    if drawn.reals.shape[1]:
        raise UnusableOutcome(
            "the sampler returned real numbers, which a distribution of single outcomes does not describe. "
            "Allowed: outcomes that are keys of the distribution. Give outcome=..., for example a function that bins "
            "numbers."
        )
    seen: Counter[Hashable] = Counter()
    for code, times in enumerate(np.bincount(drawn.codes).tolist()):
        if times:
            # To a distribution sets are equal in whatever order they are listed.
            seen[recorder.outcomes[code]] += times
    return seen


def _cells(distribution: Mapping[Any, float], seen: Counter[Hashable], draws: int) -> tuple[Any, Any, list[str]]:
    """Expected and observed counts; the rare outcomes share one cell, the largest of the others if that is rare too."""
    often = {out: p for out, p in distribution.items() if p * draws >= _MIN_CELL}
    expected = [p * draws for p in often.values()]
    observed = [float(seen[out]) for out in often]
    names = [repr(out) for out in often]
    rest, others = draws - sum(expected), draws - sum(observed)
    if not often or rest >= 1.0:
        return np.array([*expected, rest]), np.array([*observed, others]), [*names, "the rare outcomes"]
    place = int(np.argmax(expected))
    expected[place] += rest
    observed[place] += others
    return np.array(expected), np.array(observed), names
