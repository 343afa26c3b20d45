"""The Gaussian family: quantile, enclosures and balls say the same thing, and selections by it are not offered."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import scipy.special
from tests.support.noise_bounds import assert_bounds_are_sound_and_tight

from podium.errors import InvalidArgument
from podium.exact import ball_precision
from podium.mechanisms import CanonicalTopK, HybridTopK, LimitedDomain, NoisyTopK, SparseVector
from podium.randomness import lipschitz_noise, noisy_value, race
from podium.randomness.noise import NOISES, exponential_bounds
from podium.randomness.normal import GAUSSIAN, gaussian_stage_is_sound, noise_family

RATES = np.concatenate(
    [2.0 ** np.arange(-1070, -40, 37.0), 10.0 ** np.arange(-18, 2.7, 0.073), [np.log(2.0), 0.6931471805599452, 511.9]]
)


def test_scipy_keeps_the_error_we_allow_here() -> None:
    assert gaussian_stage_is_sound()


def test_quantile_is_the_textbook_one() -> None:
    with mpmath.workdps(60):
        for p in ("1e-9", "0.01", "0.3", "0.49999", "0.5", "0.50001", "0.9", "0.999999"):
            exact = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(float(p)) - 1)
            assert GAUSSIAN.quantile(float(p)) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


def test_float_bounds_enclose_the_ball_and_are_tight() -> None:
    assert_bounds_are_sound_and_tight(GAUSSIAN, RATES, 1400)


def test_the_ball_inverts_the_distribution_function() -> None:
    with ball_precision(300):
        for rate in (1e-300, 1e-12, 0.1, 0.6931, 0.6932, 3.0, 200.0):
            z = GAUSSIAN.from_rate_ball(flint.arb(rate))
            assert abs((-z / flint.arb(2).sqrt()).erfc() / 2 - (-flint.arb(rate)).exp()) < flint.arb(2) ** -250


def test_beyond_its_reach_the_enclosure_is_wide_but_right() -> None:
    rates = np.array([512.5, 1e4, 1e300])
    low, high = GAUSSIAN.bounds(rates, rates)
    assert np.all(np.isneginf(low))
    assert np.all(high < -31.0)
    with ball_precision(2000):
        assert GAUSSIAN.from_rate_ball(flint.arb(512.5)) < flint.arb(float(high[0]))


def test_infinite_ends_are_legal() -> None:
    low, high = GAUSSIAN.bounds(np.array([0.0]), np.array([np.inf]))
    assert (low[0], high[0]) == (-np.inf, np.inf)


def test_the_screening_bound_holds() -> None:
    """Z <= -log(1 - V) + log 2, which lets the first pass drop candidates."""
    with ball_precision(300):
        for rate in RATES:
            one_minus_v = -((-flint.arb(float(rate))).expm1())
            assert GAUSSIAN.from_rate_ball(flint.arb(float(rate))) <= -(one_minus_v.log()) + flint.arb(2).log()


def test_a_platform_with_a_bad_quantile_is_computed_in_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = scipy.special.ndtri_exp
    monkeypatch.setattr(scipy.special, "ndtri_exp", lambda y: exact(y) * (1 + 2.0**-45))
    gaussian_stage_is_sound.cache_clear()
    try:
        assert not gaussian_stage_is_sound()
        rates = np.array([0.0, 1e-9, 0.5, 3.0, np.inf])
        low, high = GAUSSIAN.bounds(rates, rates)
        assert (low[0], high[0], low[4], high[4]) == (np.inf, np.inf, -np.inf, -np.inf)
        assert np.all(high[1:4] - low[1:4] < 1e-14 * (1 + np.abs(low[1:4])))
        assert np.all(low[1:4] > exact(-rates[1:4]) - 1e-14)
    finally:
        monkeypatch.undo()
        gaussian_stage_is_sound.cache_clear()


def test_first_digits_bound_the_noise_of_every_continuation() -> None:
    words = np.array([0, 1, 1 << 63, (1 << 63) - 1, 2**64 - 1], dtype=np.uint64)
    low, high = GAUSSIAN.bounds(*exponential_bounds(words, 52))
    assert np.isneginf(low[0])
    assert np.isposinf(high[4])
    assert low[2] < 0.0 < high[2]
    assert np.all(low < high)


def test_it_takes_part_in_races_but_is_no_lipschitz_family() -> None:
    assert noise_family("gaussian") is GAUSSIAN
    assert noise_family("gumbel") is NOISES["gumbel"]
    assert race([100, 0], k=1, noise="gaussian").groups == (0,)
    assert abs(noisy_value(5, scale=Fraction(1, 1000), noise="gaussian") - 5) < 1
    with pytest.raises(InvalidArgument, match=r"^noise='gaussian' is not valid\. Allowed: one of exponential, laplace"):
        lipschitz_noise("gaussian")
    with pytest.raises(InvalidArgument, match=r"^noise='normal' is not valid\. Allowed: .*half-logistic, gaussian\.$"):
        race([1], k=1, noise="normal")


@pytest.mark.parametrize("noise", ["gaussian", GAUSSIAN])
def test_a_gaussian_selection_is_refused_where_the_proof_needs_a_lipschitz_family(noise: object) -> None:
    name: str = noise  # type: ignore[assignment]
    with pytest.raises(InvalidArgument, match="noise="):
        NoisyTopK(1, 1, noise=name)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="noise="):
        CanonicalTopK(1, 1, noise=name)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="noise="):
        LimitedDomain(1, 1, 1, "1e-6", noise=name)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="noise="):
        SparseVector(1, 1, 1, noise=name)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        HybridTopK(1, 1, 1, noise=name)  # type: ignore[call-arg]
