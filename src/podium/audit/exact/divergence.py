"""How far two exact distributions are apart: certified divergences between outcome -> probability maps in balls.

The slack: distributions are balls with a relative radius of at most 2^-46, and a claim may hold with equality. So every
log ratio may exceed its bound by 2^-40, and every delta by the factor 1 + 2^-40. With P = delta + e^eps Q the radius of
P - e^eps Q is at most 2^-46 (delta + 2 e^eps Q), so no sound claim is rejected because of the radii.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import flint
import numpy as np

from podium.audit.exact.rough import MARGIN, log_ratios
from podium.exact import Number, ball, ball_precision, exact_fraction

__all__ = [
    "PRECISION",
    "SLACK",
    "ExactDistribution",
    "Ratio",
    "extreme_ratios",
    "hockey_stick",
    "largest_part",
    "renyi",
]

ExactDistribution: TypeAlias = Mapping[Any, flint.arb]
Ratio: TypeAlias = tuple[Hashable, flint.arb]

PRECISION = 160
SLACK = Fraction(1, 1 << 40)
_NOTHING = flint.arb(0)


def hockey_stick(p: ExactDistribution, q: ExactDistribution, epsilon: Number) -> flint.arb:
    """The sum of (p - e^epsilon q)_+ over all outcomes, as a ball."""
    with ball_precision(PRECISION):
        factor = ball(exact_fraction(epsilon, "epsilon")).exp()
        zero = flint.arb(0)
        return sum(((x - factor * q.get(outcome, zero)).max(zero) for outcome, x in p.items()), zero)


def renyi(p: ExactDistribution, q: ExactDistribution, order: Number) -> flint.arb:
    """The Renyi divergence of this order (above 1); not finite where p has an outcome that q has not."""
    with ball_precision(PRECISION):
        exact = exact_fraction(order, "order")
        total = flint.arb(0)
        for outcome, x in _positive(p):
            y = q.get(outcome, _NOTHING)
            if not y > 0:
                return flint.arb.pos_inf()
            total += (ball(exact) * x.log() - ball(exact - 1) * y.log()).exp()
        return total.log() / ball(exact - 1)


def extreme_ratios(p: ExactDistribution, q: ExactDistribution) -> tuple[Ratio, Ratio]:
    """The outcomes with the smallest and the largest log(p/q); infinite where one distribution lacks the outcome."""
    ratios: list[Ratio] = []
    rough = log_ratios(p, q)
    if rough is not None:
        # Floats leave only those outcomes that can be the extreme ones.
        near = np.flatnonzero((rough <= rough.min() + MARGIN) | (rough >= rough.max() - MARGIN))
        outcomes = list(p)
        with ball_precision(PRECISION):
            ratios = [(outcomes[i], (p[outcomes[i]] / q[outcomes[i]]).log()) for i in near]
        return min(ratios, key=_by_size), max(ratios, key=_by_size)
    with ball_precision(PRECISION):
        for outcome, x in _positive(p):
            y = q.get(outcome, _NOTHING)
            if x > 0 and y > 0:
                ratios.append((outcome, (x / y).log()))
            else:
                ratios.append((outcome, flint.arb.pos_inf() if x > 0 else flint.arb.neg_inf()))
        missing = (outcome for outcome, _ in _positive(q) if p.get(outcome, _NOTHING).is_zero())
        ratios += ((outcome, flint.arb.neg_inf()) for outcome in missing)
    return min(ratios, key=_by_size), max(ratios, key=_by_size)


def largest_part(p: ExactDistribution, q: ExactDistribution, epsilon: Fraction) -> Any:
    """The outcome that contributes most to the hockey-stick divergence."""
    factor = ball(epsilon).exp()
    return max(p, key=lambda outcome: float((p[outcome] - factor * q.get(outcome, _NOTHING)).mid()))


def _by_size(ratio: Ratio) -> float:
    return float(ratio[1])


def _positive(distribution: ExactDistribution) -> list[tuple[Hashable, flint.arb]]:
    return [(outcome, value) for outcome, value in distribution.items() if not value.is_zero()]
