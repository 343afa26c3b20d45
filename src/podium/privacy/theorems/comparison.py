"""All theorems side by side for k equal selections: what each would report, and which of them hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from podium.exact import Number, positive_fraction, positive_integer, probability
from podium.privacy.events import Selection
from podium.privacy.guarantee import Guarantee
from podium.privacy.rounding import display
from podium.privacy.theorems.best_bound import Theorem, best_bound
from podium.privacy.theorems.composition import bounded_range_zcdp, optimal_pure_discrete
from podium.privacy.theorems.nonadaptive import MAX_K, nonadaptive_optimum

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line of the table. ``delta`` differs from the question's only for the discrete theorem."""

    theorem: str
    epsilon: Fraction | None
    delta: Fraction
    valid_for_peeling: bool
    best: bool
    source: str
    note: str


def compare(k: int, epsilon: Number, delta: Number) -> list[Comparison]:
    """What every theorem gives for k selections with ``epsilon`` each at ``delta``, largest total first."""
    times, single, target = positive_integer(k, "k"), positive_fraction(epsilon, "epsilon"), probability(delta, "delta")
    Guarantee.of(single, target)
    bound = best_bound([Selection(single)] * times, target)
    rows = [
        Comparison(
            candidate.theorem,
            candidate.epsilon,
            target,
            valid_for_peeling=True,
            best=candidate.theorem is bound.theorem,
            source=candidate.theorem.source,
            note=candidate.refused,
        )
        for candidate in bound.considered
        if candidate.theorem is not Theorem.GAUSSIAN  # selections are not Gaussian
    ]
    rows += [_simple_zcdp(single, times, target), _discrete(single, times, target), _nonadaptive(single, times, target)]
    return sorted(rows, key=lambda row: (row.epsilon is not None, -(row.epsilon or 0)))


def _simple_zcdp(single: Fraction, times: int, delta: Fraction) -> Comparison:
    total = bounded_range_zcdp([single] * times, delta, simple=True)
    return Comparison("zCDP with e^2/8", total, delta, True, False, "Cesar & Rogers 2021", "")


def _discrete(single: Fraction, times: int, delta: Fraction) -> Comparison:
    point = optimal_pure_discrete(single, times, delta)
    note = f"at its own delta {display(point.delta)}"
    name = "optimal composition of pure mechanisms, discrete"
    return Comparison(name, point.epsilon, point.delta, True, False, "Durfee & Rogers 2019, Lemma A.1", note)


def _nonadaptive(single: Fraction, times: int, delta: Fraction) -> Comparison:
    name, source = "non-adaptive bounded-range optimum", "Dong, Durfee & Rogers 2020"
    if times > MAX_K:
        return Comparison(name, None, delta, False, False, source, f"not computed for k above {MAX_K}")
    total = nonadaptive_optimum(single, times, delta)
    return Comparison(name, total, delta, False, False, source, "NOT valid for peeling, which is adaptive")
