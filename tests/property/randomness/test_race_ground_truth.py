"""Same bits, same answer: the race against a plain evaluation in 512 digits, on shared bit streams."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.uniforms import float_uniforms, many_candidates, uniform

from podium.exact import ball, ball_precision, rational_bounds
from podium.randomness.candidates import Lineup, Special, exact_integers, multiplicity_vector
from podium.randomness.noise import NOISES, NoiseName
from podium.randomness.race import Heat
from podium.randomness.replay import KeyedStreams

DIGITS = 512


def textbook_quantile(name: str, p: flint.arb) -> flint.arb:
    """The five quantile functions as FORMULAS 3 prints them, on p itself rather than in log space."""
    if name == "exponential":
        return -((1 - p).log())
    if name == "laplace":
        return -((2 * (1 - p)).log()) if p > flint.arb(0.5) else (2 * p).log()
    if name == "gumbel":
        return -((-(p.log())).log())
    if name == "logistic":
        return (p / (1 - p)).log()
    return ((1 + p) / (1 - p)).log()


def ground_truth(
    scores: list[Any], counts: list[int], scale: Fraction, name: str, places: int, streams: KeyedStreams
) -> list[tuple[int, int, flint.arb]]:
    """(group, order, noisy score) of the first places, by evaluating every candidate that could matter."""
    everyone = []
    for group, (score, count) in enumerate(zip(scores, counts, strict=True)):
        log_u = flint.arb(0)
        for order in range(1, min(count, places) + 1):
            log_u += ball(uniform(streams, group, order, DIGITS)).log() / ball(count - order + 1)
            value = ball(Fraction(score)) / ball(scale) + textbook_quantile(name, log_u.exp())
            everyone.append((group, order, value))
    everyone.sort(key=lambda row: float(rational_bounds(row[2])[0]), reverse=True)
    # Floats sort; whatever they could confuse is put right in balls.
    for _ in range(len(everyone)):
        for i in range(len(everyone) - 1):
            if everyone[i][2] < everyone[i + 1][2]:
                everyone[i], everyone[i + 1] = everyone[i + 1], everyone[i]
    return everyone[:places]


scores_strategy = st.lists(
    st.one_of(
        st.integers(-5, 5),
        st.integers(-(2**62), 2**62),
        st.fractions(min_value=-4, max_value=4, max_denominator=12),
        st.sampled_from([2**62, 2**62 - 1, -(2**62), 10**40]),
    ),
    min_size=1,
    max_size=7,
)
scales = st.one_of(
    st.fractions(min_value=Fraction(1, 40), max_value=50, max_denominator=40).filter(lambda x: x > 0),
    st.sampled_from([Fraction(1, 2**40), Fraction(2**40), Fraction(2**61)]),
)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("head", [6, 52])
@settings(max_examples=160)
@given(data=st.data(), seed=st.integers(0, 2**32), scale=scales, places=st.integers(1, 5))
def test_race_agrees_with_ground_truth(
    name: NoiseName, head: int, data: st.DataObject, seed: int, scale: Fraction, places: int
) -> None:
    scores = data.draw(scores_strategy)
    counts = data.draw(
        st.lists(
            st.one_of(st.integers(1, 4), st.sampled_from([10**18, 10**6])), min_size=len(scores), max_size=len(scores)
        )
    )
    streams = KeyedStreams(seed)
    values, unit = exact_integers(scores)
    lineup = Lineup(values, unit / scale, *multiplicity_vector(counts, len(scores)))
    heat = Heat(lineup, NOISES[name], streams, places=places, head=head)
    with ball_precision(2 * DIGITS + 400):
        truth = ground_truth(scores, counts, scale, name, places, streams)
        assert list(zip(heat.groups, heat.orders, strict=True)) == [(group, order) for group, order, _ in truth]
        for place in range(len(truth) - 1):
            gap = (truth[place][2] - truth[place + 1][2]) * ball(scale) * 2**20
            low, high = rational_bounds(gap)
            assert low // 1 == high // 1
            assert heat.gap(place, 20, unit) == Fraction(low // 1, 2**20)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), size=st.integers(300, 900), places=st.integers(1, 20), scale=st.integers(1, 40))
def test_screening_loses_nobody(seed: int, size: int, places: int, scale: int) -> None:
    """Many candidates, so that most are dropped by the cheap comparison: still the same winners."""
    streams = KeyedStreams(seed)
    scores, lineup = many_candidates(seed, size, scale)
    heat = Heat(lineup, NOISES["gumbel"], streams, places=places)
    noisy = scores / scale - np.log(-np.log(float_uniforms(streams, size)))
    best = np.argsort(-noisy)
    assert np.min(-np.diff(noisy[best[: places + 1]])) > 1e-9, "floats could not decide this case"
    assert heat.groups == best[:places].tolist()


@pytest.mark.parametrize("name", NOISES)
@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 2**32), scale=scales, places=st.integers(1, 4))
def test_handicaps_and_own_scales(
    name: NoiseName, data: st.DataObject, seed: int, scale: Fraction, places: int
) -> None:
    """The bottom symbol and the public threshold: a rational added to the score, a noise scale of its own."""
    scores = data.draw(st.lists(st.integers(-6, 6), min_size=1, max_size=6))
    special = data.draw(st.integers(0, len(scores) - 1))
    handicap = data.draw(st.fractions(min_value=-9, max_value=9, max_denominator=2**40))
    factor = data.draw(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7)]))
    streams = KeyedStreams(seed)
    values, unit = exact_integers(scores)
    lineup = Lineup(values, unit / scale, specials={special: Special(handicap / scale, factor)})
    heat = Heat(lineup, NOISES[name], streams, places=places, head=data.draw(st.sampled_from([6, 52])))
    with ball_precision(2 * DIGITS + 400):
        noisy = []
        for group, score in enumerate(scores):
            z = textbook_quantile(name, ball(uniform(streams, group, 1, DIGITS)))
            extra = (handicap, factor) if group == special else (Fraction(0), Fraction(1))
            noisy.append(ball(score + extra[0]) / ball(scale) + ball(extra[1]) * z)
        best = sorted(range(len(scores)), key=lambda g: rational_bounds(noisy[g])[0], reverse=True)
        assert heat.groups == best[:places]
