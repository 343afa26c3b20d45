"""Integer noise wider than 64 bits, and numbers on a grid as coarse as their noise: the same distributions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.support.distributions import assert_three_way

from podium.randomness import discrete_gaussian, discrete_laplace, geometric, grid_bits_for, noisy_values, race
from podium.randomness.discrete import _Coins
from podium.randomness.replay import ReplayableBits

DRAWS = 6_000
WIDE = 10**30


def exponential_cells(scale: Fraction) -> dict[Hashable, float]:
    """The floor of an exponential of this scale: geometric."""
    return {n: math.exp(-n / float(scale)) * -math.expm1(-1 / float(scale)) for n in range(120)}


def two_sided(scale: Fraction) -> dict[Hashable, float]:
    """The floor of a Laplace variable of this scale."""
    distribution = stats.laplace(scale=float(scale))
    return {n: float(distribution.cdf(n + 1) - distribution.cdf(n)) for n in range(-120, 120)}


def normal_cells(scale: Fraction) -> dict[Hashable, float]:
    distribution = stats.norm(scale=float(scale))
    return {n: float(distribution.cdf(n + 1) - distribution.cdf(n)) for n in range(-60, 60)}


def test_uniform_and_coarse_part_together_are_geometric_at_any_scale() -> None:
    """The construction for wide noise works at small scales too, so its distribution can be seen digit by digit."""
    drawn = _Coins(ReplayableBits(31))._wide_geometric(Fraction(7, 2), 2 * DRAWS)
    assert_three_way(drawn.tolist(), exponential_cells, scale=Fraction(7, 2))


def test_wide_integers_have_the_shape_of_their_noise() -> None:
    """In units of a quarter of the scale the step of 1 between integers does not show."""
    bits, unit = ReplayableBits(32), WIDE // 4
    drawn = geometric(epsilon=Fraction(1, WIDE), size=DRAWS, bits=bits)
    assert_three_way([draw // unit for draw in drawn.tolist()], exponential_cells, scale=Fraction(4))
    drawn = discrete_laplace(scale=WIDE, size=DRAWS, bits=bits)
    assert_three_way([draw // unit for draw in drawn.tolist()], two_sided, scale=Fraction(4))
    drawn = discrete_gaussian(variance=WIDE**2, size=DRAWS, bits=bits)
    assert_three_way([draw // unit for draw in drawn.tolist()], normal_cells, scale=Fraction(4))


def test_the_last_digits_of_wide_integers_are_random() -> None:
    drawn = discrete_gaussian(variance=WIDE**2, size=DRAWS, bits=ReplayableBits(33)).tolist()
    counts = np.bincount([draw % 16 for draw in drawn], minlength=16)
    assert stats.chisquare(counts).pvalue > 1e-9


@pytest.mark.parametrize("scale", [Fraction(10**300), Fraction(10) ** -300, Fraction(2**50), Fraction(2**50 + 1, 3)])
def test_every_scale_can_be_drawn(scale: Fraction) -> None:
    drawn = [
        *geometric(epsilon=1 / scale, size=5).tolist(),
        *discrete_laplace(scale=scale, size=5).tolist(),
        *discrete_gaussian(variance=scale**2, size=5).tolist(),
    ]
    assert len(drawn) == 15
    assert all(type(draw) is int and abs(draw) < 10**4 * (scale + 1) for draw in drawn)


def test_values_and_gaps_on_a_coarse_grid_keep_their_distribution() -> None:
    grid = grid_bits_for(Fraction(WIDE))
    assert grid == 32 - WIDE.bit_length() < 0
    step = Fraction(2) ** -grid
    values = noisy_values([0] * DRAWS, scale=WIDE, noise="laplace", grid_bits=grid, bits=ReplayableBits(34))
    assert all((value / step).denominator == 1 for value in values)
    assert_three_way([value // (WIDE // 4) for value in values], two_sided, scale=Fraction(4))
    bits = ReplayableBits(35)
    leads = (
        race([5, 5], k=1, scale=WIDE, noise="exponential", gap_bits=grid, bits=bits).gaps[0] for _ in itertools.count()
    )
    assert (next(leads) / step).denominator == 1
    assert_three_way((lead // (WIDE // 4) for lead in leads), exponential_cells, scale=Fraction(4))


@pytest.mark.parametrize(
    ("scale", "bits"), [(Fraction(1, 10), 20), (Fraction(4095), 20), (Fraction(4096), 19), (Fraction(2**40), -9)]
)
def test_the_grid_follows_the_noise_beyond_4096(scale: Fraction, bits: int) -> None:
    assert grid_bits_for(scale) == bits
    assert grid_bits_for(scale, 0) == min(0, bits)
