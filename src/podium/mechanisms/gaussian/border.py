"""Measuring a few named items against each other: only their differences are released.

A user who has t of n items moves the vector of counts by t in squared length, but the differences between counts by
t(n-t)/n only: what moves all of them alike does not show. Docs/proofs/adaptive.md, Lemma 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from podium.mechanisms.weights import Weights
from podium.privacy.calibration import calibrate_sigma
from podium.privacy.events import GaussianNoise
from podium.randomness import BitSource, centred_values, grid_bits_for

__all__ = ["EDGES", "BorderWeights", "bucket_ends", "energy", "floor_for"]

EDGES = tuple(sorted({1, *(e + 1 for j in range(10) for e in (2**j, 3 * 2**j // 2))}))
"""Lower ends of the buckets in which users are counted by how many of the items they have."""

_UNIT = 1 << 20
_MAX_STEPS = 90
_NOTICEABLE = 2
"""A bucket counts if it is that many standard deviations above nothing."""
_BIAS = 1.5
"""How much of the mean loss of heavy users an item may lose more than others: measured, not derived."""


def energy(items: int, of: int) -> Fraction:
    """The most by which a user with up to ``items`` of ``of`` items moves their differences, squared; at most of/4."""
    within = min(items, of // 2)
    return Fraction(within * (of - within), of)


@dataclass(frozen=True, slots=True)
class BorderWeights:
    """w(t) = 1/sqrt(max(floor, t(n-t)/n)) on each of a user's t items among n: differences move by at most 1."""

    items: int
    floor: Fraction

    @property
    def weights(self) -> Weights:
        """The steps, for a source; nobody is cut, because nobody has more than all n."""
        return _weights(self)

    def ends(self) -> list[int]:
        """Where the weight falls: one by one from where the floor ends, then by ever larger steps, up to n."""
        half = max(1, self.items // 2)
        first = next((t for t in range(1, half) if energy(t + 1, self.items) > self.floor), half)
        ends = [first]
        fineness = next(f for f in range(_MAX_STEPS, 0, -1) if _steps(first, half, f) <= _MAX_STEPS)
        while ends[-1] < half:
            ends.append(min(half, ends[-1] + max(1, ends[-1] // fineness)))
        return ends if ends[-1] == self.items else [*ends, self.items]

    @property
    def sensitivity_squared(self) -> Fraction:
        """The most that one user moves the centred weighted counts, squared."""
        weights = self.weights
        return max(weight**2 * energy(end, self.items) for end, weight in weights.steps) / Fraction(weights.unit**2)

    def measure(
        self, sums: Sequence[int], mu_squared: Fraction, *, clip: int = 1, bits: BitSource | None = None
    ) -> tuple[list[Fraction], Fraction, GaussianNoise]:
        """The differences of weighted counts to their mean in units of counts, their noise's sigma, and the event.

        Of sums of contributions from 0 to ``clip``: in the units of these, with noise for the largest.
        """
        weights = self.weights
        square = self.sensitivity_squared
        sigma = calibrate_sigma(mu_squared / 2, sensitivity_squared=square)
        per_count = clip * Fraction(weights.unit, weights.weight(1))
        values = [Fraction(total, weights.weight(1)) for total in sums]
        centred = centred_values(values, scale=sigma * per_count, grid_bits=grid_bits_for(sigma * per_count), bits=bits)
        return centred, sigma * per_count, GaussianNoise(sigma, sensitivity_squared=square)


@lru_cache(maxsize=64)
def _weights(border: BorderWeights) -> Weights:
    floors = [(end, max(border.floor, energy(end, border.items))) for end in border.ends()]
    steps = [(end, math.isqrt(int(_UNIT**2 // floor))) for end, floor in floors]
    return Weights(steps, unit=_UNIT, rule=f"border({border.items}, {border.floor})")


def _steps(first: int, last: int, fineness: int) -> int:
    at = first
    for count in itertools.count(1):
        if at >= last:
            return count
        at += max(1, at // fineness)
    raise AssertionError("unreachable")


def bucket_ends(items: int) -> tuple[int, ...]:
    """The largest number of items in each bucket of EDGES that there can be; the last is all of them."""
    lower = [edge for edge in EDGES if edge <= items]
    return (*(edge - 1 for edge in lower[1:]), items)


def floor_for(
    items: int, users: Sequence[Fraction], sigma: Fraction, *, count: Fraction, mu_squared: Fraction
) -> Fraction:
    """The floor that balances noise against the bias from heavy users, from noisy numbers of users per bucket.

    A higher floor means more noise on every count, a lower one takes more from items of heavy users. ``users`` has
    noise of scale ``sigma``; ``count`` is about where the border lies. All of it is public or was paid for, so plain
    floating-point arithmetic decides.
    """
    ends = bucket_ends(items)
    sizes = [float(n) if n > _NOTICEABLE * sigma else 0.0 for n in users]
    weight = sum(size * end for size, end in zip(sizes, ends, strict=True))
    most = max(energy(items, items), energy(1, items))
    floors = sorted({min(max(Fraction(end), energy(1, items)), most) for end in (*ends, items)})
    if weight <= 0:
        return floors[-1] if items < 16 else min(Fraction(4), floors[-1])

    def cost(floor: Fraction) -> float:
        lost = sum(
            size * end * (1 - math.sqrt(floor / max(floor, energy(end, items))))
            for size, end in zip(sizes, ends, strict=True)
        )
        return float(floor / mu_squared) + (_BIAS * lost / weight * float(count)) ** 2

    return min(floors, key=cost)
