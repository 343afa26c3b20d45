"""RisingTopK: its quarters, its distribution by hand, what leaves the domain, and error texts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import RisingTopK
from podium.mechanisms.rising import rising_schedule
from podium.privacy import bounded_range_curve, calibrate_epsilon, calibrate_schedule
from podium.privacy.events import Selection
from podium.privacy.theorems.adaptive_optimum import adaptive_optimum, scheduled_optimum
from podium.randomness.replay import ReplayableBits


def test_quarters() -> None:
    assert [rising_schedule(k) for k in (1, 2, 3)] == [(6,), (4, 6), (4, 5, 6)]
    assert Counter(rising_schedule(10)) == {3: 2, 4: 3, 5: 2, 6: 3}
    mechanism = RisingTopK(4, "0.1")
    assert mechanism.quarters == tuple((1, Fraction(rate, 10)) for rate in (3, 4, 5, 6))
    assert mechanism.worst_case == tuple(Selection(Fraction(rate, 10)) for rate in (3, 4, 5, 6))


def test_the_distribution_by_hand() -> None:
    distribution: Any = RisingTopK(2, "0.1").distribution(Histogram({"a": 3, "b": 1, "c": 0}))
    first = [math.exp(0.4 * count) for count in (3, 1, 0)]
    then = [math.exp(0.6 * count) for count in (1, 0)]
    assert len(distribution) == 6
    assert distribution["a", "b"] == pytest.approx(first[0] / sum(first) * then[0] / sum(then), rel=1e-12)


@pytest.mark.parametrize("counts", [[5, 4, 4, 4, 2, 2, 0, 0], [0] * 8])
def test_no_item_comes_twice(counts: list[int]) -> None:
    sparse = Histogram({place: count for place, count in enumerate(counts) if count}, domain_size=8)
    for seed in range(20):
        for histogram in (sparse, Histogram(dict(enumerate(counts)))):
            release = RisingTopK(8, "0.3").release(histogram, bits=ReplayableBits(seed))
            assert (len(release.outcome), set(release.outcome)) == (8, set(range(8)))
            assert release.ordered


def test_equal_epsilons_are_the_adaptive_optimum() -> None:
    assert scheduled_optimum("1/30", (3,) * 40, "1e-6", resolution=8) == adaptive_optimum(
        "0.1", 40, "1e-6", resolution=24
    )


def test_the_schedule_lies_between_a_curve_and_a_gaussian_guess() -> None:
    factors = rising_schedule(40)
    found = scheduled_optimum("0.02", factors, "1e-6", resolution=8)
    assert found < bounded_range_curve([Fraction(factor, 50) for factor in factors], "1e-6")
    sizes = Counter(factors)
    alone = [adaptive_optimum(Fraction(factor, 50), count, "1e-6") for factor, count in sizes.items()]
    assert max(alone) < found, "more selections lose more"
    finer = scheduled_optimum("0.02", factors, "1e-6", resolution=16)
    assert found * Fraction(99, 100) < finer <= found


def test_the_order_of_unequal_epsilons_matters_and_is_the_one_given() -> None:
    def worst(first: float, second: float, total: float) -> float:
        """The first selection by trying many t, the second in closed form: from below, as near as the grid of t."""

        def alone(g: float) -> float:
            return 0.0 if g >= second else (1 - math.exp((max(g, -second) - second) / 2)) ** 2 / -math.expm1(-second)

        chances = [(first * i / 500, math.expm1(-first * i / 500) / math.expm1(-first)) for i in range(501)]
        return max(q * alone(total - first + t) + (1 - q) * alone(total + t) for t, q in chances)

    rising = float(scheduled_optimum("1/2", (1, 4), "0.1", resolution=32))
    falling = float(scheduled_optimum("1/2", (4, 1), "0.1", resolution=32))
    assert 0.0999 < worst(0.5, 2, rising) <= 0.1
    assert 0.0999 < worst(2, 0.5, falling) <= 0.1
    assert worst(0.5, 2, falling) > 0.101


def test_what_is_calibrated_fits_and_hardly_more_does() -> None:
    unit = calibrate_schedule(rising_schedule(20), epsilon=1, delta="1e-6")
    nodes = 5
    assert scheduled_optimum(unit, rising_schedule(20), "1e-6", resolution=nodes) <= 1
    assert scheduled_optimum(unit * Fraction(1002, 1000), rising_schedule(20), "1e-6", resolution=nodes) > 1
    equal = calibrate_epsilon(20, epsilon=1, delta="1e-6", delta_for_calls=0).epsilon_per_item
    assert 3 * unit < equal < 6 * unit
    assert calibrate_schedule((1, 2), epsilon=1, delta=0) == Fraction(1, 3)


def test_a_test_before_costs_at_most_what_it_moves() -> None:
    factors = rising_schedule(12)
    plain = scheduled_optimum("0.02", factors, "1e-6", resolution=8)
    totals = [scheduled_optimum("0.02", factors, "1e-6", resolution=8, test=test) for test in ("0.01", "0.1", "0.5")]
    assert plain < totals[0] < totals[1] < totals[2] < plain + Fraction(1, 2)
    assert totals[0] < plain + Fraction(1, 1000), "one of small log odds is nearly free"


def test_error_texts() -> None:
    wrong: Any = RisingTopK
    for call, text in (
        (lambda: wrong(0, 1), "k=0 is not valid. Allowed: an integer, 1 or more."),
        (lambda: wrong(1, 0), "unit=0 is not valid. Allowed: a number above 0."),
        (lambda: wrong(1, 1, monotone=1), "monotone=1 is not valid. Allowed: True or False."),
        (
            lambda: calibrate_schedule((1,), epsilon=1, delta=0, test=1),
            "test=1 is not valid. Allowed: a number with 0 <= value < epsilon=1.",
        ),
        (
            lambda: scheduled_optimum(1, (), "1e-6", resolution=8),
            "multiples=() is not valid. Allowed: at least one integer above 0.",
        ),
        (
            lambda: scheduled_optimum(1, (1,), "1e-6", resolution=8, test=-1),
            "test=-1 is not valid. Allowed: a number, 0 or more.",
        ),
    ):
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert str(caught.value) == text
