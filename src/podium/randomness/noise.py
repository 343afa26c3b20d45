"""The five noise families, as quantile functions with rigorous bounds.

All of them have a survival function whose logarithm is 1-Lipschitz, which is what makes adding them to scores
private. Each is written as a function of E = -log U >= 0, U uniform: the largest of m independent draws
has E = e/m with e exponential, the next adds an independent e/(m-1), and so on, so order statistics
never leave log space. The noise is decreasing in E, hence an interval for E gives one for the noise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

import flint
import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import ball_precision, float_above, float_below, rational_bounds

__all__ = [
    "NOISES",
    "Floats",
    "Noise",
    "NoiseName",
    "exponential_bounds",
    "float_stage_is_sound",
    "lipschitz_noise",
]

Floats: TypeAlias = NDArray[np.float64]
NoiseName: TypeAlias = Literal["exponential", "laplace", "gumbel", "logistic", "half-logistic"]

_LOG2 = math.log(2.0)

RELATIVE_ERROR = 2.0**-48
"""What we allow each NumPy function; the self-test demands a quarter of it, measured against balls."""
_SLACK = 2.0**-46
_BALL_BITS = 128


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """A standard noise distribution.

    ``lowest`` is the lower end of its support. The functions of E are decreasing; those ending in
    ``_ball`` work in ball arithmetic at the precision of the caller. Floats are trusted for E up to ``reach``;
    ``is_sound`` is the self-test of a family that needs more functions than the others.
    """

    name: str
    lowest: float
    from_rate: Callable[[Floats], Floats]
    from_rate_ball: Callable[[flint.arb], flint.arb]
    reach: float = math.inf
    is_sound: Callable[[], bool] | None = None

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Floats that enclose the noise of every E in [low, high]."""
        if not (float_stage_is_sound() and (self.is_sound is None or self.is_sound())):
            return _bounds_by_balls(self, low, high)
        with np.errstate(divide="ignore", over="ignore"):
            below, above = self.from_rate(high), self.from_rate(low)
            if self.reach < math.inf:
                below = np.where(high > self.reach, self.lowest, below)
                above = np.where(low > self.reach, self.from_rate(np.array(self.reach)), above)
            return below - _slack(below), above + _slack(above)

    def quantile(self, p: float) -> float:
        """The noise z with P(Z <= z) = p, to float accuracy."""
        rate = np.array([-math.log1p(p - 1.0) if p > 0.5 else (-math.log(p) if p > 0.0 else math.inf)])
        with np.errstate(divide="ignore", over="ignore"):
            return float(self.from_rate(rate)[0])


def _slack(value: Floats) -> Floats:
    return _SLACK * (1.0 + np.minimum(np.abs(value), 1e300))


