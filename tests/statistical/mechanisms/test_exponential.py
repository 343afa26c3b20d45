"""ExponentialTopK and ExponentialWithGap: draws against their distributions, gaps included, the black box included."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Hashable, Iterator
from fractions import Fraction

import pytest
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.draws import DATA, check_three_ways, distribution, outcomes, releases

from podium.histogram import KnownDomain
from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap
from podium.randomness.replay import ReplayableBits
from podium.release import Release

DRAWS = 700
MANY_DRAWS = 5_000


@pytest.mark.parametrize(("name", "k"), [(name, 2) for name in DATA] + [("distinct", 1), ("distinct", 3)])
def test_top_k_follows_its_distribution(name: str, k: int) -> None:
    data, mechanism = DATA[name], ExponentialTopK(k, "0.6")
    assert p_value(outcomes(mechanism, data, k), distribution(mechanism, data)) > FALSE_ALARM


def test_top_k_three_ways() -> None:
    check_three_ways(lambda scale: ExponentialTopK(2, 2 / scale), DATA["distinct"], 11)


@pytest.mark.parametrize("name", ["ties", "unseen", "scores"])
def test_top_k_with_a_minimum_three_ways(name: str) -> None:
    least = "1/10" if name == "scores" else "3/2"
    check_three_ways(lambda scale: ExponentialTopK(2, 2 / scale, at_least=least), DATA[name], 13, count=4 * MANY_DRAWS)


def test_counts_that_move_both_ways() -> None:
    data = DATA["distinct"]
    drawn = list(outcomes(ExponentialTopK(2, 2, monotone=False), data, 12, count=MANY_DRAWS))
    assert p_value(drawn, distribution(ExponentialTopK(2, 1), data)) > FALSE_ALARM
    assert p_value(drawn, distribution(ExponentialTopK(2, 2), data)) < FALSE_ALARM


EDGES = (0.5, 1.0, 2.0, 4.0, 7.0)


def gap_distribution(scores: dict[Hashable, float], rate: float) -> dict[Hashable, float]:
    """(item, bin of its gap): P(item, gap > g) = 1/(1 + e^(rate g - theta)), written down without podium."""
    distribution: dict[Hashable, float] = {}
    for item, score in scores.items():
        rest = math.log(sum(math.exp(rate * other) for name, other in scores.items() if name != item))
        above = [1 / (1 + math.exp(rate * (edge - score) + rest)) for edge in (0.0, *EDGES)]
        for place, (more, less) in enumerate(itertools.pairwise([*above, 0.0])):
            distribution[item, place] = more - less
    return distribution


def binned(draws: Iterator[Release]) -> Iterator[Hashable]:
    return ((r.items[0], bisect.bisect_right(EDGES, (r.values or (Fraction(0),))[0])) for r in draws)


def test_item_and_gap_three_ways() -> None:
    draws = binned(
        releases(lambda bits: ExponentialWithGap(1).release(DATA["distinct"], bits=bits), 21, count=MANY_DRAWS)
    )
    scores: dict[Hashable, float] = {"a": 3, "b": 1, "c": 0}
    assert_three_way(draws, lambda scale: gap_distribution(scores, 1 / float(scale)), scale=Fraction(1))


def test_item_and_gap_around_a_black_box_three_ways() -> None:
    def draw(bits: ReplayableBits) -> Release:
        def black_box(domain: KnownDomain) -> Hashable:
            return ExponentialTopK(1, 1).release(domain, bits=bits).items[0]

        return ExponentialWithGap(1).release_around(black_box, DATA["distinct"], bits=bits)

    scores: dict[Hashable, float] = {"a": 3, "b": 1, "c": 0}
    draws = binned(releases(draw, 22, count=MANY_DRAWS))
    assert_three_way(draws, lambda scale: gap_distribution(scores, 1 / float(scale)), scale=Fraction(1))


@pytest.mark.parametrize("around", [False, True])
def test_item_and_gap_with_ties_and_items_that_nobody_has(around: bool) -> None:
    mechanism = ExponentialWithGap("0.5")
    cases: list[tuple[KnownDomain, dict[Hashable, float]]] = [
        (DATA["ties"], {"a": 2, "b": 2, "c": 2, "d": 0}),
        (DATA["unseen"], {0: 0, 1: 4, 2: 0, 3: 2, 4: 0}),
    ]
    for seed, (data, scores) in enumerate(cases):

        def draw(bits: ReplayableBits, data: KnownDomain = data) -> Release:
            if not around:
                return mechanism.release(data, bits=bits)
            winner = ExponentialTopK(1, "0.5").release(data, bits=bits).items[0]
            return mechanism.release_around(lambda _: winner, data, bits=bits)

        assert p_value(binned(releases(draw, 30 + seed)), gap_distribution(scores, 0.5)) > FALSE_ALARM
