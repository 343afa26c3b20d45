"""Vectors that are scaled to one length, in small worlds: no user is longer, and discoveries keep their promise."""

from __future__ import annotations

import functools
import itertools
import math
import random
from fractions import Fraction

import pytest
from tests.support.measures import normed
from tests.support.worlds import SmallDistribution, check_pair

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms.gaussian.border import energy
from podium.mechanisms.measures.norm_weights import MAX_NORMED_ITEMS, NormWeights
from podium.mechanisms.measures.normed_histogram import NormedHistogram

ITEMS = ("a", "b")
CLIP = 2
CROWDS = ((0, 0), (5, 0), (9, 8))
DELTA = Fraction(1, 50)

Sums = tuple[int, ...]


def length_squared(user: dict[int, int], weights: NormWeights) -> Fraction:
    added = normed(user, weights)
    squares, total = sum(part**2 for part in added.values()), sum(added.values())
    whole = Fraction(squares) - (Fraction(total**2, weights.items) if weights.named else 0)
    return whole / weights.one**2


def users(items: int, most: int = 3) -> list[dict[int, int]]:
    every = itertools.product(range(most + 1), repeat=items)
    return [{item: amount for item, amount in enumerate(user) if amount} for user in every if any(user)]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("items", [1, 2, 3, 5])
@pytest.mark.parametrize("clip", [1, 2, 3, 7])
def test_no_vector_is_longer_than_one(clip: int, items: int, named: bool) -> None:
    weights = NormWeights(clip, items, named=named)
    lengths = [length_squared(user, weights) for user in users(items)]
    assert max(lengths) <= 1
    if clip < 3 and items > 1:
        assert max(lengths) > Fraction(9, 10)


@pytest.mark.parametrize("named", [False, True])
def test_no_long_vector_is_longer_either(named: bool) -> None:
    dice = random.Random(7)  # noqa: S311 - which users are looked at
    for items in (2, 50, 1000, 3000):
        weights = NormWeights(1000, items, named=named)
        for _ in range(60):
            size = dice.randint(1, items)
            user = {item: int(dice.lognormvariate(6, 2.5)) + 1 for item in range(size)}
            assert length_squared(user, weights) <= 1
        # The largest there can be.
        assert length_squared(dict.fromkeys(range(items), 2**62), weights) <= 1
        half = dict.fromkeys(range(max(1, items // 2)), 2**62)
        assert Fraction(1, 2) < length_squared(half, weights) <= 1


@pytest.mark.parametrize("weights", [NormWeights(16, 1000), NormWeights(16, 2**20), NormWeights(9, 700, named=True)])
def test_the_last_step_is_the_largest_there_is(weights: NormWeights) -> None:
    size = weights.items // 2 if weights.named else weights.items
    assert weights.square([weights.most] * size) <= weights.steps[-1][0]
    assert weights.steps[-1][0] < 2**62
    assert len(weights.steps) <= 100
    assert weights.steps[-1][1] >= 1
    # No item ever gets more than one length, so that sums of 2^32 users fit.
    for end, weight in weights.steps:
        largest = math.isqrt(2 * end // weights.items + 1) if weights.named else math.isqrt(end)
        assert weight * min(weights.most, largest) < 1.5 * weights.one


def test_the_example_of_one_multiplier() -> None:
    """(4, 3, 1) at the length 4: the exact multiplier is 822570 / 2^20, and a step takes little from it."""
    weights = NormWeights(4, 1000)
    parts = [weights.parts(amount) for amount in (4, 3, 1)]
    assert parts == [1024, 768, 256]
    exact = math.isqrt((1 << 60) // weights.square(parts))
    assert exact == 822570
    # With weights at the exact multiplier the vector would have this length.
    shares = [Fraction(exact * part, 1 << 20) for part in (4, 3, 1)]
    assert [int(share * (1 << 20)) for share in shares] == [3290280, 2467710, 822570]
    assert float(sum(share**2 for share in shares) / 16) == pytest.approx(0.9999983221518960, rel=1e-15)
    assert 0.94 * exact < weights.weight(weights.square(parts)) <= exact
    assert weights.weight(weights.square([1024])) == 1 << 20
    assert weights.square(parts) == 26 * 2**16
    assert NormWeights(4, 5, named=True).square(parts) == 5 * 26 * 2**16 - 2**22
    assert NormWeights(4, 3, named=True).square([1024] * 3) == 3 * 2**19


def test_the_example_of_centred_amounts() -> None:
    """1, 1/2 and 1/4 of the length on three of five items: 7/10 about their mean, and at most 6/5 for any amounts."""
    weights = NormWeights(4, 5, named=True)
    square = weights.square([weights.parts(amount) for amount in (4, 2, 1)])
    assert Fraction(square, 5 * 1024**2) == Fraction(7, 10)
    assert energy(3, 5) == Fraction(6, 5)


def test_separate_floors_are_longer() -> None:
    """(5, 5 - sqrt 2) has the centred length 1; rounding each entry makes it sqrt 2."""

    def centred(first: float, second: float) -> float:
        return abs(first - second) / math.sqrt(2)

    vector = (5, 5 - math.sqrt(2))
    assert centred(*vector) == pytest.approx(1)
    assert centred(*map(math.floor, vector)) == pytest.approx(math.sqrt(2))


def law(mechanism: NormedHistogram, sums: Sums) -> SmallDistribution:
    found = {item: total for item, total in zip(ITEMS, sums, strict=True) if total}
    return mechanism.distribution(Histogram(found, known=False), exact=True)


def worlds(weights: NormWeights) -> list[tuple[Sums, Sums]]:
    found = []
    for crowd, user in itertools.product(CROWDS, users(len(ITEMS))):
        fewer = tuple(height * weights.one for height in crowd)
        added = normed(user, weights)
        found.append((fewer, tuple(total + added.get(place, 0) for place, total in enumerate(fewer))))
    return found


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("k", [1, 2])
def test_a_discovery_keeps_its_promise(sigma: Fraction, k: int) -> None:
    weights = NormWeights(CLIP, len(ITEMS))
    mechanism = NormedHistogram(sigma=sigma, delta=DELTA, weights=weights, k=k)
    distribution = functools.cache(functools.partial(law, mechanism))
    for fewer, more in worlds(weights):
        check_pair(distribution(fewer), distribution(more), mechanism.guarantee)


def test_vectors_that_are_not_scaled_are_rejected() -> None:
    weights = NormWeights(CLIP, len(ITEMS))
    mechanism = NormedHistogram(sigma=2, delta=DELTA, weights=weights, k=2)
    fewer, more = (0, 0), (weights.one, weights.one)
    with pytest.raises(AssertionError, match="above the claimed"):
        check_pair(law(mechanism, fewer), law(mechanism, more), mechanism.guarantee)


def test_what_does_not_fit_is_refused() -> None:
    for clip, items in ((0, 5), (5, 0), (5, MAX_NORMED_ITEMS + 1)):
        with pytest.raises(InvalidArgument):
            NormWeights(clip, items)
