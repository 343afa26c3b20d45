"""The exact race: noisy scores, take the best few, with exactly the distribution of the ideal real-valued noise.

Every selection in podium is this race. Groups of equal score take part as one; the float stage
(:mod:`podium.randomness.float_filter`) finds who could win; what floats cannot decide is decided in ball
arithmetic with more digits of the same random numbers (:mod:`podium.randomness.partial_sample`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer, float_above, float_below, positive_fraction, positive_integer
from podium.randomness.bits import BitSource, system_bits
from podium.randomness.candidates import Integers, Lineup, Special, exact_integers, multiplicity_vector
from podium.randomness.float_filter import FLOAT_DIGITS, Candidates, FirstPass
from podium.randomness.grid import steps_per_unit
from podium.randomness.grouping import Grouping, group_equal
from podium.randomness.integers import random_members
from podium.randomness.noise import Noise
from podium.randomness.normal import noise_family
from podium.randomness.partial_sample import Arrivals, Contender, gap_floor, is_positive, rank_contenders, value_floor
from podium.randomness.streams import FreshStreams, Streams, Uniform
from podium.randomness.truncated import truncated_noise

__all__ = ["Finish", "Heat", "race", "race_above"]


@dataclass(frozen=True, slots=True)
class Finish:
    """Who came in, best first.

    ``groups[i]`` is a position in the scores that were given and ``members[i]`` a uniformly random member of
    that group (0 where no multiplicities were given). ``gaps[i]`` is the lead of place i over the next one, in
    units of the score, rounded down to a public grid; the last gap is the lead over the best loser, if
    there was one. ``values[i]`` is the noisy score of place i, rounded down likewise. Both are empty unless asked for.
    """

    groups: tuple[int, ...]
    members: tuple[int, ...]
    gaps: tuple[Fraction, ...] = ()
    values: tuple[Fraction, ...] = ()


def race(
    scores: object,
    *,
    k: int,
    scale: object = 1,
    noise: object = "gumbel",
    multiplicities: object = None,
    handicaps: Mapping[int, Fraction] | None = None,
    scales: Mapping[int, Fraction] | None = None,
    gap_bits: int | None = None,
    gaps_to: int | None = None,
    value_bits: int | None = None,
    bits: BitSource | None = None,
) -> Finish:
    """The k largest of score + scale * Z, in order, Z independent standard noise.

    ``scores`` are exact numbers; ``multiplicities[i]`` candidates share ``scores[i]`` (any size, one each by default).
    ``handicaps`` adds a rational to the score of a few positions, ``scales`` gives a few of them a noise scale of their
    own: the bottom symbol and the public threshold. With fewer than k candidates all of them come back. ``gap_bits=m``
    also returns the gaps, rounded down to multiples of 2^-m (m below 0: a grid coarser than integers); with
    ``gaps_to``, one of the positions named in ``handicaps`` or ``scales``, they are the leads over its largest member,
    for the places ahead of it. ``value_bits=m`` also returns the noisy scores themselves. The distribution is exactly
    that of the ideal continuous mechanism.
    """
    places = positive_integer(k, "k")
    grid = None if gap_bits is None else exact_integer(gap_bits, "gap_bits")
    value_grid = None if value_bits is None else exact_integer(value_bits, "value_bits")
    family = noise_family(noise)
    values, unit = exact_integers(scores)
    width = positive_fraction(scale, "scale")
    specials = _specials(handicaps or {}, scales or {}, width, len(values))
    if gaps_to is not None and gaps_to not in specials:
        raise InvalidArgument("gaps_to", gaps_to, allowed="a position named in handicaps or scales")
    source = system_bits() if bits is None else bits
    lineup, grouping = _line_up(values, unit / width, multiplicities, specials)
    heat = Heat(lineup, family, FreshStreams(source), places=places + (grid is not None))
    winners = heat.groups[:places]
    gaps = () if grid is None else heat.gaps(places, grid, unit, to=gaps_to)
    noisy = () if value_grid is None else heat.values(value_grid, unit)[: len(winners)]
    del heat  # its candidates are not needed for the names, and weigh as much
    groups, members = _names(winners, lineup, grouping, source)
    return Finish(groups, members, gaps, noisy)


def race_above(
    scores: object,
    *,
    above: object,
    k: int | None = None,
    scale: object = 1,
    unit: object = 1,
    noise: object = "gaussian",
    noise_bound: object = None,
    multiplicities: object = None,
    value_bits: int | None = None,
    bits: BitSource | None = None,
) -> Finish:
    """Those of score * unit + scale * Z that are larger than ``above``, in order; the k largest of them if k is given.

    The level is public and has no noise. ``scale`` and ``above`` are in the units of the result, as are the values
    that ``value_bits=m`` returns, rounded down to multiples of 2^-m. With ``noise_bound``, in the same units, the
    noise is conditioned on |scale * Z| <= noise_bound (Gaussian and Laplace noise only). The cost is that of looking
    at every distinct score once and at everybody who passes. The distribution is exactly that of the ideal continuous
    mechanism.
    """
    values, inner = exact_integers(scores)
    step = inner * positive_fraction(unit, "unit")
    width, level = positive_fraction(scale, "scale"), exact_fraction(above, "above")
    grid = None if value_bits is None else exact_integer(value_bits, "value_bits")
    limit = None if k is None else positive_integer(k, "k")
    family, source = noise_family(noise), system_bits() if bits is None else bits
    able = None
    if noise_bound is not None:
        most = positive_fraction(noise_bound, "noise_bound")
        family, part = truncated_noise(family.name, most / width)
        width *= part
        # Who cannot pass is not drawn: the largest of a huge group would be too near the level for floats to tell.
        able = np.flatnonzero(values > (level - most) // step)
        if multiplicities is not None:
            _, exact = multiplicity_vector(multiplicities, len(values))
            multiplicities = [int(exact[i]) for i in able.tolist()]
        values = values[able]
    lineup, grouping = _line_up(values, step / width, multiplicities, {})
    places = lineup.size() if limit is None else min(limit, max(1, lineup.size()))
    heat = Heat(lineup, family, FreshStreams(source), places=places, floor=level / width)
    groups, members = _names(heat.groups, lineup, grouping, source)
    if able is not None:
        groups = tuple(able[list(groups)].tolist())
    return Finish(groups, members, values=() if grid is None else heat.values(grid, step))


def _line_up(
    values: Integers, rate: Fraction, multiplicities: object, specials: Mapping[int, Special]
) -> tuple[Lineup, Grouping | None]:
    grouping = group_equal(values) if multiplicities is None and not specials else None
    if grouping is not None:
        values, multiplicities = grouping.values, grouping.counts
    counts = () if multiplicities is None else multiplicity_vector(multiplicities, len(values))
    return Lineup(values, rate, *counts, specials=specials), grouping


def _names(
    groups: list[int], lineup: Lineup, grouping: Grouping | None, source: BitSource
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions in the scores that were given, and random members of the groups."""
    if grouping is not None:
        return tuple(grouping.random_positions(groups, source)), (0,) * len(groups)
    if lineup.counts is None:
        return tuple(groups), (0,) * len(groups)
    return tuple(groups), tuple(random_members(groups, map(lineup.multiplicity, groups), source))


