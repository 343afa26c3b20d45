"""Many groups, so that most are dropped by the cheap comparison: still the same winners, whoever takes part.

Every family, groups of any size, groups with a handicap and a noise scale of their own, and heads that tie or lie at
the ends of the unit interval, against an evaluation of everybody in balls.
"""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.uniforms import uniform

from podium.exact import ball, ball_precision, rational_bounds
from podium.randomness.candidates import Lineup, Special, exact_integers, multiplicity_vector
from podium.randomness.noise import NOISES, NoiseName
from podium.randomness.race import Heat
from podium.randomness.replay import KeyedStreams

DIGITS = 192
PLAIN = Special()
ALL_ONES = 2**64 - 1
HEADS = (0, ALL_ONES, 1 << 63, (1 << 63) - 1, (1 << 12) - 1, ALL_ONES - (1 << 12), 3 << 62, (3 << 62) + 5, 1 << 62)


class PlantedStreams(KeyedStreams):
    """Streams of which three in five begin with one of a few words, so that many tie in all 64 first digits."""

    def more(self, group: int, order: int, known: int) -> int:
        word = super().more(group, order, known)
        pick = hashlib.blake2b(b"plant %d" % word, digest_size=2).digest()
        return HEADS[pick[1] % len(HEADS)] if known == 0 and pick[0] < 154 else word


def noise_at(name: NoiseName, rate: flint.arb) -> flint.arb:
    """The textbook quantile of U = exp(-rate)."""
    u, rest = (-rate).exp(), -((-rate).expm1())
    if name == "exponential":
        return -(rest.log())
    if name == "laplace":
        return -((2 * rest).log()) if u > flint.arb(0.5) else (2 * u).log()
    if name == "gumbel":
        return -(rate.log())
    return (u / rest).log() if name == "logistic" else ((1 + u) / rest).log()


def truth(
    scores: list[int],
    counts: list[int],
    specials: dict[int, Special],
    scale: Fraction,
    name: NoiseName,
    places: int,
    streams: KeyedStreams,
) -> list[tuple[Fraction, int, int]]:
    """(noisy score in noise units, group, order), best first, by evaluating everybody who could matter."""
    everyone = []
    for group, (score, count) in enumerate(zip(scores, counts, strict=True)):
        rate, special = flint.arb(0), specials.get(group, PLAIN)
        for order in range(1, min(count, places) + 1):
            rate -= ball(uniform(streams, group, order, DIGITS)).log() / ball(count - order + 1)
            noisy = ball(score / scale + special.handicap) + ball(special.factor) * noise_at(name, rate)
            everyone.append((rational_bounds(noisy)[0], group, order))
    return sorted(everyone, reverse=True)[: places + 1]


def agree(
    scores: list[int],
    counts: list[int] | None,
    specials: dict[int, Special],
    scale: Fraction,
    name: NoiseName,
    places: int,
    streams: KeyedStreams,
    *,
    head: int,
    grid: int = 12,
) -> None:
    """The race names the true order, values and gaps."""
    values, unit = exact_integers(scores)
    sizes = () if counts is None else multiplicity_vector(counts, len(scores))
    heat = Heat(
        Lineup(values, unit / scale, *sizes, specials=specials), NOISES[name], streams, places=places, head=head
    )
    with ball_precision(2 * DIGITS):
        expected = truth(scores, counts or [1] * len(scores), specials, scale, name, places, streams)
    winners = expected[:places]
    assert list(zip(heat.groups, heat.orders, strict=True)) == [(group, order) for _, group, order in winners]
    in_scores = [noisy * scale * 2**grid for noisy, _, _ in winners]
    for place, noisy in enumerate(in_scores):
        assert heat.value(place, grid, unit) == Fraction(noisy // 1, 2**grid)
    gaps = [ahead - behind for ahead, behind in itertools.pairwise(in_scores)]
    for place, gap in enumerate(gaps):
        assert heat.gap(place, grid, unit) == Fraction(gap // 1, 2**grid)
    for to in specials:
        best = next((noisy * scale * 2**grid for noisy, group, _ in expected if group == to), None)
        if best is not None:
            leads = [noisy - best for noisy in in_scores if noisy > best]
            expected_leads = tuple(Fraction(lead // 1, 2**grid) for lead in leads)
            assert heat.gaps(places, grid, unit, to=to) == expected_leads


@pytest.mark.parametrize("name", NOISES)
@settings(max_examples=12)
@given(data=st.data(), seed=st.integers(0, 2**32), size=st.integers(258, 420), places=st.sampled_from([1, 2, 7]))
def test_screening_loses_nobody(name: NoiseName, data: st.DataObject, seed: int, size: int, places: int) -> None:
    spread = data.draw(st.sampled_from([1, 3, 40]))
    scores = [(i * 7919 + seed) % spread for i in range(size)]
    counts = data.draw(st.sampled_from([None, (1, 2, 3), (1, 1, 10**6), (5, 2**53 + 1, 2**60 + 1)]))
    special = data.draw(st.dictionaries(st.integers(0, size - 1), st.builds(
        Special, st.fractions(-9, 9, max_denominator=97), st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7)])
    ), max_size=2))  # fmt: skip
    agree(
        scores,
        None if counts is None else [counts[i % len(counts)] for i in range(size)],
        special,
        Fraction(data.draw(st.sampled_from([1, 4, 30])), 3),
        name,
        places,
        KeyedStreams(seed),
        head=52,
    )


@pytest.mark.parametrize("name", NOISES)
@settings(max_examples=40)
@given(data=st.data(), seed=st.integers(0, 2**32), places=st.integers(1, 6), head=st.sampled_from([3, 12, 52]))
def test_ties_in_the_first_digits(name: NoiseName, data: st.DataObject, seed: int, places: int, head: int) -> None:
    scores = data.draw(st.lists(st.integers(-2, 2), min_size=1, max_size=8))
    counts = data.draw(
        st.lists(st.sampled_from([1, 2, 3, 10**18, 10**400]), min_size=len(scores), max_size=len(scores))
    )
    special = data.draw(st.dictionaries(st.integers(0, len(scores) - 1), st.builds(
        Special, st.fractions(-3, 3, max_denominator=7), st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7)])
    ), max_size=2))  # fmt: skip
    scale = data.draw(st.sampled_from([Fraction(1), Fraction(7, 3)]))
    agree(scores, counts, special, scale, name, places, PlantedStreams(seed), head=head)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("tens", [300, 306, 320, 900])
def test_a_group_of_any_size_is_never_screened_out(name: NoiseName, tens: int) -> None:
    """The largest noise of m is about log m, which may bridge any distance: 691 to 2072 here.

    Floats end at 10^308, and exp(-745) is 0: neither the size nor the distance may become a float on its own.
    """
    huge, top = 10**tens, int(tens * 2.3025) - 6
    scores = [top + i % 3 for i in range(300)] + [0]
    winners = set()
    for seed in range(6):
        streams = KeyedStreams(seed)
        agree(scores, [1] * 300 + [huge], {}, Fraction(1), name, 2, streams, head=52)
        lineup = Lineup(np.array(scores), Fraction(1), *multiplicity_vector([1] * 300 + [huge], 301))
        winners |= set(Heat(lineup, NOISES[name], streams, places=2).groups)
    assert {300} < winners, "the contest should be open"
