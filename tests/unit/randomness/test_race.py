"""The race at its edges: ties, empty input, huge multiplicities, broken bits, threads, bad arguments."""

from __future__ import annotations

import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from podium.errors import EntropyFailure, InvalidArgument
from podium.randomness import Finish, choose, race
from podium.randomness.grouping import group_equal
from podium.randomness.integers import uniform_below
from podium.randomness.replay import ConstantBits, ReplayableBits

SAMPLERS = [race, lambda scores, scale=1, **more: choose(scores, rate=1 / Fraction(scale), **more)]
both = pytest.mark.parametrize("sample", SAMPLERS, ids=["race", "choose"])


@both
def test_nobody_takes_part(sample: Any) -> None:
    assert sample([], k=3) == Finish((), ())


@both
def test_more_places_than_candidates(sample: Any) -> None:
    finish = sample([5, 1, 3], k=10, multiplicities=[1, 2, 1])
    assert sorted(zip(finish.groups, finish.members, strict=True)) == [(0, 0), (1, 0), (1, 1), (2, 0)]


@both
def test_a_clear_order_is_reproduced(sample: Any) -> None:
    assert sample([0, 2**61, -(2**61), 2**60], k=4, scale=1).groups == (1, 3, 0, 2)


@both
@pytest.mark.parametrize("huge", [10**18, 10**400], ids=["1e18", "1e400"])
def test_astronomic_multiplicities(sample: Any, huge: int) -> None:
    finish = sample([0, 5], k=50, multiplicities=[huge, 1], scale=1)
    assert set(finish.groups) == {0}
    assert len(set(finish.members)) == 50
    assert all(0 <= member < huge for member in finish.members)


@both
def test_scores_of_any_exact_kind_are_the_same_scores(sample: Any) -> None:
    kinds: list[list[Any]] = [
        [Fraction(1, 2), Fraction(-3, 4), Fraction(2)],
        ["0.5", "-0.75", "2"],
        [0.5, -0.75, 2.0],
        [Decimal("0.5"), Decimal("-0.75"), 2],
    ]
    finishes = {sample(scores, k=3, scale="1/3", bits=ReplayableBits(5)) for scores in kinds}
    assert len(finishes) == 1


@pytest.mark.parametrize("scale", [Fraction(1, 10), Decimal("0.1"), "0.1", 0.1, "1/10"])
def test_a_float_scale_is_the_decimal_it_prints(scale: object) -> None:
    expected = race([3, 1, 2], k=2, scale=Fraction(1, 10), gap_bits=40, noise="laplace", bits=ReplayableBits(1))
    assert race([3, 1, 2], k=2, scale=scale, gap_bits=40, noise="laplace", bits=ReplayableBits(1)) == expected


def test_extreme_scales_are_decided_exactly() -> None:
    assert race([1, 0, 2], k=3, scale=Fraction(1, 10**300)).groups == (2, 0, 1)
    wide = [race([1, 0, 2], k=3, scale=10**300).groups for _ in range(60)]
    assert len(set(wide)) > 3


def test_gaps_are_multiples_of_the_grid_and_stop_at_the_last_loser() -> None:
    finish = race([9, 7, 5, 1], k=2, scale=1, noise="exponential", gap_bits=4)
    assert len(finish.gaps) == 2
    assert all(gap >= 0 and (gap * 16).denominator == 1 for gap in finish.gaps)
    assert len(race([9, 7], k=2, gap_bits=4).gaps) == 1
    assert race([9], k=1, gap_bits=4).gaps == ()


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_ties_on_constant_bits_are_refused_not_broken_by_index(byte: int) -> None:
    with pytest.raises(EntropyFailure, match="undecided after 32768 random bits"):
        race([1, 1], k=1, bits=ConstantBits(byte))


