"""Coins whose probability is known in balls: tossed exactly, and mostly without computing the probability."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import flint
import numpy as np

from podium.exact import ball, ball_precision
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.streams import FreshStreams, Uniform

__all__ = ["HEAD_DIGITS", "Coins"]

HEAD_DIGITS = 64
"""How many binary digits of each uniform number are drawn at once."""
_BLOCK = 1 << 12


class Coins:
    """Uniform numbers in [0, 1), one for each toss; a toss is heads if its number is below the probability.

    The first digits are handed out, so that a bound on the probability can decide; ``below`` draws as many more as the
    decision needs.
    """

    def __init__(self, bits: BitSource | None = None) -> None:
        self._streams = FreshStreams(system_bits() if bits is None else bits)
        self._heads: list[int] = []

    def head(self) -> int:
        """The first digits of the next number, as an integer t: it lies in [t, t+1] / 2^HEAD_DIGITS."""
        if not self._heads:
            one = np.zeros(1, dtype=np.intp)
            self._heads = self._streams.heads(one, np.arange(_BLOCK)).tolist()
        return self._heads.pop()

    def below(self, head: int, chance: Callable[[], flint.arb]) -> bool:
        """Whether the number that begins with these digits is below ``chance``, a ball at the current precision."""
        uniform = Uniform(self._streams, 0, 0, head)
        for digits in (HEAD_DIGITS << step for step in itertools.count()):
            known = uniform.digits(digits)
            with ball_precision(2 * digits + 64):
                probability = chance()
                if ball(Fraction(known + 1, 1 << digits)) <= probability:
                    return True
                if probability <= ball(Fraction(known, 1 << digits)):
                    return False
        raise AssertionError("unreachable: the stream ends first")
