"""Numbers planted next to a border: what 64 digits leave open is decided by the digits that follow.

A uniform number is placed just below or just above the point where the answer changes, so near that the float stage,
and often the first refinement too, cannot tell. Midpoints, rounded bounds or fresh bits get half of these wrong.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.survival import SURVIVAL_BALL

from podium.exact import ball, ball_precision, rational_bounds
from podium.randomness import (
    NoisyNumber,
    bernoulli_exp,
    choose,
    discrete_gaussian,
    geometric,
    noisy_value,
    noisy_values,
    race,
)
from podium.randomness.bits import Words
from podium.randomness.candidates import Lineup, Special
from podium.randomness.float_filter import Candidates
from podium.randomness.noise import NOISES, NoiseName
from podium.randomness.race import Heat
from podium.randomness.replay import KeyedStreams, ReplayableBits
from podium.randomness.streams import Uniform

WORDS = 8
SIDES = [(sign, distance) for sign in (-1, 1) for distance in (70, 100, 230)]
either_side = pytest.mark.parametrize(("sign", "distance"), SIDES)


class Scripted:
    """A source that returns the given words and then fails."""

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int) -> Words:
        return np.array([self._words.pop(0) for _ in range(count)], dtype=np.uint64)

    def read(self, size: int) -> bytes:
        assert size == 8
        return self._words.pop(0).to_bytes(8, "little")


def point(evaluate: Callable[[], flint.arb]) -> Fraction:
    with ball_precision(800):
        return rational_bounds(evaluate())[0]


def words_at(border: Fraction, sign: int, distance: int) -> list[int]:
    """The first words of the number at 2^-distance beside the border."""
    digits = (border + sign * Fraction(1, 2**distance)) * 2 ** (64 * WORDS) // 1
    return [digits >> (64 * (WORDS - 1 - i)) & (2**64 - 1) for i in range(WORDS)]


def distribution(name: NoiseName, x: flint.arb) -> flint.arb:
    return 1 - SURVIVAL_BALL[name](x)


@either_side
@pytest.mark.parametrize("step", [1, 3, 40])
def test_geometric(step: int, sign: int, distance: int) -> None:
    border = point(lambda: -((-(ball(step) * ball(Fraction(2, 5)))).expm1()))
    drawn = geometric(epsilon="0.4", bits=Scripted(*words_at(border, sign, distance)))
    assert drawn.tolist() == [step if sign > 0 else step - 1]


@either_side
@pytest.mark.parametrize("exponent", ["0.001", "0.7", "12"])
def test_bernoulli_of_an_exponential(exponent: str, sign: int, distance: int) -> None:
    border = point(lambda: -((-ball(Fraction(exponent))).expm1()))
    assert bernoulli_exp([exponent], bits=Scripted(*words_at(border, sign, distance))).tolist() == [sign > 0]


@either_side
@pytest.mark.parametrize("variance", [Fraction("10.5"), Fraction(1, 3)])
def test_acceptance_of_the_discrete_gaussian(variance: Fraction, sign: int, distance: int) -> None:
    """Nine candidates of size y; all but the first are accepted for sure, the first by a planted coin."""
    scale = 4 if variance > 1 else 1
    size = 2
    exponential = point(lambda: -((-(ball(size) + ball(Fraction(1, 2))) / ball(scale)).expm1()))
    half = words_at(exponential, 1, 70)[0]
    zero, sure = 1 << 50, 2**64 - 2**20
    border = point(lambda: -((-((ball(size) - ball(variance) / scale) ** 2 / (2 * ball(variance)))).expm1()))
    coin = words_at(border, sign, distance)
    drawn = discrete_gaussian(
        variance=variance,
        bits=Scripted(half, *[zero] * 8, *[zero] * 9, coin[0], *[sure] * 8, *coin[1:]),
    )
    assert drawn.tolist() == [size if sign > 0 else 0]


@either_side
@pytest.mark.parametrize("name", NOISES)
def test_noisy_values(name: NoiseName, sign: int, distance: int) -> None:
    for steps in (41, 48, 63):
        border = point(lambda steps=steps: distribution(name, (ball(Fraction(steps, 8)) - 5) / 3))  # type: ignore[misc]
        bits = Scripted(*words_at(border, sign, distance))
        expected = Fraction(steps if sign > 0 else steps - 1, 8)
        assert noisy_value(5, scale=3, noise=name, grid_bits=3, bits=bits) == expected


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("grid_bits", [-2, 0, 20])
def test_values_that_floats_decide_are_those_of_their_digits(
    name: NoiseName, grid_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [Fraction(number, 7) for number in range(-60, 60)]
    parameters: dict[str, Any] = {"scale": Fraction(17, 3), "noise": name, "grid_bits": grid_bits}
    by_floats = noisy_values(values, **parameters, bits=ReplayableBits(5))
    # Now no float is small enough to decide.
    monkeypatch.setattr(sys.modules[noisy_values.__module__], "_BIG", 0.0)
    assert noisy_values(values, **parameters, bits=ReplayableBits(5)) == by_floats


@either_side
@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("margin", [Fraction(0), Fraction(1, 3)])
def test_open_numbers(name: NoiseName, margin: Fraction, sign: int, distance: int) -> None:
    """Two noisy numbers that differ by the margin and almost nothing else."""
    mid = Fraction(2, 3)

    def level() -> flint.arb:
        return 9 + 2 * NOISES[name].from_rate_ball(-(ball(mid).log()))

    border = point(lambda: distribution(name, (level() + ball(margin) - 8) / 3))
    other = NoisyNumber(9, scale=2, noise=name, bits=Scripted(*words_at(mid, 1, 400)))
    number = NoisyNumber(8, scale=3, noise=name, bits=Scripted(*words_at(border, sign, distance)))
    assert number.exceeds(other, by=margin) == (sign > 0)
    assert other.exceeds(number, by=-margin) == (sign < 0)
    if sign > 0:
        # The lead is the margin and a little: on a grid of thirds of it, rounded down.
        assert number.lead(other, grid_bits=0) == 0
        assert number.lead(other, grid_bits=20) == Fraction(margin * 2**20 // 1, 2**20)
    with ball_precision(400):
        low, high = rational_bounds(level() * 2**20)
    assert low // 1 == high // 1
    assert other.rounded(grid_bits=20) == Fraction(low // 1, 2**20)


def test_a_noisy_number_is_not_above_itself() -> None:
    number = NoisyNumber(3, scale=1)
    assert [number.exceeds(number, by=by) for by in (0, 1, -1)] == [False, False, True]
    assert number.lead(number, grid_bits=5) == 0


@either_side
@pytest.mark.parametrize("bucket", [0, 1, 2])
@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (10**29, 10**30, 10**28, 10**29)])
def test_choice(bucket: int, counts: tuple[int, ...], sign: int, distance: int) -> None:
    scores = (3, 1, 0, 5)

    def weights() -> list[flint.arb]:
        return [ball(count) * (ball(score) / 2).exp() for count, score in zip(counts, scores, strict=True)]

    border = point(lambda: sum(weights()[: bucket + 1], flint.arb(0)) / sum(weights(), flint.arb(0)))
    # The words after those of the choice say which member of the group; they are small, so always in range.
    bits = Tail(*words_at(border, sign, distance))
    finish = choose(scores, k=1, rate="1/2", multiplicities=counts, bits=bits)
    assert finish.groups == (bucket + (sign > 0),)


class Tail(Scripted):
    """The given words to whoever asks for digits, and zeros to whoever asks for anything else."""

    def words(self, count: int) -> Words:
        return super().words(count) if count == 1 else np.zeros(count, dtype=np.uint64)

    def read(self, size: int) -> bytes:
        return super().read(size) if size == 8 else bytes(size)


class Named:
    """Streams given word by word, by (group, order)."""

    def __init__(self, streams: dict[tuple[int, int], list[int]]) -> None:
        self._streams = streams

    def heads(self, groups: NDArray[np.intp], orders: NDArray[np.intp]) -> Words:
        def pairs() -> Iterator[int]:
            for group, order in np.broadcast(groups, orders):
                yield self.more(int(group), int(order), 0)

        shape = np.broadcast_shapes(groups.shape, orders.shape)
        return np.array(list(pairs()), dtype=np.uint64).reshape(shape)

    def more(self, group: int, order: int, known: int) -> int:
        return self._streams[group, order][known // 64]


@either_side
@pytest.mark.parametrize("name", NOISES)
def test_the_second_of_a_group_against_another(name: NoiseName, sign: int, distance: int) -> None:
    """The second largest of three, with a handicap and a scale of its own, just below or above a lone candidate."""
    first, second = Fraction(3, 5), Fraction(1, 3)
    handicap, factor = Fraction(2, 7), Fraction(5, 3)

    def rival() -> flint.arb:
        rate = -(ball(first).log()) / 3 - ball(second).log() / 2
        return ball(4) / 2 + ball(handicap) + ball(factor) * NOISES[name].from_rate_ball(rate)

    border = point(lambda: distribution(name, rival() - ball(3) / 2))
    streams = Named(
        {
            (0, 1): words_at(border, sign, distance),
            (1, 1): words_at(first, 1, 500),
            (1, 2): words_at(second, 1, 500),
            (1, 3): [2**63] * WORDS,
        }
    )
    lineup = Lineup(
        np.array([3, 4]), Fraction(1, 2), np.array([1.0, 3.0]), [1, 3], specials={1: Special(handicap, factor)}
    )
    heat = Heat(lineup, NOISES[name], streams, places=3)
    places = list(zip(heat.groups, heat.orders, strict=True))
    assert places.index((0, 1)) < places.index((1, 2)) if sign > 0 else places.index((1, 2)) < places.index((0, 1))
    with ball_precision(500):
        low, high = rational_bounds(rival() * 2 * 2**20)
    assert heat.value(places.index((1, 2)), 20, Fraction(1)) == Fraction(low // 1, 2**20)
    assert low // 1 == high // 1


@either_side
def test_a_gap_at_a_border_of_the_grid(sign: int, distance: int) -> None:
    """Two equal scores whose noises differ by almost exactly 3/4 of a score."""
    behind = Fraction(2, 3)
    border = point(
        lambda: distribution("laplace", NOISES["laplace"].from_rate_ball(-(ball(behind).log())) + 3 / ball(8))
    )
    streams = Named({(0, 1): words_at(border, sign, distance), (1, 1): words_at(behind, 1, 500)})
    heat = Heat(Lineup(np.array([5, 5]), Fraction(1, 2)), NOISES["laplace"], streams, places=2)
    assert heat.groups == [0, 1]
    expected = Fraction(3, 4) if sign > 0 else Fraction(2, 4)
    assert heat.gap(0, 2, Fraction(1)) == expected


def test_own_scales_and_handicaps_are_in_score_units() -> None:
    """Two planted numbers: 10 + 6 + 4 z against 17 + 2 z, z known."""
    words = (1 << 62, 3 << 62)
    finish = race(
        [10, 17], k=2, scale=2, noise="laplace", handicaps={0: Fraction(6)}, scales={0: Fraction(4)},
        gap_bits=30, value_bits=30, bits=Scripted(*words, *[7] * 40),
    )  # fmt: skip
    with ball_precision(200):
        log2 = flint.arb(2).log()
        values = [rational_bounds((16 - 4 * log2) * 2**30)[0], rational_bounds((17 + 2 * log2) * 2**30)[0]]
    assert finish.groups == (1, 0)
    assert [abs(found - exact / 2**30) < Fraction(2, 2**30) for found, exact in zip(
        finish.values, reversed(values), strict=True
    )] == [True, True]  # fmt: skip
    assert abs(finish.gaps[0] - (values[1] - values[0]) / 2**30) < Fraction(2, 2**30)


@pytest.mark.parametrize("name", NOISES)
def test_a_stream_asked_twice_goes_on_with_the_same_digits(name: NoiseName) -> None:
    """Values and gaps to 200 digits come from the same numbers, far beyond the digits drawn at first."""
    for seed in range(5):
        finish = race(
            [5, 3, 9, 9], k=3, multiplicities=[1, 2, 1, 3], scale=2, noise=name, gap_bits=200, value_bits=200,
            bits=ReplayableBits(seed),
        )  # fmt: skip
        leads = [ahead - behind for ahead, behind in itertools.pairwise(finish.values)]
        assert all(abs(lead - gap) <= Fraction(2, 2**200) for lead, gap in zip(leads, finish.gaps, strict=False))


def test_digits_are_appended_and_never_drawn_anew() -> None:
    head = 0x9E3779B97F4A7C15
    uniform = Uniform(KeyedStreams(1), 0, 1, head)
    longest = uniform.digits(300)
    assert longest.bit_length() == 300
    assert [uniform.digits(count) for count in (64, 100, 200, 300)] == [
        head, longest >> 200, longest >> 100, longest,
    ]  # fmt: skip


def test_the_float_difference_of_two_bounds_is_itself_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 - 2^-60 is 1 in floats: the floor is not certain and the exact stage must decide."""
    heat = Heat(Lineup(np.array([7, 7]), Fraction(1)), NOISES["laplace"], KeyedStreams(1), places=2)
    groups, orders = heat._finish.groups, heat._finish.orders
    monkeypatch.setattr(sys.modules[Heat.__module__], "gap_floor", lambda *_: -77)
    heat._finish = Candidates(groups, orders, np.array([1.0, 0.0]), np.array([1.0, 2.0**-60]))
    assert heat.gap(0, 0, Fraction(1)) == -77
    heat._finish = Candidates(groups, orders, np.array([2.75, 0.25]), np.array([2.8, 0.5]))
    assert heat.gap(0, 0, Fraction(1)) == 2
