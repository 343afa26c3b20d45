"""Exact noisy numbers of which only the differences are released: each minus the mean of all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from podium.exact import ball_precision, exact_fraction, exact_integer, positive_fraction, rational_bounds
from podium.randomness.bits import BitSource, Words, system_bits
from podium.randomness.float_filter import FLOAT_DIGITS
from podium.randomness.grid import steps_per_unit
from podium.randomness.noise import exponential_bounds
from podium.randomness.normal import GAUSSIAN
from podium.randomness.partial_sample import Contender
from podium.randomness.streams import FreshStreams, Uniform

__all__ = ["centred_values"]

_Ends = list[tuple[Fraction, Fraction]]


def centred_values(
    values: Sequence[object], *, scale: object, grid_bits: int = 20, bits: BitSource | None = None
) -> list[Fraction]:
    """v_i - mean(v) for v_i = value_i + scale * N(0, 1), each rounded down to a multiple of 2^-grid_bits.

    What is rounded is the ideal real difference, so the result is a function of the centred vector alone: whoever
    knows it learns nothing about a constant that was added to all values.
    """
    grid = steps_per_unit(exact_integer(grid_bits, "grid_bits"))
    factor = positive_fraction(scale, "scale")
    numbers = [exact_fraction(value, "value") for value in values]
    if len(numbers) < 2:
        return [Fraction(0)] * len(numbers)
    streams = FreshStreams(system_bits() if bits is None else bits)
    words = streams.heads(np.arange(len(numbers)), np.ones(1, dtype=np.intp))
    floors = _floors(_float_ends(numbers, factor, words), grid)
    if floors is None:
        noisy = [
            Contender.single(i, number, GAUSSIAN, Uniform(streams, i, 1, int(words[i])), factor=factor)
            for i, number in enumerate(numbers)
        ]
        digits = FLOAT_DIGITS
        while floors is None:
            digits *= 2
            floors = _floors(_ball_ends(noisy, digits), grid)
    return [floor / grid for floor in floors]


def _floors(ends: _Ends | None, grid: Fraction) -> list[int] | None:
    """The floors of all differences, or None if one of them needs more digits."""
    if ends is None:
        return None
    lowest, highest = (sum(side, start=Fraction(0)) / len(ends) for side in zip(*ends, strict=True))
    below = [(low - highest) * grid // 1 for low, _ in ends]
    above = [(high - lowest) * grid // 1 for _, high in ends]
    return below if below == above else None


def _float_ends(numbers: Sequence[Fraction], factor: Fraction, words: Words) -> _Ends | None:
    """Bounds on every noisy number from the float stage, if all are finite."""
    low, high = GAUSSIAN.bounds(*exponential_bounds(words, FLOAT_DIGITS))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    noises = zip(low.tolist(), high.tolist(), strict=True)
    return [
        (number + factor * Fraction(least), number + factor * Fraction(most))
        for number, (least, most) in zip(numbers, noises, strict=True)
    ]


def _ball_ends(noisy: Sequence[Contender], digits: int) -> _Ends | None:
    """The same in balls, from this many digits of every stream."""
    with ball_precision(max(number.precision(digits) for number in noisy)):
        bounds = [number.bounds(digits) for number in noisy]
        if not all(low.is_finite() and high.is_finite() for low, high in bounds):
            return None
        return [(rational_bounds(low)[0], rational_bounds(high)[1]) for low, high in bounds]
