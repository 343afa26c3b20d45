"""The distribution of centred noisy values: jointly normal in all directions that the mean leaves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction

from scipy import stats
from tests.support.distributions import assert_three_way

from podium.randomness import centred_values
from podium.randomness.replay import ReplayableBits

DRAWS = 2000
SCALE = Fraction(3)
VALUES = (0, 2, 7)
CUTS = (-math.inf, -3.0, -1.0, 0.5, 2.5, math.inf)
DIRECTIONS = (
    (1 / math.sqrt(2), -1 / math.sqrt(2), 0.0),
    (1 / math.sqrt(6), 1 / math.sqrt(6), -2 / math.sqrt(6)),
)
"""An orthonormal basis of what is orthogonal to (1, 1, 1)."""
CENTRES = tuple(sum(a * b for a, b in zip(direction, VALUES, strict=True)) for direction in DIRECTIONS)


def cells(drawn: list[Fraction]) -> tuple[int, ...]:
    """In which interval the draw lies in each direction, seen from the true centre."""
    along = (sum(a * float(b) for a, b in zip(direction, drawn, strict=True)) for direction in DIRECTIONS)
    return tuple(sum(x - c > cut for cut in CUTS[1:-1]) for x, c in zip(along, CENTRES, strict=True))


def distribution_at(scale: Fraction) -> dict[Hashable, float]:
    masses = [float(stats.norm.cdf(cut / float(scale))) for cut in CUTS]
    single = [high - low for low, high in itertools.pairwise(masses)]
    return {(i, j): single[i] * single[j] for i in range(5) for j in range(5)}


def test_the_two_directions_are_independent_normals_of_the_stated_scale() -> None:
    bits = ReplayableBits(61)
    drawn = [cells(centred_values(VALUES, scale=SCALE, bits=bits)) for _ in range(DRAWS)]
    assert_three_way(drawn, distribution_at, scale=SCALE)
