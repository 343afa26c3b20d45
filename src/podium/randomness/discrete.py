"""Exact integer noise: geometric, discrete Laplace, discrete Gaussian, and coins that fall with e^-x.

All of it is one exponential draw compared with a number: its floor is geometric, and it exceeds x with
probability e^-x. The float stage decides nearly all of a batch at once; the rest is decided exactly. Noise wider than
64-bit integers hold is put together from a uniform part and a coarse one, as Python integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import EntropyFailure, InvalidArgument
from podium.exact import exact_fraction, exact_integer, positive_fraction
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.float_filter import FLOAT_DIGITS
from podium.randomness.integers import uniform_below
from podium.randomness.noise import NOISES, Floats, exponential_bounds
from podium.randomness.partial_sample import Contender, is_positive, value_floor
from podium.randomness.streams import FreshStreams, Streams, Uniform

__all__ = ["bernoulli_exp", "discrete_gaussian", "discrete_laplace", "geometric"]

_NOISE = NOISES["exponential"]
_WIDE = 1 << 50
"""Beyond this scale draws may not fit 64 bits, nor floats decide a floor."""
_SLACK = 2.0**-49
_TINY = 1e-300
_ROUNDS = 1000
_FAR = Fraction(1_000_000)
_Integers: TypeAlias = NDArray[Any]
"""int64 where everything fits, else Python integers."""
_Exact = Callable[[int], Fraction]


def geometric(*, epsilon: object, size: int = 1, bits: BitSource | None = None) -> _Integers:
    """Draws of P(x) = (1 - e^-epsilon) e^(-epsilon x) on 0, 1, 2, ...: the floor of an exponential."""
    scale = 1 / positive_fraction(epsilon, "epsilon")
    return _Coins(bits).geometric(scale, exact_integer(size, "size", minimum=0))


def discrete_laplace(*, scale: object, size: int = 1, bits: BitSource | None = None) -> _Integers:
    """Draws of P(x) proportional to e^(-|x| / scale) on the integers: the difference of two geometrics."""
    width = positive_fraction(scale, "scale")
    return _Coins(bits).laplace(width, exact_integer(size, "size", minimum=0))


def bernoulli_exp(exponents: Sequence[object], *, bits: BitSource | None = None) -> NDArray[np.bool_]:
    """For each x >= 0, true with probability exactly e^-x."""
    exact = [exact_fraction(exponent, "exponents") for exponent in exponents]
    if any(exponent < 0 for exponent in exact):
        raise InvalidArgument("exponents", exponents, allowed="numbers that are 0 or more")
    return _Coins(bits).fall(exact)


def discrete_gaussian(*, variance: object, size: int = 1, bits: BitSource | None = None) -> _Integers:
    """Draws of P(x) proportional to e^(-x^2 / (2 variance)) on the integers.

    Rejection from a discrete Laplace of scale t = floor(sigma) + 1, each draw y kept with probability
    exp(-(|y| - variance/t)^2 / (2 variance)) (Canonne, Kamath & Steinke 2020, Algorithm 3).
    """
    exact = positive_fraction(variance, "variance")
    count = exact_integer(size, "size", minimum=0)
    coins = _Coins(bits)
    scale = math.isqrt(exact.numerator // exact.denominator) + 1

    def batch(wanted: int) -> _Integers:
        drawn = coins.laplace(Fraction(scale), wanted + wanted // 2 + 8)
        return drawn[_gaussian_acceptance(coins, drawn, exact, scale)]

    return _fill(count, batch)


def _fill(count: int, batch: Callable[[int], _Integers]) -> _Integers:
    """``count`` draws of a rejection sampler; ``batch(n)`` returns the accepted ones of slightly over n proposals."""
    kept: list[_Integers] = []
    missing = count
    for _ in range(_ROUNDS):
        if not missing:
            return np.concatenate([*kept, np.empty(0, dtype=np.int64)])
        accepted = batch(missing)[:missing]
        kept.append(accepted)
        missing -= len(accepted)
    raise EntropyFailure(
        f"{_ROUNDS} batches of a rejection sampler did not fill a request, which sound bits do not do. "
        "Nothing was released. Check the system's entropy (os.urandom)."
    )


def _gaussian_acceptance(coins: _Coins, drawn: _Integers, variance: Fraction, scale: int) -> NDArray[np.bool_]:
    center = variance / scale
    if drawn.dtype == object:
        return coins.fall([(abs(draw) - center) ** 2 / (2 * variance) for draw in drawn.tolist()])
    size = np.abs(drawn).astype(np.float64)
    # Both terms carry a relative rounding error, and their difference may cancel.
    error = (size + float(center)) * _SLACK
    distance = np.abs(size - float(center))
    # A variance too small for floats leaves a zero over a zero open, and the exact stage decides.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        low = np.maximum(distance - error, 0.0) ** 2 / (2.0 * float(variance)) * (1.0 - _SLACK) - _TINY
        high = (distance + error) ** 2 / (2.0 * float(variance)) * (1.0 + _SLACK) + _TINY
    return coins.exceed(low, high, lambda i: (abs(int(drawn[i])) - center) ** 2 / (2 * variance))


class _Coins:
    """Exponential draws, compared exactly."""

    def __init__(self, bits: BitSource | None) -> None:
        self._bits = system_bits() if bits is None else bits
        self._streams: Streams = FreshStreams(self._bits)

    def _draw(self, count: int) -> tuple[NDArray[np.uint64], Floats, Floats]:
        words = self._streams.heads(np.arange(count), np.ones(1, dtype=np.intp))
        low, high = _NOISE.bounds(*exponential_bounds(words, FLOAT_DIGITS))
        return words, np.maximum(low, 0.0), high

    def _contender(self, words: NDArray[np.uint64], i: int, offset: Fraction) -> Contender:
        return Contender.single(i, offset, _NOISE, Uniform(self._streams, i, 1, int(words[i])))

    def geometric(self, scale: Fraction, count: int) -> _Integers:
        if scale > _WIDE:
            return _fill(count, lambda wanted: self._wide_geometric(scale, wanted + wanted + 8))
        words, low, high = self._draw(count)
        below, above = (
            np.floor(low * float(scale) * (1.0 - _SLACK)),
            np.floor(high * float(scale) * (1.0 + _SLACK)),
        )
        certain = (below == above) & (above < 2.0**52)
        drawn = np.where(certain, below, 0.0).astype(np.int64)
        for i in np.flatnonzero(~certain):
            drawn[i] = value_floor(self._contender(words, int(i), Fraction(0)), scale, FLOAT_DIGITS)
        return drawn

    def _wide_geometric(self, scale: Fraction, proposals: int) -> _Integers:
        """The accepted ones of ``proposals`` proposals (Canonne, Kamath & Steinke 2020, Algorithm 2).

        For scale n/d: U uniform below n is kept with probability e^(-U/n), and X = U + n V with V geometric of scale 1
        has P(x) proportional to e^(-x/n). Then floor(X/d) has the scale n/d.
        """
        n, d = scale.numerator, scale.denominator
        fine = [uniform_below(n, self._bits) for _ in range(proposals)]
        kept = self.fall([Fraction(part, n) for part in fine])
        coarse = self.geometric(Fraction(1), int(np.count_nonzero(kept))).tolist()
        parts = zip(itertools.compress(fine, kept), coarse, strict=True)
        return np.array([(part + n * rough) // d for part, rough in parts], dtype=object)

    def laplace(self, scale: Fraction, count: int) -> _Integers:
        return self.geometric(scale, count) - self.geometric(scale, count)

    def fall(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """For each x >= 0, true with probability e^-x."""
        near = np.array([float(min(exponent, _FAR)) for exponent in exponents])
        slack = near * _SLACK + _TINY
        return self.exceed(near - slack, near + slack, exponents.__getitem__)

    def exceed(self, low: Floats, high: Floats, exact: _Exact) -> NDArray[np.bool_]:
        """Whether fresh exponentials exceed thresholds that lie in [low, high] and are exactly ``exact(i)``."""
        words, draw_low, draw_high = self._draw(len(low))
        result = draw_low > high
        for i in np.flatnonzero(~result & ~(draw_high < low)):
            result[i] = is_positive(self._contender(words, int(i), -exact(int(i))), FLOAT_DIGITS)
        return result
