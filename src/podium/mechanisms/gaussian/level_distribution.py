"""Scores plus Gaussian noise against a level: exact distributions and densities, in balls at the current precision."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from fractions import Fraction

import flint

from podium.exact import ball
from podium.histogram import Item
from podium.mechanisms.base import Distribution

__all__ = ["MAX_ORDER", "GaussianRace", "normal_below"]

MAX_ORDER = 2
"""How many places an order may have for its probability to be one integral; longer ones are integrals of integrals."""


def normal_below(x: flint.arb) -> flint.arb:
    """Phi(x)."""
    return (-x / flint.arb(2).sqrt()).erfc() / 2


class GaussianRace:
    """Items with scores, each with its own N(0, sigma^2); those above ``level`` come out in order, at most k of them.

    ``k=None``: all of them.
    """

    def __init__(
        self, items: Sequence[Item], scores: Sequence[Fraction], level: Fraction, sigma: Fraction, k: int | None
    ) -> None:
        self._items = tuple(items)
        self._level = level
        self._sigma = sigma
        self._k = len(self._items) + 1 if k is None else k
        self._leads = [(score - level) / sigma for score in scores]

    def pass_probabilities(self) -> list[flint.arb]:
        """The probability of each item to be above the level."""
        return [normal_below(ball(lead)) for lead in self._leads]

    def distribution(self) -> Distribution:
        """Every outcome with its probability; for at most ``MAX_ORDER`` places."""
        distribution: Distribution = {}
        for length in range(min(self._k, len(self._items)) + 1):
            for order in itertools.permutations(range(len(self._items)), length):
                distribution[tuple(self._items[i] for i in order)] = self._chance(order)
        return distribution

    def _chance(self, order: tuple[int, ...]) -> flint.arb:
        behind, rest = [lead for i, lead in enumerate(self._leads) if i not in order], flint.arb(1)
        if len(order) < self._k:
            # The others are below the level, whatever those who came out did.
            behind, rest = [], _product(normal_below(ball(-lead)) for lead in behind)
        if not order:
            return rest
        *before, last = (self._leads[i] for i in order)
        if not before and not behind:
            return rest * normal_below(ball(last))
        return rest * _last_place(last, before, behind)

    def density(self, outcome: Sequence[Item], values: Sequence[Fraction]) -> flint.arb:
        """The joint density of an outcome and its noisy scores; of nobody, its probability."""
        points = [(value - self._level) / self._sigma for value in values]
        places = [self._items.index(item) if item in self._items else -1 for item in outcome]
        impossible = -1 in places or len(set(places)) != len(places) or len(places) > self._k
        # 0 at the end: everybody who came out is above the level.
        if impossible or any(earlier <= later for earlier, later in itertools.pairwise([*points, Fraction(0)])):
            return flint.arb(0)
        bar = points[-1] if len(places) == self._k else Fraction(0)
        seen = _product(_bell(ball(point - self._leads[i])) for i, point in zip(places, points, strict=True))
        rest = _product(normal_below(ball(bar - lead)) for i, lead in enumerate(self._leads) if i not in places)
        return seen * rest / ball(self._sigma) ** len(places)


def _last_place(last: Fraction, before: Sequence[Fraction], behind: Sequence[Fraction]) -> flint.arb:
    """P(last > 0, those before it larger, those behind it smaller), each a lead plus N(0, 1)."""

    def integrand(t: flint.acb, _analytic: bool) -> flint.acb:
        product = (-((t - ball(last)) ** 2) / 2).exp() / (2 * flint.arb.pi()).sqrt()
        for lead in before:
            product *= ((t - ball(lead)) / flint.arb(2).sqrt()).erfc() / 2
        for lead in behind:
            product *= ((ball(lead) - t) / flint.arb(2).sqrt()).erfc() / 2
        return product

    # Beyond the end the last place has a probability below e^(-reach^2/2), which is below 2^-precision.
    end = max(last, Fraction(0)) + math.isqrt(3 * flint.ctx.prec // 2) + 1
    inside = flint.acb.integral(integrand, 0, ball(end)).real
    return inside + flint.arb(0).union(normal_below(ball(last - end)))


def _bell(x: flint.arb) -> flint.arb:
    return (-(x**2) / 2).exp() / (2 * flint.arb.pi()).sqrt()


def _product(factors: Iterable[flint.arb]) -> flint.arb:
    return functools.reduce(operator.mul, factors, flint.arb(1))
