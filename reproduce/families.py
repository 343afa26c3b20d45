"""The five noise families as log distribution functions and seeded NumPy samplers, for simulation only."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAMILIES", "Floats", "draw", "log_cdf", "log_survival"]

Floats: TypeAlias = NDArray[np.float64]

_LOG_2 = math.log(2.0)
_FAR = 700.0


def _log_one_minus_exp(x: Floats) -> Floats:
    """log(1 - e^x) for x <= 0, accurate at both ends."""
    with np.errstate(divide="ignore"):
        found: Floats = np.where(x > -_LOG_2, np.log(-np.expm1(np.minimum(x, 0.0))), np.log1p(-np.exp(x)))
    return found


def _positive(z: Floats, inside: Callable[[Floats], Floats], outside: float) -> Floats:
    found: Floats = np.where(z > 0, inside(np.maximum(z, 1e-300)), outside)
    return found


def _half_logistic_survival(z: Floats) -> Floats:
    found: Floats = _LOG_2 - z - np.log1p(np.exp(-z))
    return found


def _laplace(z: Floats) -> Floats:
    found: Floats = np.where(z < 0, np.minimum(z, 0.0) - _LOG_2, np.log1p(-0.5 * np.exp(-np.maximum(z, 0.0))))
    return found


def _logistic(z: Floats) -> Floats:
    found: Floats = -np.logaddexp(0.0, -z)
    return found


def _gumbel(z: Floats) -> Floats:
    found: Floats = -np.exp(np.minimum(-z, _FAR))
    return found


_LOG_CDF: dict[str, Callable[[Floats], Floats]] = {
    "exponential": lambda z: _positive(z, lambda y: _log_one_minus_exp(-y), -math.inf),
    "half-logistic": lambda z: _positive(z, lambda y: _log_one_minus_exp(_half_logistic_survival(y)), -math.inf),
    "gumbel": _gumbel,
    "laplace": _laplace,
    "logistic": _logistic,
}
_LOG_SURVIVAL: dict[str, Callable[[Floats], Floats]] = {
    "exponential": lambda z: -np.maximum(z, 0.0),
    "half-logistic": lambda z: _positive(z, _half_logistic_survival, 0.0),
    "gumbel": lambda z: _log_one_minus_exp(_gumbel(z)),
    "laplace": lambda z: _laplace(-z),
    "logistic": lambda z: _logistic(-z),
}
FAMILIES = tuple(_LOG_CDF)


def log_cdf(family: str, z: Floats) -> Floats:
    """log P(Z <= z) of standard noise."""
    return _LOG_CDF[family](z)


def log_survival(family: str, z: Floats) -> Floats:
    """log P(Z > z) of standard noise."""
    return _LOG_SURVIVAL[family](z)


def draw(family: str, rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Standard noise."""
    if family == "half-logistic":
        return np.abs(rng.logistic(size=size))
    sample: Callable[..., Floats] = getattr(rng, family)
    return sample(size=size)
