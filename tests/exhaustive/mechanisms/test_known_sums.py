"""Known domains on sums of contributions, plain and quantised: the shipped mechanisms take them as scores."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.support.worlds import check_bounded_range, check_pair

from podium.errors import InvalidArgument
from podium.histogram import Scores
from podium.mechanisms import ExponentialTopK, NoisyTopK, PermuteAndFlip, RisingTopK
from podium.mechanisms.measures.quantised import quantise, quantising_bits

ITEMS, CLIP = ("a", "b", "c"), 3
MECHANISMS: list[Any] = [
    ExponentialTopK(2, "0.5"),
    RisingTopK(2, "0.5"),
    NoisyTopK(2, "0.5"),
    PermuteAndFlip("0.5"),
]


def pairs(contributions: range = range(CLIP + 1)) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for before in ((0, 0, 0), (1, 2, 4), (5, 5, 0), (2, 0, 7)):
        for user in itertools.product(contributions, repeat=len(ITEMS)):
            yield before, tuple(s + amount for s, amount in zip(before, user, strict=True))


def scores(sums: tuple[int, ...], change: Callable[[int], Any], **moves: Any) -> Scores:
    return Scores({item: change(s) for item, s in zip(ITEMS, sums, strict=True)}, **moves)


def test_the_example_of_peeling_on_sums() -> None:
    found = ExponentialTopK(2, "1/2").distribution(Scores({0: 13, 1: 10, 2: 10, 3: 1}, rises_by=4))
    assert found[0, 1] == pytest.approx(0.1655966369454473, rel=1e-14)
    assert found[0, 3] == pytest.approx(0.05376135677058431, rel=1e-14)
    assert found[1, 0] == pytest.approx(0.1384906293779421, rel=1e-14)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("bits", [None, 0, 1, 2])
def test_sums_and_quantised_sums_keep_the_promise(mechanism: Any, bits: int | None) -> None:
    for before, after in pairs():
        left, right = (
            mechanism.distribution(
                scores(s, lambda x: x, rises_by=CLIP)
                if bits is None
                else scores(s, lambda x: quantise(x, clip=CLIP, bits=bits), rises_by=1 << bits),
                exact=True,
            )
            for s in (before, after)
        )
        check_pair(left, right, mechanism.guarantee)


def test_signed_sums_have_both_directions() -> None:
    def law(sums: tuple[int, ...]) -> Any:
        return ExponentialTopK(1, 1).distribution(scores(sums, lambda x: x, rises_by=2, falls_by=1), exact=True)

    for before, after in pairs(range(-1, 3)):
        check_bounded_range(law(before), law(after), 1)


def test_a_step_that_does_not_divide_the_clip_is_rejected() -> None:
    """Steps of 2/3 of the clip: a score of 1 and a contribution of 3 is two steps, 4/3 of the clip."""

    def law(sums: tuple[int, ...]) -> Any:
        return ExponentialTopK(1, 1).distribution(scores(sums, lambda x: 2 * (x // 2), rises_by=CLIP), exact=True)

    with pytest.raises(AssertionError, match=r"1\.333"):
        check_bounded_range(law((1, 0, 0)), law((4, 0, 0)), 1)


def test_a_forgotten_clip_is_rejected() -> None:
    def law(sums: tuple[int, ...]) -> Any:
        return ExponentialTopK(1, 1).distribution(scores(sums, lambda x: x, rises_by=1), exact=True)

    with pytest.raises(AssertionError, match="above"):
        check_bounded_range(law((0, 0, 0)), law((3, 0, 0)), 1)


def test_a_quantised_score_moves_by_no_more_than_its_own_clip() -> None:
    for clip, bits, score in itertools.product((1, 2, 3, 5, 7, 48), range(5), range(60)):
        moves = {
            quantise(score + amount, clip=clip, bits=bits) - quantise(score, clip=clip, bits=bits)
            for amount in range(clip + 1)
        }
        assert min(moves) == 0
        assert max(moves) == 1 << bits
    # A step of clip >> bits units would not do.
    assert max((score + 5) // (5 >> 1) - score // (5 >> 1) for score in range(9)) > 5 / (5 >> 1)


@pytest.mark.parametrize(
    ("epsilon", "bits"), [("0.01", 0), (Fraction(1, 32), 0), ("0.05", 1), ("0.5", 4), ("0.51", 5), (1, 5), (2, 6)]
)
def test_the_usual_number_of_bits(epsilon: Any, bits: int) -> None:
    assert quantising_bits(epsilon) == bits
    with pytest.raises(InvalidArgument, match="epsilon"):
        quantising_bits(0)
