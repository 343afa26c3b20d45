"""Textbook noise in floating point, for mechanisms that are wrong anyway: nothing here may protect anybody.

Bits come from ``podium.randomness`` like all others, so that tests can replay them; what is naive is the arithmetic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray

from podium.audit.gallery.exhibit import BatchSampler
from podium.randomness import BitSource, system_bits

__all__ = ["ClockBits", "FloatNoise", "Numbers", "with_float_noise"]

P = ParamSpec("P")
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FloatNoise:
    """Inverse-CDF sampling as it is usually written."""

    bits: BitSource = field(default_factory=system_bits)

    def uniform(self, *shape: int) -> Numbers:
        """In (0, 1), on a grid of 2^-53."""
        words = self.bits.words(int(np.prod(shape))).reshape(shape)
        return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def exponential(self, *shape: int) -> Numbers:
        """Scale 1."""
        return -np.log(self.uniform(*shape))

    def gumbel(self, *shape: int) -> Numbers:
        """Scale 1."""
        return -np.log(self.exponential(*shape))

    def laplace(self, *shape: int) -> Numbers:
        """Scale 1."""
        centred = self.uniform(*shape) - 0.5
        return -np.sign(centred) * np.log1p(-2.0 * np.abs(centred))


def with_float_noise(
    sampler: Callable[Concatenate[FloatNoise, Any, int, P], Any], *args: P.args, **kwargs: P.kwargs
) -> Callable[[BitSource], BatchSampler]:
    """What makes a sampler for given bits, from one that is given noise, an input and a size."""

    def build(bits: BitSource) -> BatchSampler:
        noise = FloatNoise(bits)
        return lambda given, size: sampler(noise, given, size, *args, **kwargs)

    return build


class ClockBits:
    """Bits that anybody can compute who knows what time it is: a generator seeded with whole seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._seed = int(clock())

    def read(self, size: int) -> bytes:
        """The same bytes for the same second."""
        return hashlib.shake_256(b"%d" % self._seed).digest(size)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The same words for the same second."""
        return np.frombuffer(self.read(8 * count), dtype=np.uint64)
