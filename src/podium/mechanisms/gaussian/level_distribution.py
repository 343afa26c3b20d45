"""Scores plus symmetric noise against a level: exact distributions and densities, in balls at the current precision."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import flint

from podium.exact import ball
from podium.histogram import Item
from podium.mechanisms.base import Distribution

__all__ = ["MAX_ORDER", "LevelRace", "NormalNoise", "Piece", "StandardNoise", "normal_below"]

MAX_ORDER = 2
"""How many places an order may have for its probability to be one integral; longer ones are integrals of integrals."""


def normal_below(x: flint.arb) -> flint.arb:
    """Phi(x)."""
    return (-x / flint.arb(2).sqrt()).erfc() / 2


class Piece(NamedTuple):
    """A noise distribution between two of its breaks, as functions that are analytic there."""

    density: Callable[[flint.acb], flint.acb]
    below: Callable[[flint.acb], flint.acb]


class StandardNoise(Protocol):
    """A symmetric noise distribution of scale 1, in balls at the current precision."""

    breaks: tuple[Fraction, ...]
    """Between these, density and distribution function are analytic."""

    def below(self, x: Fraction) -> flint.arb:
        """P(Z <= x)."""
        ...

    def density(self, x: Fraction) -> flint.arb:
        """The density at x."""
        ...

    def piece(self, x: Fraction) -> Piece | None:
        """The distribution around x, which is no break; None where the density is 0."""
        ...

    def reach(self) -> Fraction:
        """A size that the noise exceeds with a probability below 2^-precision."""
        ...


class NormalNoise:
    """N(0, 1)."""

    breaks: tuple[Fraction, ...] = ()

    def below(self, x: Fraction) -> flint.arb:
        """Phi(x)."""
        return normal_below(ball(x))

    def density(self, x: Fraction) -> flint.arb:
        """phi(x)."""
        return (-(ball(x) ** 2) / 2).exp() / (2 * flint.arb.pi()).sqrt()

    def piece(self, x: Fraction) -> Piece | None:
        """The same everywhere."""
        return Piece(_analytic_bell, _analytic_below)

    def reach(self) -> Fraction:
        """Beyond it the probability is below e^(-reach^2/2)."""
        return Fraction(math.isqrt(3 * flint.ctx.prec // 2) + 1)


def _analytic_bell(t: flint.acb) -> flint.acb:
    return (-(t**2) / 2).exp() / (2 * flint.arb.pi()).sqrt()


def _analytic_below(t: flint.acb) -> flint.acb:
    return (-t / flint.arb(2).sqrt()).erfc() / 2


class LevelRace:
    """Items with scores, each with its own noise; those above ``level`` come out in order, at most k of them.

    ``k=None``: all of them.
    """

    def __init__(
        self,
        items: Sequence[Item],
        scores: Sequence[Fraction],
        level: Fraction,
        scale: Fraction,
        k: int | None,
        *,
        noise: StandardNoise,
    ) -> None:
        self._items = tuple(items)
        self._level = level
        self._scale = scale
        self._noise = noise
        self._k = len(self._items) + 1 if k is None else k
        self._leads = [(score - level) / scale for score in scores]

    def pass_probabilities(self) -> list[flint.arb]:
        """The probability of each item to be above the level."""
        return [self._noise.below(lead) for lead in self._leads]

    def distribution(self) -> Distribution:
        """Every outcome with its probability; for at most ``MAX_ORDER`` places."""
        distribution: Distribution = {}
        for length in range(min(self._k, len(self._items)) + 1):
            for order in itertools.permutations(range(len(self._items)), length):
                chance = self._chance(order)
                if not chance.is_zero():
                    distribution[tuple(self._items[i] for i in order)] = chance
        return distribution

    def _chance(self, order: tuple[int, ...]) -> flint.arb:
        behind, rest = [lead for i, lead in enumerate(self._leads) if i not in order], flint.arb(1)
        if len(order) < self._k:
            # The others are below the level, whatever those who came out did.
            behind, rest = [], _product(self._noise.below(-lead) for lead in behind)
        if not order:
            return rest
        *before, last = (self._leads[i] for i in order)
        if not before and not behind:
            return rest * self._noise.below(last)
        return rest * self._last_place(last, before, behind)

    def _last_place(self, last: Fraction, before: Sequence[Fraction], behind: Sequence[Fraction]) -> flint.arb:
        """P(last > 0, those before it larger, those behind it smaller), each a lead plus noise."""
        end = max(last, Fraction(0)) + self._noise.reach()
        breaks = {lead + at for lead in (last, *before, *behind) for at in self._noise.breaks}
        cuts = sorted({Fraction(0), end, *(at for at in breaks if 0 < at < end)})
        inside = sum(
            (self._between(left, right, last, before, behind) for left, right in itertools.pairwise(cuts)),
            start=flint.arb(0),
        )
        return inside + flint.arb(0).union(1 - self._noise.below(end - last))

    def _between(
        self, left: Fraction, right: Fraction, last: Fraction, before: Sequence[Fraction], behind: Sequence[Fraction]
    ) -> flint.arb:
        """The same with the last place between two cuts."""
        middle = (left + right) / 2
        own = self._noise.piece(middle - last)
        # Where a piece is missing, an item ahead is surely below its highest value, or one behind above its lowest.
        larger = [(lead, self._noise.piece(lead - middle)) for lead in before]
        smaller = [(lead, self._noise.piece(middle - lead)) for lead in behind]
        if own is None or any(piece is None and middle > lead for lead, piece in larger):
            return flint.arb(0)
        if any(piece is None and middle < lead for lead, piece in smaller):
            return flint.arb(0)

        def integrand(t: flint.acb, _analytic: bool) -> flint.acb:
            product = own.density(t - ball(last))
            for lead, piece in larger:
                product *= 1 if piece is None else piece.below(ball(lead) - t)
            for lead, piece in smaller:
                product *= 1 if piece is None else piece.below(t - ball(lead))
            return product

        return flint.acb.integral(integrand, ball(left), ball(right)).real

    def density(self, outcome: Sequence[Item], values: Sequence[Fraction]) -> flint.arb:
        """The joint density of an outcome and its noisy scores; of nobody, its probability."""
        points = [(value - self._level) / self._scale for value in values]
        places = [self._items.index(item) if item in self._items else -1 for item in outcome]
        impossible = -1 in places or len(set(places)) != len(places) or len(places) > self._k
        # 0 at the end: everybody who came out is above the level.
        if impossible or any(earlier <= later for earlier, later in itertools.pairwise([*points, Fraction(0)])):
            return flint.arb(0)
        bar = points[-1] if len(places) == self._k else Fraction(0)
        seen = _product(self._noise.density(point - self._leads[i]) for i, point in zip(places, points, strict=True))
        rest = _product(self._noise.below(bar - lead) for i, lead in enumerate(self._leads) if i not in places)
        return seen * rest / ball(self._scale) ** len(places)


def _product(factors: Iterable[flint.arb]) -> flint.arb:
    return functools.reduce(operator.mul, factors, flint.arb(1))
