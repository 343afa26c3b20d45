"""The exact distribution of a sparse vector: given the noisy threshold, all answers are independent.

So the probability of any sequence of answers is one integral over the threshold of a product of distribution
functions: a piecewise exponential polynomial, integrated in closed form. With geometric noise it is a sum over the
integers of the same kind of terms, and each piece is a geometric series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import flint

from podium.exact import ball
from podium.histogram import Item
from podium.mechanisms.base import Distribution
from podium.mechanisms.piecewise import Piecewise, noise_cdf, noise_density, noise_survival
from podium.mechanisms.sparse_vector.scales import Branch, SparseNoise, SparsePlan

__all__ = ["Found", "lattice_sum", "noise_calculus", "sparse_density", "sparse_distribution"]

Queries: TypeAlias = Sequence[tuple[Item, Fraction]]
_NoiseFunction: TypeAlias = Callable[[Fraction, Fraction], Piecewise]


class Found(NamedTuple):
    """A query that was found above the threshold, and which branch found it (1: the test without a margin)."""

    item: Item
    branch: int


@dataclass(frozen=True, slots=True)
class Calculus:
    """Functions of x for the variable offset + scale * Z: density at x, P(>= x), P(< x); and the total of one."""

    density: _NoiseFunction
    survival: _NoiseFunction
    cdf: _NoiseFunction
    total: Callable[[Piecewise], flint.arb]


def noise_calculus(noise: SparseNoise) -> Calculus:
    """The closed forms of one kind of noise."""
    if noise == "geometric":
        return Calculus(_geometric_mass, _geometric_survival, _geometric_cdf, lattice_sum)
    return Calculus(
        lambda offset, scale: noise_density(noise, offset, scale),
        lambda offset, scale: noise_survival(noise, offset, scale),
        lambda offset, scale: noise_cdf(noise, offset, scale),
        Piecewise.integral,
    )


def sparse_distribution(plan: SparsePlan, threshold: Fraction, queries: Queries, budget: Fraction) -> Distribution:
    """Every sequence of answers to these queries, asked in turn while the price of a full answer is left."""
    calculus = noise_calculus(plan.noise)
    distribution: Distribution = {}

    def extend(index: int, found: tuple[Found, ...], left: Fraction, weight: Piecewise) -> None:
        if index == len(queries) or left < plan.price:
            distribution[found] = calculus.total(weight)
            return
        item, score = queries[index]
        for branch in plan.branches:
            start = score - branch.center - branch.margin
            passed = weight * calculus.survival(start, branch.scale)
            extend(index + 1, (*found, Found(item, branch.number)), left - branch.price, passed)
            weight = weight * calculus.cdf(start, branch.scale)
        extend(index + 1, found, left, weight)

    extend(0, (), budget - plan.threshold_price, _threshold_density(plan, calculus, threshold))
    return distribution


def sparse_density(
    plan: SparsePlan,
    threshold: Fraction,
    queries: Queries,
    budget: Fraction,
    outcome: Sequence[tuple[Item, int]],
    gaps: Sequence[Fraction],
) -> flint.arb:
    """The joint density of an outcome and its gaps; 0 for what cannot come out."""
    calculus = noise_calculus(plan.noise)
    weight = _threshold_density(plan, calculus, threshold)
    left, waiting = budget - plan.threshold_price, list(zip(outcome, gaps, strict=True))
    for item, score in queries:
        if left < plan.price:
            break
        winner = waiting.pop(0) if waiting and waiting[0][0][0] == item else None
        for branch in plan.branches:
            if winner is not None and winner[0][1] == branch.number:
                if winner[1] < branch.margin:
                    return flint.arb(0)
                weight = weight * calculus.density(score - branch.center - winner[1], branch.scale)
                left -= branch.price
                break
            weight = weight * _failed(calculus, score, branch)
    return flint.arb(0) if waiting else calculus.total(weight)


def _failed(calculus: Calculus, score: Fraction, branch: Branch) -> Piecewise:
    return calculus.cdf(score - branch.center - branch.margin, branch.scale)


def _threshold_density(plan: SparsePlan, calculus: Calculus, threshold: Fraction) -> Piecewise:
    return calculus.density(threshold - plan.threshold_center, plan.threshold_scale)


def _geometric_mass(offset: Fraction, scale: Fraction) -> Piecewise:
    rate = 1 / scale
    height = -ball(-rate).expm1() * ball(offset * rate).exp()
    return Piecewise((offset,), ({}, {(0, -1): height}), unit=rate)


def _geometric_survival(offset: Fraction, scale: Fraction) -> Piecewise:
    # P(offset + G >= x) at integers x is e^(-(x - offset)/scale), as for the exponential whose floor G is.
    return noise_survival("exponential", offset, scale)


def _geometric_cdf(offset: Fraction, scale: Fraction) -> Piecewise:
    return noise_cdf("exponential", offset, scale)


def lattice_sum(function: Piecewise) -> flint.arb:
    """The sum over all integers of a function with integer breaks; at a break its right piece holds.

    The function must be sums of c * e^(a x), zero below its first break, and fall above its last one.
    """
    total = flint.arb(0)
    ends = [*function.breaks[1:], None]
    for low, high, piece in zip(function.breaks, ends, function.pieces[1:], strict=True):
        for (_, multiple), c in piece.items():
            rate = function.unit * multiple
            if rate == 0 and high is not None:
                total += c * flint.arb(high - low)
                continue
            first = flint.arb(rate * low).exp()
            beyond = flint.arb(0) if high is None else flint.arb(rate * high).exp()
            total += c * (first - beyond) / -flint.arb(rate).expm1()
    return total
