"""Piecewise exponential polynomials: the closed form of everything that Laplace and exponential noise can do.

Their densities, distribution and survival functions are, between finitely many rational breakpoints, sums of
c * x^n * e^(a x). Products, sums, antiderivatives and integrals of such functions are such functions again. So
the probability of any order of finish is computed without quadrature, as a ball around the true value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

import flint

from podium.errors import InvalidArgument
from podium.exact import ball

__all__ = ["Piecewise", "noise_cdf", "noise_density", "noise_survival"]

_Terms: TypeAlias = dict[tuple[int, Fraction], flint.arb]
"""(n, a) -> c, for the sum of c * x^n * e^(a x)."""

ClosedNoise: TypeAlias = Literal["laplace", "exponential"]


class Piecewise:
    """A function on the real line: ``pieces[i]`` holds between ``breaks[i-1]`` and ``breaks[i]``."""

    __slots__ = ("breaks", "pieces")

    def __init__(self, breaks: Iterable[Fraction], pieces: Iterable[Mapping[tuple[int, Fraction], flint.arb]]) -> None:
        self.breaks: tuple[Fraction, ...] = tuple(breaks)
        self.pieces: tuple[_Terms, ...] = tuple(dict(piece) for piece in pieces)
        increasing = all(left < right for left, right in itertools.pairwise(self.breaks))
        if len(self.pieces) != len(self.breaks) + 1 or not increasing:
            raise InvalidArgument("breaks", self.breaks, allowed="increasing, one fewer than the pieces")

    @classmethod
    def constant(cls, value: Fraction | int) -> Piecewise:
        """The same value everywhere."""
        return cls((), ({(0, Fraction(0)): ball(Fraction(value))},))

    @classmethod
    def step(cls, at: Fraction) -> Piecewise:
        """0 below, 1 above."""
        return cls((at,), ({}, {(0, Fraction(0)): flint.arb(1)}))

    def __mul__(self, other: Piecewise) -> Piecewise:
        return _merge(self, other, _product)

    def __add__(self, other: Piecewise) -> Piecewise:
        return _merge(self, other, _sum)

    def __sub__(self, other: Piecewise) -> Piecewise:
        return self + other.scaled(flint.arb(-1))

    def scaled(self, factor: flint.arb) -> Piecewise:
        """factor * f."""
        return Piecewise(self.breaks, [{key: c * factor for key, c in piece.items()} for piece in self.pieces])

    def shifted(self, by: Fraction) -> Piecewise:
        """x -> f(x - by)."""
        return Piecewise([at + by for at in self.breaks], [_shift_terms(piece, by) for piece in self.pieces])

    def __call__(self, x: Fraction) -> flint.arb:
        """The value at a point that is not a breakpoint of a jump; at a breakpoint, that of the right piece."""
        index = sum(1 for at in self.breaks if at <= x)
        return _evaluate(self.pieces[index], x)

    def integral(self, low: Fraction | None = None, high: Fraction | None = None) -> flint.arb:
        """The integral from ``low`` to ``high`` (None: unbounded; then the function must vanish there)."""
        ends = [low, *(at for at in self.breaks if (low is None or at > low) and (high is None or at < high)), high]
        total = flint.arb(0)
        for a, b in itertools.pairwise(ends):
            piece = _antiderivative(self._piece_above(a))
            total += _limit(piece, b, sign=1) - _limit(piece, a, sign=-1)
        return total

    def _piece_above(self, low: Fraction | None) -> _Terms:
        if low is None:
            return self.pieces[0]
        return self.pieces[sum(1 for at in self.breaks if at <= low)]

    def tail_integral(self) -> Piecewise:
        """t -> integral of f from t to infinity."""
        pieces: list[_Terms] = []
        beyond = flint.arb(0)
        bounds = [*self.breaks, None]
        for piece, high in zip(reversed(self.pieces), reversed(bounds), strict=True):
            primitive = _antiderivative(piece)
            top = beyond + _limit(primitive, high, sign=1)
            tail = {key: -c for key, c in primitive.items()}
            pieces.append(_sum(tail, {(0, Fraction(0)): top}))
            lower_index = len(self.breaks) - len(pieces)
            if lower_index >= 0:
                beyond = top - _evaluate(primitive, self.breaks[lower_index])
        return Piecewise(self.breaks, reversed(pieces))


def noise_density(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Piecewise:
    """The density of offset + scale * Z."""
    rate, height = 1 / scale, ball(1 / scale)
    falling = {(0, -rate): height * ball(offset * rate).exp()}
    if noise == "exponential":
        return Piecewise((offset,), ({}, falling))
    rising = {(0, rate): height * ball(-offset * rate).exp() / 2}
    return Piecewise((offset,), (rising, {key: c / 2 for key, c in falling.items()}))


def noise_survival(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Piecewise:
    """x -> P(offset + scale * Z > x)."""
    above, below = _tails(noise, offset, scale)
    return Piecewise((offset,), (_sum(_ONE, {key: -c for key, c in below.items()}), above))


def noise_cdf(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Piecewise:
    """x -> P(offset + scale * Z <= x)."""
    above, below = _tails(noise, offset, scale)
    return Piecewise((offset,), (below, _sum(_ONE, {key: -c for key, c in above.items()})))


def _tails(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> tuple[_Terms, _Terms]:
    """P(> x) for x above the offset, P(<= x) for x below it: written down, so that a zero is exactly zero."""
    rate = 1 / scale
    above = ball(offset * rate).exp()
    if noise == "exponential":
        return {(0, -rate): above}, {}
    return {(0, -rate): above / 2}, {(0, rate): ball(-offset * rate).exp() / 2}


_ONE: _Terms = {(0, Fraction(0)): flint.arb(1)}


def _merge(f: Piecewise, g: Piecewise, combine: Callable[[_Terms, _Terms], _Terms]) -> Piecewise:
    breaks, pieces = list[Fraction](), [combine(f.pieces[0], g.pieces[0])]
    left = right = 0
    while left < len(f.breaks) or right < len(g.breaks):
        ahead = min([*f.breaks[left : left + 1], *g.breaks[right : right + 1]])
        left += f.breaks[left : left + 1] == (ahead,)
        right += g.breaks[right : right + 1] == (ahead,)
        breaks.append(ahead)
        pieces.append(combine(f.pieces[left], g.pieces[right]))
    return Piecewise(breaks, pieces)


def _sum(f: _Terms, g: _Terms) -> _Terms:
    terms = dict(f)
    for key, c in g.items():
        terms[key] = terms[key] + c if key in terms else c
    return terms


def _product(f: _Terms, g: _Terms) -> _Terms:
    terms: _Terms = {}
    for (n, a), c in f.items():
        for (m, b), d in g.items():
            key = (n + m, a + b)
            terms[key] = terms[key] + c * d if key in terms else c * d
    return terms


def _shift_terms(piece: _Terms, by: Fraction) -> _Terms:
    terms: _Terms = {}
    for (n, a), c in piece.items():
        scale = c * ball(-a * by).exp()
        for i in range(n + 1):
            part = {(i, a): scale * math.comb(n, i) * ball((-by) ** (n - i))}
            terms = _sum(terms, part)
    return terms


def _evaluate(piece: _Terms, x: Fraction) -> flint.arb:
    return sum((c * ball(x**n) * ball(a * x).exp() for (n, a), c in piece.items()), flint.arb(0))


def _antiderivative(piece: _Terms) -> _Terms:
    """By parts: the antiderivative of x^n e^(ax) is e^(ax) * sum_i (-1)^i n!/(n-i)! x^(n-i) / a^(i+1)."""
    terms: _Terms = {}
    for (n, a), c in piece.items():
        if a == 0:
            terms = _sum(terms, {(n + 1, a): c / (n + 1)})
            continue
        for i in range(n + 1):
            factor = Fraction((-1) ** i * math.perm(n, i)) / a ** (i + 1)
            terms = _sum(terms, {(n - i, a): c * ball(factor)})
    return terms


def _limit(piece: _Terms, at: Fraction | None, *, sign: int) -> flint.arb:
    """The value at a point, or the limit at plus (sign=1) or minus infinity, which must be finite."""
    if at is not None:
        return _evaluate(piece, at)
    total = flint.arb(0)
    for (n, a), c in piece.items():
        if a * sign < 0 or c.is_zero():
            continue
        if n == 0 and a == 0:
            total += c
        else:
            raise ArithmeticError("the integral does not converge")
    return total