def _bounds_by_balls(noise: Noise, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    def end(rate: float, *, upper: bool) -> float:
        if rate == 0.0 or math.isinf(rate):
            return math.inf if rate == 0.0 else noise.lowest
        return _float_end(noise.from_rate_ball(flint.arb(rate)), upper=upper)

    with ball_precision(_BALL_BITS):
        below = np.array([end(float(rate), upper=False) for rate in high.flat])
        above = np.array([end(float(rate), upper=True) for rate in low.flat])
    return below.reshape(high.shape), above.reshape(low.shape)


def _float_end(value: flint.arb, *, upper: bool) -> float:
    below, above = rational_bounds(value)
    return float_above(above) if upper else float_below(below)


def exponential_bounds(words: NDArray[np.uint64], head: int) -> tuple[Floats, Floats]:
    """Bounds on -log V for every V whose first ``head`` (at most 52) digits are those of a word."""
    if not float_stage_is_sound():
        return _exponential_by_balls(words, head)
    digits = (words >> np.uint64(64 - head)).astype(np.float64)
    unit = 2.0**-head
    with np.errstate(divide="ignore"):
        high = _minus_log(digits * unit, (2.0**head - digits) * unit)
        low = _minus_log((digits + 1.0) * unit, (2.0**head - 1.0 - digits) * unit)
    return low * (1.0 - RELATIVE_ERROR), high * (1.0 + RELATIVE_ERROR)


def _exponential_by_balls(words: NDArray[np.uint64], head: int) -> tuple[Floats, Floats]:
    whole = 1 << head

    def end(digits: int, *, upper: bool) -> float:
        if digits in {0, whole}:
            return 0.0 if digits else math.inf
        return _float_end(-(flint.arb(flint.fmpq(digits, whole)).log()), upper=upper)

    digits = [int(word) >> (64 - head) for word in words.flat]
    with ball_precision(_BALL_BITS):
        low = np.array([end(digit + 1, upper=False) for digit in digits])
        high = np.array([end(digit, upper=True) for digit in digits])
    return low.reshape(words.shape), high.reshape(words.shape)


def _minus_log(value: Floats, complement: Floats) -> Floats:
    """-log(value), through the exact complement where the value is near 1."""
    return np.where(value > 0.5, -np.log1p(-np.minimum(complement, 0.5)), -np.log(value))


def _exponential(rate: Floats) -> Floats:
    return -np.log(-np.expm1(-rate))


def _exponential_ball(rate: flint.arb) -> flint.arb:
    return -(-((-rate).expm1())).log()


def _laplace(rate: Floats) -> Floats:
    return np.where(rate < _LOG2, -np.log(-2.0 * np.expm1(-rate)), _LOG2 - rate)


def _laplace_ball(rate: flint.arb) -> flint.arb:
    log2 = flint.arb(2).log()
    if rate < log2:
        return -(-2 * (-rate).expm1()).log()
    if rate > log2:
        return log2 - rate
    # Both branches are continuous and monotone; near the joint the union of the two encloses either.
    return (-(-2 * (-rate).expm1()).log()).union(log2 - rate)


def _gumbel(rate: Floats) -> Floats:
    return -np.log(rate)


def _gumbel_ball(rate: flint.arb) -> flint.arb:
    return -rate.log()


def _logistic(rate: Floats) -> Floats:
    # log(expm1(E)) overflows for large E, where it equals E + log1p(-exp(-E)).
    return -rate - np.log(-np.expm1(-rate))


def _logistic_ball(rate: flint.arb) -> flint.arb:
    return -rate.expm1().log()


def _half_logistic(rate: Floats) -> Floats:
    # log((1+U)/(1-U)); for small U as a log1p, because the plain ratio would round to 1.
    tail = np.exp(-rate)
    return np.where(rate > 1.0, np.log1p(2.0 * tail / (1.0 - np.minimum(tail, 0.5))), -np.log(np.tanh(rate / 2.0)))


def _half_logistic_ball(rate: flint.arb) -> flint.arb:
    return -(rate / 2).tanh().log()


NOISES: dict[NoiseName, Noise] = {
    cast("NoiseName", noise.name): noise
    for noise in (
        Noise("exponential", 0.0, _exponential, _exponential_ball),
        Noise("laplace", -math.inf, _laplace, _laplace_ball),
        Noise("gumbel", -math.inf, _gumbel, _gumbel_ball),
        Noise("logistic", -math.inf, _logistic, _logistic_ball),
        Noise("half-logistic", 0.0, _half_logistic, _half_logistic_ball),
    )
}


def lipschitz_noise(name: object) -> Noise:
    """The Lipschitz family of that name."""
    if isinstance(name, Noise) and name in NOISES.values():
        return name
    if not isinstance(name, str) or name not in NOISES:
        raise InvalidArgument("noise", name, allowed="one of " + ", ".join(get_args(NoiseName)))
    return NOISES[name]


@functools.cache
def float_stage_is_sound() -> bool:
    """Whether NumPy's functions keep the error that the float stage allows them, measured against balls.

    NumPy gives no error contract. If a platform fails, the kernel computes everything in balls instead: slower,
    with the same result.
    """
    # Down to the rates of groups with as many members as a float can count.
    exponents = (*range(-990, -60, 30), *range(-60, 10))
    magnitudes = np.concatenate([np.ldexp(1.0 + np.arange(8) / 8.0, e) for e in exponents])
    fractions = np.concatenate([np.ldexp(1.0 + np.arange(8) / 8.0, e) for e in range(-52, -1)])
    arguments = np.concatenate([-magnitudes[magnitudes < 700.0], magnitudes[magnitudes < 700.0]])
    checks: tuple[tuple[Callable[[Floats], Floats], Callable[[flint.arb], flint.arb], Floats], ...] = (
        (np.log, flint.arb.log, magnitudes[magnitudes != 1.0]),
        (np.log1p, flint.arb.log1p, np.concatenate([-fractions, fractions])),
        (np.expm1, flint.arb.expm1, arguments),
        (np.exp, flint.arb.exp, arguments),
        (np.tanh, flint.arb.tanh, magnitudes),
    )
    with ball_precision(128), np.errstate(all="ignore"):
        return all(_agrees(fast, slow, points) for fast, slow, points in checks)


def _agrees(fast: Callable[[Floats], Floats], slow: Callable[[flint.arb], flint.arb], points: Floats) -> bool:
    allowed = RELATIVE_ERROR / 4.0
    exact = map(slow, map(flint.arb, points.tolist()))
    return all(
        abs(flint.arb(value) - true) <= abs(true) * allowed
        for value, true in zip(fast(points).tolist(), exact, strict=True)
    )
