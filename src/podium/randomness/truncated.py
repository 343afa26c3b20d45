"""Noise conditioned on a bounded size: one more family of the exact race, for thresholds that nothing absent can pass.

Let Z be symmetric with distribution function F, q = P(Z < -a) and c = 1 - 2q. Given |Z| <= a, its quantile at u is
F^-1(q + c u): the interval that remains is stretched over the uniform number, and nothing is drawn and rejected. So
order statistics, groups of any size and exact comparisons work as for every other family. Two forms of the quantile
keep its digits: through the tail probability q + c (1-u) where that is small, and through v = c (2u - 1), for which
F^-1((1+v)/2) keeps relative accuracy, near the middle. Bounds far below the scale use the second only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from podium.errors import InvalidArgument
from podium.exact import ball, ball_precision, float_below
from podium.randomness.noise import RELATIVE_ERROR, Floats, Noise

__all__ = ["truncated_noise", "truncated_stage_is_sound"]

_BALL_BITS = 128
_MIDDLE = 0.5
"""Up to this v the middle form is used, and from there on the tail form, whose probability is then at most 1/4."""
_REACH = 512.0
_MIN_RATE = 1e-301
"""The float stage adds 1e-300 to the upper ends of rates; below this, floats lose the digits of a tail probability."""
_SMALLEST = Fraction(1, 1 << 200)


@dataclass(frozen=True, slots=True)
class _Symmetric:
    """A symmetric distribution: minus its quantile at small s, its quantile at (1+v)/2, P(Z < -a) and P(|Z| <= a)."""

    tail: Callable[[Floats], Floats]
    middle: Callable[[Floats], Floats]
    tail_ball: Callable[[flint.arb], flint.arb]
    middle_ball: Callable[[flint.arb], flint.arb]
    outside: Callable[[flint.arb], flint.arb]
    inside: Callable[[flint.arb], flint.arb]
    is_sound: Callable[[], bool] | None = None


def _normal_tail(chance: Floats) -> Floats:
    # SciPy takes longer to import than the rest of this package together.
    from scipy.special import ndtri  # noqa: PLC0415

    quantiles: Floats = -ndtri(chance)
    return quantiles


def _normal_middle(v: Floats) -> Floats:
    from scipy.special import erfinv  # noqa: PLC0415

    quantiles: Floats = np.sqrt(2.0) * erfinv(v)
    return quantiles


def _normal_tail_ball(chance: flint.arb) -> flint.arb:
    return flint.arb(2).sqrt() * (2 * chance).erfcinv()


def _normal_middle_ball(v: flint.arb) -> flint.arb:
    return flint.arb(2).sqrt() * v.erfinv()


def _laplace_tail(chance: Floats) -> Floats:
    return -np.log(2.0 * chance)


def _laplace_middle(v: Floats) -> Floats:
    return -np.sign(v) * np.log1p(-np.abs(v))


def _laplace_tail_ball(chance: flint.arb) -> flint.arb:
    return -(2 * chance).log()


def _laplace_middle_ball(v: flint.arb) -> flint.arb:
    if v < 0:
        return v.log1p()
    if v > 0:
        return -(-v).log1p()
    # Both branches are continuous and monotone; near the joint the union of the two encloses either.
    return v.log1p().union(-(-v).log1p())


@functools.cache
def truncated_stage_is_sound() -> bool:
    """Whether SciPy's two quantiles keep the error that the float stage allows them, measured against balls."""
    exponents = (*range(-990, -60, 60), *range(-60, -6, 3), *range(-6, -1))
    small = np.concatenate([np.ldexp(1.0 + np.arange(8) / 8.0, e) for e in exponents])
    tails, middles = small[small <= 0.25], np.append(small[small <= _MIDDLE], _MIDDLE)
    with ball_precision(_BALL_BITS):
        return all(
            _agrees(float(value), exact(flint.arb(float(point))), scale)
            for fast, exact, points, scale in (
                (_normal_tail, _normal_tail_ball, tails, 1),
                (_normal_middle, _normal_middle_ball, middles, 0),
            )
            for point, value in zip(points, fast(points), strict=True)
        )


def _agrees(value: float, exact: flint.arb, absolute: int) -> bool:
    return bool(abs(flint.arb(value) - exact) <= RELATIVE_ERROR / 4 * (absolute + abs(exact)))


_FAMILIES = {
    "gaussian": _Symmetric(
        _normal_tail,
        _normal_middle,
        _normal_tail_ball,
        _normal_middle_ball,
        lambda a: (a / flint.arb(2).sqrt()).erfc() / 2,
        lambda a: (a / flint.arb(2).sqrt()).erf(),
        truncated_stage_is_sound,
    ),
    "laplace": _Symmetric(
        _laplace_tail,
        _laplace_middle,
        _laplace_tail_ball,
        _laplace_middle_ball,
        lambda a: (-a).exp() / 2,
        lambda a: -(-a).expm1(),
    ),
}


def truncated_noise(name: object, bound: Fraction) -> tuple[Noise, Fraction]:
    """Standard noise Z given |Z| <= bound, and the unit in which it is drawn: Z = unit * noise.

    The unit is the smaller of 1 and the bound, so that floats keep their digits where the bound is tiny.
    """
    if not isinstance(name, str) or name not in _FAMILIES:
        raise InvalidArgument("noise", name, allowed=f"one of {', '.join(_FAMILIES)}, where noise is truncated")
    unit = min(Fraction(1), bound)
    return _truncated(name, bound), unit


@functools.lru_cache(maxsize=64)
def _truncated(name: str, bound: Fraction) -> Noise:
    family, unit = _FAMILIES[name], min(Fraction(1), bound)
    with ball_precision(_BALL_BITS):
        # A bound as small as the smallest cannot be told from it: noise and unit are in the ratio of uniform noise.
        outside, inside = (float(chance) for chance in _masses(family, max(bound, _SMALLEST)))
        step = float(max(unit, _SMALLEST))

    def from_rate(rate: Floats) -> Floats:
        share = np.exp(-rate)
        is_low = share < 0.5
        v = inside * (2.0 * share - 1.0)
        chance = outside + inside * np.where(is_low, share, -np.expm1(-rate))
        # So small a rate is a lower end: what it bounds from above may be anything.
        size = np.where(rate < _MIN_RATE, np.inf, family.tail(np.clip(chance, _MIN_RATE, 0.25)))
        ends = np.where(is_low, -size, size)
        middle = family.middle(np.clip(v, -_MIDDLE, _MIDDLE))
        values: Floats = np.where(np.abs(v) < _MIDDLE, middle, ends) / step
        return values

    def from_rate_ball(rate: flint.arb) -> flint.arb:
        outside, inside = _masses(family, bound)
        share = (-rate).exp()
        v = inside * (2 * share - 1)
        if abs(v.mid()) < _MIDDLE:
            return family.middle_ball(v) / ball(unit)
        if v.mid() < 0:
            return -family.tail_ball(outside + inside * share) / ball(unit)
        return family.tail_ball(outside - inside * (-rate).expm1()) / ball(unit)

    lowest = float_below(-bound / unit)
    return Noise(f"truncated {name}", lowest, from_rate, from_rate_ball, reach=_REACH, is_sound=family.is_sound)


def _masses(family: _Symmetric, bound: Fraction) -> tuple[flint.arb, flint.arb]:
    """(q, c): the probability below -bound, and that within the bounds, as balls at the current precision."""
    return family.outside(ball(bound)), family.inside(ball(bound))
