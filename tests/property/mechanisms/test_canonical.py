"""CanonicalTopK: what must not matter does not matter, and every distribution is a distribution."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram, Scores
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK
from podium.mechanisms.canonical.classes import Ranking, block_size
from podium.randomness.replay import ReplayableBits

_COUNTS = st.lists(st.integers(0, 6), min_size=2, max_size=6)
_GAMMAS = st.fractions(0, 1, max_denominator=6)
_EPSILONS = st.fractions(Fraction(1, 50), 8, max_denominator=50)
_NOISES: st.SearchStrategy[Any] = st.sampled_from(["gumbel", "exponential"])


def _k_below(data: st.DataObject, size: int) -> int:
    return data.draw(st.integers(1, size - 1), label="k")


def _close(left: Any, right: Any) -> bool:
    return left.keys() == right.keys() and all(left[key].overlaps(right[key]) for key in left)


@given(_COUNTS, _GAMMAS, _EPSILONS, _NOISES, st.data())
@settings(max_examples=60)
def test_every_distribution_sums_to_one_and_prefers_better_sets(
    counts: list[int], gamma: Fraction, epsilon: Fraction, noise: Any, data: st.DataObject
) -> None:
    k = _k_below(data, len(counts))
    distribution = CanonicalTopK(k, epsilon, gamma=gamma, noise=noise).distribution(Histogram(dict(enumerate(counts))))
    assert len(distribution) == math.comb(len(counts), k)
    assert math.isclose(sum(distribution.values()), 1.0, rel_tol=1e-12)
    top = frozenset(sorted(range(len(counts)), key=lambda i: -counts[i])[:k])
    assert distribution[top] >= max(distribution.values()) * (1 - 1e-12)


@given(_COUNTS, _GAMMAS, _NOISES, st.data())
@settings(max_examples=60)
def test_names_and_the_order_of_rows_and_of_ties_do_not_matter(
    counts: list[int], gamma: Fraction, noise: Any, data: st.DataObject
) -> None:
    k = _k_below(data, len(counts))
    order = data.draw(st.permutations(range(len(counts))))
    mechanism = CanonicalTopK(k, 1, gamma=gamma, noise=noise)
    distribution = mechanism.distribution(Histogram(dict(enumerate(counts))), exact=True)
    shuffled = mechanism.distribution(Histogram({f"item {i}": counts[i] for i in order}), exact=True)
    assert _close({frozenset(f"item {i}" for i in outcome): p for outcome, p in distribution.items()}, shuffled)


@given(_COUNTS, _GAMMAS, st.data())
@settings(max_examples=60)
def test_any_ranking_of_the_ties_gives_the_same_distribution(
    counts: list[int], gamma: Fraction, data: st.DataObject
) -> None:
    """Classes (a, t) of a ranking that breaks ties at random give the distribution of the mechanism."""
    k = _k_below(data, len(counts))
    shuffled = data.draw(st.permutations(range(len(counts))))
    ranked = sorted(shuffled, key=lambda i: -counts[i])
    scores = [counts[i] for i in ranked]
    weights = {}
    for chosen in itertools.combinations(range(1, len(ranked) + 1), k):
        a = next(a for a in range(k + 1) if a + 1 not in chosen)
        a, t = (a, chosen[-1]) if a < k else (k - 1, k)
        score = float(gamma * scores[t - 1] - (1 - gamma) * scores[a])
        weights[frozenset(ranked[rank - 1] for rank in chosen)] = math.exp(score)
    distribution = CanonicalTopK(k, 1, gamma=gamma).distribution(Histogram(dict(enumerate(counts))))
    total = math.fsum(weights.values())
    assert all(
        math.isclose(distribution[outcome], weight / total, rel_tol=1e-12) for outcome, weight in weights.items()
    )


@given(_COUNTS, _GAMMAS, _NOISES, st.integers(1, 10**15), st.integers(0, 1000), st.data())
@settings(max_examples=60)
def test_adding_the_same_to_every_score_changes_nothing(
    counts: list[int], gamma: Fraction, noise: Any, shift: int, seed: int, data: st.DataObject
) -> None:
    k = _k_below(data, len(counts))
    mechanism = CanonicalTopK(k, 1, gamma=gamma, noise=noise)
    here = Histogram(dict(enumerate(counts)))
    there = Histogram({i: count + shift for i, count in enumerate(counts)})
    assert _close(mechanism.distribution(here, exact=True), mechanism.distribution(there, exact=True))
    released, again = (mechanism.release(world, bits=ReplayableBits(seed)).outcome for world in (here, there))
    assert released == again


@given(_COUNTS, _GAMMAS, st.fractions(Fraction(1, 100), 100), st.integers(0, 1000), st.data())
@settings(max_examples=60)
def test_scaling_scores_and_sensitivity_together_changes_nothing(
    counts: list[int], gamma: Fraction, factor: Fraction, seed: int, data: st.DataObject
) -> None:
    k = _k_below(data, len(counts))
    mechanism = CanonicalTopK(k, 1, gamma=gamma)
    plain = Scores(dict(enumerate(counts)), sensitivity="1/2")
    scaled = Scores({i: count * factor for i, count in enumerate(counts)}, sensitivity=factor / 2)
    distribution = mechanism.distribution(plain, exact=True)
    assert _close(distribution, mechanism.distribution(scaled, exact=True))
    # Sensitivity 1/2 up and down is what shifting makes of counts that only rise by one.
    assert _close(distribution, mechanism.distribution(Histogram(dict(enumerate(counts))), exact=True))
    # The distribution is the same, and not what equal bits give: the weights of proposals are rounded up from floats.
    assert all(mechanism.release(world, bits=ReplayableBits(seed)).outcome in distribution for world in (plain, scaled))


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=60),
    _GAMMAS,
    st.fractions(Fraction(1, 1000), 1000),
    _NOISES,
    st.integers(0, 1000),
    st.data(),
)
@settings(max_examples=100)
def test_a_release_is_always_k_items_of_the_domain(
    counts: list[int], gamma: Fraction, epsilon: Fraction, noise: Any, seed: int, data: st.DataObject
) -> None:
    k = _k_below(data, len(counts))
    outcome = (
        CanonicalTopK(k, epsilon, gamma=gamma, noise=noise)
        .release(Histogram(dict(enumerate(counts))), bits=ReplayableBits(seed))
        .outcome
    )
    assert len(outcome) == k
    assert set(outcome) <= set(range(len(counts)))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40), _GAMMAS, st.data())
@settings(max_examples=100)
def test_the_blocks_hold_all_subsets(counts: list[int], gamma: Fraction, data: st.DataObject) -> None:
    k = _k_below(data, len(counts))
    histogram = Histogram(dict(enumerate(counts)))
    ranking = Ranking(histogram.groups(), k)
    heads, tails = ranking.blocks(CanonicalTopK(k, 1, gamma=gamma)._loss(histogram, ranking))
    sizes = [block_size(k, (pa, pb), (ta, tb)) for (pa, pb, _), (ta, tb, _) in itertools.product(heads, tails)]
    assert min(sizes) >= 0
    assert sum(sizes) + 1 == math.comb(len(counts), k)
    assert len(heads) <= len(set(counts))
    assert len(tails) <= len(set(counts))
