"""The joint mechanism's sampler: a random allowance first, then a uniform sequence that stays within it.

A sequence of loss u must be drawn in proportion to q^u, q = e^-rate. As q^u = (1-q) (q^u + ... + q^(T-1)) + q^T for
u <= T, that is the same as drawing an allowance t in proportion to (1-q) q^t N(t), or T to q^T N(T), and then one of
the N(t) sequences that lose at most t, all alike. N(t) is a product of k integers, one per place.

Allowances are far too many to weigh one by one. They are proposed in pieces, each as if all of it had the
largest N and the smallest t, and coins with exactly the right odds correct for that. Floats choose the pieces,
which decides how long a draw takes and nothing else. docs/proofs/joint.md has the argument.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import EntropyFailure, InvalidArgument
from podium.histogram import Groups, Item
from podium.mechanisms.domain import require_items
from podium.randomness import BitSource, bernoulli_exp, choose, uniform_below
from podium.randomness.candidates import exact_integers

__all__ = ["Ladder", "Piece", "SequenceSampler", "pieces_of"]

Integers: TypeAlias = NDArray[Any]
"""int64 where everything fits, else Python integers."""
Floats: TypeAlias = NDArray[np.float64]

_FAST_LIMIT = 1 << 61
_MAX_DOMAIN = 1 << 900
_FARTHEST = Fraction(10**300)
_CHUNK = 1 << 17
_LOOSE = 1.0
_SHARE = 8.0
_TRIES = 10_000


class Ladder:
    """A known domain from the largest score down: how deep below the best each item lies, in whole units.

    Items of equal score are ranked in some order; no probability depends on which, because what a sequence loses is
    a function of scores, and all sequences within an allowance are alike.
    """

    def __init__(self, groups: Groups, k: int) -> None:
        self.k = k
        self.size: int = require_items(k, groups)
        if self.size > _MAX_DOMAIN:
            raise InvalidArgument("histogram", "a domain of more than 2^900 items", allowed="a domain of at most 2^900")
        self.unit: Fraction
        values, self.unit = exact_integers(groups.scores)
        self._groups = groups
        self._order = np.argsort(values, kind="stable")[::-1]
        self.bottom: int = int(values[self._order[0]]) - int(values[self._order[-1]])
        if self.bottom >= _FAST_LIMIT:
            values = values.astype(object)
        self._depths: Integers = values[self._order[0]] - values[self._order]
        self._ends: Integers = np.arange(1, len(self._depths) + 1)
        if groups.multiplicities is not None:
            sizes = np.array([groups.multiplicities[i] for i in self._order], dtype=object)
            ends = np.cumsum(sizes)
            self._ends = ends.astype(np.int64) if self.size < _FAST_LIMIT else ends
        places = np.arange(1, k + 1).astype(self._ends.dtype)
        self._places = places - 1
        self._tops = self._depths[np.searchsorted(self._ends, places)]

    def depths(self, ranks: Sequence[int]) -> list[int]:
        """How deep these ranks lie, which count from 1."""
        wanted = np.array(ranks, dtype=self._ends.dtype)
        deep: list[int] = self._depths[np.searchsorted(self._ends, wanted)].tolist()
        return deep

    def choices(self, allowance: int) -> list[int]:
        """For each place, how many items it may take within the allowance, those of the places before it left out."""
        counts: list[int] = self._choices(np.array([allowance], dtype=self._depths.dtype))[0].tolist()
        return counts

    def count(self, allowance: int) -> int:
        """How many sequences there are within the allowance: the product of the choices."""
        return _product(self.choices(allowance))

    def log_counts(self, allowances: Sequence[int]) -> list[float]:
        """The logarithm of the number of sequences within each allowance, about."""
        step, logs = max(1, _CHUNK // self.k), []
        for start in range(0, len(allowances), step):
            chunk = np.array(allowances[start : start + step], dtype=self._depths.dtype)
            logs += np.log(self._choices(chunk).astype(np.float64)).sum(axis=1).tolist()
        return logs

    def _choices(self, allowances: Integers) -> Integers:
        # The place that ties with rank j may take whatever lies no deeper than rank j and the allowance together.
        within = np.searchsorted(self._depths, allowances[:, None] + self._tops, side="right")
        left: Integers = self._ends[within - 1] - self._places
        return left

    def items(self, ranks: Sequence[int]) -> tuple[Item, ...]:
        """The names of these ranks, which count from 0."""
        wanted = np.array(ranks, dtype=self._ends.dtype)
        entries = np.searchsorted(self._ends, wanted, side="right")
        groups, members = self._order[entries].tolist(), (self._ends[entries] - wanted - 1).tolist()
        return tuple(map(self._groups.name, groups, members))


@dataclass(frozen=True, slots=True)
class Piece:
    """The allowances first..last, with logarithms of the weight it is proposed with and of one accepted at least."""

    first: int
    last: int
    high: float
    low: float

    @property
    def loose(self) -> bool:
        """Whether halving it would save much of its weight."""
        return self.high - self.low > _LOOSE and self.last > self.first


def pieces_of(ladder: Ladder, rate: Fraction) -> list[Piece]:
    """All allowances below the bottom of the ladder, cut where that saves proposals.

    A piece is halved while it is loose and carries a share of the whole weight. Any pieces are valid.
    """
    if not ladder.bottom:
        return []
    tail = ladder.log_counts([ladder.bottom])[0] - _cost(ladder.bottom, rate)
    if rate < 1:
        tail += math.log(rate.denominator) - math.log(rate.numerator)
    pieces = _evaluate(ladder, rate, [(0, ladder.bottom - 1)])
    while True:
        least = float(np.logaddexp.reduce([tail, *(piece.low for piece in pieces)]))
        share = least - math.log(_SHARE * len(pieces))
        split = [piece.loose and piece.high > share for piece in pieces]
        if not any(split):
            return pieces
        kept = [piece for piece, halved in zip(pieces, split, strict=True) if not halved]
        halves = [half for piece in itertools.compress(pieces, split) for half in _halves(piece.first, piece.last)]
        pieces = kept + _evaluate(ladder, rate, halves)


def _halves(first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = (first + last) // 2
    return (first, middle), (middle + 1, last)


def _evaluate(ladder: Ladder, rate: Fraction, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    logs = iter(ladder.log_counts(list(itertools.chain.from_iterable(spans))))
    pieces = []
    for first, last in spans:
        width, at_first, at_last = math.log(last - first + 1), next(logs), next(logs)
        high, low = at_last - _cost(first, rate), at_first - _cost(last, rate)
        pieces.append(Piece(first, last, width + high, width + low))
    return pieces


def _cost(allowance: int, rate: Fraction) -> float:
    return float(min(allowance * rate, _FARTHEST))


class SequenceSampler:
    """Draws sequences of k ranks in proportion to e^(-rate * loss), the loss in units of the ladder."""

    def __init__(self, ladder: Ladder, rate: Fraction) -> None:
        self._ladder = ladder
        self._rate = rate
        self._pieces = pieces_of(ladder, rate)
        # 1 - q is at most this, which is rational; a coin makes up for the difference.
        self._cap = min(rate, Fraction(1))
        self._sizes = [ladder.count(piece.last) for piece in self._pieces]
        self._weights = [
            self._cap.numerator * (piece.last - piece.first + 1) * size
            for piece, size in zip(self._pieces, self._sizes, strict=True)
        ]
        self._weights.append(self._cap.denominator * ladder.count(ladder.bottom))
        self._scores = [*(-piece.first for piece in self._pieces), -ladder.bottom]

    def draw(self, bits: BitSource) -> list[int]:
        """The ranks of one sequence, from 0, in order."""
        for _ in range(_TRIES):
            finish = choose(self._scores, k=1, rate=self._rate, multiplicities=self._weights, bits=bits)
            drawn = self._read(finish.groups[0], finish.members[0], bits)
            if drawn is not None:
                return drawn
        raise EntropyFailure(
            f"A sampler that accepts every few proposals rejected {_TRIES} in a row, which sound bits do not do. "
            "Nothing was released. Check the system's entropy (os.urandom)."
        )

    def _read(self, index: int, number: int, bits: BitSource) -> list[int] | None:
        """The sequence that a uniform number below the weight of a piece stands for; None if it is rejected."""
        if index == len(self._pieces):
            return _sequence(number // self._cap.denominator, self._ladder.choices(self._ladder.bottom))
        step, number = divmod(number // self._cap.numerator, self._sizes[index])
        choices = self._ladder.choices(self._pieces[index].first + step)
        if number >= _product(choices):
            return None
        if not bernoulli_exp([self._rate * step], bits=bits)[0] or not _falls_short(self._rate, bits):
            return None
        return _sequence(number, choices)


def _product(numbers: list[int]) -> int:
    """Their product, in pairs: numbers of the same length multiply faster than a long one and a short one."""
    while len(numbers) > 1:
        numbers = [first * second for first, second in itertools.zip_longest(numbers[::2], numbers[1::2], fillvalue=1)]
    return numbers[0]


def _sequence(number: int, choices: Sequence[int]) -> list[int]:
    """The sequence with this number: its digits, one radix per place, say which of the ranks left each place takes.

    Place j swaps rank j with the one it takes, so that the ranks left over are always those from j on.
    """
    moved: dict[int, int] = {}
    ranks = []
    for place, count in enumerate(choices):
        number, digit = divmod(number, count)
        taken = place + digit
        ranks.append(moved.get(taken, taken))
        moved[taken] = moved.get(place, place)
    return ranks


def _falls_short(rate: Fraction, bits: BitSource) -> bool:
    """True with probability (1 - e^-rate) / min(rate, 1), exactly.

    Below 1 that is the sum of (-rate)^n / (n+1)!: as rate^n / (n+1)! is the probability that n coins of odds rate/2,
    rate/3, ... all fall, it is the probability that the first one that does not fall is an odd one.
    """
    if rate >= 1:
        return not bernoulli_exp([rate], bits=bits)[0]
    coin = 1
    while uniform_below(rate.denominator * (coin + 1), bits) < rate.numerator:
        coin += 1
    return coin % 2 == 1
