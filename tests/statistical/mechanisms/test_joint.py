"""JointTopK samples its distribution: chi-square on small inputs, on losses where sequences are too many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value

from podium.histogram import Histogram, KnownDomain, Scores
from podium.mechanisms import JointTopK
from podium.mechanisms.joint.sampler import Ladder, SequenceSampler, _falls_short, _sequence
from podium.randomness.replay import ReplayableBits

_DISTINCT = Histogram({"a": 9, "b": 7, "c": 6, "d": 3})


def _drawn(mechanism: JointTopK, data: KnownDomain, count: int, seed: int) -> Iterator[Any]:
    """Outcomes of one prepared sampler: what ``release`` does, without preparing it every time."""
    bits = ReplayableBits(seed)
    ladder = Ladder(data.groups(), mechanism.k)
    sampler = SequenceSampler(ladder, mechanism._rate(data, ladder))
    return (ladder.items(sampler.draw(bits)) for _ in range(count))


def _distribution(mechanism: JointTopK, data: KnownDomain) -> Any:
    return mechanism.distribution(data)


@pytest.mark.parametrize(("k", "epsilon", "monotone"), [(2, 2, True), (3, 2, True), (2, 4, False)])
def test_draws_follow_the_distribution_and_no_other_scale(k: int, epsilon: int, *, monotone: bool) -> None:
    draws = _drawn(JointTopK(k, epsilon, monotone=monotone), _DISTINCT, 4000, seed=11)
    assert_three_way(
        draws,
        lambda scale: _distribution(JointTopK(k, epsilon / scale, monotone=monotone), _DISTINCT),
        scale=Fraction(1),
    )


def test_releases_follow_the_distribution() -> None:
    bits = ReplayableBits(12)
    mechanism = JointTopK(2, 1)
    draws = [mechanism.release(_DISTINCT, bits=bits).outcome for _ in range(600)]
    assert p_value(draws, _distribution(mechanism, _DISTINCT)) > FALSE_ALARM


_INPUTS: dict[str, tuple[int, KnownDomain]] = {
    "a tie across the cut": (3, Histogram({"a": 5, "b": 3, "c": 3, "d": 3, "e": 0})),
    "all equal": (2, Histogram({"a": 4, "b": 4, "c": 4, "d": 4, "e": 4})),
    "all zero, by size": (2, Histogram({}, domain_size=5)),
    "seen and unseen": (2, Histogram({0: 3, 2: 1, 4: 1}, domain_size=7)),
    "one of two": (1, Histogram({"a": 2, "b": 1})),
    "all of them": (4, Histogram({"a": 5, "b": 4, "c": 4, "d": 1})),
    "counts of counts": (2, Histogram.from_counts_of_counts({4: 1, 2: 3, 0: 2}, lambda count, rank: (count, rank))),
    "scores": (2, Scores({"a": "1/3", "b": "1/4", "c": "-2", "d": "0.1"}, rises_by="1/3", falls_by="1/6")),
    "a rate above one": (2, Scores({"a": 3, "b": 2, "c": 1, "d": 0}, sensitivity="1/8")),
}


@pytest.mark.parametrize("name", _INPUTS)
def test_other_inputs_follow_the_distribution(name: str) -> None:
    k, data = _INPUTS[name]
    mechanism = JointTopK(k, "0.8")
    assert p_value(_drawn(mechanism, data, 700, seed=21), _distribution(mechanism, data)) > FALSE_ALARM


def _losses(outcomes: Sequence[Sequence[int]], counts: Sequence[int], k: int) -> list[int]:
    best = sorted(counts, reverse=True)[:k]
    return [max(top - counts[item] for top, item in zip(best, outcome, strict=True)) for outcome in outcomes]


@pytest.mark.parametrize(
    ("d", "k", "largest", "epsilon"),
    [(40, 6, 60, "0.5"), (40, 40, 30, "3"), (300, 20, 400, "0.4"), (300, 20, 40_000, "0.01"), (300, 9, 20, 4)],
)
def test_losses_at_medium_size(d: int, k: int, largest: int, epsilon: str | int) -> None:
    rng = np.random.default_rng(d + k)
    counts = (rng.random(d) ** 3 * largest).astype(int).tolist()
    mechanism = JointTopK(k, epsilon)
    draws = list(_drawn(mechanism, Histogram(dict(enumerate(counts))), 1000, seed=31))
    assert all(len(set(outcome)) == k for outcome in draws)
    # The distribution from scratch: how many sequences stay within every loss that occurs, as exact products.
    best = sorted(counts, reverse=True)[:k]
    levels = sorted({top - count for top in best for count in counts if top >= count})
    within = [math.prod(sum(c >= top - v for c in counts) - j for j, top in enumerate(best)) for v in levels]
    sizes = [after - before for before, after in itertools.pairwise([0, *within])]
    rate = float(mechanism.epsilon) / 2
    weights = [
        math.exp(math.log(size) - rate * level) if size else 0.0 for size, level in zip(sizes, levels, strict=True)
    ]
    total = math.fsum(weights)
    distribution: dict[Any, float] = {level: weight / total for level, weight in zip(levels, weights, strict=True)}
    assert sum(chance > 0.005 for chance in distribution.values()) >= 4
    assert p_value(_losses(draws, counts, k), distribution) > FALSE_ALARM


def test_a_domain_of_a_million_million_items() -> None:
    seen, size = {5: 150, 17: 98, 10**9: 54}, 10**12
    mechanism = JointTopK(3, "2/3")
    draws = _drawn(mechanism, Histogram(seen, domain_size=size), 2500, seed=8)
    levels, counts = [0, 44, 52, 54, 96, 98, 150], [150, 98, 54]
    # A place may take any item once the allowance reaches its true count.
    exact = {
        level: math.prod(
            (size if top <= level else sum(c >= top - level for c in counts)) - j for j, top in enumerate(counts)
        )
        for level in levels
    }
    sizes = [after - before for before, after in itertools.pairwise([0, *exact.values()])]
    weights = [count * math.exp(-level / 3) for count, level in zip(sizes, levels, strict=True)]
    distribution: dict[Any, float] = {
        level: weight / sum(weights) for level, weight in zip(levels, weights, strict=True)
    }
    found = [max(top - seen.get(item, 0) for top, item in zip(counts, outcome, strict=True)) for outcome in draws]
    assert p_value(found, distribution) > FALSE_ALARM


@pytest.mark.parametrize("rate", ["1/50", "2/3", "99/100", "1", "7/3"])
def test_the_coin_for_the_rest_of_an_exponential(rate: str) -> None:
    bits = ReplayableBits(4)
    exact = Fraction(rate)
    falls = -math.expm1(-float(exact)) / min(float(exact), 1.0)
    draws = [_falls_short(exact, bits) for _ in range(4000)]
    assert p_value(draws, {True: falls, False: 1.0 - falls}) > FALSE_ALARM


def test_numbers_and_sequences_are_the_same_thing() -> None:
    choices = [2, 3, 3, 1]
    sequences = [tuple(_sequence(number, choices)) for number in range(math.prod(choices))]
    assert len(set(sequences)) == 18
    for sequence in sequences:
        assert len(set(sequence)) == 4
        # Place j takes one of the first j + choices[j] ranks.
        assert all(rank < place + count for place, (rank, count) in enumerate(zip(sequence, choices, strict=True)))
