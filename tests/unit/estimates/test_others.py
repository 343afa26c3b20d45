"""MeasureOthers: what it costs, how noisy it is, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import pytest

from podium.errors import InvalidArgument
from podium.estimates import MeasureOthers
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
    assert abs(sum(one.others for one in drawn) / 300 - 7) < 1.5
    assert abs(sum(one.total for one in drawn) / 300 - 20) < 1.5


def test_one_noise_is_stated() -> None:
    for stated in ({}, {"epsilon": 1, "sigma": 1}):
        with pytest.raises(InvalidArgument, match="sigma"):
            MeasureOthers(**stated)


def test_it_survives_json() -> None:
    beside = Beside(3, 20, "laplace", "2/3")
    assert Beside.from_dict(beside.to_dict()) == beside
    assert Beside.from_dict(None) is None
    for wrong in ({"noise": "cauchy"}, {"scale": "0"}, {"others": "3"}, {"total": True}):
        with pytest.raises((InvalidArgument, TypeError, ValueError, KeyError)):
            Beside.from_dict({**beside.to_dict(), **wrong})
