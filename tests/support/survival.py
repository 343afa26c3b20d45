"""P(Z > x) of the five noise families by textbook formulas: a second derivation, which the kernel never uses."""

from __future__ import annotations

from collections.abc import Callable

import flint
import numpy as np

from podium.randomness.noise import Floats, NoiseName

__all__ = ["SURVIVAL", "SURVIVAL_BALL"]


def _upper(tail: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    return lambda x: np.where(x <= 0.0, 1.0, tail(np.maximum(x, 0.0)))


def _upper_ball(tail: Callable[[flint.arb], flint.arb]) -> Callable[[flint.arb], flint.arb]:
    return lambda x: flint.arb(1) if x <= 0 else tail(x)


def _laplace(x: Floats) -> Floats:
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x >= 0.0, tail, 1.0 - tail)


def _laplace_ball(x: flint.arb) -> flint.arb:
    return (-x).exp() / 2 if x >= 0 else 1 - x.exp() / 2


SURVIVAL: dict[NoiseName, Callable[[Floats], Floats]] = {
    "exponential": _upper(lambda x: np.exp(-x)),
    "laplace": _laplace,
    "gumbel": lambda x: -np.expm1(-np.exp(-x)),
    "logistic": lambda x: 1.0 / (1.0 + np.exp(x)),
    "half-logistic": _upper(lambda x: 2.0 / (1.0 + np.exp(x))),
}

SURVIVAL_BALL: dict[NoiseName, Callable[[flint.arb], flint.arb]] = {
    "exponential": _upper_ball(lambda x: (-x).exp()),
    "laplace": _laplace_ball,
    "gumbel": lambda x: -(-((-x).exp())).expm1(),
    "logistic": lambda x: 1 / (1 + x.exp()),
    "half-logistic": _upper_ball(lambda x: 2 / (1 + x.exp())),
}
