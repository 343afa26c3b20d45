"""The five families: quantile, survival, float enclosures and balls say the same thing."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from tests.support.noise_bounds import assert_bounds_are_sound_and_tight
from tests.support.survival import SURVIVAL, SURVIVAL_BALL

from podium.errors import InvalidArgument
from podium.exact import ball_precision, rational_bounds
from podium.randomness import noise as noise_module
from podium.randomness.noise import NOISES, Noise, NoiseName, exponential_bounds, float_stage_is_sound, lipschitz_noise

RATES = np.concatenate([10.0 ** np.arange(-18, 2.8, 0.173), [np.log(2.0), 0.6931471805599452, 1.0]])

QUANTILES = {
    "exponential": lambda p: -mpmath.log(1 - p),
    "laplace": lambda p: -mpmath.sign(p - 0.5) * mpmath.log(1 - abs(2 * p - 1)),
    "gumbel": lambda p: -mpmath.log(-mpmath.log(p)),
    "logistic": lambda p: mpmath.log(p / (1 - p)),
    "half-logistic": lambda p: mpmath.log((1 + p) / (1 - p)),
}


def test_numpy_keeps_the_error_we_allow_here() -> None:
    assert float_stage_is_sound()


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_quantile_is_the_textbook_one(noise: Noise) -> None:
    with mpmath.workdps(60):
        for p in ("1e-9", "0.01", "0.3", "0.49999", "0.50001", "0.9", "0.999999"):
            exact = QUANTILES[noise.name](mpmath.mpf(float(p)))
            assert noise.quantile(float(p)) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_float_bounds_enclose_the_ball_and_are_tight(noise: Noise) -> None:
    assert_bounds_are_sound_and_tight(noise, RATES, 200)


@pytest.mark.parametrize("name", NOISES)
def test_the_quantile_inverts_the_survival_function(name: NoiseName) -> None:
    with ball_precision(200):
        for rate in (0.1, 0.5, 1.0, 3.0):
            noise = NOISES[name].from_rate_ball(flint.arb(rate))
            assert abs(SURVIVAL_BALL[name](noise) - (1 - flint.arb(-rate).exp())) < flint.arb(2) ** -150
            assert SURVIVAL[name](np.array([float(noise.mid())]))[0] == pytest.approx(-np.expm1(-rate), rel=1e-12)


@pytest.mark.parametrize("name", NOISES)
def test_log_survival_is_1_lipschitz(name: NoiseName) -> None:
    """The property that makes every family private."""
    grid = np.linspace(-8.0, 12.0, 4001)
    log_survival = np.log(SURVIVAL[name](grid))
    assert np.max(np.abs(np.diff(log_survival))) <= (grid[1] - grid[0]) * (1 + 1e-9)


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_infinite_ends_are_legal(noise: Noise) -> None:
    low, high = noise.bounds(np.array([0.0]), np.array([np.inf]))
    assert high[0] == np.inf
    assert low[0] <= noise.lowest + 1e-9


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_the_screening_bound_holds(noise: Noise) -> None:
    """Z <= -log(1 - V) + log 2 for every family: what lets the first pass drop candidates."""
    with ball_precision(200):
        for rate in RATES:
            one_minus_v = -((-flint.arb(float(rate))).expm1())
            assert noise.from_rate_ball(flint.arb(float(rate))) <= -(one_minus_v.log()) + flint.arb(2).log() + 1e-40


def test_a_platform_with_bad_functions_is_computed_in_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_module, "float_stage_is_sound", lambda: False)
    for noise in NOISES.values():
        rates = np.array([0.0, 1e-9, 0.5, 3.0, np.inf])
        low, high = noise.bounds(rates, rates)
        assert high[0] == np.inf
        assert np.all(low[1:4] < high[1:4])
        assert np.all(high[1:4] - low[1:4] < 1e-12 * (1 + np.abs(low[1:4])))


def test_the_self_test_notices_a_bad_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    exact_log = np.log
    monkeypatch.setattr(np, "log", lambda x: exact_log(x) * (1 + 2.0**-49))
    float_stage_is_sound.cache_clear()
    try:
        assert not float_stage_is_sound()
    finally:
        float_stage_is_sound.cache_clear()


@pytest.mark.parametrize("head", [1, 6, 52])
def test_exponential_bounds_at_the_extremes(head: int) -> None:
    words = np.array([0, 2**64 - 1, 2**63], dtype=np.uint64)
    low, high = exponential_bounds(words, head)
    assert high[0] == np.inf
    assert low[1] == 0.0
    with ball_precision(200):
        assert Fraction(float(low[0])) <= rational_bounds(head * flint.arb(2).log())[0]
        assert Fraction(float(high[2])) >= rational_bounds(flint.arb(2).log())[1]


def test_unknown_family() -> None:
    with pytest.raises(InvalidArgument) as caught:
        lipschitz_noise("cauchy")
    assert str(caught.value) == (
        "noise='cauchy' is not valid. Allowed: one of exponential, laplace, gumbel, logistic, half-logistic."
    )
