"""The sampler of TestedTopK against its distribution, on both sides of the test at once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value

from podium.histogram import Histogram
from podium.mechanisms.tested import TestedTopK
from podium.randomness.replay import ReplayableBits

_BOTH = Histogram({"a": 29, "b": 23, "c": 9, "d": 3})


@pytest.mark.parametrize("delta", [0, "0.01"])
def test_releases_follow_the_distribution(delta: Any) -> None:
    bits = ReplayableBits(3)
    mechanism = TestedTopK(2, 2, delta=delta, share="1/4")
    distribution: Any = mechanism.distribution(_BOTH)
    sets = sum(chance for outcome, chance in distribution.items() if isinstance(outcome, frozenset))
    assert 0.2 < sets < 0.99
    assert p_value([mechanism.release(_BOTH, bits=bits).outcome for _ in range(1000)], distribution) > FALSE_ALARM


def test_the_test_follows_its_odds_and_no_other() -> None:
    bits = ReplayableBits(5)
    mechanism = TestedTopK(2, 2, share="1/4")
    ways: Any = [isinstance(mechanism.release(_BOTH, bits=bits).outcome, frozenset) for _ in range(1500)]

    def distribution(scale: Fraction) -> Any:
        odds = float(mechanism.log_odds(_BOTH) / scale)
        chance = 1.0 / (1.0 + math.exp(-odds))
        return {True: chance, False: 1.0 - chance}

    assert_three_way(ways, distribution, scale=Fraction(1))
