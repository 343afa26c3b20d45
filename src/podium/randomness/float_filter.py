"""The float stage of the race: rigorous intervals for all candidates; none that could still win is dropped.

A running ``bar``, a lower bound on the noisy score of the last place, lets most candidates go after one cheap
comparison. It uses that every family satisfies Z <= -log(1 - V) + log 2 for Z with V = F(Z), the Gaussian too
because 1 - Phi(z) <= e^(-z^2/2)/2 and z^2/2 >= z - 1/2; and hence max of m draws <= -log(1 - V) + log(2 m), since
V^(1/m) <= 1 - (1 - V)/m. Truncating symmetric noise lowers P(Z > z) for z >= 0, and where the bound is the unit,
z <= 1 and P(Z > z) <= 1/2 <= 2 e^-z; below 0, P(Z > z) <= 1: so truncated families satisfy it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from podium.exact import float_below
from podium.randomness.bits import Words
from podium.randomness.candidates import Lineup, chunk_length
from podium.randomness.noise import Floats, Noise, exponential_bounds, float_stage_is_sound
from podium.randomness.streams import Streams

__all__ = ["FLOAT_DIGITS", "Candidates", "FirstPass", "Opened"]

FLOAT_DIGITS = 52
"""Digits of a stream that the float stage looks at: with 52, both ends of the interval are exact floats."""

_LEADERS_AT_ONCE = 1 << 10
_SLACK = 2.0**-50
_TINY = 1e-300
_GENEROUS = 1.0 + 1e-6
_MAX_FLOAT = float(np.finfo(np.float64).max)
_Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Order statistics of groups with intervals for their noisy scores, relative to the baseline."""

    groups: _Indices
    orders: _Indices
    low: Floats
    high: Floats

    def where(self, chosen: NDArray[np.bool_] | _Indices) -> Candidates:
        """The chosen ones."""
        return Candidates(self.groups[chosen], self.orders[chosen], self.low[chosen], self.high[chosen])

    @staticmethod
    def concatenate(parts: list[Candidates]) -> Candidates:
        """All candidates of all parts."""
        return Candidates(
            np.concatenate([part.groups for part in parts]),
            np.concatenate([part.orders for part in parts]),
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """First digits already drawn: ``words[i, j]`` belongs to the stream (groups[i], first_order + j)."""

    groups: _Indices
    first_order: int
    words: Words


class FirstPass:
    """Finds the candidates that can take one of the first ``places`` places, above ``floor`` where there is one."""

    def __init__(
        self, lineup: Lineup, noise: Noise, streams: Streams, *, places: int, head: int, floor: Fraction | None = None
    ) -> None:
        self._lineup = lineup
        self._noise = noise
        self._streams = streams
        self._places = places
        self._head = head
        self._floor = floor
        self._bar = -np.inf
        self._kept: list[Candidates] = []
        self._pending = 0
        self.opened: list[Opened] = []

    def run(self) -> Candidates:
        """All candidates that matter, each with its interval."""
        if not len(self._lineup):
            nobody = np.empty(0, dtype=np.intp)
            return Candidates(nobody, nobody, np.empty(0), np.empty(0))
        leaders = self._lineup.leaders(max(2 * self._places if self._floor is None else 0, 256))
        if self._floor is not None:
            # The bar stands from the start, so leaders are needed only for a baseline near the contest.
            self._bar = float_below(self._lineup.relative(self._floor))
        for start in range(0, len(leaders), _LEADERS_AT_ONCE):
            some = leaders[start : start + _LEADERS_AT_ONCE]
            self._enter(some, self._streams.heads(some, np.ones(1, dtype=np.intp)))
        if len(leaders) < len(self._lineup):
            chunk = chunk_length(len(self._lineup))
            for start in range(0, len(self._lineup), chunk):
                self._screen(start, min(start + chunk, len(self._lineup)), leaders)
        self._prune()
        if self._lineup.counts is not None:
            self._later_orders()
        return self._kept[0]

    def _screen(self, start: int, stop: int, leaders: _Indices) -> None:
        everyone = np.arange(start, stop)
        words = self._streams.heads(everyone, np.ones(1, dtype=np.intp))
        # 1 - V is at least this, whatever the digits not yet looked at say.
        room = (~words >> np.uint64(64 - self._head)).astype(np.float64)
        limit = self._lineup.upper_offsets(slice(start, stop))
        limit -= self._bar
        if (logs := self._lineup.log_counts(slice(start, stop))) is not None:
            limit += logs  # before the exponential: a multiplicity may be beyond floats, or exp(limit) below them
        with np.errstate(over="ignore", under="ignore"):
            np.exp(limit, out=limit)
            limit *= 2.0 ** (self._head + 1) * _GENEROUS
        survives = ~(room > limit) if float_stage_is_sound() else np.ones(stop - start, dtype=np.bool_)
        survives[leaders[np.searchsorted(leaders, start) : np.searchsorted(leaders, stop)] - start] = False
        chosen = np.flatnonzero(survives)
        if len(chosen):
            self._enter(chosen + start, words[chosen])

    def _enter(self, groups: _Indices, words: Words) -> None:
        self.opened.append(Opened(groups, 1, words[:, None]))
        low, high = exponential_bounds(words, self._head)
        if self._lineup.counts is not None:
            counts = self._lineup.counts[groups]
            low, high = _quotients(low, high, counts)
        self._keep(groups, np.ones_like(groups), low, high)

    def _keep(self, groups: _Indices, orders: _Indices, rate_low: Floats, rate_high: Floats) -> Candidates:
        noise_low, noise_high = self._noise.bounds(rate_low, rate_high)
        if (factors := self._lineup.factors(groups)) is not None:
            noise_low, noise_high = _scaled(noise_low, noise_high, *factors)
        offset_low, offset_high = self._lineup.offsets(groups)
        entered = Candidates(groups, orders, _sum(offset_low, noise_low, -1.0), _sum(offset_high, noise_high, 1.0))
        self._kept.append(entered)
        self._pending += len(groups)
        if self._pending >= self._places or np.isneginf(self._bar):
            self._prune()
        return entered

    def _prune(self) -> None:
        everyone = Candidates.concatenate(self._kept)
        self._pending = 0
        if len(everyone.low) >= self._places:
            self._bar = max(self._bar, float(np.partition(everyone.low, -self._places)[-self._places]))
        self._kept = [everyone.where(everyone.high >= self._bar)]

    def _later_orders(self) -> None:
        """Second, third, ... largest of the groups whose last one drawn could still take a place.

        Blocks double, so a flat histogram costs a logarithmic number of rounds.
        """
        counts = self._lineup.counts
        if counts is None:
            return
        groups, low, high = self._last_rates()
        drawn, block = 1, min(1, self._places - 1)
        while len(groups) and block:
            orders = np.arange(drawn + 1, drawn + block + 1)
            words = self._streams.heads(groups[:, None], orders[None, :])
            self.opened.append(Opened(groups, drawn + 1, words))
            remaining = counts[groups][:, None] - drawn - np.arange(block)
            low, high = self._accumulate(words, remaining, low, high)
            exists = remaining >= 1.0
            rows, columns = np.nonzero(exists)
            entered = self._keep(groups[rows], orders[columns], low[rows, columns], high[rows, columns])
            drawn += block
            last = np.full(len(groups), -np.inf)
            last[rows] = entered.high  # np.nonzero runs through the columns in order: the last one stays
            goes_on = (last >= self._bar) & (counts[groups] > drawn)
            groups, low, high = groups[goes_on], low[goes_on, -1], high[goes_on, -1]
            block = min(2 * block, max(self._places - drawn, 0))
        self._prune()

    def _last_rates(self) -> tuple[_Indices, Floats, Floats]:
        """Groups with more than one member that are still in, with the rate of their largest."""
        counts = self._lineup.counts
        opened = Candidates.concatenate(self._kept).groups
        words = self.heads_of(opened)
        groups = opened[counts[opened] > 1.0] if counts is not None else opened[:0]
        if counts is None or not len(groups):
            return groups, np.empty(0), np.empty(0)
        low, high = exponential_bounds(words[counts[opened] > 1.0], self._head)
        low, high = _quotients(low, high, counts[groups])
        return groups, low, high

    def heads_of(self, groups: _Indices) -> Words:
        """The first digits of the first stream of each of these groups."""
        firsts = [part for part in self.opened if part.first_order == 1]
        known = np.concatenate([part.groups for part in firsts])
        words = np.concatenate([part.words[:, 0] for part in firsts])
        order = np.argsort(known)
        return words[order[np.searchsorted(known, groups, sorter=order)]]

    def _accumulate(self, words: Words, remaining: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        step_low, step_high = _quotients(*exponential_bounds(words, self._head), np.maximum(remaining, 1.0))
        # The error of a sum of n positive floats is below n 2^-53 of it.
        slack = (words.shape[1] + 4) * 2.0**-52
        sums_low = (low[:, None] + np.cumsum(step_low, axis=1)) * (1.0 - slack)
        sums_high = (high[:, None] + np.cumsum(step_high, axis=1)) * (1.0 + slack)
        return sums_low, sums_high


def _quotients(low: Floats, high: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """[low, high] / counts, for counts with relative error 2^-53 or too large for a float."""
    largest = np.minimum(counts, _MAX_FLOAT)
    # The absolute term covers quotients that leave the range of normal floats.
    return np.maximum(low / counts * (1.0 - _SLACK) - _TINY, 0.0), high / largest * (1.0 + _SLACK) + _TINY


def _scaled(low: Floats, high: Floats, factor_low: Floats, factor_high: Floats) -> tuple[Floats, Floats]:
    """Noise in [low, high] times a positive factor, rounded outwards."""
    with np.errstate(invalid="ignore", over="ignore"):
        below = np.minimum(low * np.where(low > 0.0, factor_low, factor_high), _MAX_FLOAT)
        above = np.maximum(high * np.where(high > 0.0, factor_high, factor_low), -_MAX_FLOAT)
        return (
            np.where(np.isfinite(below), below - np.abs(below) * _SLACK - _TINY, below),
            np.where(np.isfinite(above), above + np.abs(above) * _SLACK + _TINY, above),
        )


def _sum(offset: Floats, noise: Floats, side: float) -> Floats:
    """offset + noise, rounded outwards; an undecided infinity minus infinity is unbounded on this side."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = offset + noise
        # What overflowed on the inner side is only known to be beyond the largest float.
        total = np.minimum(total, _MAX_FLOAT) if side < 0.0 else np.maximum(total, -_MAX_FLOAT)
        slack = _SLACK * np.minimum(np.abs(offset), _MAX_FLOAT) + _SLACK * np.minimum(np.abs(noise), _MAX_FLOAT)
        return np.where(np.isnan(total), side * np.inf, total + side * slack)
