"""The distribution of noisy values that share a part of their noise: its covariance in every direction."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction

import pytest
from scipy import stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value

from podium.errors import InvalidArgument
from podium.randomness import correlated_values
from podium.randomness.replay import ReplayableBits

DRAWS = 3000
SCALE, SHARED = Fraction(3), Fraction(4)
VALUES = (0, 2, 7)
CUTS = (-math.inf, -1.0, -0.3, 0.3, 1.0, math.inf)
"""In standard deviations of each direction."""
ALL = (1 / math.sqrt(3),) * 3
BETWEEN = ((1 / math.sqrt(2), -1 / math.sqrt(2), 0.0), (1 / math.sqrt(6), 1 / math.sqrt(6), -2 / math.sqrt(6)))


def deviation(direction: tuple[float, ...], scale: float, shared: float) -> float:
    return math.sqrt(scale**2 + (shared * sum(direction)) ** 2)


def cells(drawn: list[Fraction]) -> tuple[int, ...]:
    """In which interval the draw lies in each direction, seen from the true centre."""
    places = []
    for direction in (ALL, *BETWEEN):
        along = sum(a * (float(b) - c) for a, b, c in zip(direction, drawn, VALUES, strict=True))
        at = along / deviation(direction, float(SCALE), float(SHARED))
        places.append(sum(at > cut for cut in CUTS[1:-1]))
    return tuple(places)


def distribution(scale: float, shared: float) -> dict[Hashable, float]:
    """Independent normals along the three directions, as they are for this covariance."""
    single = []
    for direction in (ALL, *BETWEEN):
        true = deviation(direction, scale, shared) / deviation(direction, float(SCALE), float(SHARED))
        masses = [float(stats.norm.cdf(cut / true)) for cut in CUTS]
        single.append([high - low for low, high in itertools.pairwise(masses)])
    return {cell: math.prod(single[d][i] for d, i in enumerate(cell)) for cell in itertools.product(range(5), repeat=3)}


def test_the_covariance_is_the_stated_one() -> None:
    bits = ReplayableBits(62)
    drawn = [cells(correlated_values(VALUES, scale=SCALE, shared_scale=SHARED, bits=bits)) for _ in range(DRAWS)]
    assert_three_way(drawn, lambda scale: distribution(float(scale), float(scale * SHARED / SCALE)), scale=SCALE)
    # Each part of the noise by itself: neither is missing, and neither is too small.
    for wrong in ((3.0, 0.0), (3.0, 4 * 0.7), (3 * 0.7, 4.0), (5.0, 0.0)):
        assert p_value(drawn, distribution(*wrong)) < FALSE_ALARM


def test_every_release_has_shared_noise_of_its_own() -> None:
    bits = ReplayableBits(63)
    shared = [correlated_values((0,) * 4, scale="1/100", shared_scale=100, bits=bits) for _ in range(200)]
    centres = [float(sum(drawn, start=Fraction(0))) / 4 for drawn in shared]
    assert all(max(drawn) - min(drawn) < 1 for drawn in shared)
    lag = sum(a * b for a, b in itertools.pairwise(centres)) / sum(a * a for a in centres)
    # The correlation of 200 independent numbers has a standard deviation of .07.
    assert abs(lag) < 6.2 * 0.071
    assert len({round(centre) for centre in centres}) > 100


@pytest.mark.parametrize("grid_bits", [-3, 0, 20])
def test_the_floor_is_taken_of_the_sum(grid_bits: int) -> None:
    """The same bits on a fine grid give the same numbers on a coarse one, rounded down once."""
    fine, coarse = (
        correlated_values(VALUES, scale=SCALE, shared_scale=SHARED, grid_bits=bits_of_grid, bits=ReplayableBits(64))
        for bits_of_grid in (200, grid_bits)
    )
    unit = Fraction(2) ** grid_bits
    assert coarse == [number * unit // 1 / unit for number in fine]


def test_without_a_shared_part_the_noise_is_independent() -> None:
    bits = ReplayableBits(65)
    drawn = [cells(correlated_values(VALUES, scale=SCALE, shared_scale=0, bits=bits)) for _ in range(DRAWS)]
    assert p_value(drawn, distribution(3.0, 0.0)) > FALSE_ALARM
    assert correlated_values((), scale=1, shared_scale=1) == []
    with pytest.raises(InvalidArgument):
        correlated_values((1,), scale=0, shared_scale=1)
    with pytest.raises(InvalidArgument):
        correlated_values((1,), scale=1, shared_scale=-1)
