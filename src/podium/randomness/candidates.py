"""Who takes part in a race: exact scores with multiplicities, and their distance to a common baseline.

Scores are integers times one rational unit. Distances are taken in integers before anything becomes a float, so
two scores near 2^62 that differ by one are still one apart.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, float_above, float_below
from podium.randomness.noise import Floats

__all__ = ["Integers", "Lineup", "Special", "chunk_length", "exact_integers", "multiplicity_vector"]

Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]

_MAX_CHUNK = 1 << 15
_MIN_CHUNK = 1 << 11
_FAST_LIMIT = 1 << 62
_FLOAT_SLACK = 2.0**-50
_TINY = 1e-300


def chunk_length(length: int) -> int:
    """How many scores to look at together.

    Large enough for NumPy to pay off, small enough to fit a cache and a fraction of the scores' own memory.
    """
    return min(max(length // 4, _MIN_CHUNK), _MAX_CHUNK)


def exact_integers(scores: object, name: str = "scores") -> tuple[Integers, Fraction]:
    """(values, unit) with score = value * unit exactly; int64 where every distance fits, else Python ints."""
    if isinstance(scores, np.ndarray):
        if scores.ndim != 1:
            raise InvalidArgument(name, f"array of shape {scores.shape}", allowed="a one-dimensional array")
        if scores.dtype.kind in "iu":
            return _as_fast(scores), Fraction(1)
        scores = scores.tolist()
    if isinstance(scores, (str, bytes)) or not isinstance(scores, Iterable):
        raise InvalidArgument(name, scores, allowed="a sequence of exact numbers")
    fractions = [score if type(score) is int else exact_fraction(score, name) for score in scores]
    common = math.lcm(*(score.denominator for score in fractions))
    values = [score.numerator * (common // score.denominator) for score in fractions]
    return _as_fast(np.array(values, dtype=object)), Fraction(1, common)


def _as_fast(values: NDArray[Any]) -> Integers:
    if not values.size or (int(values.max()) < _FAST_LIMIT and int(values.min()) > -_FAST_LIMIT):
        return values.astype(np.int64, copy=False)
    return values.astype(object)


def multiplicity_vector(multiplicities: object, length: int) -> tuple[Floats, Sequence[int]]:
    """The multiplicities as floats (relative error 2^-53) and as exact integers, each 1 or more."""
    exact, unit = exact_integers(multiplicities, "multiplicities")
    if unit != 1 or len(exact) != length or (length and int(exact.min()) < 1):
        raise InvalidArgument(
            "multiplicities", multiplicities, allowed=f"{length} integers, each 1 or more, one per score"
        )
    if exact.dtype == np.int64:
        return exact.astype(np.float64), exact  # type: ignore[return-value]
    return np.array([_to_float(count) for count in exact]), exact.tolist()


def _to_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Special:
    """A group that is not like the others: a rational handicap on its score, a noise scale of its own.

    The bottom symbol and the public threshold of a top-k are such groups. ``handicap`` is in units of the noise
    scale, ``factor`` a multiple of it.
    """

    handicap: Fraction = Fraction(0)
    factor: Fraction = Fraction(1)


_ORDINARY = Special()


class Lineup:
    """Scores, multiplicities and the exact rate by which a score difference is multiplied before noise."""

    def __init__(
        self,
        values: Integers,
        rate: Fraction,
        counts: Floats | None = None,
        exact_counts: Sequence[int] = (),
        *,
        specials: Mapping[int, Special] | None = None,
    ) -> None:
        self.values = values
        self.rate = rate
        self.counts = counts
        self._exact_counts = exact_counts
        self.baseline: int = 0
        self._float_rate = _to_rate(rate)
        self._specials = dict(specials or {})

    def __len__(self) -> int:
        return len(self.values)

    def size(self) -> int:
        """How many candidates there are in all groups together."""
        return len(self) if self.counts is None else sum(map(int, self._exact_counts))

    def multiplicity(self, group: int) -> int:
        """How many candidates share this score."""
        return 1 if self.counts is None else int(self._exact_counts[group])

    def offset(self, group: int) -> Fraction:
        """The exact (score - baseline) * rate, with the handicap."""
        return (int(self.values[group]) - self.baseline) * self.rate + self.special(group).handicap

    def relative(self, level: Fraction) -> Fraction:
        """A level in units of the noise scale, relative to the baseline like the offsets."""
        return level - self.baseline * self.rate

    def special(self, group: int) -> Special:
        """The handicap and noise factor of a group."""
        return self._specials.get(group, _ORDINARY)

    def log_counts(self, chunk: slice) -> Floats | None:
        """The logarithms of the multiplicities, to float accuracy however large they are; None where all are 1."""
        if self.counts is None:
            return None
        logs = np.log(self.counts[chunk])
        for i in np.flatnonzero(np.isinf(logs)):
            logs[i] = math.log(self._exact_counts[chunk.start + int(i)])
        return logs

    def factors(self, groups: NDArray[np.intp]) -> tuple[Floats, Floats] | None:
        """Floats that enclose the noise factors; None where all are 1."""
        touched = {i: self._specials[g] for i, g in enumerate(groups.tolist()) if g in self._specials}
        if all(special.factor == 1 for special in touched.values()):
            return None
        low, high = np.ones(len(groups)), np.ones(len(groups))
        for i, special in touched.items():
            low[i], high[i] = float_below(special.factor), float_above(special.factor)
        return low, high

    def leaders(self, places: int) -> NDArray[np.intp]:
        """The groups with the largest scores, and all special ones; the smallest score becomes the baseline.

        Near the baseline floats are precise, and that is where the contest is. Far above it only
        the few leaders live, far below it nobody who matters.
        """
        if places >= len(self):
            chosen = np.arange(len(self))
        elif self.values.dtype == np.int64:
            chosen = np.argpartition(self.values, -places)[-places:]
        else:
            chosen = np.array(heapq.nlargest(places, range(len(self)), key=self.values.__getitem__))
        if len(chosen):
            self.baseline = int(self.values[chosen].min())
        # Not np.union1d: NumPy's set functions import its masked arrays, which takes longer than most races.
        return np.array(sorted({*chosen.tolist(), *self._specials}), dtype=np.intp)

    def offsets(self, groups: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        """Floats that enclose (score - baseline) * rate, with the handicaps where groups are named one by one."""
        distance = self.values[groups] - self.baseline
        if self.values.dtype == np.int64:
            floats = distance.astype(np.float64)
        else:
            floats = np.array([_to_float(value) for value in distance], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            if self._float_rate is None:
                floats[floats != 0.0] = np.inf
            else:
                floats *= self._float_rate
            slack = np.abs(floats) * _FLOAT_SLACK + _TINY
            named = groups.tolist() if isinstance(groups, np.ndarray) and self._specials else []
            for i in (i for i, group in enumerate(named) if group in self._specials):
                handicap = self._specials[named[i]].handicap
                low, high = float_below(handicap), float_above(handicap)
                floats[i] += low
                slack[i] += (high - low) + (abs(high) + abs(floats[i])) * _FLOAT_SLACK
        # Beyond what floats express, nothing is known and the exact stage decides.
        beyond = ~np.isfinite(slack)
        floats[beyond], slack[beyond] = 0.0, np.inf
        return floats - slack, floats + slack

    def upper_offsets(self, chunk: slice) -> Floats:
        """Floats not below (score - baseline) * rate."""
        return self.offsets(chunk)[1]


def _to_rate(rate: Fraction) -> float | None:
    return float(rate) if Fraction(1, 1 << 900) < rate < 1 << 200 else None
