"""CanonicalTopK samples its distribution: chi-square on small inputs, on classes where subsets are too many."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value

from podium.histogram import Histogram, KnownDomain, Scores
from podium.mechanisms.canonical import envelope
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK
from podium.mechanisms.canonical.classes import Ranking, block_size
from podium.mechanisms.canonical.rejection import SubsetSampler, uniform_subset
from podium.randomness.replay import ReplayableBits

_DRAWS = 5000
_DISTINCT = Histogram({"a": 9, "b": 7, "c": 6, "d": 3, "e": 1})


def _drawn(mechanism: CanonicalTopK, data: KnownDomain, count: int, seed: int) -> Iterator[Any]:
    """Outcomes of one prepared sampler: what ``release`` does, without preparing it every time."""
    bits = ReplayableBits(seed)
    ranking = Ranking(data.groups(), mechanism.k)
    sampler = SubsetSampler(ranking, mechanism._loss(data, ranking), mechanism.noise)
    return (ranking.items(sampler.draw(bits)) for _ in range(count))


def _distribution(mechanism: CanonicalTopK, data: KnownDomain) -> Any:
    return mechanism.distribution(data)


_VARIANTS: list[dict[str, Any]] = [
    {"gamma": "1/2"},
    {"gamma": 1},
    {"gamma": "1/3"},
    {"gamma": "1/2", "noise": "exponential"},
    {"gamma": 1, "noise": "exponential"},
    {"gamma": "1/2", "monotone": False, "rounded_loss": True},
]


@pytest.mark.parametrize("variant", _VARIANTS, ids=str)
def test_draws_follow_the_distribution_and_no_other_scale(variant: dict[str, Any]) -> None:
    draws = _drawn(CanonicalTopK(2, 1, **variant), _DISTINCT, _DRAWS, seed=11)
    assert_three_way(
        draws, lambda scale: _distribution(CanonicalTopK(2, 1 / scale, **variant), _DISTINCT), scale=Fraction(1)
    )


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_releases_follow_the_distribution(noise: Any) -> None:
    bits = ReplayableBits(12)
    mechanism = CanonicalTopK(2, 1, noise=noise)
    draws = [mechanism.release(_DISTINCT, bits=bits).outcome for _ in range(1000)]
    assert p_value(draws, _distribution(mechanism, _DISTINCT)) > FALSE_ALARM


_INPUTS: dict[str, tuple[int, KnownDomain]] = {
    "a tie across the cut": (3, Histogram({"a": 5, "b": 3, "c": 3, "d": 3, "e": 3, "f": 0})),
    "all equal": (2, Histogram({"a": 4, "b": 4, "c": 4, "d": 4, "e": 4})),
    "all zero, by size": (2, Histogram({}, domain_size=5)),
    "seen and unseen": (3, Histogram({0: 3, 2: 1, 4: 1}, domain_size=7)),
    "one of two": (1, Histogram({"a": 2, "b": 1})),
    "all but one": (4, Histogram({"a": 5, "b": 4, "c": 4, "d": 2, "e": 1})),
    "counts of counts": (2, Histogram.from_counts_of_counts({4: 1, 2: 3, 0: 2}, lambda count, rank: (count, rank))),
    "scores": (2, Scores({"a": "1/3", "b": "1/4", "c": "-2", "d": "0.1"}, rises_by="1/3", falls_by="1/6")),
}


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
@pytest.mark.parametrize("name", _INPUTS)
def test_other_inputs_follow_the_distribution(name: str, noise: Any) -> None:
    k, data = _INPUTS[name]
    mechanism = CanonicalTopK(k, "0.8", noise=noise)
    assert p_value(_drawn(mechanism, data, 2500, seed=21), _distribution(mechanism, data)) > FALSE_ALARM


def test_without_sound_floats_the_distribution_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelope, "float_stage_is_sound", lambda: False)
    mechanism = CanonicalTopK(2, "0.8", noise="exponential")
    assert p_value(_drawn(mechanism, _DISTINCT, 3000, seed=5), _distribution(mechanism, _DISTINCT)) > FALSE_ALARM


def _class_of(ranks: Sequence[int], k: int) -> tuple[int, int]:
    a = next((i for i, rank in enumerate(ranks) if rank != i + 1), k)
    return (a, ranks[-1]) if a < k else (k - 1, k)


def _class_weights(
    scores: Sequence[int], k: int, rate: float, gamma: float
) -> dict[tuple[int, int], tuple[int, float]]:
    """(a, t) -> (size, e^-loss), straight from the definition."""
    cut = scores[k - 1]
    weights = {(k - 1, k): (1, 1.0)}
    for a, t in itertools.product(range(k), range(k + 1, len(scores) + 1)):
        loss = rate * (gamma * (cut - scores[t - 1]) + (1 - gamma) * (scores[a] - cut))
        if size := math.comb(t - a - 2, k - 1 - a):
            weights[a, t] = (size, math.exp(-loss))
    return weights


def _ranks_drawn(mechanism: CanonicalTopK, scores: Sequence[int], count: int) -> list[list[int]]:
    data = Histogram(dict(enumerate(scores)))
    ranking = Ranking(data.groups(), mechanism.k)
    sampler = SubsetSampler(ranking, mechanism._loss(data, ranking), mechanism.noise)
    bits = ReplayableBits(31)
    return [sampler.draw(bits) for _ in range(count)]


def _medium(seed: int, d: int, largest: int) -> list[int]:
    rng = np.random.default_rng(seed)
    return sorted((rng.random(d) ** 3 * largest).astype(int).tolist(), reverse=True)


def _inclusion(distribution: dict[Any, float], d: int, k: int) -> NDArray[np.float64]:
    """The probability of every rank to be in the set: the body of a class is uniform."""
    chance = np.zeros(d + 1)
    for (a, t), probability in distribution.items():
        chance[1 : a + 1] += probability
        chance[t] += probability
        if k - 1 - a > 0:
            chance[a + 2 : t] += probability * (k - 1 - a) / (t - a - 2)
    return chance[1:]


@pytest.mark.parametrize("gamma", ["0", "1/2", "4/5", "1"])
@pytest.mark.parametrize(
    ("d", "k", "largest", "epsilon"), [(40, 6, 60, "0.5"), (40, 25, 30, "0.3"), (300, 20, 400, "0.4"), (300, 9, 9, 2)]
)
def test_classes_and_ranks_at_medium_size(d: int, k: int, largest: int, epsilon: str | int, gamma: str) -> None:
    scores = _medium(d + k, d, largest)
    mechanism = CanonicalTopK(k, epsilon, gamma=gamma)
    draws = _ranks_drawn(mechanism, scores, 1000)
    assert all(len(set(ranks)) == k and ranks == sorted(ranks) for ranks in draws)
    weights = _class_weights(scores, k, float(mechanism.epsilon), float(mechanism.gamma))
    total = math.fsum(size * weight for size, weight in weights.values())
    distribution: dict[Any, float] = {key: size * weight / total for key, (size, weight) in weights.items()}
    assert p_value([_class_of(ranks, k) for ranks in draws], distribution) > FALSE_ALARM
    seen = Counter(itertools.chain.from_iterable(draws))
    chance = _inclusion(distribution, d, k)
    deviation = np.array([seen[rank] for rank in range(1, d + 1)]) - len(draws) * chance
    assert np.all(np.abs(deviation) < 7.0 * np.sqrt(len(draws) * chance * (1.0 - chance) + 1e-9) + 3.0)


@pytest.mark.parametrize(("gamma", "epsilon"), [("1/2", 2), ("1", 3)])
def test_exponential_noise_at_medium_size(gamma: str, epsilon: int) -> None:
    d, k = 13, 4
    scores = _medium(3, d, 25)
    mechanism = CanonicalTopK(k, epsilon, gamma=gamma, noise="exponential")
    weights = _class_weights(scores, k, float(mechanism.epsilon), float(mechanism.gamma))
    sizes, chances = (np.array(side) for side in zip(*weights.values(), strict=True))

    def density(t: float, index: int) -> float:
        powers = sizes - (np.arange(len(sizes)) == index)
        return float(sizes[index] * chances[index] * np.exp(np.sum(powers * np.log1p(-chances * t))))

    distribution: dict[Any, float] = {
        key: integrate.quad(density, 0.0, 1.0, args=(index,), points=[0.01, 0.1], epsabs=1e-11)[0]
        for index, key in enumerate(weights)
    }
    assert sum(distribution.values()) == pytest.approx(1.0, abs=1e-7)
    draws = [_class_of(ranks, k) for ranks in _ranks_drawn(mechanism, scores, 6000)]
    assert p_value(draws, distribution) > FALSE_ALARM
    total = sum(size * weight for size, weight in weights.values())
    gumbel: dict[Any, float] = {key: size * weight / total for key, (size, weight) in weights.items()}
    assert p_value(draws, gumbel) < FALSE_ALARM, "no power against the other noise"


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_a_domain_of_a_million_million_items(noise: Any) -> None:
    seen, k = {5: 150, 17: 98, 10**9: 54, 10**11: 1}, 3
    data = Histogram(seen, domain_size=10**12)
    mechanism = CanonicalTopK(k, "1.1", noise=noise)
    ranking = Ranking(data.groups(), k)
    loss = mechanism._loss(data, ranking)
    heads, tails = ranking.blocks(loss)
    weights: defaultdict[Any, float] = defaultdict(float)
    for (pa, pb, rise), (ta, tb, drop) in itertools.product(heads, tails):
        size = block_size(k, (pa, pb), (ta, tb))
        weights[int(ranking.cut) + rise, int(ranking.cut) - drop] += size * math.exp(-loss.exact(rise, drop))
    others = sum(weights.values())
    if noise == "gumbel":
        distribution = {key: weight / (1.0 + others) for key, weight in weights.items()}
        distribution[54, 54] = 1.0 / (1.0 + others)
    else:
        # So many sets at such small odds arrive like a Poisson process; the top k at a uniform time.
        early = -math.expm1(-others) / others
        distribution = {key: weight * (1.0 - early) / others for key, weight in weights.items()}
        distribution[54, 54] = early
    assert sum(distribution.values()) == pytest.approx(1.0, abs=1e-9)
    assert sum(chance > 0.02 for chance in distribution.values()) >= 4

    def key_of(outcome: frozenset[int]) -> tuple[int, int]:
        worst = min(seen.get(item, 0) for item in outcome)
        return max(worst, *(count for item, count in seen.items() if item not in outcome)), worst

    draws = [key_of(outcome) for outcome in _drawn(mechanism, data, 3000, seed=8)]
    assert p_value(draws, distribution) > FALSE_ALARM


@pytest.mark.parametrize(("size", "count"), [(1, 0), (1, 1), (5, 2), (6, 3), (6, 5), (7, 0), (7, 7)])
def test_uniform_subsets_are_uniform(size: int, count: int) -> None:
    bits = ReplayableBits(size)
    draws = [tuple(uniform_subset(size, count, bits).tolist()) for _ in range(3000)]
    wanted = list(itertools.combinations(range(size), count))
    assert p_value(draws, dict.fromkeys(wanted, 1.0 / len(wanted))) > FALSE_ALARM


def test_large_uniform_subsets_are_spread_evenly() -> None:
    bits = ReplayableBits(2)
    for size, count in ((10_000, 4000), (10_000, 8000), (2**40, 3000), (2**70, 500)):
        ranks = [int(rank) for rank in uniform_subset(size, count, bits)]
        assert len(set(ranks)) == count
        assert ranks == sorted(ranks)
        tenths = Counter(rank * 10 // size for rank in ranks)
        assert all(abs(tenths[i] - count / 10) < 7 * math.sqrt(count / 10) for i in range(10))
