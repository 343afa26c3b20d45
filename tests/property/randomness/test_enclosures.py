"""Every interval of the float stage encloses the exact number, also where floats overflow, underflow or cancel."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.exact import ball, ball_precision, float_above, float_below, rational_bounds
from podium.randomness import float_filter
from podium.randomness.candidates import Lineup, Special, exact_integers, multiplicity_vector
from podium.randomness.choice import _weight_bounds
from podium.randomness.float_filter import FirstPass
from podium.randomness.noise import NOISES, exponential_bounds
from podium.randomness.replay import KeyedStreams

PRECISION = 300


def encloses(low: float, high: float, exact: Fraction | flint.arb) -> bool:
    below, above = rational_bounds(exact) if isinstance(exact, flint.arb) else (exact, exact)
    return not (math.isnan(low) or math.isnan(high)) and (
        (low == -math.inf or Fraction(low) <= below) and (high == math.inf or above <= Fraction(high))
    )


anywhere = st.one_of(
    st.integers(0, 2**64 - 1),
    st.builds(lambda word, by: word >> by, st.integers(0, 2**64 - 1), st.integers(0, 63)),
    st.builds(lambda word, by: 2**64 - 1 - (word >> by), st.integers(0, 2**64 - 1), st.integers(0, 63)),
    st.builds(lambda by: (2**63 + by) % 2**64, st.integers(-(2**14), 2**14)),
)


@pytest.mark.parametrize("head", [1, 12, 51, 52])
@given(words=st.lists(anywhere, min_size=40, max_size=40))
def test_minus_log_v(head: int, words: list[int]) -> None:
    low, high = exponential_bounds(np.array(words, dtype=np.uint64), head)
    with ball_precision(PRECISION):
        for word, below, above in zip(words, low, high, strict=True):
            digits, whole = word >> (64 - head), 1 << head
            top = -(ball(Fraction(digits, whole)).log()) if digits else flint.arb.pos_inf()
            bottom = -(ball(Fraction(digits + 1, whole)).log()) if digits + 1 < whole else flint.arb(0)
            assert Fraction(float(below)) <= rational_bounds(bottom)[0]
            assert above == math.inf if digits == 0 else rational_bounds(top)[1] <= Fraction(float(above))


sizes = st.one_of(
    st.integers(6, 30), st.integers(2**53, 2**62), st.integers(290, 420).map(lambda tens: 10**tens),
    st.integers(1, 10**6).map(lambda less: 2**1024 - less),
)  # fmt: skip


@settings(max_examples=300)
@given(size=sizes, block=st.sampled_from([1, 5]), seed=st.integers(0, 2**32))
def test_rates_of_order_statistics(size: int, block: int, seed: int) -> None:
    """The first draw and the next ones of a group of any size, added up."""
    counts = multiplicity_vector([size], 1)
    lineup = Lineup(np.zeros(1, dtype=np.int64), Fraction(1), *counts)
    streams = KeyedStreams(seed)
    stage = FirstPass(lineup, NOISES["gumbel"], streams, places=8, head=52)
    one = np.zeros(1, dtype=np.intp)
    first = streams.heads(one, np.ones(1, dtype=np.intp))
    words = streams.heads(one[:, None], np.arange(2, 2 + block)[None, :])
    low, high = float_filter._quotients(*exponential_bounds(first, 52), counts[0])
    remaining = counts[0][:, None] - 1 - np.arange(block)
    lows, highs = stage._accumulate(words, remaining, low, high)
    with ball_precision(PRECISION):
        fast, slow = flint.arb(0), flint.arb(0)
        for order, word in enumerate([*first.tolist(), *words[0].tolist()]):
            fast += -(ball(Fraction((word >> 12) + 1, 1 << 52)).log()) / ball(size - order)
            slow += -(ball(Fraction(max(word >> 12, 1), 1 << 52)).log()) / ball(size - order)
            below = low[0] if order == 0 else lows[0, order - 1]
            above = high[0] if order == 0 else highs[0, order - 1]
            assert Fraction(float(below)) <= rational_bounds(fast)[0]
            assert rational_bounds(slow)[1] <= Fraction(float(above))


@settings(max_examples=300)
@given(size=sizes, drawn=st.integers(0, 5), rate=st.floats(1e-20, 50.0))
def test_quotients(size: int, drawn: int, rate: float) -> None:
    remaining = multiplicity_vector([size], 1)[0] - drawn
    low, high = float_filter._quotients(np.array([rate]), np.array([rate]), remaining)
    assert encloses(float(low[0]), float(high[0]), Fraction(rate) / (size - drawn))


@pytest.mark.parametrize("word", [3 << 60, 5 << 61, 12345678901234567890, (1 << 64) - (1 << 40), 7 << 50])
def test_long_sums_that_round_in_one_direction(word: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of equal steps: their rounding errors add up to more than the slack of each."""
    block, size = 6000, 10**18
    lineup = Lineup(np.zeros(1, dtype=np.int64), Fraction(1), *multiplicity_vector([size], 1))
    stage = FirstPass(lineup, NOISES["gumbel"], KeyedStreams(0), places=8, head=52)
    step = np.full((1, block), float(word) / 2.0**60)
    monkeypatch.setattr(float_filter, "exponential_bounds", lambda *_: (step, step))
    monkeypatch.setattr(float_filter, "_quotients", lambda low, high, _: (low, high))
    start = np.array([0.1])
    low, high = stage._accumulate(np.zeros((1, block), dtype=np.uint64), np.full((1, block), 1.0), start, start)
    for i in range(0, block, 7):
        exact = Fraction(0.1) + (i + 1) * Fraction(float(step[0, 0]))
        assert encloses(float(low[0, i]), float(high[0, i]), exact)


