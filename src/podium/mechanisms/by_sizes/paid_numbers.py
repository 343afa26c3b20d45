"""Noisy numbers that choose a branch: measured first, with Laplace noise, and recorded in the receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from podium.mechanisms.base import describe
from podium.privacy.events import Event, LaplaceNoise
from podium.randomness import BitSource, grid_bits_for, noisy_values
from podium.release import Receipt, Release

__all__ = ["after_numbers", "pay_for_numbers", "shown_number"]


def pay_for_numbers(
    numbers: Sequence[int], epsilon: Fraction, receipt: list[Event], bits: BitSource | None
) -> Sequence[Fraction]:
    """Noisy numbers at this epsilon; adding or removing one user changes only one of them, by at most 1."""
    receipt.append(LaplaceNoise(epsilon))
    scale = 1 / epsilon
    return noisy_values(numbers, scale=scale, noise="laplace", grid_bits=grid_bits_for(scale), bits=bits)


def shown_number(noisy: Fraction) -> str:
    """The number as shown to readers: rounded, and 0 where noise made it negative."""
    return str(max(0, round(noisy)))


def after_numbers(mechanism: Any, release: Release, asked: Sequence[Event], found: Mapping[str, str]) -> Release:
    """What the chosen branch released, as a release of ``mechanism``: paid for together with what was ``asked``."""
    return Release(
        mechanism=type(mechanism).__name__,
        outcome=release.outcome,
        k=mechanism.k,
        paid=Receipt((*asked, *release.paid.events)),
        guarantee=mechanism.guarantee,
        theorem=f"{mechanism.theorem}; {release.theorem}",
        parameters={**describe(mechanism), **found},
        values=release.values,
        value_kind=release.value_kind,
    )
