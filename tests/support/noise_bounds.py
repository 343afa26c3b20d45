"""The first pass of every race: bounds in floats on noise that is computed in balls."""

from __future__ import annotations

from fractions import Fraction

import flint

from podium.exact import ball_precision, rational_bounds
from podium.randomness.noise import Floats, Noise

__all__ = ["assert_bounds_are_sound_and_tight"]


def assert_bounds_are_sound_and_tight(noise: Noise, rates: Floats, precision: int) -> None:
    """The float bounds enclose the ball at every rate, and lie within 2^-44 of each other."""
    low, high = noise.bounds(rates, rates)
    with ball_precision(precision):
        for rate, below, above in zip(rates, low, high, strict=True):
            exact_low, exact_high = rational_bounds(noise.from_rate_ball(flint.arb(float(rate))))
            assert Fraction(float(below)) <= exact_low
            assert exact_high <= Fraction(float(above))
            assert above - below <= 2.0**-44 * (1.0 + abs(below))
