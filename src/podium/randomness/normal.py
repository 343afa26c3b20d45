"""Normal noise as one more family of the exact race: the sum of a score and real Gaussian noise, never a float's.

It is kept apart from the five families of :mod:`podium.randomness.noise`, because the logarithm of its survival
function is not Lipschitz: a selection by Gaussian noise is not epsilon-DP for any epsilon, and mechanisms whose proof
needs that must not offer it. What it is for is the Gaussian mechanism, whose released numbers are post-processing of
score + N(0, sigma^2) with real noise, so that the exact Gaussian accounting applies to them.
"""

from __future__ import annotations

import functools
import math
from typing import Literal, TypeAlias

import flint
import numpy as np

from podium.errors import InvalidArgument
from podium.exact import ball_precision
from podium.randomness.noise import NOISES, RELATIVE_ERROR, Floats, Noise, NoiseName

__all__ = ["GAUSSIAN", "FamilyName", "gaussian_stage_is_sound", "noise_family"]

FamilyName: TypeAlias = NoiseName | Literal["gaussian"]

_REACH = 512.0
"""Up to this E, that is down to z = -31.8, SciPy's quantile of a log-probability is as accurate as we need."""
_LOG2 = math.log(2.0)


def _quantile(rate: Floats) -> Floats:
    """Phi^-1(e^-E). For small E SciPy goes through the complement, so far upper tails keep their digits."""
    # SciPy takes longer to import than the rest of this package together, and only this family needs it.
    from scipy.special import ndtri_exp  # noqa: PLC0415

    quantiles: Floats = ndtri_exp(-rate)
    return quantiles


def _quantile_ball(rate: flint.arb) -> flint.arb:
    # Both lines hold for every E; each keeps its digits on its own side of the median.
    if rate.mid() < _LOG2:
        return flint.arb(2).sqrt() * (-2 * (-rate).expm1()).erfcinv()
    return -(flint.arb(2).sqrt()) * (2 * (-rate).exp()).erfcinv()


@functools.cache
def gaussian_stage_is_sound() -> bool:
    """Whether SciPy's quantile keeps the error that the float stage allows it, measured against balls."""
    exponents = (*range(-990, -60, 30), *range(-60, 9))
    rates = np.concatenate([np.ldexp(1.0 + np.arange(8) / 8.0, e) for e in exponents])
    with ball_precision(128):
        return all(
            _is_close(float(value), _quantile_ball(flint.arb(float(rate))))
            for rate, value in zip(rates, _quantile(rates), strict=True)
        )


def _is_close(value: float, exact: flint.arb) -> bool:
    return math.isfinite(value) and bool(abs(flint.arb(value) - exact) <= RELATIVE_ERROR * (1 + abs(exact)))


GAUSSIAN = Noise("gaussian", -math.inf, _quantile, _quantile_ball, reach=_REACH, is_sound=gaussian_stage_is_sound)


def noise_family(name: object) -> Noise:
    """Any family that can take part in a race: the five Lipschitz ones and the Gaussian."""
    if isinstance(name, Noise):
        return name
    if name == GAUSSIAN.name:
        return GAUSSIAN
    if not isinstance(name, str) or name not in NOISES:
        raise InvalidArgument("noise", name, allowed=f"one of {', '.join(NOISES)}, {GAUSSIAN.name}")
    return NOISES[name]
