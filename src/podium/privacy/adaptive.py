"""The adaptive optimum for k bounded-range selections, as a certified upper bound.

The largest delta that k adaptively chosen epsilon-bounded-range mechanisms can force at a total g obeys

    delta_0(g) = max(0, 1 - e^g)
    delta_j(g) = sup over t in [0, epsilon] of q_t delta_{j-1}(g - epsilon + t) + (1 - q_t) delta_{j-1}(g + t)

with ``q_t = (1 - e^-t) / (1 - e^-epsilon)``. Each delta_j is convex in e^g, so linear interpolation in e^g between
nodes ``g = m * epsilon/N`` lies above it. On one cell of t the interpolated objective is ``A + B y + C/y`` with
``y = e^-t``: given its values at both ends and a bound on its curvature, its supremum has a closed form.

The node values are float64. Every operation on them adds and multiplies non-negative numbers, so its error is
relative; constants are rounded up from balls, each step inflates by 64 units in the last place, and the two
differences that occur (steps of the nodes, differences of the ends) get allowances of their own. The proof
and the count of rounding errors are in docs/proofs/accounting.md, section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import (
    Number,
    ball,
    ball_precision,
    exact_fraction,
    float_above,
    float_below,
    positive_fraction,
    positive_integer,
    probability,
    rational_bounds,
)
from podium.privacy.bounded_range import bounded_range_rho
from podium.privacy.rounding import above, below, certified, significant_above

__all__ = ["adaptive_optimum", "adaptive_optimum_delta", "resolution_for"]

Vector = NDArray[np.float64]

_UNIT = 2.0**-53
_STEP_ALLOWANCE = 1.0 + 64 * _UNIT
_CURVE_ALLOWANCE = 1.0 + 16 * _UNIT
_FLOOR = 2.0**-960
"""Added at every step: far below any delta, far above what underflow can lose."""

_MARGINS = (2, 16, 256)
_TRUNCATION = math.log(1e5)
_RESOLUTIONS = (96, 64, 48, 32, 24, 16, 12, 8)
_CORNER = 1200
_WORK = 7.0e7
_SMALLEST_DELTA = Fraction(1, 10**250)
_LARGEST_EPSILON = 30


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
    if nodes is None or single > _LARGEST_EPSILON or target < _SMALLEST_DELTA:
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
    if nodes is None or single > _LARGEST_EPSILON:
        return Fraction(1)
    excess = max(0.0, float(target / single - times * single / 8)) / math.sqrt(times)
    profile = _profile(single, times, nodes, _Aim(float(target * nodes / single), 2 * excess**2, _MARGINS[0]))
    return min(Fraction(1), profile.delta(target))


def _single_optimum(epsilon: Fraction, delta: Fraction) -> Fraction:
    """One selection in closed form: ``delta_1(g) = (1 - e^((g - epsilon)/2))^2 / (1 - e^-epsilon)``."""

    def distance() -> flint.arb:
        return (ball(delta) * -ball(-epsilon).expm1()).sqrt()

    root = certified(distance, below)
    if root >= 1:
        return Fraction(0)
    return max(Fraction(0), certified(lambda: ball(epsilon) + 2 * ball(-root).log1p(), above))


def _single_delta(epsilon: Fraction, total: Fraction) -> Fraction:
    return certified(
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
    guess = _gaussian_guess(float(k * bounded_range_rho(epsilon)), float(delta), float(k * epsilon))
    total = k * epsilon
    for margin in _MARGINS:
        profile = _profile(epsilon, k, nodes, _Aim(guess * nodes / float(epsilon), -_log(delta), margin))
        found = profile.epsilon(delta)
        total = min(total, max(Fraction(0), found.value))
        if found.inside:
            break
        guess = float(min(total, found.value))
    return total


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


@dataclass(frozen=True, slots=True)
class _Constants:
    """The recursion's numbers for one epsilon and N, rounded so that they can only raise the result."""

    hit: Vector  # q at t = i * step, rounded up
    miss: Vector  # 1 - q, rounded up
    decay: float  # e^-epsilon, rounded down (it is subtracted)
    bend: float  # 4 * kappa, kappa = r (r - 1) / (4 (1 - e^-epsilon)), r = e^step, rounded up
    ratio: Vector  # e^(-m step) for m = 1, 2, ..., rounded up
    rest: Vector  # 1 - e^(-m step), rounded up

    @classmethod
    def of(cls, epsilon: Fraction, nodes: int) -> _Constants:
        step = epsilon / nodes
        with ball_precision(128):
            gap = -ball(-epsilon).expm1()
            rising = [-ball(-step * index).expm1() / gap for index in range(nodes + 1)]
            growth = ball(step).exp()
            decays = [ball(-step * index).exp() for index in range(1, 2 * nodes + 1)]
            return cls(
                hit=np.array([_up(value) for value in rising]),
                miss=np.array([max(0.0, _up(1 - value)) for value in rising]),
                decay=float_below(rational_bounds(ball(-epsilon).exp())[0]),
                bend=_up(growth * ball(step).expm1() / gap),
                ratio=np.array([_up(value) for value in decays]),
                rest=np.array([_up(1 - value) for value in decays]),
            )


