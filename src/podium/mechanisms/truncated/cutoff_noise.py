"""Noise of scale 1 given that its size is at most a: the laws behind the exact distributions, in balls."""

from __future__ import annotations

from fractions import Fraction

import flint

from podium.exact import ball
from podium.mechanisms.gaussian.level_distribution import NormalNoise, Piece, StandardNoise

__all__ = ["CutOffNoise", "LaplaceNoiseLaw"]


class LaplaceNoiseLaw:
    """Lap(1)."""

    breaks: tuple[Fraction, ...] = (Fraction(0),)

    def below(self, x: Fraction) -> flint.arb:
        """P(Z <= x)."""
        return ball(x).exp() / 2 if x < 0 else 1 - ball(-x).exp() / 2

    def density(self, x: Fraction) -> flint.arb:
        """e^-|x| / 2."""
        return ball(-abs(x)).exp() / 2

    def piece(self, x: Fraction) -> Piece | None:
        """One exponential on each side of 0."""
        if x < 0:
            return Piece(lambda t: t.exp() / 2, lambda t: t.exp() / 2)
        return Piece(lambda t: (-t).exp() / 2, lambda t: 1 - (-t).exp() / 2)

    def reach(self) -> Fraction:
        """Beyond it the probability is below e^-reach."""
        return Fraction(flint.ctx.prec)


class CutOffNoise:
    """The noise ``whole``, which is symmetric, given that its size is at most ``bound``."""

    def __init__(self, whole: StandardNoise, bound: Fraction) -> None:
        self._whole = whole
        self._bound = bound
        self.breaks: tuple[Fraction, ...] = (-bound, *whole.breaks, bound)

    @classmethod
    def gaussian(cls, bound: Fraction) -> CutOffNoise:
        """N(0, 1) cut off."""
        return cls(NormalNoise(), bound)

    @classmethod
    def laplace(cls, bound: Fraction) -> CutOffNoise:
        """Lap(1) cut off."""
        return cls(LaplaceNoiseLaw(), bound)

    def below(self, x: Fraction) -> flint.arb:
        """P(Z <= x), 0 and 1 outside of the bounds."""
        if abs(x) >= self._bound:
            return flint.arb(int(x > 0))
        outside, inside = self._masses()
        return (self._whole.below(x) - outside) / inside

    def density(self, x: Fraction) -> flint.arb:
        """The density, 0 outside of the bounds."""
        return self._whole.density(x) / self._masses()[1] if abs(x) <= self._bound else flint.arb(0)

    def piece(self, x: Fraction) -> Piece | None:
        """The whole distribution's piece, scaled; None outside of the bounds."""
        whole = self._whole.piece(x) if abs(x) < self._bound else None
        if whole is None:
            return None
        outside, inside = self._masses()
        return Piece(lambda t: whole.density(t) / inside, lambda t: (whole.below(t) - outside) / inside)

    def reach(self) -> Fraction:
        """The bound itself, or what the whole noise does not exceed."""
        return min(self._bound, self._whole.reach())

    def _masses(self) -> tuple[flint.arb, flint.arb]:
        """The probabilities of the whole noise below -bound, and within the bounds."""
        outside = self._whole.below(-self._bound)
        return outside, 1 - 2 * outside