scores = st.one_of(
    st.integers(-9, 9),
    st.integers(-(2**62), 2**62),
    st.builds(int.__add__, st.sampled_from([2**70, 10**300, -(10**300), 10**320]), st.integers(-5, 5)),
)
rates = st.one_of(
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**9).filter(bool),
    st.sampled_from([Fraction(1, 2**899), Fraction(1, 2**901), Fraction(2**199), Fraction(10**61), Fraction(1, 3)]),
)
handicaps = st.one_of(
    st.fractions(-(10**6), 10**6, max_denominator=97),
    st.sampled_from([Fraction(10) ** 309, -(Fraction(10) ** 309), Fraction(1, 10**330), Fraction(0)]),
)


@settings(max_examples=400)
@given(data=st.data(), given_scores=st.lists(scores, min_size=1, max_size=6), rate=rates, baseline=st.integers(0, 5))
def test_offsets(data: st.DataObject, given_scores: list[int], rate: Fraction, baseline: int) -> None:
    values, _ = exact_integers(given_scores)
    count = len(given_scores)
    cancels = st.sampled_from(range(count)).map(lambda i: -given_scores[i] * rate)
    specials = data.draw(
        st.dictionaries(st.integers(0, count - 1), st.builds(Special, st.one_of(handicaps, cancels)), max_size=3)
    )
    lineup = Lineup(values, rate, specials=specials)
    lineup.baseline = given_scores[baseline % count]
    low, high = lineup.offsets(np.arange(count))
    upper = lineup.upper_offsets(slice(0, count))
    for group in range(count):
        assert encloses(float(low[group]), float(high[group]), lineup.offset(group))
        assert encloses(-math.inf, float(upper[group]), (given_scores[group] - lineup.baseline) * rate)


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 1.7e308, -1.7e308, 5e-324])
)
factors = st.one_of(
    st.fractions(Fraction(1, 99), 99, max_denominator=99),
    st.sampled_from([Fraction(1, 10**320), Fraction(10) ** 308, Fraction(10) ** 320]),
)


@settings(max_examples=1000)
@given(one=numbers, other=numbers, offset=numbers, factor=factors)
def test_scaled_and_added(one: float, other: float, offset: float, factor: Fraction) -> None:
    ends = np.array([min(one, other)]), np.array([max(one, other)])
    low, high = float_filter._scaled(*ends, np.array([float_below(factor)]), np.array([float_above(factor)]))
    for number in (one, other):
        # Not a number means: nothing is known, and the sum is then unbounded.
        assert np.isnan(low[0]) or encloses(float(low[0]), math.inf, Fraction(number) * factor)
        assert np.isnan(high[0]) or encloses(-math.inf, float(high[0]), Fraction(number) * factor)
    below = float_filter._sum(np.array([offset]), np.array([one]), -1.0)
    above = float_filter._sum(np.array([offset]), np.array([one]), 1.0)
    assert encloses(float(below[0]), float(above[0]), Fraction(offset) + Fraction(one))


def test_infinities_that_cancel_leave_a_side_open() -> None:
    infinite = np.array([np.inf])
    assert float_filter._sum(-infinite, infinite, -1.0)[0] == -np.inf
    assert float_filter._sum(-infinite, infinite, 1.0)[0] == np.inf
    assert float_filter._sum(np.array([np.nan]), infinite, -1.0)[0] == -np.inf


@settings(max_examples=60)
@given(data=st.data(), size=st.sampled_from([1, 2, 7, 60]), rate=st.sampled_from(["1", "1/7", "100", "1e-300"]))
def test_running_sums_of_weights(data: st.DataObject, size: int, rate: str) -> None:
    """One common scale brings all running sums into their intervals."""
    values = data.draw(st.lists(st.integers(-300, 300), min_size=size, max_size=size))
    counts = data.draw(st.lists(st.sampled_from([1, 2, 3, 10**6, 10**400]), min_size=size, max_size=size))
    lineup = Lineup(np.array(values, dtype=object), Fraction(rate))
    lineup.baseline = max(values)
    low, high = _weight_bounds(lineup, counts)
    with ball_precision(PRECISION):
        weights = [ball(count) * ball(lineup.offset(group)).exp() for group, count in enumerate(counts)]
        sums = [rational_bounds(total) for total in itertools.accumulate(weights)]
    least = max(Fraction(float(below)) / total for below, (_, total) in zip(low, sums, strict=True))
    assert all(
        above == math.inf or least * total <= Fraction(float(above))
        for above, (total, _) in zip(high, sums, strict=True)
    )