def _up(value: flint.arb) -> float:
    return float_above(rational_bounds(value)[1])


@dataclass(frozen=True, slots=True)
class _Found:
    value: Fraction
    inside: bool  # False: the delta lies outside the window, which was then placed badly


@dataclass(frozen=True, slots=True)
class _Profile:
    """Upper bounds on delta_j at the nodes ``first, first + 1, ...`` (node m is the total m * step)."""

    step: Fraction
    first: int
    values: Vector

    def epsilon(self, delta: Fraction) -> _Found:
        """A total whose delta is certainly at most ``delta``, by interpolation linear in e^g."""
        passing = np.flatnonzero(self.values <= float_below(delta))
        if passing.size == 0:
            return _Found(self.step * (self.first + len(self.values)), inside=False)
        index = int(passing[0])
        if index == 0:
            return _Found(self.step * self.first, inside=self.first <= 0)
        left, right = Fraction(float(self.values[index - 1])), Fraction(float(self.values[index]))
        share = min(Fraction(1), (left - delta) / (left - right))
        start = self.step * (self.first + index - 1)
        if share <= 0:
            return _Found(start, inside=True)
        value = certified(lambda: ball(start) + (1 + ball(share) * ball(self.step).expm1()).log(), above)
        return _Found(value, inside=True)

    def delta(self, total: Fraction) -> Fraction:
        """An upper bound on delta at ``total``, by the same interpolation."""
        place = total / self.step - self.first
        index = place.numerator // place.denominator
        if index < 0:
            return Fraction(1)
        if index >= len(self.values) - 1:
            return Fraction(float(self.values[-1]))
        left, right = Fraction(float(self.values[index])), Fraction(float(self.values[index + 1]))
        inside = total - self.step * (self.first + index)
        if inside == 0:
            return left
        share = certified(lambda: ball(inside).expm1() / ball(self.step).expm1(), _share_below)
        return left - share * (left - right)


def _share_below(value: Fraction) -> Fraction:
    return max(Fraction(0), Fraction(math.floor(value * 2**80), 2**80))


@dataclass(frozen=True, slots=True)
class _Aim:
    """Where the answer is expected: the node of the total, and ln(1/delta) there. Decides accuracy, not soundness."""

    node: float
    log_inverse_delta: float
    margin: int  # epsilons that the expectation may be off

    def window(self, step: int, k: int, drift: float, nodes: int) -> tuple[int, int]:
        """The nodes that matter after ``step`` of k steps.

        A loss of j selections is sub-Gaussian: above j drifts by ``spread * nodes/2 * sqrt(j)`` with probability
        e^(-spread^2/2) only (Hoeffding). Higher nodes have a delta that small; lower ones are reached from the
        aim, in the steps that remain, that rarely.
        """
        spread = math.sqrt(2 * (self.log_inverse_delta + _TRUNCATION)) * nodes / 2
        rest = k - step
        low = self.node - rest * drift - spread * math.sqrt(rest) - self.margin * nodes
        high = min(step * drift + spread * math.sqrt(step) + nodes, self.node + (rest + self.margin) * nodes)
        low_node = max(-step * nodes, math.floor(low))
        return low_node, max(low_node, min(step * nodes, math.ceil(high)))


