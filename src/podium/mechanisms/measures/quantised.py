"""Sums on a coarser public scale, so that many items of a known domain share one score.

Only for mechanisms that need no more than that each score moves within one interval: selections over a known domain
with ``Scores(..., rises_by=1 << bits)``, and the limited domain. Not for Gaussian noise on vectors.
Docs/proofs/measures.md, Theorem 7.
"""

from __future__ import annotations

import math
from fractions import Fraction

from podium.exact import Number, exact_integer, positive_fraction, positive_integer

__all__ = ["quantise", "quantising_bits"]

_SPARE_BITS = 5


def quantise(score: int, *, clip: int, bits: int) -> int:
    """floor(score * 2^bits / clip): where one user moves a score by 0 to clip, the result moves by 0 to 2^bits."""
    # In this form the step divides the clip, as it must: clip >> bits need not, and may be 0.
    return (exact_integer(score, "score") << exact_integer(bits, "bits", minimum=0)) // positive_integer(clip, "clip")


def quantising_bits(epsilon_per_item: Number) -> int:
    """So many bits that rounding moves no log weight by more than 1/32."""
    epsilon = positive_fraction(epsilon_per_item, "epsilon_per_item")
    return max(0, _ceil_log2(epsilon) + _SPARE_BITS)


def _ceil_log2(value: Fraction) -> int:
    exponent = math.frexp(float(value))[1]
    return exponent - 1 if value <= Fraction(2) ** (exponent - 1) else exponent
