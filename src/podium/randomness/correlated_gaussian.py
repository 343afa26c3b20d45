"""Exact noisy numbers that share a part of their noise: each has its own, and one more draw is added to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint
import numpy as np

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer, positive_fraction
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.float_filter import FLOAT_DIGITS
from podium.randomness.grid import steps_per_unit
from podium.randomness.noise import exponential_bounds
from podium.randomness.noisy_values import noisy_values
from podium.randomness.normal import GAUSSIAN
from podium.randomness.partial_sample import Contender, exact_floor
from podium.randomness.streams import FreshStreams, Uniform

__all__ = ["correlated_values"]


def correlated_values(
    values: Sequence[object],
    *,
    scale: object,
    shared_scale: object,
    grid_bits: int = 20,
    bits: BitSource | None = None,
) -> list[Fraction]:
    """value_i + scale * Z_i + shared_scale * Z, each rounded down to a multiple of 2^-grid_bits.

    Z, Z_1, Z_2, ... are independent standard normal numbers, new in every call. What is rounded is the ideal real sum,
    so that the result is a function of one jointly normal vector: two floors added up would not be.
    """
    grid = steps_per_unit(exact_integer(grid_bits, "grid_bits"))
    own, shared = positive_fraction(scale, "scale"), exact_fraction(shared_scale, "shared_scale")
    if shared < 0:
        raise InvalidArgument("shared_scale", shared_scale, allowed="a number, 0 or more")
    numbers = [exact_fraction(value, "value") for value in values]
    if shared == 0 or not numbers:
        return noisy_values(numbers, scale=own, noise="gaussian", grid_bits=grid_bits, bits=bits)
    last = len(numbers)
    streams = FreshStreams(system_bits() if bits is None else bits)
    words = streams.heads(np.arange(last + 1), np.ones(1, dtype=np.intp))

    def draw(place: int, centre: Fraction, factor: Fraction) -> Contender:
        return Contender.single(place, centre, GAUSSIAN, Uniform(streams, place, 1, int(words[place])), factor=factor)

    common = draw(last, Fraction(0), shared)
    low, high = GAUSSIAN.bounds(*exponential_bounds(words, FLOAT_DIGITS))
    floors = []
    for i, number in enumerate(numbers):
        if np.isfinite([low[i], high[i], low[last], high[last]]).all():
            below, above = (
                (number + own * Fraction(float(end[i])) + shared * Fraction(float(end[last]))) * grid // 1
                for end in (low, high)
            )
            if below == above:
                floors.append(below)
                continue
        floors.append(_sum_floor(draw(i, number, own), common, grid))
    return [floor / grid for floor in floors]


def _sum_floor(one: Contender, other: Contender, grid: Fraction) -> int:
    """floor((one + other) * grid) from as many digits of both as it takes."""

    def bounds(digits: int) -> tuple[flint.arb, flint.arb]:
        (low, high), (other_low, other_high) = one.bounds(digits), other.bounds(digits)
        return low + other_low, high + other_high

    return exact_floor(
        bounds, lambda digits: max(one.precision(digits), other.precision(digits)) + 1, grid, FLOAT_DIGITS
    )
