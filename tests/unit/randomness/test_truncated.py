"""Truncated families: quantile, enclosures and balls say the same thing, and nothing lies outside of the bounds."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import scipy.special
from tests.support.noise_bounds import assert_bounds_are_sound_and_tight

from podium.errors import InvalidArgument
from podium.exact import ball, ball_precision
from podium.randomness import race_above
from podium.randomness.noise import exponential_bounds
from podium.randomness.replay import ReplayableBits
from podium.randomness.truncated import truncated_noise, truncated_stage_is_sound

BOUNDS = [Fraction(text) for text in ("1e-300", "1e-9", "0.67", "0.7", "1", "3", "9", "60")]
RATES = np.concatenate([10.0 ** np.arange(-299, -18, 19.0), 10.0 ** np.arange(-18, 2.7, 0.373), [np.log(2.0), 511.9]])
NAMES = ["gaussian", "laplace"]


def test_scipy_keeps_the_error_we_allow_here() -> None:
    assert truncated_stage_is_sound()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bound", ["0.001", "0.5", "1", "3", "8"])
def test_the_quantile_is_that_of_the_conditional_distribution(name: str, bound: str) -> None:
    noise, unit = truncated_noise(name, Fraction(bound))
    with mpmath.workdps(60):
        a = mpmath.mpf(bound)
        below = mpmath.ncdf if name == "gaussian" else lambda x: mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2
        for p in ("1e-9", "0.01", "0.3", "0.49999", "0.5", "0.50001", "0.9", "0.999999"):
            z = mpmath.mpf(noise.quantile(float(p))) * mpmath.mpf(unit.numerator) / unit.denominator
            found = (below(z) - below(-a)) / (below(a) - below(-a))
            assert float(found) == pytest.approx(float(p), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_float_bounds_enclose_the_ball_and_are_tight(name: str, bound: Fraction) -> None:
    noise, _ = truncated_noise(name, bound)
    assert_bounds_are_sound_and_tight(noise, RATES, 400)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_nothing_is_outside_and_the_screening_bound_holds(name: str, bound: Fraction) -> None:
    """|Z| <= bound, and Z <= -log(1 - V) + log 2 in the unit drawn, which lets the first pass drop candidates."""
    noise, unit = truncated_noise(name, bound)
    end = ball(bound / unit)
    with ball_precision(400):
        for rate in RATES:
            z = noise.from_rate_ball(flint.arb(float(rate)))
            assert abs(z) <= end + flint.arb(2) ** -100
            one_minus_v = -((-flint.arb(float(rate))).expm1())
            assert z <= -(one_minus_v.log()) + flint.arb(2).log()


@pytest.mark.parametrize("name", NAMES)
def test_infinite_ends_and_far_rates_are_legal(name: str) -> None:
    for bound in BOUNDS:
        noise, unit = truncated_noise(name, bound)
        low, high = noise.bounds(np.array([0.0, 513.0]), np.array([np.inf, 1e300]))
        assert np.all(low <= -float(bound / unit))
        assert high[0] >= float(bound / unit)
        assert -float(bound / unit) <= high[1] <= 0.0
        words = np.array([0, 1, 1 << 63, (1 << 63) - 1, 2**64 - 1], dtype=np.uint64)
        low, high = noise.bounds(*exponential_bounds(words, 52))
        assert np.all(low < high)
        assert low[2] < 0.0 < high[2]


@pytest.mark.parametrize("function", ["ndtri", "erfinv"])
def test_a_platform_with_a_bad_quantile_is_computed_in_balls(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    exact = getattr(scipy.special, function)
    noise, _ = truncated_noise("gaussian", Fraction(3))
    rates = np.array([1e-9, 0.5, 0.6, 3.0])
    sound = noise.bounds(rates, rates)
    monkeypatch.setattr(scipy.special, function, lambda y: exact(y) * (1 + 2.0**-45))
    truncated_stage_is_sound.cache_clear()
    try:
        assert not truncated_stage_is_sound()
        low, high = noise.bounds(rates, rates)
        assert np.all(low >= sound[0])
        assert np.all(high <= sound[1])
    finally:
        monkeypatch.undo()
        truncated_stage_is_sound.cache_clear()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", ["1/1000", 1, 10**6, 10**300])
def test_what_is_absent_cannot_pass_and_what_is_certain_does(name: str, scale: object) -> None:
    finish = race_above(
        [-1, 0, 14], above=7, scale=scale, noise=name, noise_bound=7, multiplicities=[10**30, 10**30, 50], value_bits=20
    )
    assert set(finish.groups) == {2}
    assert len(finish.groups) == 50
    assert all(7 <= value <= 21 for value in finish.values)


@pytest.mark.parametrize("name", NAMES)
def test_noise_wide_of_its_bound_is_uniform(name: str) -> None:
    """A scale of 10^9 times the bound: the values of 4000 certain items are uniform on the bounds."""
    finish = race_above(
        [2], above=1, scale=10**9, noise=name, noise_bound=1, multiplicities=[4000], value_bits=30,
        bits=ReplayableBits(8),
    )  # fmt: skip
    assert len(finish.values) == 4000
    values = np.sort(np.array([float(value) for value in finish.values])) - 1.0
    distance = float(np.max(np.abs(values / 2.0 - (np.arange(4000) + 0.5) / 4000)))
    # Kolmogorov's distance is above 3.3/sqrt(n) with probability 2 e^(-2 3.3^2), below 1e-9.
    assert distance < 3.3 / np.sqrt(4000)


def test_other_families_are_not_truncated() -> None:
    with pytest.raises(InvalidArgument, match=r"^noise='gumbel' is not valid\. Allowed: one of gaussian, laplace, wh"):
        race_above([1], above=1, noise="gumbel", noise_bound=1)
    with pytest.raises(InvalidArgument, match=r"^noise_bound=0 is not valid"):
        race_above([1], above=1, noise_bound=0)
