"""The public grid on which noisy numbers are shown: as fine as is useful, never finer than the noise warrants.

A grid of at most 2^-31 of the noise loses nothing, and deciding a floor on it takes as long whatever the scale is. A
grid that stayed at 2^-20 of a user would ask for a digit more of every random number each time epsilon is halved.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["FINEST_GRID", "grid_bits_for", "steps_per_unit"]

FINEST_GRID = 20
_BITS_OF_NOISE = 32


def grid_bits_for(scale: Fraction, finest: int = FINEST_GRID) -> int:
    """The m of the grid of multiples of 2^-m for noise of this scale; below 0 where the noise is wider than 2^32."""
    return min(finest, _BITS_OF_NOISE - int(scale).bit_length())


def steps_per_unit(grid_bits: int) -> Fraction:
    """2^grid_bits: how many steps of the grid make 1."""
    return Fraction(2) ** grid_bits
