"""Exact choice by inverse CDF: the exponential mechanism with one uniform number per selection.

The distribution of a Gumbel race, from fewer random bits. Weights are multiplicity * exp(rate * score); floats with
rigorous bounds find the bucket of a uniform number, and ball arithmetic decides when it falls too
close to a border.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np

from podium.exact import ball, ball_precision, positive_fraction, positive_integer
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.candidates import Lineup, exact_integers, multiplicity_vector
from podium.randomness.integers import random_members, uniform_below
from podium.randomness.noise import Floats, float_stage_is_sound
from podium.randomness.race import Finish
from podium.randomness.streams import FreshStreams, Streams, Uniform

__all__ = ["choose", "pick_bucket"]

_RELATIVE = 2.0**-46
_TINY = 1e-290


def choose(
    scores: object, *, k: int, rate: object, multiplicities: object = None, bits: BitSource | None = None
) -> Finish:
    """k selections in turn, without replacement, each with probability proportional to exp(rate * score).

    The same distribution as ``race(scores, k=k, scale=1/rate, noise="gumbel")``.
    """
    places = positive_integer(k, "k")
    values, unit = exact_integers(scores)
    factor = unit * positive_fraction(rate, "rate")
    source = system_bits() if bits is None else bits
    counts = [1] * len(values)
    if multiplicities is not None:
        counts = [int(count) for count in multiplicity_vector(multiplicities, len(values))[1]]
    lottery = _Lottery(values.tolist(), counts, factor)
    groups = [lottery.draw(source) for _ in range(min(places, sum(counts)))]
    return Finish(tuple(groups), tuple(random_members(groups, [counts[group] for group in groups], source)))


class _Lottery:
    """Draws groups in proportion to the weight of their members that were not drawn before.

    Draws are made from the weights as they were when the table was built; hitting a member already taken is
    a rejection, which leaves the distribution of the others untouched, and the table is then rebuilt.
    """

    def __init__(self, values: list[int], counts: list[int], rate: Fraction) -> None:
        self._values = values
        self._rate = rate
        self._remaining = counts.copy()
        self._rebuild()

    def _rebuild(self) -> None:
        self._alive = [group for group, count in enumerate(self._remaining) if count]
        self._listed = [self._remaining[group] for group in self._alive]
        self._lineup = Lineup(np.array([self._values[group] for group in self._alive], dtype=object), self._rate)
        self._lineup.baseline = max((self._values[group] for group in self._alive), default=0)
        self._bounds = _weight_bounds(self._lineup, self._listed)

    def draw(self, bits: BitSource) -> int:
        while True:
            bucket = pick_bucket(self._lineup, self._listed, self._bounds, FreshStreams(bits))
            group = self._alive[bucket]
            # Of the members in the table, those beyond the remaining ones were taken since.
            if uniform_below(self._listed[bucket], bits) < self._remaining[group]:
                self._remaining[group] -= 1
                return group
            self._rebuild()


def _weight_bounds(lineup: Lineup, counts: list[int]) -> tuple[Floats, Floats]:
    """Bounds on the running sums of the weights, relative to the largest weight."""
    if not float_stage_is_sound():
        return np.zeros(len(counts)), np.full(len(counts), np.inf)
    low, high = lineup.offsets(slice(0, len(lineup)))
    sizes = np.array([math.log(count) for count in counts])
    top = float(np.max(sizes + low)) if len(counts) else 0.0
    top = top if math.isfinite(top) else 0.0
    slack = _RELATIVE * (1.0 + sizes + np.minimum(np.abs(high), 1e12) + abs(top))
    with np.errstate(over="ignore", under="ignore"):
        below = np.exp(low + sizes - top) * np.maximum(1.0 - slack, 0.0)
        above = np.exp(high + sizes - top) * (1.0 + slack) + _TINY
    drift = len(counts) * 2.0**-52
    return np.cumsum(below) * (1.0 - drift), np.cumsum(above) * (1.0 + drift)


def pick_bucket(lineup: Lineup, counts: list[int], bounds: tuple[Floats, Floats], streams: Streams) -> int:
    """The group in which a fresh uniform number falls, weights counts * exp(offset)."""
    one = np.ones(1, dtype=np.intp)
    word = int(streams.heads(one, one)[0])
    below, above = bounds
    u_low, u_high = (word >> 12) * 2.0**-52, ((word >> 12) + 1) * 2.0**-52
    with np.errstate(invalid="ignore", over="ignore"):
        target_low, target_high = u_low * below[-1] * (1 - 2.0**-51), u_high * above[-1] * (1 + 2.0**-51)
    # The bucket that surely ends above the target, if the one before surely ends below it.
    bucket = int(np.searchsorted(below, target_high))
    if bucket < len(below) and (bucket == 0 or above[bucket - 1] <= target_low):
        return bucket
    return _pick_exactly(lineup, counts, Uniform(streams, 1, 1, word))


def _pick_exactly(lineup: Lineup, counts: list[int], uniform: Uniform) -> int:
    if len(counts) == 1:
        return 0
    for digits in (64 << step for step in itertools.count()):
        known = uniform.digits(digits)
        with ball_precision(2 * digits + 64):
            sums = list(
                itertools.accumulate(
                    ball(count) * ball(lineup.offset(group)).exp() for group, count in enumerate(counts)
                )
            )
            low = ball(Fraction(known, 1 << digits)) * sums[-1]
            high = ball(Fraction(known + 1, 1 << digits)) * sums[-1]
            bucket = _certain_bucket(sums, low, high)
        if bucket is not None:
            return bucket
    raise AssertionError("unreachable: the stream ends first")


def _certain_bucket(sums: list[flint.arb], low: flint.arb, high: flint.arb) -> int | None:
    last = len(sums) - 1
    for bucket in range(len(sums)):
        starts_before = bucket == 0 or sums[bucket - 1] <= low
        ends_after = bucket == last or high <= sums[bucket]
        if starts_before and ends_after:
            return bucket
    return None