def _profile(epsilon: Fraction, k: int, nodes: int, aim: _Aim) -> _Profile:
    """Run the recursion on a moving window of nodes.

    Outside the window the profile is replaced by something larger: its value at the window's upper end above
    (it is decreasing), and the chord to delta = 1 at e^g = 0 below (it is convex). So a badly placed window costs
    accuracy, never soundness.
    """
    drift = float(epsilon) * nodes / 8
    constants = _Constants.of(epsilon, nodes)
    windows = [aim.window(step, k, drift, nodes) for step in range(1, k + 1)]
    scratch = _Scratch.of(nodes, max(high - low + 1 for low, high in windows))
    first, values = 0, np.zeros(1)
    for step, (wanted, high) in enumerate(windows, start=1):
        low = max(wanted, first - nodes)
        extended = _extend(constants, first, values, low - nodes, high + nodes, (step - 1) * nodes)
        values = _advance(constants, extended, scratch, high - low + 1)
        first = low
        if high == step * nodes:
            values[-1] = 0.0  # no total loss of `step` selections exceeds step * epsilon
    return _Profile(epsilon / nodes, first, values)


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Memory that all steps share: fresh pages for every step would cost more than the arithmetic."""

    nodes: int
    parts: tuple[Vector, Vector, Vector]

    @classmethod
    def of(cls, nodes: int, count: int) -> _Scratch:
        size = (nodes + 1) * count
        return cls(nodes, (np.empty(size), np.empty(size), np.empty(size)))

    def tables(self, count: int) -> tuple[Vector, Vector, Vector]:
        rows = self.nodes + 1
        first, second, third = (part[: rows * count].reshape(rows, count) for part in self.parts)
        return first, second, third


def _extend(constants: _Constants, first: int, values: Vector, low: int, high: int, vanishing: int) -> Vector:
    """Values on the nodes low..high: the known ones, and safe replacements on both sides."""
    result = np.empty(high - low + 1)
    below_count = max(0, first - low)
    last = first + len(values) - 1
    start, stop = max(low, first), min(high, last)
    result[start - low : stop - low + 1] = values[start - first : stop - first + 1]
    if stop < high:
        result[stop - low + 1 :] = 0.0 if last >= vanishing else values[-1]
    if below_count:
        chord = (values[0] * constants.ratio[:below_count] + constants.rest[:below_count]) * _STEP_ALLOWANCE
        result[:below_count] = np.minimum(1.0, chord[::-1])
    return result


def _advance(constants: _Constants, extended: Vector, scratch: _Scratch, count: int) -> Vector:
    """One step of the recursion on ``count`` nodes; ``extended`` reaches one epsilon further on both sides."""
    nodes = scratch.nodes
    extended = np.minimum.accumulate(extended)  # the profile is decreasing, so a smaller earlier bound holds later
    drops = extended[:-1] - extended[1:]
    near, far = drops[: count + nodes - 1], drops[nodes:]
    bends = np.maximum(near - constants.decay * far, 0.0) + 8 * _UNIT * near
    bends *= constants.bend * _CURVE_ALLOWANCE  # four times the E of the proof, per cell
    inverse = 0.25 / np.maximum(bends, _FLOOR)

    ends, reach, extra = scratch.tables(count)
    windows = sliding_window_view(extended, count)
    np.multiply(constants.hit[:, None], windows[: nodes + 1], out=ends)
    np.multiply(constants.miss[:, None], windows[nodes : 2 * nodes + 1], out=reach)
    ends += reach
    reach, extra = reach[:nodes], extra[:nodes]
    np.subtract(ends[1:], ends[:-1], out=reach)
    np.abs(reach, out=reach)
    np.subtract(sliding_window_view(bends, count)[:nodes], reach, out=reach)
    np.maximum(reach, 0.0, out=reach)
    np.multiply(reach, sliding_window_view(inverse, count)[:nodes], out=extra)
    extra *= reach
    np.maximum(ends[1:], ends[:-1], out=reach)
    extra += reach
    result: Vector = extra.max(axis=0) * _STEP_ALLOWANCE + _FLOOR
    return np.minimum(result, 1.0)
