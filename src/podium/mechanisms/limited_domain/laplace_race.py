"""The limited domain with Laplace noise: its exact distribution, and the density of its noisy counts.

Every candidate i has the value score_i + Lap(scale), BOTTOM too. The items above BOTTOM come out in order, at most k
of them. Between the scores all densities are sums of exponentials, so every probability has a closed form.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import flint

from podium.histogram import Item
from podium.mechanisms.base import Distribution
from podium.mechanisms.piecewise import Piecewise, noise_cdf, noise_density
from podium.release import BOTTOM

__all__ = ["LaplaceRace"]


class LaplaceRace:
    """Items with scores, and BOTTOM, each with its own Laplace noise. Balls are at the current precision."""

    def __init__(self, items: Sequence[Item], scores: Sequence[int], bottom: Fraction, scale: Fraction, k: int) -> None:
        self._items = tuple(items)
        self._k = k
        # Only differences matter to the distribution, and small numbers keep the balls small.
        self._origin = bottom.numerator // bottom.denominator
        self._scores = [Fraction(score - self._origin) for score in scores]
        self._density = [noise_density("laplace", score, scale) for score in self._scores]
        self._below = [noise_cdf("laplace", score, scale) for score in self._scores]
        self._stop_density = noise_density("laplace", bottom - self._origin, scale)
        self._stop_below = noise_cdf("laplace", bottom - self._origin, scale)

    def distribution(self) -> Distribution:
        """Every outcome with its probability."""
        distribution: Distribution = {}
        self._extend((), Piecewise.constant(1), distribution)
        return distribution

    def _extend(self, prefix: tuple[int, ...], ahead: Piecewise, distribution: Distribution) -> None:
        """``ahead`` is t -> P(the items of the prefix come in this order, the last one above t)."""
        named = tuple(self._items[i] for i in prefix)
        distribution[(*named, BOTTOM)] = (ahead * self._stop_density * self._rest_below(prefix)).integral()
        for i in range(len(self._items)):
            if i in prefix:
                continue
            longer = (*prefix, i)
            here = ahead * self._density[i]
            if len(longer) == self._k:
                distribution[(*named, self._items[i])] = (here * self._stop_below * self._rest_below(longer)).integral()
            else:
                self._extend(longer, here.tail_integral(), distribution)

    def _rest_below(self, prefix: tuple[int, ...]) -> Piecewise:
        """t -> P(every item that is not in the prefix is below t)."""
        product = Piecewise.constant(1)
        for i, below in enumerate(self._below):
            if i not in prefix:
                product = product * below
        return product

    def density(self, outcome: Sequence[Item], values: Sequence[Fraction]) -> flint.arb:
        """The joint density of an outcome and the noisy counts of its items; of BOTTOM alone, its probability."""
        stopped = len(outcome) > 0 and outcome[-1] is BOTTOM
        named = outcome[:-1] if stopped else outcome
        positions = [self._items.index(item) if item in self._items else -1 for item in named]
        if len(set(positions)) != len(positions) or -1 in positions or (len(named) < self._k) != stopped:
            return flint.arb(0)
        points = [value - self._origin for value in values]
        if any(later >= earlier for earlier, later in itertools.pairwise(points)):
            return flint.arb(0)
        product = flint.arb(1)
        for i, point in zip(positions, points, strict=True):
            product *= self._density[i](point)
        rest = self._rest_below(tuple(positions))
        if stopped:
            return product * (self._stop_density * rest).integral(high=points[-1] if points else None)
        return product * (self._stop_below * rest)(points[-1])
