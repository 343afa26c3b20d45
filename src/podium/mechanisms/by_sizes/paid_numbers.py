"""Numbers that are paid for before anything is chosen: each with Laplace noise, written down in the receipt."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from podium.privacy.events import Event, LaplaceNoise
from podium.randomness import BitSource, grid_bits_for, noisy_values

__all__ = ["pay_for_numbers", "shown_number"]


def pay_for_numbers(
    numbers: Sequence[int], epsilon: Fraction, receipt: list[Event], bits: BitSource | None
) -> Sequence[Fraction]:
    """Numbers of which one user moves one by 1, with the noise that this epsilon pays for."""
    receipt.append(LaplaceNoise(epsilon))
    scale = 1 / epsilon
    return noisy_values(numbers, scale=scale, noise="laplace", grid_bits=grid_bits_for(scale), bits=bits)


def shown_number(noisy: Fraction) -> str:
    """Numbers below 0 are noise, and say no more than 0 does to a reader."""
    return str(max(0, round(noisy)))
