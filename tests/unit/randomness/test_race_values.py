"""Noisy scores of a race: they belong to the places, lie on the grid, and survive forced refinement."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from podium.errors import InvalidArgument
from podium.randomness import race
from podium.randomness.candidates import Lineup, Special
from podium.randomness.noise import NOISES, NoiseName
from podium.randomness.race import Heat
from podium.randomness.replay import KeyedStreams, ReplayableBits


@pytest.mark.parametrize("noise", ["laplace", "gumbel", "exponential"])
def test_values_fall_with_the_place_and_their_differences_are_the_gaps(noise: NoiseName) -> None:
    for seed in range(50):
        finish = race(
            [5, 3, 9, 9], k=3, scale=2, noise=noise, gap_bits=30, value_bits=30, handicaps={1: Fraction(7, 3)},
            bits=ReplayableBits(seed),
        )  # fmt: skip
        assert len(finish.values) == 3
        for (ahead, behind), gap in zip(itertools.pairwise(finish.values), finish.gaps, strict=False):
            assert abs(ahead - behind - gap) <= Fraction(2, 1 << 30)
        assert all((1 << 30) % value.denominator == 0 for value in finish.values)


def test_large_scores_keep_their_last_unit() -> None:
    finish = race([2**60, 2**60 - 10**6], k=2, scale=1, noise="laplace", value_bits=20, bits=ReplayableBits(1))
    assert [round(float(value - 2**60)) // 1000 for value in finish.values] == pytest.approx([0, -1000], abs=1)


@pytest.mark.parametrize("head", [1, 4, 20, 52])
def test_few_first_digits_change_nothing_but_the_work(head: int) -> None:
    """The float stage decides what it can; with fewer digits the exact stage decides the same."""
    lineup_scores = np.array([5, 3, 9, 9, 7])

    def heat(digits: int, seed: int) -> Heat:
        lineup = Lineup(lineup_scores, Fraction(1, 3), specials={4: Special(Fraction(1, 7))})
        return Heat(lineup, NOISES["laplace"], KeyedStreams(seed), places=3, head=digits)

    for seed in range(20):
        coarse, fine = heat(head, seed), heat(52, seed)
        assert coarse.groups == fine.groups
        assert [coarse.value(i, 20, Fraction(1)) for i in range(3)] == [
            fine.value(i, 20, Fraction(1)) for i in range(3)
        ]


def test_no_values_unless_asked_for() -> None:
    assert race([1, 2], k=1).values == ()
    with pytest.raises(InvalidArgument) as caught:
        race([1, 2], k=1, value_bits=1.5)  # type: ignore[arg-type]
    assert str(caught.value) == "value_bits=1.5 is not valid. Allowed: an integer."
