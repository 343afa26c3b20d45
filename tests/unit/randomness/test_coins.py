"""Coins: the first digits decide mostly, and where they do not, further ones do."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from podium.exact import ball
from podium.randomness import Coins
from podium.randomness.coins import HEAD_DIGITS


class Script:
    """Bits that were written down: words for the first digits, bytes for those that follow."""

    def __init__(self, word: int, *more: int) -> None:
        self._word = word
        self._more: Iterator[int] = iter(more)

    def read(self, size: int) -> bytes:
        return next(self._more).to_bytes(size, "little")

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.full(count, self._word, dtype=np.uint64)


def toss(coins: Coins, chance: Fraction) -> bool:
    return coins.below(coins.head(), lambda: ball(chance))


@pytest.mark.parametrize(("word", "heads"), [(0, True), (1 << 62, True), ((1 << 63) - 1, True), (1 << 63, False)])
def test_the_number_is_compared_with_the_probability(word: int, heads: bool) -> None:
    assert toss(Coins(Script(word)), Fraction(1, 2)) is heads


@pytest.mark.parametrize(("more", "heads"), [(0, True), ((1 << 62) - 1, True), (1 << 63, False)])
def test_digits_that_are_not_drawn_yet_may_decide(more: int, heads: bool) -> None:
    """The probability lies half way between two numbers of 64 digits; a third of the way is decided by the next."""
    chance = (Fraction(7) + Fraction(1, 2)) / (1 << HEAD_DIGITS)
    assert toss(Coins(Script(7, more)), chance) is heads


def test_probabilities_may_be_irrational() -> None:
    coins = Coins(Script(1 << 61))
    assert coins.below(coins.head(), (-flint.arb(1)).exp)
    assert not coins.below((1 << 64) - 5, (-flint.arb(1)).exp)
