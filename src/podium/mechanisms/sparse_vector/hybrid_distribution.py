"""The exact distributions of the hybrids: items and a threshold with exponential noise, the best few in order.

All probabilities are nested integrals of piecewise exponential polynomials, in closed form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Final

import flint

from podium.histogram import Item
from podium.mechanisms.base import Distribution
from podium.mechanisms.piecewise import Piecewise, noise_cdf, noise_density, noise_survival
from podium.release import BOTTOM

__all__ = ["Candidate", "Field", "chained_density", "hybrid_distribution", "level_density"]

_NOISE: Final = "exponential"


@dataclass(frozen=True, slots=True)
class Candidate:
    """score + scale * Z, Z standard exponential."""

    score: Fraction
    scale: Fraction

    def density(self, shift: Fraction = Fraction(0)) -> Piecewise:
        """x -> density at x + shift."""
        return noise_density(_NOISE, self.score - shift, self.scale)

    def below(self, shift: Fraction = Fraction(0)) -> Piecewise:
        """x -> P(at most x + shift)."""
        return noise_cdf(_NOISE, self.score - shift, self.scale)

    def above(self) -> Piecewise:
        """x -> P(above x)."""
        return noise_survival(_NOISE, self.score, self.scale)


@dataclass(frozen=True, slots=True)
class Field:
    """Who takes part: the items by name, and the threshold."""

    items: Mapping[Item, Candidate]
    threshold: Candidate

    def left(self, chosen: Sequence[Item]) -> list[Candidate]:
        """The items not chosen."""
        return [candidate for item, candidate in self.items.items() if item not in chosen]


def hybrid_distribution(field: Field, k: int) -> Distribution:
    """The best items in order until the threshold (BOTTOM) comes, at most k."""
    distribution: Distribution = {}

    def extend(chosen: tuple[Item, ...], ahead: Piecewise) -> None:
        # ``ahead``: x -> the probability (density dropped) that the chosen finish in this order, all above x.
        rest = _product(candidate.below() for candidate in field.left(chosen))
        distribution[(*chosen, BOTTOM)] = (ahead * field.threshold.density() * rest).integral()
        for item, candidate in field.items.items():
            if item in chosen:
                continue
            last = candidate.density() * ahead
            if len(chosen) + 1 < k:
                extend((*chosen, item), last.tail_integral() if chosen else candidate.above())
            else:
                others = _product(other.below() for other in field.left((*chosen, item)))
                distribution[(*chosen, item)] = (last * others * field.threshold.below()).integral()

    extend((), Piecewise.constant(1))
    return distribution


def chained_density(field: Field, items: Sequence[Item], gaps: Sequence[Fraction], *, stopped: bool) -> flint.arb:
    """The density of an order of finish with the lead of each item over the next."""
    if any(gap < 0 for gap in gaps):
        return flint.arb(0)
    # How far each item is above the last one of the chain: the threshold, or the best that was left out.
    leads = list(itertools.accumulate(reversed(gaps)))[::-1]
    won = _product(field.items[item].density(lead) for item, lead in zip(items, leads, strict=True))
    losers = field.left(items)
    if stopped:
        return (won * field.threshold.density() * _product(loser.below() for loser in losers)).integral()
    losers.append(field.threshold)
    best = (
        _product(loser.density() if index == first else loser.below() for index, loser in enumerate(losers))
        for first in range(len(losers))
    )
    return (won * reduce(add, best)).integral()


def level_density(field: Field, items: Sequence[Item], gaps: Sequence[Fraction], *, stopped: bool) -> flint.arb:
    """The density of an order of finish with the lead of each item over the threshold."""
    if any(gap < 0 for gap in gaps) or any(a < b for a, b in itertools.pairwise(gaps)):
        return flint.arb(0)
    won = _product(field.items[item].density(gap) for item, gap in zip(items, gaps, strict=True))
    bar = Fraction(0) if stopped else gaps[-1]
    lost = _product(loser.below(bar) for loser in field.left(items))
    return (won * field.threshold.density() * lost).integral()


def _product(factors: Iterable[Piecewise]) -> Piecewise:
    return reduce(mul, factors, Piecewise.constant(1))
