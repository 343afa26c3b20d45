"""What noisy histograms say about amounts, and the clip that follows from it.

Everything here is post-processing of released numbers and public facts, so floats may decide. A bad clip costs
accuracy, never privacy. The constants are measured: ``python -m bench measures``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

__all__ = [
    "Amounts",
    "Totals",
    "best_ceiling",
    "estimate_amounts",
    "estimate_totals",
    "noise_of_rounds",
    "noise_of_selections",
    "noticeable",
]

_BARS = (4.0, 5.0, 2.5)
"""How many sigmas above 0 an entry must be: the largest one, any other, and one beside an entry that counts."""
_LAPLACE_BARS = (6.84, 10.17, 3.11)
"""The same for Laplace noise, whose tails are longer: noise alone exceeds each bar with the same probability."""
_PER_PLACE = 10
"""The k-th item has about 1/(10 k) of all that users add."""
_STEEPNESS, _HOPELESS = 3, 1e100
_GUMBEL = 1.2825
"""The standard deviation of Gumbel noise of scale 1."""
_OVER_DOMAIN, _OVER_ROUNDS = 5.0, 3.5
"""A bar at so many times the k-th sum lets about half of a list through: measured, not derived."""
_CLIPPED_AWAY = 0.03
"""What a list loses of its sum if hardly anything is left of the amounts; more if items differ much."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How large the amounts of (user, item) pairs are, and how many items users have; by powers of two.

    Bucket 0 holds 1, bucket j what is above 2^(j-1) and at most 2^j; the last has no upper end. ``pairs`` are weights
    (each user's pairs weigh 1 together), ``users`` numbers of users.
    """

    pairs: tuple[float, ...]
    users: tuple[float, ...]

    _more_alike: ClassVar[float] = 0.0

    def mean(self, clip: float = math.inf) -> float:
        """The mean over pairs of an amount clipped at this."""
        weight = sum(self.pairs)
        clipped = (number * min(_typical(j), clip) for j, number in enumerate(self.pairs) if number)
        return sum(clipped) / weight if weight else 0.0

    @property
    def total(self) -> float:
        """The sum of all amounts."""
        return sum(number * _typical(j) for j, number in enumerate(self.users)) * self.mean()

    @property
    def spread(self) -> float:
        """The mean over pairs of 1/sqrt(t), where t is how many items the user of the pair has."""
        pairs = sum(number * _typical(j) for j, number in enumerate(self.users))
        roots = sum(number * math.sqrt(_typical(j)) for j, number in enumerate(self.users))
        return roots / pairs if pairs else 1.0

    def kept(self, clip: int) -> float:
        """The share of all amounts that a clip leaves."""
        return self.mean(clip) / self.mean()

    def found(self, clip: int, *, k: int, noise: float) -> float:
        """About how much of the true list's sum a list has, after noise and after what is clipped.

        With noise as large as the k-th sum, both at this clip, half of it is lost. ``noise`` is in clips.
        """
        kept = self.kept(clip)
        kth = kept * (1 + self._more_alike * (1 - kept)) * self.total / (_PER_PLACE * k)
        # No power may overflow: a question that is paid does not fail.
        ratio = min(noise * clip / kth, _HOPELESS)
        return (1 - _CLIPPED_AWAY * (1 - kept) ** 2) / (1 + ratio**_STEEPNESS)

    def error(self, clip: int, *, k: int, noise: float) -> float:
        """The squared error of the k-th value in units of what a clip leaves of it: noise and what was clipped."""
        kept = self.mean(clip) / self.mean()
        return ((noise * clip) ** 2 + ((1 - kept) * self.total / (_PER_PLACE * k)) ** 2) / kept**2

    def clip_for_list(self, *, k: int, noise: float) -> int:
        """The power of two with which most is found; 1 if nothing is known."""
        return max(self._clips, key=lambda clip: self.found(clip, k=k, noise=noise)) if self._known else 1

    def clip_for_values(self, *, k: int, noise: float) -> int:
        """The power of two with the smallest error of values, whose noise is that many clips; 1 if nothing is known."""
        return min(self._clips, key=lambda clip: self.error(clip, k=k, noise=noise)) if self._known else 1

    @property
    def _known(self) -> bool:
        return any(self.pairs) and any(self.users)

    @property
    def _clips(self) -> list[int]:
        return [1 << j for j in range(len(self.pairs))]


@dataclass(frozen=True, slots=True)
class Totals(Amounts):
    """The same where ``users`` are in buckets of all that they add, and ``pairs`` are users by length.

    A length clips single amounts too. That makes a user's amounts more alike, and then a vector of one length has a
    larger sum: about twice as large at clips that leave hardly anything. For ``error`` pairs may be those of amounts.
    """

    _more_alike: ClassVar[float] = 1.0

    @property
    def total(self) -> float:
        """The sum of all amounts."""
        return sum(number * _typical(j) for j, number in enumerate(self.users))

    def kept(self, clip: int) -> float:
        """The same of vectors: whoever is longer is taken to add more."""
        users = [(share, length, max(length, total)) for share, length, total in _in_step(self.pairs, self.users)]
        left = sum(share * total * min(1.0, clip / length) for share, length, total in users)
        return left / sum(share * total for share, _, total in users)


def _in_step(first: Sequence[float], second: Sequence[float]) -> Iterator[tuple[float, float, float]]:
    """Both histograms from the smallest on: a share of users, and what is typical of them in each."""
    one, other = ([(n / sum(values), _typical(j)) for j, n in enumerate(values) if n] for values in (first, second))
    while one and other:
        (share, size), (rest, large) = one[0], other[0]
        step = min(share, rest)
        yield step, size, large
        one[:1] = [(share - step, size)] if share > step else []
        other[:1] = [(rest - step, large)] if rest > step else []


def estimate_totals(lengths: Sequence[float], totals: Sequence[float], sigma: float) -> Totals:
    """As ``estimate_amounts``."""
    return Totals(noticeable(lengths, sigma), noticeable(totals, sigma))


def estimate_amounts(pairs: Sequence[float], users: Sequence[float], sigma: float) -> Amounts:
    """Drop what may be noise: one entry of it in a high bucket would outweigh all others."""
    return Amounts(noticeable(pairs, sigma), noticeable(users, sigma))


def noise_of_selections(epsilon_per_item: float, margin: float | None = None) -> float:
    """How large the k-th sum must be, in clips, for half of a list to come back; without a margin of a known domain."""
    return _GUMBEL / epsilon_per_item if margin is None else margin / _OVER_DOMAIN


def noise_of_rounds(threshold: float) -> float:
    """The same where items are found above a threshold."""
    return threshold / _OVER_ROUNDS


def best_ceiling(users: Sequence[float], sigma: float, *, laplace: bool = False) -> int:
    """The j with the smallest squared error of a sum, of which each user adds at most 2^j, with noise of 2^j sigma.

    ``users`` are noisy numbers of users in buckets of what they add in all; ``laplace`` says that their noise is
    Laplace noise, with this standard deviation.
    """
    seen = noticeable(users, sigma, _LAPLACE_BARS if laplace else _BARS)

    def error(place: int) -> float:
        lost = sum(number * (_typical(j) - 2**place) for j, number in enumerate(seen) if j > place)
        return float((sigma * 2**place) ** 2 + lost**2)

    return min(range(len(seen)), key=error)


def noticeable(values: Sequence[float], sigma: float, bars: tuple[float, float, float] = _BARS) -> tuple[float, ...]:
    """The entries, 0 where they may be noise of this standard deviation."""
    most, (largest, alone, next_to_it) = max(values), bars
    counts = [v >= alone * sigma or v == most >= largest * sigma for v in values]
    beside = [v >= next_to_it * sigma for v in values]
    places = range(len(counts))
    for order, step in ((places, -1), (reversed(places), 1)):
        for j in order:
            counts[j] |= beside[j] and 0 <= j + step < len(counts) and counts[j + step]
    return tuple(value if some else 0.0 for value, some in zip(values, counts, strict=True))


def _typical(bucket: int) -> float:
    return 1.0 if bucket == 0 else 0.75 * 2**bucket
