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

_Terms: TypeAlias = dict[tuple[int, int], flint.arb]
"""(n, a) -> c, for the sum of c * x^n * e^(a * unit * x)."""

ClosedNoise: TypeAlias = Literal["laplace", "exponential"]


class Piecewise:
    """A function on the real line: ``pieces[i]`` holds between ``breaks[i-1]`` and ``breaks[i]``.

    Rates are whole multiples of ``unit`` (0 where there are none): integers hash and add many times faster.
    """

    __slots__ = ("breaks", "pieces", "unit")

    def __init__(
        self, breaks: Iterable[Fraction], pieces: Iterable[Mapping[tuple[int, int], flint.arb]], *, unit: Fraction
    ) -> None:
        self.breaks: tuple[flint.fmpq, ...] = tuple(_rational(at) for at in breaks)
        self.pieces: tuple[_Terms, ...] = tuple(dict(piece) for piece in pieces)
        self.unit: flint.fmpq = _rational(unit)
        increasing = all(left < right for left, right in itertools.pairwise(self.breaks))
        if len(self.pieces) != len(self.breaks) + 1 or not increasing:
            raise InvalidArgument("breaks", self.breaks, allowed="increasing, one fewer than the pieces")

    @classmethod
    def constant(cls, value: Fraction | int) -> Piecewise:
        """The same value everywhere."""
        return cls((), ({(0, 0): ball(value)},), unit=_NO_RATE)

    @classmethod
    def step(cls, at: Fraction) -> Piecewise:
        """0 below, 1 above."""
        return cls((at,), ({}, _ONE), unit=_NO_RATE)

    def __mul__(self, other: Piecewise) -> Piecewise:
        return _merge(self, other, _product)

    def __add__(self, other: Piecewise) -> Piecewise:
        return _merge(self, other, _sum)

    def __sub__(self, other: Piecewise) -> Piecewise:
        return self + other.scaled(flint.arb(-1))

    def scaled(self, factor: flint.arb) -> Piecewise:
        """factor * f."""
        return _build(self.breaks, [{key: c * factor for key, c in piece.items()} for piece in self.pieces], self.unit)

    def shifted(self, by: Fraction) -> Piecewise:
        """x -> f(x - by)."""
        exact = _rational(by)
        pieces = [_shift_terms(piece, exact, self.unit) for piece in self.pieces]
        return _build([at + exact for at in self.breaks], pieces, self.unit)

    def __call__(self, x: Fraction) -> flint.arb:
        """The value at a point that is not a breakpoint of a jump; at a breakpoint, that of the right piece."""
        at = _rational(x)
        return _evaluate(self._piece_above(at), at, self.unit)

    def integral(self, low: Fraction | None = None, high: Fraction | None = None) -> flint.arb:
        """The integral from ``low`` to ``high`` (None: unbounded; then the function must vanish there)."""
        start, end = (None if bound is None else _rational(bound) for bound in (low, high))
        inner = (at for at in self.breaks if (start is None or at > start) and (end is None or at < end))
        total = flint.arb(0)
        for a, b in itertools.pairwise([start, *inner, end]):
            piece = _antiderivative(self._piece_above(a), self.unit)
            total += _limit(piece, b, self.unit, sign=1) - _limit(piece, a, self.unit, sign=-1)
        return total

    def _piece_above(self, low: flint.fmpq | None) -> _Terms:
        if low is None:
            return self.pieces[0]
        return self.pieces[sum(1 for at in self.breaks if at <= low)]

    def tail_integral(self) -> Piecewise:
        """t -> integral of f from t to infinity."""
        pieces: list[_Terms] = []
        beyond = flint.arb(0)
        bounds = [*self.breaks, None]
        for piece, high in zip(reversed(self.pieces), reversed(bounds), strict=True):
            primitive = _antiderivative(piece, self.unit)
            top = beyond + _limit(primitive, high, self.unit, sign=1)
            tail = {key: -c for key, c in primitive.items()}
            pieces.append(_sum(tail, {(0, 0): top}))
            lower_index = len(self.breaks) - len(pieces)
            if lower_index >= 0:
                beyond = top - _evaluate(primitive, self.breaks[lower_index], self.unit)
        return _build(self.breaks, reversed(pieces), self.unit)


