"""Centred noisy values: floors of the ideal differences, whatever constant is added to all of them."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from podium.errors import EntropyFailure, InvalidArgument
from podium.randomness import centred_gaussian, centred_values
from podium.randomness.bits import Words
from podium.randomness.replay import ConstantBits, ReplayableBits

numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=64)


def test_fewer_than_two_values_have_no_differences() -> None:
    assert centred_values([], scale=1) == []
    assert centred_values([17], scale=1) == [0]


def test_two_values_are_opposite_up_to_the_grid() -> None:
    for seed in range(20):
        left, right = centred_values([3, 8], scale=2, bits=ReplayableBits(seed))
        # The ideal numbers are x and -x, never on the grid: their floors miss 0 by exactly one step.
        assert left + right == Fraction(-1, 2**20)


def recomputed(values: list[Fraction], scale: Fraction, grid_bits: int, seed: int) -> list[int]:
    """The same floors from the first 128 digits of the same streams, by another library at 60 digits."""
    bits = ReplayableBits(seed)
    heads = [int(word) for word in bits.words(len(values))]
    tails = [int.from_bytes(bits.read(8), "little") for _ in values]
    with mpmath.workdps(60):
        uniforms = [(mpmath.mpf(head << 64 | tail) + 0.5) / 2**128 for head, tail in zip(heads, tails, strict=True)]
        noisy = [
            mpmath.mpf(value.numerator) / value.denominator
            + mpmath.mpf(scale.numerator) / scale.denominator * mpmath.sqrt(2) * mpmath.erfinv(2 * uniform - 1)
            for value, uniform in zip(values, uniforms, strict=True)
        ]
        mean = mpmath.fsum(noisy) / len(noisy)
        return [int(mpmath.floor((value - mean) * 2**grid_bits)) for value in noisy]


@pytest.mark.parametrize("grid_bits", [0, 20, 40])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(40)])
def test_floors_are_those_of_the_ideal_differences(grid_bits: int, scale: Fraction) -> None:
    for seed in range(10):
        values = [Fraction(seed * place**2, 7) for place in range(2 + seed)]
        drawn = centred_values(values, scale=scale, grid_bits=grid_bits, bits=ReplayableBits(seed))
        assert [value * 2**grid_bits for value in drawn] == recomputed(values, scale, grid_bits, seed)


@settings(max_examples=40)
@given(values=st.lists(numbers, min_size=2, max_size=8), constant=numbers, seed=st.integers(0, 999))
def test_a_constant_added_to_all_changes_nothing(values: list[Fraction], constant: Fraction, seed: int) -> None:
    here = centred_values(values, scale=Fraction(3, 2), bits=ReplayableBits(seed))
    there = centred_values([value + constant for value in values], scale=Fraction(3, 2), bits=ReplayableBits(seed))
    assert here == there
    # The ideal differences add up to 0, and each floor loses less than one step.
    assert -len(values) * Fraction(1, 2**20) < sum(here) <= 0


def test_floats_decide_what_balls_would(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [Fraction(place**3, 5) for place in range(30)]
    drawn = [centred_values(values, scale=7, bits=ReplayableBits(seed)) for seed in range(5)]

    def endless(words: Words, head: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What the float stage knows of a stream that begins with zeros or ones only."""
        return np.zeros(words.shape), np.full(words.shape, np.inf)

    monkeypatch.setattr(centred_gaussian, "exponential_bounds", endless)
    assert [centred_values(values, scale=7, bits=ReplayableBits(seed)) for seed in range(5)] == drawn


def test_rounding_before_centring_would_show_the_constant() -> None:
    """What docs/proofs/adaptive.md warns of: floors first, differences afterwards."""

    def rounded_first(value: Fraction) -> bool:
        floors = [(value + noise) // 1 for noise in (Fraction(-1, 100), Fraction(1, 100))]
        return floors[0] == floors[1]

    assert rounded_first(Fraction(1, 2))
    assert not rounded_first(Fraction(0))


def test_a_difference_is_rounded_only_once_every_continuation_rounds_alike() -> None:
    half = Fraction(1, 2)
    # Each lies in [0, 1/2], so their mean does too: a difference may be on either side of 0.
    assert centred_gaussian._floors([(Fraction(0), half)] * 2, Fraction(1)) is None
    assert centred_gaussian._floors([(Fraction(0), Fraction(0)), (half, half)], Fraction(1)) == [-1, 0]


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"^scale=0 is not valid\. Allowed: a number above 0"):
        centred_values([1, 2], scale=0)
    with pytest.raises(InvalidArgument, match=r"^grid_bits=1.5 is not valid\. Allowed: an integer"):
        centred_values([1, 2], scale=1, grid_bits=1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"^value=nan is not valid\."):
        centred_values([1, float("nan")], scale=1)


def test_broken_bits_end_in_an_error_not_in_a_loop() -> None:
    with pytest.raises(EntropyFailure):
        centred_values([1, 2], scale=1, bits=ConstantBits(0))
