"""Subsets of k items by what they miss and what they reach down to: the classes of the canonical mechanism.

Ranks go from 1, the largest score, to d. A subset belongs to the class (a, t) if it contains the ranks 1..a, misses
a+1, and its lowest rank is t; the top k itself is a class of its own. What a subset loses depends only on the score
of rank a+1 and the score of rank t, so runs of equal scores make blocks of classes that are handled as one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import float_below
from podium.histogram import Groups, Item
from podium.mechanisms.domain import domain_size
from podium.randomness.candidates import exact_integers

__all__ = ["Blocks", "Loss", "Ranking", "block_size"]

Integers: TypeAlias = NDArray[Any]
"""int64 where everything fits, else Python integers."""
Floats: TypeAlias = NDArray[np.float64]

_FAST_LIMIT = 1 << 62
_MAX_DOMAIN = 1 << 900
_FLOAT_SLACK = 2.0**-50


def block_size(k: int, heads: tuple[int, int], tails: tuple[int, int]) -> int:
    """How many subsets have a in ``heads`` and t in ``tails``, both ends included, 0 <= a < k < t.

    The sum of C(t-a-2, k-1-a) over the block, by two hockey-stick sums.
    """
    first, last = heads

    def reaching(n: int) -> int:
        return math.comb(n - first + 1, k - first) - math.comb(n - last, k - last - 1)

    return reaching(tails[1] - 1) - reaching(tails[0] - 2)


@dataclass(frozen=True, slots=True)
class Loss:
    """What a subset loses against the top k, in units of the noise.

    ``rise`` is how far its best missing score lies above that of rank k, ``drop`` how far its worst score lies below,
    both as integers. With ``step`` the loss is rounded up to a multiple of it.
    """

    rise_rate: Fraction
    drop_rate: Fraction
    step: Fraction | None = None

    def exact(self, rise: int, drop: int) -> Fraction:
        """The loss itself."""
        loss = rise * self.rise_rate + drop * self.drop_rate
        return loss if self.step is None else -(-loss // self.step) * self.step

    def rounded_floats(self, losses: Floats) -> Floats:
        """Floats not above the rounded losses, from floats not above the plain ones."""
        step = 0.0 if self.step is None else float_below(min(self.step, Fraction(_MAX_DOMAIN)))
        # A step beyond what floats express is left out: rounding only raises a loss.
        if step < 2.0**-900:
            return losses
        rounded: Floats = np.ceil(losses / step * (1.0 - _FLOAT_SLACK)) * step * (1.0 - _FLOAT_SLACK)
        return np.maximum(rounded, losses)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Runs of equal score on one side of the cut, from the top down.

    Ranks ``first[i]``..``last[i]`` (heads: the values of a; tails: those of t) lie ``distance[i]`` from the score of
    rank k, as an integer; ``floats[i]`` is not above what that distance costs.
    """

    first: Integers
    last: Integers
    distance: Integers
    floats: Floats

    def __len__(self) -> int:
        return len(self.distance)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """(first, last, distance) of every block, as Python integers."""
        for first, last, distance in zip(self.first, self.last, self.distance, strict=True):
            yield int(first), int(last), int(distance)


class Ranking:
    """A known domain from the largest score to the smallest, cut at rank k.

    Items of equal score are ranked in some order; no probability depends on which, because a subset's loss is a
    function of scores, and every subset of a class is as likely as any other.
    """

    def __init__(self, groups: Groups, k: int) -> None:
        self.unit: Fraction
        values, self.unit = exact_integers(groups.scores)
        self._groups = groups
        self._order = np.argsort(values)[::-1]
        self.k = k
        self.size: int = _require_size(groups, k)
        self._values = values[self._order]
        self._ends: Integers | None = None
        if groups.multiplicities is not None:
            sizes = np.array([groups.multiplicities[i] for i in self._order], dtype=object)
            self._ends = _narrow(np.cumsum(sizes), self.size)
        # Distances between scores must not overflow either.
        if values.dtype == np.int64 and int(self._values[0]) - int(self._values[-1]) >= _FAST_LIMIT:
            self._values = self._values.astype(object)
        self.cut: int = self._values[self._entry(k)]

    def _entry(self, rank: int) -> int:
        return rank - 1 if self._ends is None else int(np.searchsorted(self._ends, rank))

    def blocks(self, loss: Loss) -> tuple[Blocks, Blocks]:
        """Heads and tails. A side that costs nothing at any distance is one block: gamma = 1 has one head."""
        changes = np.flatnonzero(self._values[1:] != self._values[:-1])
        stops = np.append(changes, len(self._values) - 1)
        ends = stops + 1 if self._ends is None else self._ends[stops]
        starts = np.concatenate([np.zeros_like(ends[:1]), ends[:-1]]) + 1
        values = self._values[stops]
        upper, lower = starts <= self.k, ends > self.k
        heads = self._side(
            starts[upper] - 1, np.minimum(ends[upper], self.k) - 1, values[upper] - self.cut, loss.rise_rate
        )
        tails = self._side(np.maximum(starts[lower], self.k + 1), ends[lower], self.cut - values[lower], loss.drop_rate)
        return heads, tails

    @staticmethod
    def _side(first: Integers, last: Integers, distance: Integers, rate: Fraction) -> Blocks:
        if rate == 0:
            return Blocks(first[:1], last[-1:], np.zeros(1, dtype=np.int64), np.zeros(1))
        return Blocks(first, last, distance, _costs(distance, rate))

    def distances(self, a: int, t: int) -> tuple[int, int]:
        """How far the score of rank a+1 lies above that of rank k, and the score of rank t below."""
        return int(self._values[self._entry(a + 1)] - self.cut), int(self.cut - self._values[self._entry(t)])

    def items(self, ranks: Sequence[int]) -> frozenset[Item]:
        """The names of these ranks."""
        name, ends = self._groups.name, self._ends
        if ends is None:
            return frozenset(name(group, 0) for group in self._order[np.array(ranks) - 1].tolist())
        wanted = np.array(ranks, dtype=ends.dtype)
        entries = np.searchsorted(ends, wanted)
        groups, members = self._order[entries].tolist(), (ends[entries] - wanted).tolist()
        return frozenset(name(group, member) for group, member in zip(groups, members, strict=True))


def _require_size(groups: Groups, k: int) -> int:
    size = domain_size(groups)
    if k >= size:
        raise InvalidArgument(
            "k",
            k,
            allowed=f"less than {size}, the number of items in the domain",
            hint="All items of a known domain are no secret: with k equal to their number publish the domain itself.",
        )
    if size > _MAX_DOMAIN:
        raise InvalidArgument("histogram", "a domain of more than 2^900 items", allowed="a domain of at most 2^900")
    return size


def _narrow(values: Integers, largest: int) -> Integers:
    return values.astype(np.int64) if largest < _FAST_LIMIT else values


def _costs(distance: Integers, rate: Fraction) -> Floats:
    """Floats not above distance * rate."""
    if distance.dtype == np.int64 and Fraction(1, _MAX_DOMAIN) < rate < 1 << 200:
        fast: Floats = distance.astype(np.float64) * (float(rate) * (1.0 - _FLOAT_SLACK))
        return fast
    limit = Fraction(_MAX_DOMAIN)
    return np.array([max(float_below(min(int(value) * rate, limit)), 0.0) for value in distance])