def test_constant_bits_where_nothing_is_open() -> None:
    """All-zero bits bound exponential noise by almost nothing, so distinct scores are decided."""
    assert race([1, 2], k=2, noise="exponential", bits=ConstantBits(0x00)).groups == (1, 0)
    assert race([4], k=1, bits=ConstantBits(0xFF)).groups == (0,)


def test_constant_bits_in_uniform_integers() -> None:
    with pytest.raises(EntropyFailure, match="rejected"):
        uniform_below(5, ConstantBits(0xFF))
    assert uniform_below(5, ConstantBits(0x00)) == 0
    assert uniform_below(1, ConstantBits(0xFF)) == 0


@pytest.mark.parametrize("shape", ["skewed", "flat", "wide", "all small"])
def test_grouping_raw_scores_names_the_right_rows(shape: str) -> None:
    count = 5000
    scores = {
        "skewed": np.concatenate([10**9 + np.arange(20) * 10**6, np.arange(count - 20) % 7]),
        "flat": np.full(count, 12),
        "wide": np.arange(count) * 10**7,
        "all small": np.arange(count) % 11 - 5,
    }[shape].astype(np.int64)
    assert (group_equal(scores) is None) == (shape == "wide")
    assert group_equal(np.arange(5000)) is None
    finish = race(scores, k=60, scale=Fraction(1, 1000), bits=ReplayableBits(2))
    assert len(set(finish.groups)) == 60
    assert finish.members == (0,) * 60
    # At this scale the noise cannot bridge a difference of one.
    assert [int(scores[i]) for i in finish.groups] == sorted(scores.tolist(), reverse=True)[:60]


def test_threads_race_side_by_side() -> None:
    """python-flint's precision is process-wide; refinement in several threads must not disturb any of them."""
    outcomes: list[Finish] = []

    def work(seed: int) -> None:
        outcomes.extend(race([2**200, 2**200 + 1], k=1, gap_bits=300, bits=ReplayableBits(seed)) for _ in range(5))

    threads = [threading.Thread(target=work, args=(9,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 30
    assert len(set(outcomes)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
        ({"k": 2.0}, "k=2.0 is not valid. Allowed: an integer, 1 or more."),
        ({"scale": 0}, "scale=0 is not valid. Allowed: a number above 0."),
        ({"scale": "-1"}, "scale='-1' is not valid. Allowed: a number above 0."),
        (
            {"scale": float("nan")},
            "scale=nan is not valid. Allowed: an int, Fraction, Decimal, str or finite float.",
        ),
        (
            {"scale": "1e999999999"},
            "scale='1e999999999' is not valid. Allowed: at most 2000 digits before or after the point.",
        ),
        (
            {"scale": "one"},
            (
                "scale='one' is not valid. Allowed: an int, Fraction, Decimal, str or finite float. "
                "Write a number like '0.1' or '1e-6'."
            ),
        ),
        ({"gap_bits": 1.5}, "gap_bits=1.5 is not valid. Allowed: an integer."),
        (
            {"multiplicities": [1, 0]},
            "multiplicities=[1, 0] is not valid. Allowed: 2 integers, each 1 or more, one per score.",
        ),
        (
            {"multiplicities": [1]},
            "multiplicities=[1] is not valid. Allowed: 2 integers, each 1 or more, one per score.",
        ),
        ({"scores": "ab"}, "scores='ab' is not valid. Allowed: a sequence of exact numbers."),
        (
            {"scores": [1, float("inf")]},
            "scores=inf is not valid. Allowed: an int, Fraction, Decimal, str or finite float.",
        ),
        (
            {"scores": np.zeros((2, 2), dtype=np.int64)},
            "scores='array of shape (2, 2)' is not valid. Allowed: a one-dimensional array.",
        ),
        ({"scores": [True, 1]}, "scores=True is not valid. Allowed: an int, Fraction, Decimal, str or finite float."),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    given = {"scores": [1, 2], "k": 1, **arguments}
    with pytest.raises(InvalidArgument) as caught:
        race(given.pop("scores"), **given)
    assert str(caught.value) == message
