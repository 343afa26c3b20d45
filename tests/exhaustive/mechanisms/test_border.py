"""Border weights: every number of items, every floor that can be chosen, every number that a user can have of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.mechanisms.gaussian.border import EDGES, BorderWeights, bucket_ends, energy, floor_for
from podium.mechanisms.weights import Weights
from podium.sources import CountQuery

SALT = "0" * 32


def floors(items: int) -> list[Fraction]:
    """All that ``floor_for`` can answer, and some that it cannot."""
    most = max(energy(items, items), energy(1, items))
    usual = {min(max(Fraction(end), energy(1, items)), most) for end in (*bucket_ends(items), items)}
    return sorted({*usual, Fraction(1, 1000), Fraction(4), most * 3})


def moved(weights: Weights, items: int, number: int) -> Fraction:
    """The squared length by which a user with so many items moves the differences, from the vectors themselves."""
    weight = Fraction(weights.weight(number), weights.unit)
    counts = [weight] * number + [Fraction(0)] * (items - number)
    mean = weight * number / items
    return sum(((count - mean) ** 2 for count in counts), start=Fraction(0))


@pytest.mark.parametrize("items", range(2, 13))
def test_nobody_moves_the_differences_by_more_than_is_charged(items: int) -> None:
    for floor in floors(items):
        border = BorderWeights(items, floor)
        weights = border.weights
        worst = max(moved(weights, items, number) for number in range(1, items + 1))
        assert worst == border.sensitivity_squared, f"{floor=}"
        assert border.sensitivity_squared <= 1
        # What the floor leaves unused, and the rounding of weights, is all that is missing to 1.
        full = energy(items, items) / max(floor, energy(items, items))
        assert border.sensitivity_squared >= full * (1 - Fraction(1, 2**15))
        assert moved(weights, items, items) == 0


@pytest.mark.parametrize("items", [2, 3, 16, 17, 100, 101, 999, 1000, 10_000])
def test_a_source_takes_the_weights(items: int) -> None:
    for floor in floors(items)[:: 1 if items < 200 else 5]:
        border = BorderWeights(items, floor)
        weights, charged = border.weights, border.sensitivity_squared
        steps = weights.steps
        # The reading refuses steps that a source could not run: too many, rising weights, another end than the cap.
        assert CountQuery(("item",), "user", max_items_per_user=items, salt=SALT, weights=steps).weights == steps
        assert len(steps) <= 100
        assert weights.cap == items
        assert 0 < charged <= 1
        for (before, _), (end, weight) in zip([(0, 0), *steps], steps, strict=False):
            for number in {before + 1, (before + end) // 2 + 1, end} - {end + 1}:
                assert weight**2 * number * (items - number) <= charged * items * weights.unit**2


def test_light_users_keep_the_full_weight_up_to_the_floor() -> None:
    weights = BorderWeights(100, Fraction(9)).weights
    # 10 of 100 items move the differences by 10 * 90 / 100 = 9 in squared length: still within the floor.
    assert weights.weight(1) == weights.weight(10) == weights.unit // 3
    assert weights.weight(11) < weights.weight(10)
    assert weights.weight(50) == weights.weight(100) == weights.unit // 5


def test_the_buckets_cover_every_number_of_items_once() -> None:
    assert EDGES[:9] == (1, 2, 3, 4, 5, 7, 9, 13, 17)
    assert list(EDGES) == sorted(set(EDGES))
    assert len(EDGES) <= 100
    for items in range(1, 2000):
        lower = [edge for edge in EDGES if edge <= items]
        ends = bucket_ends(items)
        assert len(ends) == len(lower)
        assert ends[-1] == items
        assert all(low <= high for low, high in zip(lower, ends, strict=True))
        assert all(high + 1 == low for high, low in zip(ends[:-1], lower[1:], strict=True))


def chosen(items: int, users: list[int], *, count: int = 100, mu_squared: Fraction = Fraction(1, 4)) -> Fraction:
    exact = [Fraction(number) for number in users]
    return floor_for(items, exact, Fraction(2), count=Fraction(count), mu_squared=mu_squared)


def test_light_users_get_a_low_floor_and_heavy_ones_a_high_one() -> None:
    number = len(bucket_ends(64))
    light = chosen(64, [1000] + [0] * (number - 1))
    heavy = chosen(64, [0] * (number - 1) + [1000])
    assert light == 1
    assert heavy == energy(64, 64)
    # Twenty of a thousand users are heavy: where much is paid for, bias decides, otherwise noise does.
    mixed = [1000] + [0] * (number - 2) + [20]
    rich, poor = (chosen(64, mixed, mu_squared=mu_squared) for mu_squared in (Fraction(100), Fraction(1, 10_000)))
    assert rich > poor


@pytest.mark.parametrize("items", range(2, 40))
def test_every_choice_is_one_that_the_weights_can_use(items: int) -> None:
    number = len(bucket_ends(items))
    for users in ([0] * number, [-50] * number, [1] * number, list(range(0, 100 * number, 100))):
        floor = chosen(items, users)
        assert energy(1, items) <= floor <= max(energy(items, items), energy(1, items))
        assert BorderWeights(items, floor).sensitivity_squared <= 1


def test_noise_alone_is_no_reason_for_a_choice() -> None:
    """Numbers within two standard deviations of 0 count as 0, so the answer is the one for nobody."""
    number = len(bucket_ends(64))
    assert chosen(64, [3, -3] * (number // 2) + [0] * (number % 2)) == chosen(64, [0] * number) == 4
    assert chosen(8, [0] * len(bucket_ends(8))) == energy(8, 8)
