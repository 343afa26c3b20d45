"""TestedTopK: what must not matter does not matter, and the statistic of its test moves no further than claimed."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram
from podium.mechanisms.tested import TestedTopK
from podium.randomness.replay import ReplayableBits

_COUNTS = st.lists(st.integers(0, 6), min_size=2, max_size=5)


@given(_COUNTS, st.sampled_from([0, "0.01"]), st.data())
@settings(max_examples=30)
def test_names_and_the_order_of_rows_do_not_matter(counts: list[int], delta: int | str, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(counts) - 1), label="k")
    order = data.draw(st.permutations(range(len(counts))))
    mechanism = TestedTopK(k, 1, delta=delta)
    distribution = mechanism.distribution(Histogram(dict(enumerate(counts))), exact=True)
    shuffled = mechanism.distribution(Histogram({f"item {i}": counts[i] for i in order}), exact=True)
    renamed = {type(outcome)(f"item {i}" for i in outcome): chance for outcome, chance in distribution.items()}
    assert renamed.keys() == shuffled.keys()
    assert all(renamed[key].overlaps(shuffled[key]) for key in renamed)
    assert math.isclose(sum(float(chance.mid()) for chance in distribution.values()), 1.0, rel_tol=1e-12)


@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=60),
    st.fractions(Fraction(1, 100), 20, max_denominator=100),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
    st.data(),
)
@settings(max_examples=80)
def test_the_log_odds_move_by_the_epsilon_of_the_test_at_most(
    counts: list[int], epsilon: Fraction, share: Fraction, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(counts) - 1), label="k")
    moves = data.draw(st.lists(st.integers(0, 1), min_size=len(counts), max_size=len(counts)), label="one user more")
    mechanism = TestedTopK(k, epsilon, share=share)
    more = {i: count + move for i, (count, move) in enumerate(zip(counts, moves, strict=True))}
    here, there = mechanism.log_odds(Histogram(dict(enumerate(counts)))), mechanism.log_odds(Histogram(more))
    assert abs(there - here) <= mechanism.epsilon_test


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40), st.integers(1, 10**12), st.integers(0, 99), st.data())
@settings(max_examples=40)
def test_adding_the_same_to_every_count_changes_nothing(
    counts: list[int], shift: int, seed: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(counts) - 1), label="k")
    mechanism = TestedTopK(k, 1)
    released = [
        mechanism.release(Histogram({i: count + by for i, count in enumerate(counts)}), bits=ReplayableBits(seed))
        for by in (0, shift)
    ]
    assert released[0].outcome == released[1].outcome
    assert len(released[0].outcome) == k
