"""Same bits, same answer: who passes a public level, in which order and with which values, against plain evaluation."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.uniforms import float_uniforms, many_candidates, uniform

from podium.errors import InvalidArgument
from podium.exact import ball, ball_precision, rational_bounds
from podium.randomness import race_above
from podium.randomness.candidates import Lineup, exact_integers, multiplicity_vector
from podium.randomness.normal import noise_family
from podium.randomness.race import Heat
from podium.randomness.replay import KeyedStreams, ReplayableBits
from podium.randomness.truncated import truncated_noise

DIGITS = 320
GRID = 20


def textbook_quantile(name: str, p: flint.arb) -> flint.arb:
    if name == "gaussian":
        return flint.arb(2).sqrt() * (2 * p - 1).erfinv() if p < flint.arb(0.9) else -_upper(1 - p)
    return -((-(p.log())).log())


def _upper(rest: flint.arb) -> flint.arb:
    return -(flint.arb(2).sqrt()) * (2 * rest).erfcinv()


def truncated_quantile(name: str, p: flint.arb, bound: Fraction) -> flint.arb:
    """F^-1(q + (1 - 2q) p), q = F(-bound)."""
    if name == "gaussian":
        q = (ball(bound) / flint.arb(2).sqrt()).erfc() / 2
        whole = q + (1 - 2 * q) * p
        return flint.arb(2).sqrt() * (2 * whole - 1).erfinv()
    q = ball(-bound).exp() / 2
    whole = q + (1 - 2 * q) * p
    return (2 * whole).log() if whole < flint.arb(0.5) else -(2 * (1 - whole)).log()


def truth(
    scores: list[int],
    counts: list[int],
    scale: Fraction,
    name: str,
    level: Fraction,
    streams: KeyedStreams,
    bound: Fraction | None = None,
) -> list[tuple[Fraction, int, int]]:
    """(floor of the noisy score on the grid, group, order) of everybody above the level, best first."""
    passed = []
    for group, (score, count) in enumerate(zip(scores, counts, strict=True)):
        log_u = flint.arb(0)
        for order in range(1, count + 1):
            log_u += ball(uniform(streams, group, order, DIGITS)).log() / ball(count - order + 1)
            share = log_u.exp()
            noise = textbook_quantile(name, share) if bound is None else truncated_quantile(name, share, bound / scale)
            low, high = rational_bounds(score + ball(scale) * noise)
            assert (low > level) == (high > level)
            if low <= level:
                break
            assert low * 2**GRID // 1 == high * 2**GRID // 1
            passed.append((low, group, order))
    best = sorted(passed, reverse=True)
    return [(Fraction(low * 2**GRID // 1, 2**GRID), group, order) for low, group, order in best]


@pytest.mark.parametrize("name", ["gaussian", "gumbel"])
@pytest.mark.parametrize("head", [6, 52])
@settings(max_examples=120)
@given(
    scores=st.lists(st.one_of(st.integers(-5, 9), st.integers(2**40, 2**40 + 3)), min_size=1, max_size=7),
    data=st.data(),
    seed=st.integers(0, 2**32),
    scale=st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9),
    level=st.one_of(st.fractions(min_value=-9, max_value=9, max_denominator=8), st.just(Fraction(2**40 + 1))),
    k=st.one_of(st.none(), st.integers(1, 4)),
)
def test_race_above_agrees_with_ground_truth(
    name: str,
    head: int,
    scores: list[int],
    data: st.DataObject,
    seed: int,
    scale: Fraction,
    level: Fraction,
    k: int | None,
) -> None:
    sizes = st.lists(st.integers(1, 5), min_size=len(scores), max_size=len(scores))
    counts = data.draw(sizes)
    streams = KeyedStreams(seed)
    values, unit = exact_integers(scores)
    lineup = Lineup(values, unit / scale, *multiplicity_vector(counts, len(scores)))
    places = lineup.size() if k is None else min(k, lineup.size())
    heat = Heat(lineup, noise_family(name), streams, places=places, head=head, floor=level / scale)
    with ball_precision(2 * DIGITS + 200):
        expected = truth(scores, counts, scale, name, level, streams)[:places]
    assert list(zip(heat.groups, heat.orders, strict=True)) == [(group, order) for _, group, order in expected]
    assert heat.values(GRID, unit) == tuple(value for value, _, _ in expected)


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
@pytest.mark.parametrize("head", [6, 52])
@settings(max_examples=60)
@given(
    scores=st.lists(st.integers(1, 30), min_size=1, max_size=7),
    data=st.data(),
    seed=st.integers(0, 2**32),
    scale=st.fractions(min_value=Fraction(1, 3), max_value=1000, max_denominator=9),
    bound=st.fractions(min_value=1, max_value=9, max_denominator=8),
)
def test_truncated_noise_agrees_with_ground_truth(
    name: str, head: int, scores: list[int], data: st.DataObject, seed: int, scale: Fraction, bound: Fraction
) -> None:
    counts = data.draw(st.lists(st.integers(1, 5), min_size=len(scores), max_size=len(scores)))
    streams = KeyedStreams(seed)
    values, unit = exact_integers(scores)
    noise, part = truncated_noise(name, bound / scale)
    width = scale * part
    lineup = Lineup(values, unit / width, *multiplicity_vector(counts, len(scores)))
    heat = Heat(lineup, noise, streams, places=lineup.size(), head=head, floor=bound / width)
    with ball_precision(2 * DIGITS + 200):
        expected = truth(scores, counts, scale, name, bound, streams, bound)
    assert list(zip(heat.groups, heat.orders, strict=True)) == [(group, order) for _, group, order in expected]
    assert heat.values(GRID, unit) == tuple(value for value, _, _ in expected)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), size=st.integers(300, 5000), scale=st.integers(1, 60), level=st.integers(900, 1100))
def test_screening_loses_nobody(seed: int, size: int, scale: int, level: int) -> None:
    """Many candidates, most of them far below the level: whoever passes in floats passes."""
    streams = KeyedStreams(seed)
    scores, lineup = many_candidates(seed, size, scale)
    heat = Heat(lineup, noise_family("gaussian"), streams, places=size, floor=Fraction(level, scale))
    noisy = scores + scale * np.array(
        [noise_family("gaussian").quantile(float(p)) for p in float_uniforms(streams, size)]
    )
    passed = np.flatnonzero(noisy > level)
    assert np.min(np.abs(noisy - level)) > 1e-9, "floats could not decide this case"
    assert sorted(heat.groups) == passed.tolist()


def test_far_tails_of_huge_groups() -> None:
    """10^40 items of score 0: the largest noise is near 13.3, and only a few are above a level just below it."""
    finish = race_above([0], above=13, multiplicities=[10**40], value_bits=20, bits=ReplayableBits(5))
    # 10^40 Q(13) = 61.2 in the mean.
    assert 20 < len(finish.groups) < 120
    assert len(set(finish.members)) == len(finish.members)
    assert list(finish.values) == sorted(finish.values, reverse=True)
    assert 13 <= finish.values[-1] < finish.values[0] < 15
    assert race_above([0], above=40, multiplicities=[10**40], bits=ReplayableBits(6)).groups == ()


def test_nobody_everybody_and_units() -> None:
    assert race_above([], above=0, bits=ReplayableBits(1)).groups == ()
    assert race_above([1, 2, 3], above=1000, value_bits=20, bits=ReplayableBits(1)).values == ()
    # The level is in the units of the result, whatever the scale of the noise is.
    assert race_above([1, 2, 3], above="5/2", scale="1e-9", bits=ReplayableBits(4)).groups == (2,)
    everybody = race_above([1, 2, 3], above=-1000, scale="1e-9", bits=ReplayableBits(1))
    assert everybody.groups == (2, 1, 0)
    halves = race_above([1, 2, 3], above=-1, unit="1/2", scale="1e-9", value_bits=3, k=1, bits=ReplayableBits(2))
    assert halves.groups == (2,)
    assert halves.values[0] in (Fraction(11, 8), Fraction(3, 2))
    assert race_above([0] * 5000, above=0, k=7, bits=ReplayableBits(3)).members == (0,) * 7


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"above": None}, "above"), ({"above": 0, "k": 0}, "k"), ({"above": 0, "unit": 0}, "unit"),
     ({"above": 0, "scale": -1}, "scale"), ({"above": 0, "value_bits": 1.5}, "value_bits")],
)  # fmt: skip
def test_bad_arguments_are_named(arguments: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{name}="):
        race_above([1], **arguments)  # type: ignore[arg-type]
