"""Cut-offs and thresholds for vectors of one length: the published table, the worst vectors, and what fails."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import flint
import pytest

from podium.exact import ball, ball_precision
from podium.mechanisms.gaussian.level_distribution import normal_below
from podium.mechanisms.measures.norm_cutoff import is_bounded, norm_cutoff
from podium.mechanisms.truncated.cutoffs import escape_chance, gaussian_cutoff
from podium.mechanisms.weights import Weights

DELTA = Fraction(1, 3_000_000)
TABLE = [
    # items, sigma, the threshold that equal parts need, and what all vectors need
    (10, Fraction(3, 2), 8.456245955074, 8.518766964468),
    (100, Fraction(1), 5.970830636716, 6.026723524974),
    (1000, Fraction(7, 10), 4.479581445701, 4.506667326829),
    (1000, Fraction(1), 6.205425593672, 6.223459867846),
    (1000, Fraction(5), 30.900636861956, 30.900636861956),
]


def exposure(threshold: float, sigma: Fraction) -> Callable[[Fraction], flint.arb]:
    """-ln of the probability that noise without bounds leaves an entry below the threshold."""
    return lambda part: -normal_below((ball(Fraction(threshold)) - ball(part)) / ball(sigma)).log()


def best_slope(threshold: float, items: int, sigma: float) -> float:
    """The slope with the lowest bound, from a grid of entries, in floats."""
    grid = [(n / 800) ** 2 for n in range(801)]
    values = [-math.log1p(-math.erfc((threshold - part) / sigma / math.sqrt(2)) / 2) for part in grid]

    def bound(power: float) -> float:
        slope = values[-1] * math.exp(power)
        return slope + items * max(value - slope * part**2 for value, part in zip(values, grid, strict=True))

    low, high = -5.0, 8.0
    while high - low > 1e-4:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if bound(left) <= bound(right) else (left, high)
    return values[-1] * math.exp(low)


def holds(threshold: float, items: int, sigma: Fraction, delta: Fraction) -> bool:
    """Whether there is a certificate."""
    slope = Fraction(best_slope(threshold, items, float(sigma)))
    with ball_precision(128):
        return is_bounded(exposure(threshold, sigma), items, Fraction(-math.log1p(-float(delta))), slope)


def failure(vector: Sequence[float], threshold: float, sigma: Fraction) -> float:
    """The probability that one of the entries passes."""
    with ball_precision(128):
        escaped = exposure(threshold, sigma)
        total = sum((escaped(Fraction(part)) for part in vector), flint.arb(0))
        return float((-(-total).expm1()).mid())


def lump_and_dust(items: int, square: float) -> list[float]:
    return [math.sqrt(square), *[math.sqrt((1 - square) / (items - 1))] * (items - 1)]


@pytest.mark.parametrize(("items", "sigma", "equal", "all_vectors"), TABLE)
def test_thresholds_of_the_table(items: int, sigma: Fraction, equal: float, all_vectors: float) -> None:
    parts = [failure([size**-0.5] * size, equal, sigma) for size in (1, 2, 3, 5, items)]
    assert max(parts) == pytest.approx(float(DELTA), rel=1e-9)
    assert holds(all_vectors * 1.001, items, sigma, DELTA)
    squares = [1 / items, *(1 - 10.0 ** (-place / 8) for place in range(1, 60))]
    worst = [failure(lump_and_dust(items, square), all_vectors, sigma) for square in squares]
    assert 0.98 < max(worst) / float(DELTA) < 1 + 1e-9


def test_a_peak_within_a_cell_is_found() -> None:
    """A chance that jumps at .3 and is flat: the bracket is largest there, and small at both ends."""
    with ball_precision(128):

        def jump(part: Fraction) -> flint.arb:
            return ball(Fraction(part >= Fraction(3, 10), 2))

        assert is_bounded(jump, 1, Fraction(142, 100), Fraction(1))
        assert not is_bounded(jump, 1, Fraction(140, 100), Fraction(1))
        assert is_bounded(jump, 2, Fraction(183, 100), Fraction(1))
        assert not is_bounded(jump, 2, Fraction(181, 100), Fraction(1))


def test_equal_parts_are_not_the_worst() -> None:
    equal, delta = TABLE[1][2], float(DELTA)
    assert failure(lump_and_dust(100, 0.998342), equal, Fraction(1)) / delta == pytest.approx(1.3552, abs=2e-4)
    assert not holds(equal, 100, Fraction(1), DELTA)


def test_equal_parts_are_not_the_worst_of_three() -> None:
    with ball_precision(128):
        # One of them needs more than two or three.
        equal = 1 + float((ball(2).sqrt() * ball(Fraction(1, 50)).erfcinv()).mid())
    assert max(failure([size**-0.5] * size, equal, Fraction(1)) for size in (1, 2, 3)) == pytest.approx(0.01)
    found = max(failure(lump_and_dust(3, step / 2000), equal, Fraction(1)) for step in range(667, 2000))
    assert found == pytest.approx(0.010988, abs=2e-6)


def test_one_lump_is_not_the_worst() -> None:
    with ball_precision(128):
        lump = 1 + 5 * float((ball(2).sqrt() * (2 * ball(DELTA)).erfcinv()).mid())
    found = failure([1000**-0.5] * 1000, lump, Fraction(5))
    assert found / float(DELTA) == pytest.approx(361.6, abs=0.2)


@pytest.mark.parametrize("delta", [DELTA, Fraction(1, 20)])
@pytest.mark.parametrize("sigma", [Fraction(1, 50), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(50)])
@pytest.mark.parametrize("items", [1, 2, 7, 1000])
def test_no_vector_escapes_the_cutoff(items: int, sigma: Fraction, delta: Fraction) -> None:
    cutoff = norm_cutoff(items, sigma, delta)
    dice = random.Random(f"{items} {sigma} {delta}")  # noqa: S311 - which vectors are looked at
    vectors = [[size**-0.5] * size for size in {1, 2, 3, items} if size <= items]
    if items > 1:
        vectors += [lump_and_dust(items, 1 - 10.0**-place) for place in range(1, 7)]
    for _ in range(20):
        parts = [dice.expovariate(1) ** 3 for _ in range(dice.randint(1, min(items, 40)))]
        length = math.hypot(*parts)
        vectors.append([part / length for part in parts])
    with ball_precision(128):
        worst = max(sum(float(escape_chance(cutoff, Fraction(r), sigma).mid()) for r in each) for each in vectors)
    # And not much is given away, but where noise is so small that all of it is in the margin.
    assert worst <= float(delta) * (1 + 1e-12)
    assert worst > float(delta) * 0.85 or sigma < Fraction(1, 10)
    assert cutoff >= gaussian_cutoff(Weights([(1, 1)], unit=1), sigma, delta)


@pytest.mark.parametrize("sigma", [Fraction(1, 2**60), Fraction(2**60), Fraction(10**30)])
def test_where_floats_end_every_entry_is_taken_for_one(sigma: Fraction) -> None:
    assert norm_cutoff(5, sigma, DELTA) == gaussian_cutoff(Weights([(5, 1)], unit=1), sigma, DELTA)
