"""The adaptive optimum for k bounded-range selections, as a certified upper bound.

The largest delta that k adaptively chosen epsilon-bounded-range mechanisms can force at a total g obeys

    delta_0(g) = max(0, 1 - e^g)
    delta_j(g) = sup over t in [0, epsilon] of q_t delta_{j-1}(g - epsilon + t) + (1 - q_t) delta_{j-1}(g + t)

with ``q_t = (1 - e^-t) / (1 - e^-epsilon)``. Each delta_j is convex in e^g, so linear interpolation in e^g between
nodes ``g = m * epsilon/N`` lies above it. On one cell of t the interpolated objective is ``A + B y + C/y`` with
``y = e^-t``: given its values at both ends and a bound on its curvature, its supremum has a closed form.

Epsilons may differ from step to step, as long as they are whole multiples of one distance of nodes. The steps
themselves are in ``recursion``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, positive_fraction, positive_integer, probability
from podium.privacy.rounding import above, below, certified_bound, significant_above
from podium.privacy.theorems.bounded_range import bounded_range_rho
from podium.privacy.theorems.recursion import Aim, profile_of

__all__ = ["adaptive_optimum", "adaptive_optimum_delta", "resolution_for", "scheduled_optimum"]

_MARGINS = (2, 16, 256)
_CELLS = 64
"""Number of probability bins."""
_RESOLUTIONS = (96, 64, 48, 32, 24, 16, 12, 8)
_CORNER = 1200
_WORK = 7.0e7
_MIN_DELTA = Fraction(1, 10**250)
_MAX_EPSILON = 30


def adaptive_optimum(epsilon: Number, k: int, delta: Number, *, resolution: int | None = None) -> Fraction:
    """Smallest total epsilon of k adaptive epsilon-bounded-range selections at this delta, never understated.

    Theorem: the recursion above is the exact optimum over adaptive choices (Dong, Durfee & Rogers 2020 treat
    the non-adaptive case; docs/proofs/accounting.md has the adaptive one). ``resolution`` is N, the number of
    nodes per epsilon; the excess over the optimum is about a fraction ``1/(2 N^2)``. It suits epsilons up to
    30 and deltas down to 1e-250; beyond them the plain sum is returned, which is always sound.
    """
    single, times, target = positive_fraction(epsilon, "epsilon"), positive_integer(k, "k"), probability(delta, "delta")
    if times == 1:
        return _single_optimum(single, target)
    nodes = _chosen(times, resolution)
    if nodes is None or single > _MAX_EPSILON or target < _MIN_DELTA:
        return times * single
    return _adaptive_optimum(single, times, target, nodes)


def adaptive_optimum_delta(epsilon: Number, k: int, total: Number, *, resolution: int | None = None) -> Fraction:
    """Upper bound on the delta at which k adaptive selections are (total, delta)-DP; the same theorem."""
    single, times = positive_fraction(epsilon, "epsilon"), positive_integer(k, "k")
    target = exact_fraction(total, "total")
    if target < 0:
        raise InvalidArgument("total", total, allowed="a number, 0 or more")
    nodes = _chosen(times, resolution)
    if target >= times * single:
        return Fraction(0)
    if times == 1:
        return _single_delta(single, target)
    if nodes is None or single > _MAX_EPSILON:
        return Fraction(1)
    excess = max(0.0, float(target / single - times * single / 8)) / math.sqrt(times)
    aim = Aim(float(target * nodes / single), 2 * excess**2, _MARGINS[0])
    profile = profile_of(single / nodes, (nodes,) * times, aim)
    return min(Fraction(1), profile.delta(target))


def scheduled_optimum(
    unit: Number, multiples: Sequence[int], delta: Number, *, resolution: int, test: Number = 0
) -> Fraction:
    """Smallest total epsilon of adaptive bounded-range selections with the epsilons ``multiples[j] * unit``, in turn.

    The same recursion, each step with its own epsilon (docs/proofs/accounting.md, section 3); ``resolution`` is the
    number of nodes per unit. With ``test``, a test of two outcomes whose log odds move by at most that much comes
    before, and only after one of them are the selections made: the total is of that outcome and its selections
    (docs/proofs/tested.md, section 4).
    """
    base, target, move = positive_fraction(unit, "unit"), probability(delta, "delta"), exact_fraction(test, "test")
    nodes = positive_integer(resolution, "resolution")
    factors = tuple(positive_integer(factor, "multiples") for factor in multiples)
    if not factors:
        raise InvalidArgument("multiples", multiples, allowed="at least one integer above 0")
    if move < 0:
        raise InvalidArgument("test", test, allowed="a number, 0 or more")
    if max(factors) * base > _MAX_EPSILON or target < _MIN_DELTA:
        return sum(factors) * base + move
    rho = sum(count * bounded_range_rho(factor * base) for factor, count in Counter(factors).items())
    widths = tuple(factor * nodes for factor in reversed(factors))
    return _search(base / nodes, widths, float(rho), target, _shifts(move))


@lru_cache(maxsize=16)
def _shifts(move: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """What a test does to the selections after it: delta may be 1/q times as large, and epsilon lacks a shift.

    An outcome of chance q has on the neighbour at least the chance ``q/(q + (1 - q) e^move)``. Over a cell of q the
    larger end bounds the chance, the smaller one the shift.
    """
    if not move:
        return ((Fraction(1), Fraction(0)),)

    def shift(least: Fraction) -> Fraction:
        def logarithm() -> flint.arb:
            return (ball(least) + ball(1 - least) * ball(move).exp()).log()

        return certified_bound(logarithm, above)

    return tuple((Fraction(_CELLS, place), shift(Fraction(place - 1, _CELLS))) for place in range(1, _CELLS + 1))


def _single_optimum(epsilon: Fraction, delta: Fraction) -> Fraction:
    """One selection in closed form: ``delta_1(g) = (1 - e^((g - epsilon)/2))^2 / (1 - e^-epsilon)``."""

    def distance() -> flint.arb:
        return (ball(delta) * -ball(-epsilon).expm1()).sqrt()

    root = certified_bound(distance, below)
    if root >= 1:
        return Fraction(0)
    return max(Fraction(0), certified_bound(lambda: ball(epsilon) + 2 * ball(-root).log1p(), above))


def _single_delta(epsilon: Fraction, total: Fraction) -> Fraction:
    return certified_bound(
        lambda: ball((total - epsilon) / 2).expm1() ** 2 / -ball(-epsilon).expm1(),
        significant_above,
    )


def resolution_for(k: int) -> int | None:
    """Nodes per epsilon that keep the work for k selections well below a second; None if k is too large.

    For few selections the answer lies in the corner just below k*epsilon, where only a cell that is small
    against k*epsilon itself is accurate.
    """
    if k * _RESOLUTIONS[0] < _CORNER:
        return _CORNER // k
    for nodes in _RESOLUTIONS:
        if _work(k, nodes) <= _WORK:
            return nodes
    return None


def _chosen(k: int, resolution: int | None) -> int | None:
    return resolution_for(k) if resolution is None else positive_integer(resolution, "resolution")


def _work(k: int, nodes: int) -> float:
    return k * nodes * 2 * nodes * min(k / 2, 2 + 1.2 * math.sqrt(k))


@lru_cache(maxsize=256)
def _adaptive_optimum(epsilon: Fraction, k: int, delta: Fraction, nodes: int) -> Fraction:
    return _search(epsilon / nodes, (nodes,) * k, float(k * bounded_range_rho(epsilon)), delta)


def _search(
    step: Fraction,
    widths: tuple[int, ...],
    rho: float,
    delta: Fraction,
    shifts: Sequence[tuple[Fraction, Fraction]] = ((Fraction(1), Fraction(0)),),
) -> Fraction:
    """The total at this delta, by the recursion on a window around where a Gaussian of this rho would have it.

    Each shift is a pair: the factor by which delta may grow, and what the total gains. The worst pair counts.
    """
    total = step * sum(widths)
    guess = _gaussian_guess(rho, float(delta), float(total))
    for margin in _MARGINS:
        profile = profile_of(step, widths, Aim(guess / float(step), -_log(delta), margin))
        found = [(profile.epsilon(min(Fraction(1), delta * factor)), shift) for factor, shift in shifts]
        if all(one.inside for one, _ in found):
            break
        guess = float(min(total, found[-1][0].value))
    return max((min(total, max(Fraction(0), one.value)) if one.certain else total) + shift for one, shift in found)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _gaussian_guess(rho: float, delta: float, largest: float) -> float:
    """Where a Gaussian of the same rho has this delta: only tells the recursion where to look."""
    width = math.sqrt(2 * rho)
    low, high = 0.0, largest
    for _ in range(60):
        middle = (low + high) / 2
        near, far = (middle / width - width / 2) / math.sqrt(2), (middle / width + width / 2) / math.sqrt(2)
        tail = 0.5 * math.erfc(near) - 0.5 * math.exp(min(middle, 700.0)) * math.erfc(far)
        low, high = (middle, high) if tail > delta else (low, middle)
    return high