def _specials(
    handicaps: Mapping[int, Fraction], scales: Mapping[int, Fraction], width: Fraction, length: int
) -> dict[int, Special]:
    groups = {*handicaps, *scales}
    if not all(0 <= group < length for group in groups):
        raise InvalidArgument("handicaps, scales", "a position outside the scores", allowed="positions of the scores")
    return {
        group: Special(
            exact_fraction(handicaps.get(group, 0), "handicaps") / width,
            positive_fraction(scales.get(group, width), "scales") / width,
        )
        for group in groups
    }


class Heat:
    """One run of the race over groups: the order of finish, and the means to measure gaps.

    ``head`` is the number of digits that the float stage sees; tests lower it to force refinement. ``floor`` is a level
    in units of the noise scale that a noisy score must pass to be placed at all.
    """

    def __init__(
        self,
        lineup: Lineup,
        noise: Noise,
        streams: Streams,
        *,
        places: int,
        head: int = FLOAT_DIGITS,
        floor: Fraction | None = None,
    ) -> None:
        self._lineup = lineup
        self._noise = noise
        self._streams = streams
        self._head = head
        self._arrivals: dict[int, Arrivals] = {}
        self._pass = FirstPass(lineup, noise, streams, places=places, head=head, floor=floor)
        self._finish = self._ordered(self._pass.run(), places)
        if floor is not None:
            self._finish = self._above(lineup.relative(floor))

    def __len__(self) -> int:
        return len(self._finish.groups)

    @property
    def groups(self) -> list[int]:
        """The group of each place, best first."""
        return [int(group) for group in self._finish.groups]

    @property
    def orders(self) -> list[int]:
        """Which order statistic of its group took each place, best first."""
        return [int(order) for order in self._finish.orders]

    def _ordered(self, candidates: Candidates, places: int) -> Candidates:
        candidates = candidates.where(np.argsort(-candidates.low, kind="stable"))
        best_behind = np.maximum.accumulate(candidates.high[::-1])[::-1]
        certain = np.append(candidates.low[:-1] > best_behind[1:], True) if len(best_behind) else np.empty(0)
        order = np.arange(len(candidates.groups))
        start = 0
        for stop in np.flatnonzero(certain) + 1:
            if start >= places:
                break
            if stop - start > 1:
                order[start:stop] = self._decided(candidates, order[start:stop])
            start = int(stop)
        return candidates.where(order[:places])

    def _above(self, level: Fraction) -> Candidates:
        """Those of the finish whose noisy score is larger than a level relative to the baseline."""
        passes = self._finish.low > float_above(level)
        for place in np.flatnonzero(~passes & (self._finish.high >= float_below(level))):
            contender = self._contender(int(self._finish.groups[place]), int(self._finish.orders[place]))
            passes[place] = is_positive(contender.shifted(-level), self._head)
        return self._finish.where(passes)

    def _decided(self, candidates: Candidates, contested: NDArray[np.intp]) -> list[int]:
        """The contested candidates in their true order."""
        runners = [self._contender(int(candidates.groups[i]), int(candidates.orders[i])) for i in contested]
        index = {(runner.group, runner.order): i for runner, i in zip(runners, contested, strict=True)}
        return [int(index[runner.group, runner.order]) for runner in rank_contenders(runners, self._head)]

    def _contender(self, group: int, order: int) -> Contender:
        if group not in self._arrivals:
            self._arrivals[group] = Arrivals(self._lineup.multiplicity(group), partial(self._uniform, group))
        return Contender(
            group,
            self._lineup.offset(group),
            self._noise,
            self._arrivals[group],
            order,
            factor=self._lineup.special(group).factor,
        )

    def _uniform(self, group: int, order: int) -> Uniform:
        return Uniform(self._streams, group, order, self._head_word(group, order))

    def _head_word(self, group: int, order: int) -> int:
        for part in self._pass.opened:
            column = order - part.first_order
            if 0 <= column < part.words.shape[1]:
                row = np.flatnonzero(part.groups == group)
                if len(row):
                    return int(part.words[row[0], column])
        raise AssertionError("a candidate without a stream")

    def gaps(self, places: int, grid: int, unit: Fraction, *, to: int | None = None) -> tuple[Fraction, ...]:
        """The gaps of the first places to the next one each, or of those ahead of a special group to that group."""
        if to is None:
            return tuple(self.gap(place, grid, unit) for place in range(min(places, len(self) - 1)))
        ahead = self.groups[:places]
        leaders = ahead.index(to) if to in ahead else len(ahead)
        return tuple(self._lead(place, to, grid, unit) for place in range(leaders))

    def _lead(self, place: int, group: int, grid: int, unit: Fraction) -> Fraction:
        ahead = self._contender(int(self._finish.groups[place]), int(self._finish.orders[place]))
        fine = unit / self._lineup.rate * steps_per_unit(grid)
        return gap_floor(ahead, self._contender(group, 1), fine, self._head) / steps_per_unit(grid)

    def gap(self, place: int, grid: int, unit: Fraction) -> Fraction:
        """The lead of a place over the next, in score units, rounded down to a multiple of 2^-grid."""
        fine = unit / self._lineup.rate * steps_per_unit(grid)
        finish = self._finish
        low = max(finish.low[place] - finish.high[place + 1], 0.0)
        high = finish.high[place] - finish.low[place + 1]
        if np.isfinite(low) and np.isfinite(high):
            below, above = Fraction(float(low)) * _DOWN * fine // 1, Fraction(float(high)) * _UP * fine // 1
            if below == above:
                return below / steps_per_unit(grid)
        ahead, behind = (self._contender(int(finish.groups[i]), int(finish.orders[i])) for i in (place, place + 1))
        return gap_floor(ahead, behind, fine, self._head) / steps_per_unit(grid)

    def values(self, grid: int, unit: Fraction) -> tuple[Fraction, ...]:
        """The noisy scores of all places, as ``value`` gives them one by one."""
        fine = unit / self._lineup.rate * steps_per_unit(grid)
        shift = self._lineup.baseline * unit * steps_per_unit(grid)
        whole, part = shift // 1, float(shift % 1)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = (end * float_above(fine) + part for end in (self._finish.low, self._finish.high))
            # Rounded four times, each by at most 2^-53 of numbers no larger than this.
            slack = 2.0**-50 * (np.maximum(np.abs(low), np.abs(high)) + 2.0)
            below, above = np.floor(low - slack), np.floor(high + slack)
        decided = (below == above) & (slack < 1.0)
        floors = np.where(decided, below, 0.0).astype(np.int64).tolist()
        return tuple(
            (whole + floor) / steps_per_unit(grid) if is_decided else self.value(place, grid, unit)
            for place, (floor, is_decided) in enumerate(zip(floors, decided.tolist(), strict=True))
        )

    def value(self, place: int, grid: int, unit: Fraction) -> Fraction:
        """The noisy score of a place, in score units, rounded down to a multiple of 2^-grid."""
        fine = unit / self._lineup.rate * steps_per_unit(grid)
        shift = self._lineup.baseline * self._lineup.rate
        low, high = float(self._finish.low[place]), float(self._finish.high[place])
        if np.isfinite(low) and np.isfinite(high):
            below, above = (Fraction(low) + shift) * fine // 1, (Fraction(high) + shift) * fine // 1
            if below == above:
                return below / steps_per_unit(grid)
        contender = self._contender(int(self._finish.groups[place]), int(self._finish.orders[place]))
        return value_floor(contender.shifted(shift), fine, self._head) / steps_per_unit(grid)


# The float difference of two bounds is itself rounded by at most 2^-53 of it.
_DOWN = 1 - Fraction(1, 1 << 52)
_UP = 1 + Fraction(1, 1 << 52)