def noise_density(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Piecewise:
    """The density of offset + scale * Z."""
    rate = 1 / scale
    height = ball(rate)
    falling = {(0, -1): height * ball(offset * rate).exp()}
    if noise == "exponential":
        return Piecewise((offset,), ({}, falling), unit=rate)
    rising = {(0, 1): height * ball(-offset * rate).exp() / 2}
    return Piecewise((offset,), (rising, {key: c / 2 for key, c in falling.items()}), unit=rate)


def noise_survival(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Piecewise:
    """x -> P(offset + scale * Z > x)."""
    above, below = _tails(noise, offset, scale)
    return Piecewise((offset,), (_sum(_ONE, {key: -c for key, c in below.items()}), above), unit=1 / scale)


def noise_cdf(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Piecewise:
    """x -> P(offset + scale * Z <= x)."""
    above, below = _tails(noise, offset, scale)
    return Piecewise((offset,), (below, _sum(_ONE, {key: -c for key, c in above.items()})), unit=1 / scale)


def _tails(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> tuple[_Terms, _Terms]:
    """P(> x) for x above the offset, P(<= x) for x below it: written down, so that a zero is exactly zero."""
    mean = offset / scale
    above = ball(mean).exp()
    if noise == "exponential":
        return {(0, -1): above}, {}
    return {(0, -1): above / 2}, {(0, 1): ball(-mean).exp() / 2}


_ONE: _Terms = {(0, 0): flint.arb(1)}
_NO_RATE = Fraction(0)


def _rational(value: Fraction | int) -> flint.fmpq:
    return flint.fmpq(value.numerator, value.denominator)


def _build(breaks: Iterable[flint.fmpq], pieces: Iterable[_Terms], unit: flint.fmpq) -> Piecewise:
    """A function made of others, whose breaks are known to increase."""
    made = Piecewise.__new__(Piecewise)
    made.breaks, made.pieces, made.unit = tuple(breaks), tuple(pieces), unit
    return made


def _merge(f: Piecewise, g: Piecewise, combine: Callable[[_Terms, _Terms], _Terms]) -> Piecewise:
    unit, f_pieces, g_pieces = _in_one_unit(f, g)
    breaks, pieces = list[flint.fmpq](), [combine(f_pieces[0], g_pieces[0])]
    left = right = 0
    while left < len(f.breaks) or right < len(g.breaks):
        if right == len(g.breaks) or (left < len(f.breaks) and f.breaks[left] < g.breaks[right]):
            ahead, left = f.breaks[left], left + 1
        else:
            ahead, left = g.breaks[right], left + (left < len(f.breaks) and f.breaks[left] == g.breaks[right])
            right += 1
        breaks.append(ahead)
        pieces.append(combine(f_pieces[left], g_pieces[right]))
    return _build(breaks, pieces, unit)


def _in_one_unit(f: Piecewise, g: Piecewise) -> tuple[flint.fmpq, tuple[_Terms, ...], tuple[_Terms, ...]]:
    if f.unit == g.unit:
        return f.unit, f.pieces, g.pieces
    unit = f.unit.gcd(g.unit)
    return unit, _finer(f.pieces, f.unit / unit), _finer(g.pieces, g.unit / unit)


def _finer(pieces: tuple[_Terms, ...], factor: flint.fmpq) -> tuple[_Terms, ...]:
    times = int(factor.p)
    return tuple({(n, a * times): c for (n, a), c in piece.items()} for piece in pieces)


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


def _shift_terms(piece: _Terms, by: flint.fmpq, unit: flint.fmpq) -> _Terms:
    terms: _Terms = {}
    for (n, a), c in piece.items():
        scale = c * flint.arb(unit * by * -a).exp()
        for i in range(n + 1):
            part = {(i, a): scale * math.comb(n, i) * flint.arb((-by) ** (n - i))}
            terms = _sum(terms, part)
    return terms


def _evaluate(piece: _Terms, x: flint.fmpq, unit: flint.fmpq) -> flint.arb:
    total, once = flint.arb(0), unit * x
    for (n, a), c in piece.items():
        value = c * flint.arb(once * a).exp() if a else c
        total += value * flint.arb(x**n) if n else value
    return total


def _antiderivative(piece: _Terms, unit: flint.fmpq) -> _Terms:
    """By parts: the antiderivative of x^n e^(ax) is e^(ax) * sum_i (-1)^i n!/(n-i)! x^(n-i) / a^(i+1)."""
    terms: _Terms = {}
    for (n, a), c in piece.items():
        if a == 0:
            terms = _sum(terms, {(n + 1, a): c / (n + 1)})
            continue
        for i in range(n + 1):
            factor = (-1) ** i * math.perm(n, i) / (unit * a) ** (i + 1)
            terms = _sum(terms, {(n - i, a): c * flint.arb(factor)})
    return terms


def _limit(piece: _Terms, at: flint.fmpq | None, unit: flint.fmpq, *, sign: int) -> flint.arb:
    """The value at a point, or the limit at plus (sign=1) or minus infinity, which must be finite."""
    if at is not None:
        return _evaluate(piece, at, unit)
    total = flint.arb(0)
    for (n, a), c in piece.items():
        if a * sign < 0 or c.is_zero():
            continue
        if n == 0 and a == 0:
            total += c
        else:
            raise ArithmeticError("the integral does not converge")
    return total
