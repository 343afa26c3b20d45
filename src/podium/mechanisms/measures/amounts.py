"""What noisy histograms say about amounts, and the clip that follows from it.

Everything here is post-processing of released numbers and public facts, so floats may decide. A bad clip costs
accuracy, never privacy. The constants are measured: tests/statistical/mechanisms/test_clip_choice.py has a part of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MEASURING", "SELECTING", "Amounts", "Totals", "estimate_amounts", "estimate_totals", "selection_noise"]

SELECTING, MEASURING = 0.15, 1.0
"""How much of the clipped mass counts as an error: a list keeps its order if it is missing from all items alike."""
_NOTICEABLE = 3.0
"""An entry counts if it is this many sigmas above 0."""
_PER_PLACE = 10
_GUMBEL = 1.2825
"""The standard deviation of Gumbel noise of scale 1."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How large the amounts of (user, item) pairs are, and how many items users have; by powers of two.

    Bucket 0 holds 1, bucket j what is above 2^(j-1) and at most 2^j; the last has no upper end. ``pairs`` are weights
    (each user's pairs weigh 1 together), ``users`` numbers of users.
    """

    pairs: tuple[float, ...]
    users: tuple[float, ...]

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

    def cost(self, clip: int, *, k: int, noise: float, bias: float) -> float:
        """The squared error of the k-th sum in units of what a clip leaves of it: noise and what was clipped."""
        return self._costs([clip], k=k, noise=noise, bias=bias)[0]

    def _costs(self, clips: Sequence[int], *, k: int, noise: float, bias: float) -> list[float]:
        mean, level = self.mean(), self.total / (_PER_PLACE * k)
        kept = [self.mean(clip) / mean for clip in clips]
        return [
            ((noise * clip) ** 2 + (bias * (1 - part) * level) ** 2) / part**2
            for clip, part in zip(clips, kept, strict=True)
        ]

    def best_clip(self, *, k: int, noise: float, bias: float = SELECTING) -> int:
        """The power of two with the smallest cost for noise of ``noise`` clips; 1 if nothing is known."""
        if not any(self.pairs) or not any(self.users):
            return 1
        clips = [1 << j for j in range(len(self.pairs))]
        costs = self._costs(clips, k=k, noise=noise, bias=bias)
        return clips[costs.index(min(costs))]


@dataclass(frozen=True, slots=True)
class Totals(Amounts):
    """The same where ``users`` are in buckets of all that they add, and ``pairs`` may be users by length."""

    @property
    def total(self) -> float:
        """The sum of all amounts."""
        return sum(number * _typical(j) for j, number in enumerate(self.users))


def estimate_totals(lengths: Sequence[float], totals: Sequence[float], sigma: float) -> Totals:
    """As ``estimate_amounts``."""
    return Totals(_noticeable(lengths, sigma), _noticeable(totals, sigma))


def estimate_amounts(pairs: Sequence[float], users: Sequence[float], sigma: float) -> Amounts:
    """Drop what may be noise: small entries, and those beyond the first gap above the largest entry.

    A single entry of noise in a high bucket would otherwise outweigh all others.
    """
    return Amounts(_noticeable(pairs, sigma), _noticeable(users, sigma))


def _noticeable(values: Sequence[float], sigma: float) -> tuple[float, ...]:
    seen = [value if value >= _NOTICEABLE * sigma else 0.0 for value in values]
    mode = max(range(len(seen)), key=lambda j: seen[j])
    end = next((j for j in range(mode, len(seen)) if not seen[j]), len(seen))
    return (*seen[:end], *[0.0] * (len(seen) - end))


def selection_noise(epsilon_per_item: float, margin: float = 0.0) -> float:
    """The noise of one selection in units of the clip; with an unknown domain half of its margin comes to it."""
    return _GUMBEL / epsilon_per_item + margin / 2


def _typical(bucket: int) -> float:
    return 1.0 if bucket == 0 else 0.75 * 2**bucket
