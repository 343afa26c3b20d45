"""OneshotLaplace: draws of the set against its distribution, and of the measured values against Laplace noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.support import draws
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.draws import check_three_ways, distribution, outcomes

from podium.histogram import Histogram, KnownDomain
from podium.mechanisms.oneshot import OneshotLaplace
from podium.randomness.replay import ReplayableBits

DRAWS = 2_000
MANY_DRAWS = 5_000
DATA: dict[str, KnownDomain] = {**draws.DATA, "all": Histogram({"a": 3, "b": 1})}


@pytest.mark.parametrize("name", DATA)
def test_sets_follow_their_distribution(name: str) -> None:
    data = DATA[name]
    mechanism = OneshotLaplace(2, "1.5")
    assert p_value(outcomes(mechanism, data, 1), distribution(mechanism, data)) > FALSE_ALARM


def test_three_ways() -> None:
    check_three_ways(lambda scale: OneshotLaplace(2, 4 / scale), DATA["distinct"], 2)


def test_the_approximate_scale_is_the_one_in_use() -> None:
    """Counts are chosen so far apart that noise of some hundreds matters; the pure scale would be 5."""
    data = Histogram({"a": 300, "b": 100, "c": 0})
    mechanism = OneshotLaplace(1, "0.2", delta="0.01")
    scale = 8 * math.sqrt(math.log(3 / 0.01)) / 0.2

    assert_three_way(
        outcomes(mechanism, data, 3, count=MANY_DRAWS),
        lambda factor: distribution(OneshotLaplace(1, Fraction(1 / scale) / factor), data),
        scale=Fraction(1),
    )


def test_measured_values_have_fresh_laplace_noise_of_that_scale() -> None:
    data = DATA["distinct"]
    mechanism = OneshotLaplace(2, 1)
    bits = ReplayableBits(4)
    noise = []
    for _ in range(DRAWS):
        measured = mechanism.measure(mechanism.release(data, bits=bits), data, bits=bits)
        truth = {"a": 3, "b": 1, "c": 0}
        noise += [
            float(value) - truth[str(item)] for item, value in zip(measured.items, measured.values or (), strict=True)
        ]
    # Fresh noise does not know which items were selected: no bias, whatever was chosen.
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        p = stats.kstest(np.array(noise) + 2.0**-21, stats.laplace(scale=2 * factor).cdf).pvalue
        assert bool(p > FALSE_ALARM) is fits
