"""A noisy number that stays open: compared as often as one likes, always with the same noise.

The sparse vector technique draws its threshold once and compares many queries with it. The threshold is never
written down as a float; each comparison reveals as many of its digits as it needs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from podium.exact import exact_fraction, exact_integer, positive_fraction
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.float_filter import FLOAT_DIGITS
from podium.randomness.grid import steps_per_unit
from podium.randomness.noise import exponential_bounds
from podium.randomness.normal import noise_family
from podium.randomness.partial_sample import Contender, gap_floor, rank_contenders, value_floor
from podium.randomness.streams import FreshStreams, Uniform

__all__ = ["NoisyNumber"]


class NoisyNumber:
    """value + scale * Z for one draw of standard noise Z, exact to any precision that is asked for."""

    __slots__ = ("_contender", "_range")

    def __init__(
        self, value: object, *, scale: object, noise: object = "laplace", bits: BitSource | None = None
    ) -> None:
        center, width = exact_fraction(value, "value"), positive_fraction(scale, "scale")
        family = noise_family(noise)
        streams = FreshStreams(system_bits() if bits is None else bits)
        one = np.ones(1, dtype=np.intp)
        word = streams.heads(one, one)
        low, high = (float(end[0]) for end in family.bounds(*exponential_bounds(word, FLOAT_DIGITS)))
        self._contender = Contender.single(id(self), center, family, Uniform(streams, 0, 1, int(word[0])), factor=width)
        self._range: tuple[Fraction, Fraction] | None = None
        if np.isfinite(low) and np.isfinite(high):
            self._range = center + width * Fraction(low), center + width * Fraction(high)

    def exceeds(self, other: NoisyNumber, *, by: object = 0) -> bool:
        """Whether self > other + by."""
        margin = exact_fraction(by, "by")
        if other is self:
            return margin < 0
        if self._range is not None and other._range is not None:
            if self._range[0] > other._range[1] + margin:
                return True
            if self._range[1] < other._range[0] + margin:
                return False
        return rank_contenders([self._contender, other._contender.shifted(margin)], FLOAT_DIGITS)[0] is self._contender

    def lead(self, other: NoisyNumber, *, grid_bits: int) -> Fraction:
        """self - other, which must not be negative, rounded down to a multiple of 2^-grid_bits."""
        steps = steps_per_unit(exact_integer(grid_bits, "grid_bits"))
        return gap_floor(self._contender, other._contender, steps, FLOAT_DIGITS) / steps

    def rounded(self, *, grid_bits: int) -> Fraction:
        """The number rounded down to a multiple of 2^-grid_bits."""
        steps = steps_per_unit(exact_integer(grid_bits, "grid_bits"))
        return value_floor(self._contender, steps, FLOAT_DIGITS) / steps
