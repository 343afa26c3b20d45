"""MeasureOthers: what it costs, how noisy it is, and what it refuses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.support.distributions import FALSE_ALARM, p_value

from podium.errors import InvalidArgument
from podium.estimates import MeasureOthers
from podium.estimates.others import rest_of
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.privacy import total
from podium.privacy.events import GaussianNoise, LaplaceNoise
from podium.randomness.replay import ReplayableBits
from podium.release import Beside


def test_two_numbers_cost_what_was_stated() -> None:
    pure = MeasureOthers(epsilon="0.3")
    assert pure.events == (LaplaceNoise(Fraction(3, 20), discrete=True),) * 2
    assert total(pure.events).epsilon() == Fraction(3, 10)
    gaussian = MeasureOthers(sigma=5)
    assert gaussian.events == (GaussianNoise(5, discrete=True),) * 2
    assert total(gaussian.events).cost.rho == Fraction(1, 25)


def test_the_numbers_are_noisy_and_apart() -> None:
    bits = ReplayableBits(3)
    drawn = [MeasureOthers(epsilon=1).release(7, 20, bits=bits) for _ in range(300)]
    assert {one.noise for one in drawn} == {"laplace"}
    assert {one.scale for one in drawn} == {"2"}
    assert len({one.others - 7 for one in drawn}) > 5
    assert any(one.others - 7 != one.total - 20 for one in drawn)
    # The mean of 300 draws of scale 2 is off by more than 1.5 with probability below 1e-9.
    assert abs(float(sum(one.others for one in drawn)) / 300 - 7) < 1.5
    assert abs(float(sum(one.total for one in drawn)) / 300 - 20) < 1.5


def test_one_noise_is_stated() -> None:
    both: list[dict[str, Any]] = [{}, {"epsilon": 1, "sigma": 1}]
    for stated in both:
        with pytest.raises(InvalidArgument, match="sigma"):
            MeasureOthers(**stated)


def test_it_survives_json() -> None:
    beside = Beside(Fraction(3), Fraction(20), "laplace", "2/3")
    assert Beside.from_dict(beside.to_dict()) == beside
    assert Beside.from_dict(None) is None
    for wrong in ({"noise": "cauchy"}, {"scale": "0"}, {"others": "3"}, {"total": True}):
        with pytest.raises((InvalidArgument, TypeError, ValueError, KeyError)):
            Beside.from_dict({**beside.to_dict(), **wrong})
    amounts = Beside(Fraction(5, 2), Fraction(20), "gaussian", "2/3", Fraction(4))
    assert Beside.from_dict(amounts.to_dict()) == amounts
    assert amounts.in_amounts(Fraction(1, 2)) == Beside(Fraction(5, 4), Fraction(10), "gaussian", "1/3", Fraction(2))
    strange: list[dict[str, Any]] = [{"others": 3}, {"ceiling": "0"}, {"ceiling": 4}]
    for unfit in strange:
        with pytest.raises((InvalidArgument, TypeError, ValueError, KeyError)):
            Beside.from_dict({**amounts.to_dict(), **unfit})


def summed(users: Sequence[Sequence[int]], buckets: int) -> tuple[list[int], list[int]]:
    """What an engine reads: users by what they add to the items that are not listed, and what they add."""
    numbers, sums = [0] * buckets, [0] * buckets
    for values in users:
        total = min(sum(values), 2 ** (buckets - 1))
        if total:
            numbers[(total - 1).bit_length()] += 1
            sums[(total - 1).bit_length()] += total
    return numbers, sums


USERS = tuple(itertools.product(range(4), repeat=2))
"""Two items that are not listed, of which a user has 0 to 3 each."""


def test_one_user_moves_one_entry_by_one_and_the_sum_by_the_ceiling() -> None:
    """docs/proofs/others.md, Theorem 2: every world of two users, and every third one."""
    unbounded = 0
    for world in itertools.combinations_with_replacement(USERS, 2):
        for user in USERS:
            before, after = summed(world, 4), summed((*world, user), 4)
            moved = [new - old for old, new in zip(before[0], after[0], strict=True)]
            assert sum(map(abs, moved)) <= 1
            for place in range(4):
                step = rest_of(*after, place) - rest_of(*before, place)
                assert 0 <= step <= 2**place
                # At the ceiling it is the sum of what each adds.
                assert rest_of(*after, place) == sum(min(sum(values), 2**place) for values in (*world, user))
                unbounded += sum(user) > 2**place
    # Without a ceiling for each user a sum of clipped pairs moves further.
    assert unbounded > 0


def test_a_total_that_is_clipped_by_itself_does_not_add_up() -> None:
    """Negative control: a total of which each user adds at most a ceiling, minus the list, may be below 0."""
    world, listed, ceiling = [(3, 3)] * 5, 0, 3
    whole = sum(min(sum(values), ceiling) for values in world)
    assert whole - sum(values[listed] for values in world) == 0
    assert summed([values[1:] for values in world], 4)[1] == [0, 0, 15, 0]
    assert whole - sum(sum(values) for values in world) < 0


def law(value: int, scale: Fraction) -> float:
    """ln of the chance of one value of the discrete Laplace noise."""
    rate = float(1 / scale)
    return math.log(math.tanh(rate / 2)) - rate * abs(value)


def test_the_whole_of_it_is_as_private_as_stated() -> None:
    """Histogram, ceiling and sum together: the exact ratio of the chances of every outcome, on both sides."""
    step = MeasureOthers(epsilon=1, amounts=True).step
    world, seen = [(1, 0), (0, 2)], range(-3, 6)

    def chance(users: Sequence[Sequence[int]], noisy: Sequence[int], place: int, found: int, *, bounded: bool) -> float:
        numbers, sums = summed(users, 3)
        true = rest_of(numbers, sums, place) if bounded else sum(sums)
        each = sum(law(value - number, step.scale) for value, number in zip(noisy, numbers, strict=True))
        return each + law(found - true, 2**place * step.scale)

    worst = {True: 0.0, False: 0.0}
    for user, noisy, found in itertools.product(((1, 0), (2, 1)), itertools.product(seen, repeat=3), (-2, 0, 4, 9)):
        # Whatever rule turns the noisy numbers into a ceiling: here one that uses all three.
        place = sum(noisy) % 3
        for bounded in (True, False):
            pair = [chance(users, noisy, place, found, bounded=bounded) for users in (world, [*world, user])]
            worst[bounded] = max(worst[bounded], abs(pair[0] - pair[1]))
    assert worst[True] <= 1 + 1e-9
    assert worst[True] > 0.99
    # Negative control: the ceiling on the noise alone.
    assert worst[False] > 1.4


@pytest.mark.parametrize("how", [{"epsilon": 2}, {"sigma": 3}])
def test_the_sum_has_the_noise_that_is_stated(how: dict[str, Any]) -> None:
    measure, bits = MeasureOthers(amounts=True, **how), ReplayableBits(11)
    # Ten thousand users with 3 or 4: the ceiling is 4 whatever the noise.
    numbers, sums, listed = [0, 0, 10_000], [0, 0, 38_000], (Fraction(100), Fraction(7))
    drawn = [measure.release_rest(numbers, sums, listed, bits=bits) for _ in range(3000)]
    assert {(one.noise, one.scale, one.ceiling) for one in drawn} == {
        (measure.step.noise, str(4 * measure.step.scale), Fraction(4))
    }
    assert all(one.total == one.others + 107 for one in drawn)
    values = [int(one.others) - 38_000 for one in drawn]
    for scale, fits in ((1.0, True), (0.7, False), (1.3, False)):
        rate = 4 * float(measure.step.scale) * scale
        reach = range(-400, 401)
        if "epsilon" in how:
            weights = [math.exp(-abs(x) / rate) for x in reach]
        else:
            weights = [math.erf((x + 0.5) / rate / 2**0.5) - math.erf((x - 0.5) / rate / 2**0.5) for x in reach]
        chances: dict[Hashable, float] = {x: weight / sum(weights) for x, weight in zip(reach, weights, strict=True)}
        assert (p_value(values, chances) > FALSE_ALARM) is fits


def test_amounts_cost_what_two_numbers_cost() -> None:
    pure, gaussian = MeasureOthers(epsilon="0.3", amounts=True), MeasureOthers(sigma=5, amounts=True)
    assert pure.events == MeasureOthers(epsilon="0.3").events
    assert total(gaussian.events).cost.rho == total(MeasureOthers(sigma=5).events).cost.rho == Fraction(1, 25)
    noise = CorrelatedCounts(1, max_items=1, sigma=5 * 8, shared_sigma=0, clip=8)
    assert gaussian.events[1] == noise.event
    assert "a ceiling" in gaussian.describe_noise()
    assert str(gaussian.proof).endswith("Theorem 2")


@pytest.mark.parametrize(("how", "users"), [({"epsilon": 1}, 0), ({"epsilon": 1}, 10_000), ({"sigma": 3}, 0)])
def test_noise_alone_hardly_ever_makes_a_ceiling(how: dict[str, Any], users: int) -> None:
    """Of 41 entries one or none has users: an entry of noise that counted would be a ceiling of up to 2^40.

    Laplace noise has far longer tails than Gaussian noise of the same variance, and bars of its own.
    """
    measure, bits = MeasureOthers(amounts=True, **how), ReplayableBits(5)
    numbers, sums = [0, 0, users, *[0] * 38], [0, 0, 4 * users, *[0] * 38]
    drawn = [measure.release_rest(numbers, sums, (), bits=bits).ceiling for _ in range(400)]
    # Each is above 8 with a probability below 41 * 3.2e-5; the noise of this test is always the same.
    assert sum(ceiling is not None and ceiling > 8 for ceiling in drawn) <= 2


def test_an_empty_table_has_others_too() -> None:
    found = MeasureOthers(epsilon=1, amounts=True).release_rest([0] * 5, [0] * 5, (), bits=ReplayableBits(2))
    assert found.ceiling is not None
    assert abs(found.others) < 100 * found.ceiling
