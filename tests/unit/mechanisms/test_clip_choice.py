"""The private choice of a clip: what it costs, what one user can do to it, and the rule."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from tests.support.measures import bucket_of, clip_histograms, user_histograms

from podium.errors import InvalidArgument
from podium.mechanisms.measures.amounts import MEASURING, Amounts, estimate_amounts, selection_noise
from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION, ClipChoice
from podium.privacy import GaussianNoise
from podium.randomness.replay import ReplayableBits

PAIRS = (400.0, 900.0, 1500.0, 1200.0, 600.0, 200.0, 20.0, 5.0)
USERS = (300.0, 700.0, 1500.0, 1500.0, 700.0, 120.0)


def test_the_example_of_the_rule() -> None:
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    assert amounts.pairs == (*PAIRS[:6], 0.0, 0.0)
    assert amounts.total == 138543.4375


@pytest.mark.parametrize(
    ("epsilon", "unknown", "clip", "costs"),
    [
        (0.05, False, 4, (218321.6151, 61592.39187, 40246.51254, 70075.75011, 191833.0939)),
        (0.5, False, 8, (200010.9958, 39551.48842, 7005.383919, 1551.473639, 1966.436229)),
        (0.05, True, 1, (1443785.538, 1536710.827, 2264955.756, 4656159.242, 12898925.96)),
        (0.5, True, 4, (212803.5489, 54950.17182, 30229.00615, 49425.35688, 134615.1072)),
    ],
)
def test_the_costs_of_the_example(epsilon: float, unknown: bool, clip: int, costs: tuple[float, ...]) -> None:
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    noise = selection_noise(epsilon, 1 + math.log(100 / 1e-6) / epsilon if unknown else 0.0)
    found = [amounts.cost(1 << j, k=20, noise=noise, bias=0.15) for j in range(5)]
    assert found == pytest.approx(costs, rel=1e-9)
    assert amounts.best_clip(k=20, noise=noise) == clip


def test_measuring_takes_a_larger_clip_than_selecting() -> None:
    """What is clipped is missing from a value in full, but from all places of a list alike."""
    amounts = estimate_amounts(PAIRS, USERS, 10.0)
    assert amounts.best_clip(k=20, noise=10.0) < amounts.best_clip(k=20, noise=10.0, bias=MEASURING)


@pytest.mark.parametrize("pairs", [PAIRS, (0.0,) * 8])
def test_a_clip_of_1_where_nothing_stands_out(pairs: tuple[float, ...]) -> None:
    assert estimate_amounts(pairs, USERS, 1e6).best_clip(k=3, noise=1.0) == 1
    assert estimate_amounts((0.0,) * 8, USERS, 1.0).best_clip(k=3, noise=1.0) == 1
    assert estimate_amounts(pairs, (0.0,) * 6, 1.0).best_clip(k=3, noise=1.0) == 1


def test_amounts_beyond_a_gap_are_noise() -> None:
    amounts = estimate_amounts((50.0, 0.0, 90.0, 40.0, 29.0, 31.0), (100.0,), 10.0)
    assert amounts.pairs == (50.0, 0.0, 90.0, 40.0, 0.0, 0.0)


def test_the_weight_of_a_pair_in_rounds() -> None:
    assert Amounts((1.0,), (5.0,)).spread == 1.0
    assert Amounts((1.0,), (0.0, 0.0, 0.0, 5.0)).spread == pytest.approx(1 / math.sqrt(6))
    assert Amounts((0.0,), (0.0,)).spread == 1.0


def test_buckets() -> None:
    assert [bucket_of(amount) for amount in (1, 2, 3, 4, 5, 8, 9, 2**39, 2**39 + 1, 2**40, 2**70)] == [
        0, 1, 2, 2, 3, 3, 4, 39, 40, 40, 40
    ]  # fmt: skip


def test_one_user_moves_the_histograms_by_less_than_the_claim() -> None:
    """Squared length at most 2, attained by users whose amounts are alike."""
    claimed = ClipChoice(1).event.sensitivity_squared
    found = []
    for size in range(1, 5):
        for amounts in itertools.combinations_with_replacement((1, 2, 3, 9), size):
            parts, users = user_histograms(amounts)
            found.append(sum(Fraction(part, RESOLUTION) ** 2 for part in parts) + sum(number**2 for number in users))
    assert max(found) == claimed == 2
    # Pairs that are not shares of their user move further than that.
    assert sum(number**2 for number in (4, 0)) + 1 > claimed


def test_what_it_costs() -> None:
    choice = ClipChoice("0.0003")
    event = choice.event
    assert event == GaussianNoise(choice.sigma, sensitivity_squared=2)
    assert choice.rho * (1 - Fraction(1, 10**8)) < event.rho == 1 / choice.sigma**2 <= choice.rho


def test_a_release_is_an_exact_draw_that_can_be_replayed() -> None:
    choice, table = ClipChoice("0.5", buckets=6), [{"a": 3, "b": 4}] * 400 + [{"a": 1}] * 100
    histograms = clip_histograms(table, 6)
    assert histograms == ((100 * RESOLUTION, 0, 400 * RESOLUTION, 0, 0, 0), (100, 400, 0, 0, 0, 0))
    pairs, users = choice.noisy(histograms, bits=ReplayableBits(1))
    assert pairs[2] != 400
    assert abs(pairs[2] - 400) < 15
    assert abs(users[0] - 100) < 15
    amounts = choice.release(histograms, bits=ReplayableBits(1))
    assert amounts.pairs[0] == float(pairs[0])
    assert amounts.best_clip(k=1, noise=0.1) == 4


def test_nothing_is_known_of_an_empty_table() -> None:
    assert clip_histograms([]) == ((0,) * BUCKETS, (0,) * BUCKETS)
    for seed in range(20):
        amounts = ClipChoice("0.01").release(clip_histograms([]), bits=ReplayableBits(seed))
        assert amounts.best_clip(k=10, noise=5.0) <= 2**40


def test_what_is_refused() -> None:
    for arguments, name in (((0,), "rho"), (("x",), "rho")):
        with pytest.raises(InvalidArgument, match=name):
            ClipChoice(*arguments)
    for buckets in (0, 42):
        with pytest.raises(InvalidArgument, match="buckets"):
            ClipChoice(1, buckets=buckets)
    with pytest.raises(InvalidArgument, match="41 buckets"):
        ClipChoice(1).noisy(((0,), (0,)))
