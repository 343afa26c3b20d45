"""Distributions of a race: orders of finish, sets of winners, and the joint density of an order and its gaps.

All functions work in units of the standard noise: candidate i has the value ``offsets[i] + Z_i``. With Laplace and
exponential noise everything is a piecewise exponential polynomial and has a closed form. With logistic and
half-logistic noise the distribution of the set of winners is the integral of a rational function of y = e^-x, which
certified quadrature encloses. A probability depends on the offsets alone, so equal offsets are computed once.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Literal, TypeAlias

import flint

from podium.exact import ball
from podium.histogram import Item
from podium.mechanisms.base import Distribution
from podium.mechanisms.piecewise import ClosedNoise, Piecewise, noise_cdf, noise_density, noise_survival

__all__ = ["RationalNoise", "gap_density", "order_distribution", "rational_set_distribution", "set_distribution"]

RationalNoise: TypeAlias = Literal["logistic", "half-logistic"]
_Offsets: TypeAlias = tuple[Fraction, ...]

_ONE = Fraction(1)
_ORIGIN = flint.acb(0)


def order_distribution(items: Sequence[Item], offsets: Sequence[Fraction], noise: ClosedNoise, k: int) -> Distribution:
    """Every ordered top k with its probability."""
    field = _ClosedField(noise)
    known: dict[_Offsets, flint.arb] = {}
    distribution: Distribution = {}
    for order in itertools.permutations(range(len(items)), k):
        winners = tuple(offsets[i] for i in order)
        if winners not in known:
            known[winners] = field.order(winners, _others(offsets, order))
        distribution[tuple(items[i] for i in order)] = known[winners]
    return distribution


def set_distribution(items: Sequence[Item], offsets: Sequence[Fraction], noise: ClosedNoise, k: int) -> Distribution:
    """Every set of k winners with its probability, closed form."""
    return _set_distribution(items, offsets, k, _ClosedField(noise).top_set)


def rational_set_distribution(
    items: Sequence[Item], offsets: Sequence[Fraction], noise: RationalNoise, k: int
) -> Distribution:
    """Every set of k winners with its probability, certified quadrature."""
    return _set_distribution(items, offsets, k, _logistic_set if noise == "logistic" else _half_logistic_set)


def gap_density(
    winners: Sequence[Fraction], losers: Sequence[Fraction], gaps: Sequence[Fraction], noise: ClosedNoise
) -> flint.arb:
    """The joint density of "these win in this order, with these gaps", the last gap being to the best loser.

    There are as many gaps as winners, or one fewer if nobody lost. The common location is integrated out:
    it is that of the best loser or, without losers, of the last winner.
    """
    if any(gap < 0 for gap in gaps):
        return flint.arb(0)
    field = _ClosedField(noise)
    leads = list(itertools.accumulate(reversed(gaps), initial=Fraction(0)))
    above = leads[1:] if losers else leads
    location = field.best_of(tuple(losers)) if losers else Piecewise.constant(1)
    for offset, lead in zip(reversed(winners), above, strict=True):
        location = location * field.density(offset - lead)
    return location.integral()


def _others(offsets: Sequence[Fraction], chosen: Sequence[int]) -> _Offsets:
    return tuple(sorted(offset for i, offset in enumerate(offsets) if i not in chosen))


def _set_distribution(
    items: Sequence[Item],
    offsets: Sequence[Fraction],
    k: int,
    probability: Callable[[_Offsets, _Offsets], flint.arb],
) -> Distribution:
    known: dict[_Offsets, flint.arb] = {}
    distribution: Distribution = {}
    for chosen in itertools.combinations(range(len(items)), k):
        winners = tuple(sorted(offsets[i] for i in chosen))
        if winners not in known:
            losers = _others(offsets, chosen)
            known[winners] = probability(winners, losers) if losers else flint.arb(1)
        distribution[frozenset(items[i] for i in chosen)] = known[winners]
    return distribution


class _ClosedField:
    """Laplace or exponential noise, remembering the parts that many orders share. Lives for one computation,
    because its balls belong to the precision at which they were made."""

    def __init__(self, noise: ClosedNoise) -> None:
        self._noise = noise
        self._ahead: dict[_Offsets, Piecewise] = {(): Piecewise.constant(1)}
        self._behind: dict[_Offsets, Piecewise] = {(): Piecewise.constant(1)}

    def density(self, offset: Fraction) -> Piecewise:
        return noise_density(self._noise, offset, _ONE)

    def order(self, winners: _Offsets, losers: _Offsets) -> flint.arb:
        """P(v_1 > ... > v_k > every loser)."""
        return (self._chain(winners[:-1]) * self.density(winners[-1]) * self._all_below(losers)).integral()

    def top_set(self, winners: _Offsets, losers: _Offsets) -> flint.arb:
        """P(every winner > every loser), over the place of the best loser."""
        survivals = [noise_survival(self._noise, offset, _ONE) for offset in winners]
        return (reduce(mul, survivals) * self.best_of(losers)).integral()

    def best_of(self, offsets: _Offsets) -> Piecewise:
        """The density of the largest of these."""
        total = Piecewise.constant(0)
        for offset, count in Counter(offsets).items():
            rest = list(offsets)
            rest.remove(offset)
            total = total + (self.density(offset) * self._all_below(tuple(rest))).scaled(flint.arb(count))
        return total

    def _chain(self, winners: _Offsets) -> Piecewise:
        """t -> P(v_1 > ... > v_j > t)."""
        if winners not in self._ahead:
            self._ahead[winners] = (self._chain(winners[:-1]) * self.density(winners[-1])).tail_integral()
        return self._ahead[winners]

    def _all_below(self, offsets: _Offsets) -> Piecewise:
        """t -> P(all of these are at most t)."""
        if offsets not in self._behind:
            self._behind[offsets] = self._all_below(offsets[1:]) * noise_cdf(self._noise, offsets[0], _ONE)
        return self._behind[offsets]


def _logistic_set(winners: _Offsets, losers: _Offsets) -> flint.arb:
    """With y = e^-x = p/q and A = e^offset, F = 1/(1 + A y) = q/D, D = q + A p: a rational function.

    The integral over y in [0, 1] is taken with (p, q) = (t, 1) and that over [1, oo) with (p, q) = (1, t), t in
    [0, 1]. In both, n losers give the integrand q^(n-1) * prod_w A p/D * prod_l 1/D * sum_l A/D.
    """
    top = max(*winners, *losers)
    above = [(ball(offset - top).exp(), count) for offset, count in Counter(winners).items()]
    below = [(ball(offset - top).exp(), count) for offset, count in Counter(losers).items()]

    def value(p: flint.acb, q: flint.acb) -> flint.acb:
        product, slope = q ** (len(losers) - 1), _ORIGIN
        for weight, count in above:
            product *= (weight * p / (q + weight * p)) ** count
        for weight, count in below:
            inverse = 1 / (q + weight * p)
            product *= inverse**count
            slope += count * weight * inverse
        return product * slope

    one = flint.acb(1)
    return _integral(lambda t, _: value(t, one)) + _integral(lambda t, _: value(one, t))


def _half_logistic_set(winners: _Offsets, losers: _Offsets) -> flint.arb:
    """With y = e^-x and A = e^offset, F = (1 - A y)/(1 + A y) for A y < 1 and 0 beyond.

    Offsets are taken relative to the best loser, so y runs over [0, 1]. A winner ahead of it is safe once
    A y > 1: the integral is cut there, and is one of a rational function on each part.
    """
    top = losers[-1]
    cuts = sorted({offset - top for offset in winners if offset > top})
    ends = [flint.arb(0), *(ball(-cut).exp() for cut in reversed(cuts)), flint.arb(1)]
    below = [(ball(offset - top).exp(), count) for offset, count in Counter(losers).items()]
    total = flint.arb(0)
    for part, (low, high) in enumerate(itertools.pairwise(ends)):
        # On part p the p largest cuts have been passed.
        safe = cuts[len(cuts) - part :]
        contested = Counter(offset - top for offset in winners if offset - top not in safe)
        above = [(ball(offset).exp(), count) for offset, count in contested.items()]
        total += _integral(_half_logistic_integrand(above, below, low, high - low))
    return total


_Weights: TypeAlias = list[tuple[flint.arb, int]]
_Integrand: TypeAlias = Callable[[flint.acb, bool], flint.acb]


def _half_logistic_integrand(above: _Weights, below: _Weights, low: flint.arb, width: flint.arb) -> _Integrand:
    """prod_w 2Ay/(1+Ay) * -d/dy prod_l (1-Ay)/(1+Ay), as a function of t in [0, 1] with y = low + width t."""

    def integrand(t: flint.acb, _analytic: bool) -> flint.acb:
        y = low + width * t
        value = flint.acb(width)
        for weight, count in above:
            value *= (2 * weight * y / (1 + weight * y)) ** count
        # The product and its derivative together: (F G)' = F' G + F G', without dividing by F, which may vanish.
        product, slope = flint.acb(1), _ORIGIN
        for weight, count in below:
            inverse = 1 / (1 + weight * y)
            single = (1 - weight * y) * inverse
            power = single ** (count - 1)
            slope = slope * power * single + product * (2 * count * weight) * inverse * inverse * power
            product = product * power * single
        return value * slope

    return integrand


def _integral(integrand: _Integrand) -> flint.arb:
    """Over [0, 1], to a relative accuracy of half the working precision."""
    precision = flint.ctx.prec
    tolerance = flint.arb(2) ** (-(precision // 2))
    return flint.acb.integral(integrand, 0, 1, rel_tol=tolerance, abs_tol=flint.arb(2) ** (-4 * precision)).real
