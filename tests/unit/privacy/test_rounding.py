"""Rounding: always to the safe side, and independent of the precision it took."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.exact import ball
from podium.privacy.rounding import (
    above,
    below,
    certified_bound,
    display,
    first_number,
    significant_above,
    significant_below,
)


def test_certified_brackets_a_transcendental_number() -> None:
    low = certified_bound(lambda: ball(2).log(), below)
    high = certified_bound(lambda: ball(2).log(), above)
    assert high - low == Fraction(1, 2**64)
    assert low < Fraction(69314718055994530941723212145817656807, 10**38) < high


def test_certified_grows_its_precision_until_it_can_decide() -> None:
    """1 + e^-400 is above the grid point 1 by 2^-577: 128 and 256 bits cannot see it."""
    assert certified_bound(lambda: 1 + ball(-400).exp(), above) == 1 + Fraction(1, 2**64)
    assert certified_bound(lambda: 1 - ball(-400).exp(), below) == 1 - Fraction(1, 2**64)


def test_certified_on_a_grid_point_takes_the_safe_end() -> None:
    def two() -> object:
        return ball(2).sqrt() ** 2

    assert certified_bound(two, above) == 2 + Fraction(1, 2**64)  # type: ignore[arg-type]
    assert certified_bound(two, below) == 2 - Fraction(1, 2**64)  # type: ignore[arg-type]
    assert certified_bound(lambda: ball(2), above) == 2


def test_certified_refuses_what_has_no_value() -> None:
    with pytest.raises(ArithmeticError):
        certified_bound(lambda: ball(-1).log(), above)


def test_small_numbers_keep_their_significant_bits() -> None:
    tiny = Fraction(1, 3) * Fraction(1, 10**40)
    assert tiny < significant_above(tiny) < tiny * (1 + Fraction(1, 2**62))
    assert tiny * (1 - Fraction(1, 2**62)) < significant_below(tiny) < tiny


def test_unimaginably_small_numbers_do_not_fill_the_memory() -> None:
    assert certified_bound(lambda: ball(-(10**7)).exp(), significant_above) == Fraction(1, 2**4096)
    assert certified_bound(lambda: ball(-(10**7)).exp(), significant_below) == 0
    assert certified_bound(lambda: ball(-(10**7)).exp(), above) == Fraction(1, 2**64)
    assert certified_bound(lambda: -ball(-(10**7)).exp(), above) == 0
    assert certified_bound(lambda: -ball(-(10**7)).exp(), below) == -Fraction(1, 2**64)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(84, 100), "0.84"),
        (Fraction(1, 10**6), "1e-6"),
        (Fraction(1, 3), "0.3334"),
        (Fraction(2, 3), "0.6667"),
        (Fraction(0), "0"),
        (Fraction(100), "100"),
        (Fraction(123456789), "123456789"),
        (Fraction(10**20 + 1), "1.001e20"),
        (Fraction(99999, 10**10) + Fraction(1, 10**30), "1e-5"),
    ],
)
def test_display(value: Fraction, text: str) -> None:
    assert display(value) == text
    assert Fraction(text) >= value


@pytest.mark.parametrize("border", [1, 5, 2**40 - 3, 2**63, 2**64])
@pytest.mark.parametrize("far", [-(2**80), -(2**24), -1, 0, 1, 2**24 + 1, 2**80])
def test_a_guess_decides_nothing(border: int, far: int) -> None:
    asked: list[int] = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number >= border

    assert first_number(holds, 0, 2**64, border + far) == border
    # A good guess among 2^64 numbers leaves 2^25.
    assert len(asked) <= (30 if abs(far) <= 1 else 70)
