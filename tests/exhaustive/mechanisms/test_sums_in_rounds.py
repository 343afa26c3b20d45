"""Weighted sums of contributions in small worlds: discoveries and borders keep the guarantees of counts."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest
from tests.support.worlds import SmallDistribution, check_pair

from podium.histogram import Histogram
from podium.mechanisms import TruncatedGaussianHistogram, Weights
from podium.mechanisms.gaussian.border import BorderWeights

ITEMS = ("a", "b")
CLIP = 3
CROWDS = ((0, 0), (5, 0), (9, 8))
DELTA = Fraction(1, 50)

Sums = tuple[int, ...]


def pairs(weights: Weights) -> Iterator[tuple[Sums, Sums]]:
    """Crowds, and every user with contributions up to the clip; sums in units of weight and amount."""
    for crowd, user in itertools.product(CROWDS, itertools.product(range(CLIP + 1), repeat=len(ITEMS))):
        if not any(user):
            continue
        weight = weights.weight(sum(amount > 0 for amount in user))
        fewer = tuple(height * CLIP * weights.unit for height in crowd)
        yield fewer, tuple(total + weight * amount for total, amount in zip(fewer, user, strict=True))


def law(mechanism: TruncatedGaussianHistogram, sums: Sums) -> SmallDistribution:
    found = {item: total for item, total in zip(ITEMS, sums, strict=True) if total}
    return mechanism.distribution(Histogram(found, known=False), exact=True)


@pytest.mark.parametrize("weights", [Weights.bounded(2), Weights.spread(2)], ids=str)
@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("k", [1, 2])
def test_a_discovery_keeps_its_promise_on_sums(weights: Weights, sigma: Fraction, k: int) -> None:
    mechanism = TruncatedGaussianHistogram(sigma=sigma, delta=DELTA, weights=weights, k=k, clip=CLIP)
    distribution = functools.cache(functools.partial(law, mechanism))
    for fewer, more in pairs(weights):
        check_pair(distribution(fewer), distribution(more), mechanism.guarantee)


def test_a_forgotten_clip_is_rejected() -> None:
    weights = Weights.spread(2)
    mechanism = TruncatedGaussianHistogram(sigma=1, delta=DELTA, weights=weights, k=1)
    fewer, more = (0, 0), (CLIP * weights.weight(1), 0)
    assert (fewer, more) in set(pairs(weights))
    with pytest.raises(AssertionError, match="above the claimed"):
        check_pair(law(mechanism, fewer), law(mechanism, more), mechanism.guarantee)


def test_contributions_of_the_whole_clip_are_counts() -> None:
    weights, counts = Weights.spread(2), (7, 4)
    plain, wide = (
        TruncatedGaussianHistogram(sigma=1, delta=DELTA, weights=weights, k=2, clip=clip) for clip in (1, CLIP)
    )
    left = plain.distribution(Histogram({i: n * weights.unit for i, n in enumerate(counts)}, known=False))
    right = wide.distribution(Histogram({i: n * CLIP * weights.unit for i, n in enumerate(counts)}, known=False))
    assert left == pytest.approx(right, rel=1e-12)
    assert wide.count_threshold == CLIP * plain.count_threshold
    assert wide.count_sigma == CLIP * plain.count_sigma
    assert wide.worst_case == plain.worst_case
    assert wide.threshold == plain.threshold


@pytest.mark.parametrize("items", [2, 3, 5])
@pytest.mark.parametrize("floor", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_no_user_moves_the_differences_of_sums_farther_than_is_paid(items: int, floor: Fraction) -> None:
    border = BorderWeights(items, floor)
    weights = border.weights
    found = []
    for user in itertools.product(range(CLIP + 1), repeat=items):
        if any(user):
            weight = Fraction(weights.weight(sum(amount > 0 for amount in user)), weights.unit * CLIP)
            moves = [weight * amount for amount in user]
            mean = sum(moves, Fraction(0)) / items
            found.append(sum((move - mean) ** 2 for move in moves))
    assert max(found) <= border.sensitivity_squared
    # Not by much: a user with the whole clip on some of the items.
    assert max(found) > border.sensitivity_squared * Fraction(99, 100)


def test_the_noise_at_the_border_is_that_of_the_largest_contribution() -> None:
    border = BorderWeights(3, Fraction(1))
    sums = [n * border.weights.unit for n in (5, 6, 7)]
    _, plain, paid = border.measure(sums, Fraction(1))
    _, wide, event = border.measure(sums, Fraction(1), clip=CLIP)
    assert wide == CLIP * plain
    assert event == paid
