"""NoisyTopK and PermuteAndFlip: draws of all five noises against their distributions, orders and gaps jointly."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Hashable, Iterator
from fractions import Fraction

import pytest
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.draws import DATA, check_three_ways, distribution, outcomes, releases

from podium.histogram import Histogram, Scores
from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
from podium.randomness import NOISES, NoiseName
from podium.release import Release

DRAWS = 700
MANY_DRAWS = 5_000
ALL: tuple[NoiseName, ...] = tuple(NOISES)


@pytest.mark.parametrize("noise", ALL)
@pytest.mark.parametrize("name", DATA)
def test_releases_follow_their_distribution(noise: NoiseName, name: str) -> None:
    data = DATA[name]
    mechanism = NoisyTopK(2, "1.5", noise=noise)
    assert p_value(outcomes(mechanism, data, 1), distribution(mechanism, data)) > FALSE_ALARM


@pytest.mark.parametrize("noise", ALL)
def test_three_ways(noise: NoiseName) -> None:
    check_three_ways(lambda scale: NoisyTopK(2, 4 / scale, noise=noise), DATA["distinct"], 2)


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
def test_ranking_the_whole_domain(noise: NoiseName) -> None:
    data = DATA["distinct"]
    mechanism = NoisyTopK(3, 3, noise=noise)
    assert p_value(outcomes(mechanism, data, 3), distribution(mechanism, data)) > FALSE_ALARM


def test_permute_and_flip_three_ways() -> None:
    check_three_ways(lambda scale: PermuteAndFlip(1 / scale), DATA["distinct"], 4)


@pytest.mark.parametrize("name", DATA)
def test_permute_and_flip_follows_its_distribution(name: str) -> None:
    data, mechanism = DATA[name], PermuteAndFlip("0.7")
    assert p_value(outcomes(mechanism, data, 5), distribution(mechanism, data)) > FALSE_ALARM


EDGES = (Fraction(1), Fraction(3))
COUNTS: dict[Hashable, int] = {"a": 3, "b": 1, "c": 0}


def joint_distribution(
    k: int, epsilon: Fraction, noise: NoiseName, counts: dict[Hashable, int]
) -> dict[Hashable, float]:
    """(order, bins of the gaps), from the distribution of orders alone.

    "This order, and every gap above its bound" is the same order in a race where the bounds are taken
    off the scores of those ahead; the probabilities of bins are differences of these.
    """
    mechanism = NoisyTopK(k, epsilon, noise=noise)
    bounds, count = [Fraction(0), *EDGES], min(k, len(counts) - 1)
    joint: dict[Hashable, float] = {}
    for order in itertools.permutations(counts, k):
        survival: dict[tuple[int, ...], float] = {}
        for corner in itertools.product(range(len(bounds)), repeat=count):
            shifted = {item: Fraction(score) for item, score in counts.items()}
            for place, item in enumerate(order):
                shifted[item] -= sum((bounds[i] for i in corner[place:]), Fraction(0))
            survival[corner] = mechanism.distribution(Scores(shifted, rises_by=1, falls_by=0))[order]
        for cell in survival:
            steps = itertools.product((0, 1), repeat=count)
            corners = [(sum(step), tuple(i + s for i, s in zip(cell, step, strict=True))) for step in steps]
            joint[order, cell] = sum((-1) ** sign * survival.get(corner, 0.0) for sign, corner in corners)
    return joint


def binned(draws: Iterator[Release]) -> Iterator[Hashable]:
    return ((r.outcome, tuple(bisect.bisect_right(EDGES, gap) for gap in r.values or ())) for r in draws)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_order_and_gaps_three_ways(noise: NoiseName) -> None:
    data = Histogram(COUNTS)
    draws = binned(releases(lambda bits: NoisyTopK(2, 2, noise=noise).release(data, bits=bits), 6, count=MANY_DRAWS))
    assert_three_way(draws, lambda scale: joint_distribution(2, 2 / scale, noise, COUNTS), scale=Fraction(1))


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize(
    ("k", "counts"), [(1, {"a": 2, "b": 2, "c": 0}), (2, {"a": 2, "b": 1}), (2, {0: 1, 1: 1, 2: 1})]
)
def test_order_and_gaps_follow_their_distribution(noise: NoiseName, k: int, counts: dict[Hashable, int]) -> None:
    data = Histogram(counts)
    draws = binned(releases(lambda bits: NoisyTopK(k, 1, noise=noise).release(data, bits=bits), 7))
    assert p_value(draws, joint_distribution(k, Fraction(1), noise, counts)) > FALSE_ALARM
