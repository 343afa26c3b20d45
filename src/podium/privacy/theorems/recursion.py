"""The recursion behind the adaptive optimum: upper bounds on delta at nodes, one selection after the other.

The node values are float64. Every operation on them adds and multiplies non-negative numbers, so its error is
relative; constants are rounded up from balls, each step inflates by 64 units in the last place, and the two
differences that occur (steps of the nodes, differences of the ends) get allowances of their own. The proof
and the count of rounding errors are in docs/proofs/accounting.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from podium.exact import ball, ball_precision, float_above_ball, float_below, rational_bounds
from podium.privacy.rounding import above, certified_bound

__all__ = ["Aim", "Found", "Profile", "profile_of"]

Vector = NDArray[np.float64]

_UNIT = 2.0**-53
_STEP_ALLOWANCE = 1.0 + 64 * _UNIT
_CURVE_ALLOWANCE = 1.0 + 16 * _UNIT
_FLOOR = 2.0**-960
"""Added at every step: far below any delta, far above what underflow can lose."""
_TRUNCATION = math.log(1e5)


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
                hit=np.array([float_above_ball(value) for value in rising]),
                miss=np.array([max(0.0, float_above_ball(1 - value)) for value in rising]),
                decay=float_below(rational_bounds(ball(-epsilon).exp())[0]),
                bend=float_above_ball(growth * ball(step).expm1() / gap),
                ratio=np.array([float_above_ball(value) for value in decays]),
                rest=np.array([float_above_ball(1 - value) for value in decays]),
            )


@dataclass(frozen=True, slots=True)
class Found:
    """A total, and whether it was found inside the window; a window that is not around the answer was placed badly."""

    value: Fraction
    inside: bool
    certain: bool = True  # False: above the window, where nothing is known of the total


@dataclass(frozen=True, slots=True)
class Profile:
    """Upper bounds on delta_j at the nodes ``first, first + 1, ...`` (node m is the total m * step)."""

    step: Fraction
    first: int
    values: Vector

    def epsilon(self, delta: Fraction) -> Found:
        """A total whose delta is certainly at most ``delta``, by interpolation linear in e^g."""
        passing = np.flatnonzero(self.values <= float_below(delta))
        if passing.size == 0:
            return Found(self.step * (self.first + len(self.values)), inside=False, certain=False)
        index = int(passing[0])
        if index == 0:
            return Found(self.step * self.first, inside=self.first <= 0)
        left, right = Fraction(float(self.values[index - 1])), Fraction(float(self.values[index]))
        share = min(Fraction(1), (left - delta) / (left - right))
        start = self.step * (self.first + index - 1)
        if share <= 0:
            return Found(start, inside=True)
        value = certified_bound(lambda: ball(start) + (1 + ball(share) * ball(self.step).expm1()).log(), above)
        return Found(value, inside=True)

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
        share = certified_bound(lambda: ball(inside).expm1() / ball(self.step).expm1(), _share_below)
        return left - share * (left - right)


def _share_below(value: Fraction) -> Fraction:
    return max(Fraction(0), Fraction(math.floor(value * 2**80), 2**80))


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the answer is expected: the node of the total, and ln(1/delta) there. Decides accuracy, not soundness."""

    node: float
    log_inverse_delta: float
    margin: int  # of the largest epsilons, that the expectation may be off

    def windows(self, step: Fraction, widths: Sequence[int]) -> list[tuple[int, int]]:
        """The nodes that matter after each of the steps; the j-th selection from the end is ``widths[j]`` nodes wide.

        A loss of selections whose squared widths sum to S is sub-Gaussian: above its mean by ``spread * sqrt(S)/2``
        with probability e^(-spread^2/2) only (Hoeffding). Higher nodes have a delta that small; lower ones are
        reached from the aim, in the steps that remain, that rarely.
        """
        nodes = max(widths)
        spread = math.sqrt(2 * (self.log_inverse_delta + _TRUNCATION)) * nodes / 2
        drift = float(step * nodes) * nodes / 8
        done, squares, found = 0, Fraction(0), []
        left, rest = sum(widths), sum((Fraction(width, nodes) ** 2 for width in widths), Fraction(0))
        for width in widths:
            done, squares = done + width, squares + Fraction(width, nodes) ** 2
            left, rest = left - width, rest - Fraction(width, nodes) ** 2
            low = self.node - float(rest) * drift - spread * math.sqrt(rest) - self.margin * nodes
            high = min(
                float(squares) * drift + spread * math.sqrt(squares) + nodes, self.node + left + self.margin * nodes
            )
            low_node = max(-done, math.floor(low))
            found.append((low_node, max(low_node, min(done, math.ceil(high)))))
        return found


def profile_of(step: Fraction, widths: Sequence[int], aim: Aim) -> Profile:
    """Run the recursion on a moving window of nodes, from the last selection to the first.

    ``widths`` are the epsilons in steps, the last selection first. Outside the window the profile is replaced by
    something larger: its value at the window's upper end above (it is decreasing), and the chord to delta = 1 at
    e^g = 0 below (it is convex). So a badly placed window costs accuracy, never soundness.
    """
    constants = {width: _Constants.of(step * width, width) for width in set(widths)}
    windows = aim.windows(step, widths)
    scratch = _Scratch.of(max(widths), max(high - low + 1 for low, high in windows))
    first, values, done = 0, np.zeros(1), 0
    for width, (wanted, high) in zip(widths, windows, strict=True):
        low = max(wanted, first - width)
        extended = _extend(constants[width], first, values, low - width, high + width, done)
        values = _advance(constants[width], extended, scratch, high - low + 1)
        first, done = low, done + width
        if high == done:
            values[-1] = 0.0  # no total loss of these selections exceeds the sum of their epsilons
    return Profile(step, first, values)


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Memory that all steps share: fresh pages for every step would cost more than the arithmetic."""

    parts: tuple[Vector, Vector, Vector]

    @classmethod
    def of(cls, nodes: int, count: int) -> _Scratch:
        size = (nodes + 1) * count
        return cls((np.empty(size), np.empty(size), np.empty(size)))

    def tables(self, nodes: int, count: int) -> tuple[Vector, Vector, Vector]:
        rows = nodes + 1
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
    nodes = len(constants.hit) - 1
    extended = np.minimum.accumulate(extended)  # the profile is decreasing, so a smaller earlier bound holds later
    drops = extended[:-1] - extended[1:]
    near, far = drops[: count + nodes - 1], drops[nodes:]
    bends = np.maximum(near - constants.decay * far, 0.0) + 8 * _UNIT * near
    bends *= constants.bend * _CURVE_ALLOWANCE  # four times the E of the proof, per cell
    inverse = 0.25 / np.maximum(bends, _FLOOR)

    ends, reach, extra = scratch.tables(nodes, count)
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
