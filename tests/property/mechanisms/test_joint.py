"""JointTopK: what must not matter does not matter, and every distribution is a distribution."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram, Scores
from podium.mechanisms import JointTopK
from podium.mechanisms.joint.sampler import Ladder, pieces_of
from podium.randomness.replay import ReplayableBits

_COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=5)
_EPSILONS = st.fractions(Fraction(1, 50), 8, max_denominator=50)


def _k(data: st.DataObject, size: int) -> int:
    return data.draw(st.integers(1, size), label="k")


def _close(left: Any, right: Any) -> bool:
    return left.keys() == right.keys() and all(left[key].overlaps(right[key]) for key in left)


@given(_COUNTS, _EPSILONS, st.data())
@settings(max_examples=60)
def test_every_distribution_sums_to_one_and_prefers_the_true_ranking(
    counts: list[int], epsilon: Fraction, data: st.DataObject
) -> None:
    k = _k(data, len(counts))
    distribution = JointTopK(k, epsilon).distribution(Histogram(dict(enumerate(counts))))
    assert len(distribution) == math.perm(len(counts), k)
    assert math.isclose(sum(distribution.values()), 1.0, rel_tol=1e-12)
    top = tuple(sorted(range(len(counts)), key=lambda i: -counts[i])[:k])
    assert distribution[top] >= max(distribution.values()) * (1 - 1e-12)


@given(_COUNTS, st.data())
@settings(max_examples=60)
def test_names_and_the_order_of_rows_and_of_ties_do_not_matter(counts: list[int], data: st.DataObject) -> None:
    k = _k(data, len(counts))
    order = data.draw(st.permutations(range(len(counts))))
    mechanism = JointTopK(k, 1)
    distribution = mechanism.distribution(Histogram(dict(enumerate(counts))), exact=True)
    shuffled = mechanism.distribution(Histogram({f"item {i}": counts[i] for i in order}), exact=True)
    assert _close({tuple(f"item {i}" for i in outcome): p for outcome, p in distribution.items()}, shuffled)
    grouped = Histogram(dict(enumerate(counts)), domain_size=len(counts))
    assert _close(distribution, mechanism.distribution(grouped, exact=True))


@given(_COUNTS, st.integers(1, 10**15), st.integers(0, 1000), st.data())
@settings(max_examples=60)
def test_adding_the_same_to_every_score_changes_nothing(
    counts: list[int], shift: int, seed: int, data: st.DataObject
) -> None:
    k = _k(data, len(counts))
    mechanism = JointTopK(k, 1)
    here = Histogram(dict(enumerate(counts)))
    there = Histogram({i: count + shift for i, count in enumerate(counts)})
    assert _close(mechanism.distribution(here, exact=True), mechanism.distribution(there, exact=True))
    released, again = (mechanism.release(world, bits=ReplayableBits(seed)).outcome for world in (here, there))
    assert released == again


@given(_COUNTS, st.fractions(Fraction(1, 100), 100), st.data())
@settings(max_examples=60)
def test_scaling_scores_and_sensitivity_together_changes_nothing(
    counts: list[int], factor: Fraction, data: st.DataObject
) -> None:
    k = _k(data, len(counts))
    mechanism = JointTopK(k, 1)
    plain = Scores(dict(enumerate(counts)), sensitivity="1/2")
    scaled = Scores({i: count * factor for i, count in enumerate(counts)}, sensitivity=factor / 2)
    distribution = mechanism.distribution(plain, exact=True)
    assert _close(distribution, mechanism.distribution(scaled, exact=True))
    # Sensitivity 1/2 up and down is what shifting makes of counts that only rise by one.
    assert _close(distribution, mechanism.distribution(Histogram(dict(enumerate(counts))), exact=True))


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=60),
    st.fractions(Fraction(1, 10**6), 1000),
    st.integers(0, 1000),
    st.data(),
)
@settings(max_examples=100)
def test_a_release_is_always_k_different_items_of_the_domain(
    counts: list[int], epsilon: Fraction, seed: int, data: st.DataObject
) -> None:
    k = _k(data, len(counts))
    histogram = Histogram(dict(enumerate(counts)))
    outcome = JointTopK(k, epsilon).release(histogram, bits=ReplayableBits(seed)).outcome
    assert len(set(outcome)) == len(outcome) == k
    assert set(outcome) <= set(range(len(counts)))
    pieces = sorted((piece.first, piece.last) for piece in pieces_of(Ladder(histogram.groups(), k), epsilon / 2))
    ends = [0, *(last + 1 for _, last in pieces)]
    assert [first for first, _ in pieces] == ends[:-1]
    assert ends[-1] == max(counts) - min(counts)
