"""Invariances of the mechanisms with a threshold: names, rows and a common shift change nothing but names."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram
from podium.mechanisms.sparse_vector.hybrid import HybridTopK, Priority
from podium.mechanisms.sparse_vector.scales import SparseNoise
from podium.mechanisms.sparse_vector.technique import SparseVector
from podium.randomness.replay import ReplayableBits
from podium.release import BOTTOM

COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=3)
EPSILONS = st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5, 2)])
NOISES = st.sampled_from(["laplace", "exponential", "geometric"])
FIRSTS = st.sampled_from(["identities", "estimates"])
NAMES = "abc"


@given(COUNTS, EPSILONS, FIRSTS, st.integers(1, 3), st.permutations(range(3)))
@settings(max_examples=40)
def test_hybrids_do_not_see_names_or_rows(
    counts: list[int], epsilon: Fraction, first: Priority, k: int, order: list[int]
) -> None:
    mechanism = HybridTopK(2, k, epsilon, first=first)
    rows = [(NAMES[i], count) for i, count in enumerate(counts)]
    plain = mechanism.distribution(Histogram(dict(rows)))
    shuffled = mechanism.distribution(Histogram(dict(sorted(rows, key=lambda row: order[NAMES.index(row[0])]))))
    renamed = mechanism.distribution(Histogram({name * 2: count for name, count in rows}))
    assert shuffled == pytest.approx(plain, rel=1e-12)
    doubled = {tuple(item if item is BOTTOM else item * 2 for item in key): p for key, p in plain.items()}  # type: ignore[operator]
    assert renamed == pytest.approx(doubled, rel=1e-12)


@given(COUNTS, EPSILONS, FIRSTS, st.integers(-3, 50))
@settings(max_examples=30)
def test_hybrids_see_counts_relative_to_the_threshold(
    counts: list[int], epsilon: Fraction, first: Priority, shift: int
) -> None:
    base = {NAMES[i]: count + 3 for i, count in enumerate(counts)}
    moved = {item: count + shift for item, count in base.items()}
    plain = HybridTopK(4, 2, epsilon, first=first).distribution(Histogram(base))
    shifted = HybridTopK(4 + shift, 2, epsilon, first=first).distribution(Histogram(moved))
    assert shifted == pytest.approx(plain, rel=1e-10)


@given(COUNTS, EPSILONS, NOISES, st.integers(1, 3), st.integers(-3, 50))
@settings(max_examples=30)
def test_sparse_vector_sees_counts_relative_to_the_threshold(
    counts: list[int], epsilon: Fraction, noise: SparseNoise, branches: int, shift: int
) -> None:
    base = {NAMES[i]: count + 3 for i, count in enumerate(counts)}
    moved = {item: count + shift for item, count in reversed(base.items())}
    plain = SparseVector(4, 2, epsilon, noise=noise, branches=branches).distribution(Histogram(base))
    shifted = SparseVector(4 + shift, 2, epsilon, noise=noise, branches=branches).distribution(
        Histogram({item: count + shift for item, count in base.items()})
    )
    reordered = SparseVector(4 + shift, 2, epsilon, noise=noise, branches=branches).distribution(Histogram(moved))
    assert shifted == pytest.approx(plain, rel=1e-10)
    assert reordered == pytest.approx(shifted, rel=1e-12)


@given(st.lists(st.integers(-50, 10**6), max_size=40), EPSILONS, NOISES, st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=40)
def test_a_session_never_pays_more_than_epsilon(
    values: list[int], epsilon: Fraction, noise: SparseNoise, branches: int, k: int
) -> None:
    mechanism = SparseVector(20, k, epsilon, noise=noise, branches=branches)
    session = mechanism.open(bits=ReplayableBits(0))
    for value in values:
        if not session.is_open:
            break
        before = session.remaining
        answer = session.ask(value)
        assert (session.remaining < before) == answer.above
    release = session.release()
    assert release.paid.epsilon == mechanism.cost(release.items) == epsilon - session.remaining  # type: ignore[arg-type]
    assert session.remaining >= 0
    assert session.is_open or len(release.items) >= k
