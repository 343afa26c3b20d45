"""Exact noisy numbers: real noise rounded down to a public grid.

A real number never leaves as a float that rounding could betray: what is released is floor(x * 2^m) / 2^m of the
ideal real x, decided by revealing digits until the floor is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from podium.exact import exact_fraction, exact_integer, positive_fraction
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.float_filter import FLOAT_DIGITS
from podium.randomness.grid import steps_per_unit
from podium.randomness.noise import Noise, exponential_bounds
from podium.randomness.normal import noise_family
from podium.randomness.partial_sample import Contender, value_floor
from podium.randomness.streams import FreshStreams, Streams, Uniform

__all__ = ["noisy_floors", "noisy_value", "noisy_values"]

_BIG = 2.0**50


def noisy_value(
    value: object,
    *,
    scale: object,
    noise: object = "laplace",
    grid_bits: int = 20,
    bits: BitSource | None = None,
) -> Fraction:
    """value + scale * Z, rounded down to a multiple of 2^-grid_bits."""
    return noisy_values([value], scale=scale, noise=noise, grid_bits=grid_bits, bits=bits)[0]


def noisy_values(
    values: Sequence[object],
    *,
    scale: object,
    noise: object = "laplace",
    grid_bits: int = 20,
    bits: BitSource | None = None,
) -> list[Fraction]:
    """Every value + scale * Z with its own noise, rounded down to a multiple of 2^-grid_bits."""
    grid = exact_integer(grid_bits, "grid_bits")
    factor = positive_fraction(scale, "scale")
    offsets = [exact_fraction(value, "value") / factor for value in values]
    streams = FreshStreams(system_bits() if bits is None else bits)
    floors = noisy_floors(offsets, noise_family(noise), factor * steps_per_unit(grid), streams)
    return [floor / steps_per_unit(grid) for floor in floors]


def noisy_floors(
    offsets: Sequence[Fraction], noise: Noise, unit: Fraction, streams: Streams, *, head: int = FLOAT_DIGITS
) -> list[int]:
    """floor((offset + Z) * unit) for every offset, each with its own noise."""
    words = streams.heads(np.arange(len(offsets)), np.ones(1, dtype=np.intp))
    low, high = noise.bounds(*exponential_bounds(words, head))
    floors = []
    for i, offset in enumerate(offsets):
        if abs(low[i]) < _BIG and abs(high[i]) < _BIG:
            below, above = (_floor(offset, float(end[i]), unit) for end in (low, high))
            if below == above:
                floors.append(below)
                continue
        contender = Contender.single(i, offset, noise, Uniform(streams, i, 1, int(words[i])))
        floors.append(value_floor(contender, unit, head))
    return floors


def _floor(offset: Fraction, end: float, unit: Fraction) -> int:
    """floor((offset + end) * unit) in integers: a fraction would be put into its lowest terms twice."""
    part, size = end.as_integer_ratio()
    whole = (offset.numerator * size + part * offset.denominator) * unit.numerator
    return whole // (offset.denominator * size * unit.denominator)
