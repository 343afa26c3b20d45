"""Draws against closed forms: grouped and one by one, ordered top-k, permute-and-flip, integer noise, members."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.survival import SURVIVAL

from podium.randomness import (
    bernoulli_exp,
    choose,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    noisy_values,
    race,
    uniform_below,
)
from podium.randomness.grouping import Grouping
from podium.randomness.noise import NOISES, NoiseName
from podium.randomness.replay import ReplayableBits

DRAWS = 12_000


def peeling_distribution(scores: Sequence[int], k: int, scale: Fraction) -> dict[Hashable, float]:
    """FORMULAS 2: k exponential mechanisms without replacement."""
    distribution: dict[Hashable, float] = {}
    for outcome in itertools.permutations(range(len(scores)), k):
        left, probability = set(range(len(scores))), 1.0
        for chosen in outcome:
            weights = {i: math.exp(float((scores[i] - scores[chosen]) / scale)) for i in left}
            probability /= sum(weights.values())
            left.remove(chosen)
        distribution[outcome] = probability
    return distribution


def argmax_distribution(scores: Sequence[int], name: NoiseName, scale: Fraction) -> dict[Hashable, float]:
    """P(i has the largest noisy score), by quadrature over the noise of i."""
    noise = NOISES[name]
    relative = [float(score / scale) for score in map(Fraction, scores)]

    def win(i: int, p: float) -> float:
        mine = relative[i] + noise.quantile(p)
        others = np.array([mine - relative[j] for j in range(len(scores)) if j != i])
        return float(np.prod(1.0 - SURVIVAL[name](others)))

    return {(i,): integrate.quad(lambda p, i=i: win(i, p), 0, 1, limit=400)[0] for i in range(len(scores))}


def permute_and_flip_distribution(scores: Sequence[int], scale: Fraction) -> dict[Hashable, float]:
    """FORMULAS 3: P(i) = p_i * integral of the product over the others of 1 - p_j t."""
    p = [math.exp(float((score - max(scores)) / scale)) for score in scores]
    distribution: dict[Hashable, float] = {}
    for i in range(len(p)):
        polynomial = np.polynomial.Polynomial([1.0])
        for j in range(len(p)):
            if j != i:
                polynomial *= np.polynomial.Polynomial([1.0, -p[j]])
        distribution[(i,)] = p[i] * float(polynomial.integ()(1.0))
    return distribution


def test_the_closed_forms_have_the_values_of_the_formulas() -> None:
    assert peeling_distribution((3, 1, 0), 2, Fraction(2))[0, 1] == pytest.approx(0.391235433579705, abs=1e-14)
    assert permute_and_flip_distribution((3, 2, 2, 0), Fraction(2))[(0,)] == pytest.approx(0.474233013105400, abs=1e-14)
    assert argmax_distribution((3, 1, 0), "laplace", Fraction(2))[(0,)] == pytest.approx(0.639215162648624, abs=2e-8)


def draws(sample: Callable[[ReplayableBits], Hashable], seed: int, count: int = DRAWS) -> Iterator[Hashable]:
    bits = ReplayableBits(seed)
    return (sample(bits) for _ in range(count))


SCORES = (6, 3, 3, 0)


@pytest.mark.parametrize("sampler", ["one by one", "grouped", "inverse CDF", "inverse CDF, grouped"])
def test_ordered_top_k_is_peeling(sampler: str) -> None:
    scale = Fraction(3, 2)
    rate = 1 / scale
    grouped_items = {(0, 0): 0, (1, 0): 1, (1, 1): 2, (2, 0): 3}

    def sample(bits: ReplayableBits) -> Hashable:
        if sampler == "one by one":
            return race(SCORES, k=2, scale=scale, bits=bits).groups
        if sampler == "inverse CDF":
            return choose(SCORES, k=2, rate=rate, bits=bits).groups
        if sampler == "grouped":
            finish = race((6, 3, 0), multiplicities=(1, 2, 1), k=2, scale=scale, bits=bits)
        else:
            finish = choose((6, 3, 0), multiplicities=(1, 2, 1), k=2, rate=rate, bits=bits)
        return tuple(grouped_items[pair] for pair in zip(finish.groups, finish.members, strict=True))

    assert_three_way(draws(sample, 11), lambda s: peeling_distribution(SCORES, 2, s), scale=scale)


def test_raw_scores_are_grouped_without_changing_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.randomness.grouping._WORTH_IT", 1)
    scale = Fraction(3, 2)
    array = np.array(SCORES)

    def sample(bits: ReplayableBits) -> Hashable:
        return race(array, k=2, scale=scale, bits=bits).groups

    assert isinstance(Grouping(array, 0, 8), Grouping)
    assert_three_way(draws(sample, 12), lambda s: peeling_distribution(SCORES, 2, s), scale=scale)


def test_exponential_noise_is_permute_and_flip() -> None:
    scale = Fraction(2)

    def sample(bits: ReplayableBits) -> Hashable:
        return race((8, 5, 5, 1), k=1, scale=scale, noise="exponential", bits=bits).groups

    assert_three_way(draws(sample, 13), lambda s: permute_and_flip_distribution((8, 5, 5, 1), s), scale=scale)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("grouped", [False, True])
def test_argmax_of_every_family(name: NoiseName, grouped: bool) -> None:
    scale = Fraction(2)
    scores = (5, 2, 2, 2, 0)

    def sample(bits: ReplayableBits) -> Hashable:
        if not grouped:
            return race(scores, k=1, scale=scale, noise=name, bits=bits).groups
        finish = race((5, 2, 0), multiplicities=(1, 3, 1), k=1, scale=scale, noise=name, bits=bits)
        return ((0,), (1 + finish.members[0],), (4,))[finish.groups[0]]

    assert_three_way(draws(sample, 14), lambda s: argmax_distribution(scores, name, s), scale=scale)


def test_gap_of_exponential_noise() -> None:
    """Two equal scores: the gap is exponential with the noise's own scale, on its grid geometric."""
    scale = Fraction(5)

    def sample(bits: ReplayableBits) -> Hashable:
        return min(race((4, 4), k=1, scale=scale, noise="exponential", gap_bits=0, bits=bits).gaps[0], Fraction(40))

    def distribution(s: Fraction) -> dict[Hashable, float]:
        cells: dict[Hashable, float] = {Fraction(i): math.exp(-i / s) - math.exp(-(i + 1) / s) for i in range(40)}
        return cells | {Fraction(40): math.exp(-40 / s)}

    assert_three_way(draws(sample, 15), distribution, scale=scale)


@pytest.mark.parametrize("name", NOISES)
def test_noisy_values_follow_their_family(name: NoiseName) -> None:
    scale = Fraction(3)
    drawn = noisy_values([10] * DRAWS, scale=scale, noise=name, grid_bits=1, bits=ReplayableBits(16))

    def distribution(s: Fraction) -> dict[Hashable, float]:
        edges = np.arange(-20.0, 45.0, 0.5)
        survival = SURVIVAL[name]((edges - 10.0) / float(s))
        cells: dict[Hashable, float] = {
            Fraction(edge): float(p) for edge, p in zip(edges, survival - np.append(survival[1:], 0.0), strict=True)
        }
        return {Fraction(-30): 1.0 - float(survival[0])} | cells

    clipped: list[Any] = [min(max(x, Fraction(-30)), Fraction("44.5")) if x >= -20 else Fraction(-30) for x in drawn]
    assert_three_way(clipped, distribution, scale=scale)


def test_integer_noises() -> None:
    def laplace(s: Fraction) -> dict[Hashable, float]:
        q = math.exp(-1 / s)
        return {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-200, 201)}

    def gaussian(s: Fraction) -> dict[Hashable, float]:
        weights = {x: math.exp(-(x * x) / (2 * s)) for x in range(-80, 81)}
        total = sum(weights.values())
        return {x: weight / total for x, weight in weights.items()}

    def geometric_distribution(s: Fraction) -> dict[Hashable, float]:
        return {x: (1 - math.exp(-1 / s)) * math.exp(-x / s) for x in range(400)}

    bits = ReplayableBits(17)
    assert_three_way(
        geometric(epsilon="0.25", size=DRAWS, bits=bits).tolist(), geometric_distribution, scale=Fraction(4)
    )
    assert_three_way(discrete_laplace(scale=4, size=DRAWS, bits=bits).tolist(), laplace, scale=Fraction(4))
    for variance in (Fraction("10.5"), Fraction(1, 3), Fraction(25)):
        drawn = discrete_gaussian(variance=variance, size=DRAWS, bits=bits).tolist()
        assert_three_way(drawn, gaussian, scale=variance)


@pytest.mark.parametrize("x", ["0", "0.01", "0.7", "3", "40"])
def test_bernoulli_of_an_exponential(x: str) -> None:
    hits = int(bernoulli_exp([x] * DRAWS, bits=ReplayableBits(18)).sum())
    test = stats.binomtest(hits, DRAWS, math.exp(-float(x)))
    assert test.pvalue > FALSE_ALARM
    if x in {"0.7", "3"}:
        assert stats.binomtest(hits, DRAWS, math.exp(-0.7 * float(x))).pvalue < FALSE_ALARM
        assert stats.binomtest(hits, DRAWS, math.exp(-1.3 * float(x))).pvalue < FALSE_ALARM


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 100])
def test_uniform_integers(limit: int) -> None:
    bits = ReplayableBits(19)
    drawn = [uniform_below(limit, bits) for _ in range(DRAWS)]
    assert p_value(drawn, dict.fromkeys(range(limit), 1 / limit)) > FALSE_ALARM
    if limit > 1:
        assert p_value(drawn, dict.fromkeys(range(limit + 1), 1 / (limit + 1))) < FALSE_ALARM


def test_members_are_drawn_without_replacement_and_uniformly() -> None:
    """All orders of three equal candidates are equally likely, however they are represented."""
    distribution: dict[Hashable, float] = dict.fromkeys(itertools.permutations(range(3)), 1 / 6)
    for sample in (
        lambda bits: race([1], multiplicities=[3], k=3, bits=bits).members,
        lambda bits: choose([1], multiplicities=[3], k=3, rate=1, bits=bits).members,
    ):
        assert p_value(draws(sample, 20, 3_000), distribution) > FALSE_ALARM


def test_the_chi_square_helper_rejects_what_it_should() -> None:
    assert p_value(["a"] * 60 + ["b"] * 40, {"a": 0.6, "b": 0.4}) > 0.9
    assert p_value(["a"] * 600 + ["b"] * 400, {"a": 0.4, "b": 0.6}) < FALSE_ALARM
    assert p_value(["c"], {"a": 1.0}) == 0.0
    assert p_value(["a"] * 900 + ["b"] * 100, {"a": 1.0 - 1e-6, "b": 1e-6}) == 0.0
