"""What mechanisms with a noisy public threshold share: how far scores move, and how the budget is split.

These mechanisms are not shift invariant: the threshold stays where it is when all scores move together. So the width
of the interval of score changes is not all that matters; its ends do too (docs/proofs/thresholds-and-gaps.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction, positive_fraction, positive_integer, probability
from podium.histogram import KnownDomain, Scores
from podium.mechanisms.base import Mechanism
from podium.privacy.events import Event, PureMechanism

__all__ = [
    "MAX_THRESHOLD",
    "AboveThreshold",
    "Movement",
    "movement_of",
    "optimal_theta",
    "require_threshold",
    "resolve_theta",
]

MAX_THRESHOLD = 1 << 62
_THETA_STEPS = 1 << 20


class AboveThreshold(Mechanism):
    """What lies above a noisy public threshold, for one pure epsilon; subclasses are frozen dataclasses."""

    __slots__ = ()
    grid_bits: ClassVar[int] = 20

    threshold: Fraction
    k: int
    epsilon: Fraction
    monotone: bool

    def _put(self, threshold: Number, k: int, epsilon: Number) -> None:
        put = object.__setattr__
        put(self, "threshold", require_threshold(threshold))
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One pure mechanism of epsilon."""
        return (PureMechanism(self.epsilon),)


@dataclass(frozen=True, slots=True)
class Movement:
    """Adding one user moves every query by an amount from -falls_by to rises_by.

    ``reach`` is how far the noisy threshold must be able to follow, ``span`` how far a noisy query must.
    """

    rises_by: Fraction
    falls_by: Fraction

    @classmethod
    def from_bounds(cls, rises_by: Number, falls_by: Number | None, *, monotone: bool) -> Movement:
        """From what a caller says; unless stated, monotone queries do not fall and others fall as far as they rise."""
        rises = exact_fraction(rises_by, "rises_by")
        falls = (Fraction(0) if monotone else rises) if falls_by is None else exact_fraction(falls_by, "falls_by")
        if rises < 0 or falls < 0 or rises + falls == 0:
            raise InvalidArgument("rises_by", rises_by, allowed="0 or more, and more than 0 together with falls_by")
        return cls(rises, falls)

    @property
    def reach(self) -> Fraction:
        """The farthest that any query can move."""
        return max(self.rises_by, self.falls_by)

    @property
    def span(self) -> Fraction:
        """The width of the interval of moves."""
        return self.rises_by + self.falls_by


def movement_of(data: KnownDomain, *, monotone: bool) -> Movement:
    """Counts rise by at most 1 (and fall by as much unless monotone); scores move as stated with them."""
    if isinstance(data, Scores):
        return Movement(data.rises_by, data.falls_by)
    return Movement.from_bounds(1, None, monotone=monotone)


def optimal_theta(k: int, *, monotone: bool) -> Fraction:
    """1/(1 + k^(2/3)), or 1/(1 + (2k)^(2/3)) unless monotone, rounded up to a multiple of 2^-20.

    It minimises the variance of a gap, 1/theta^2 + (span*k)^2/(1-theta)^2 up to a factor.
    """
    square = (k if monotone else 2 * k) ** 2
    low, high = 0, _THETA_STEPS // 2
    # n/N >= 1/(1+x) with x^3 = square means (N - n)^3 <= square * n^3: decided in integers.
    while high - low > 1:
        middle = (low + high) // 2
        if (_THETA_STEPS - middle) ** 3 <= square * middle**3:
            high = middle
        else:
            low = middle
    return Fraction(high, _THETA_STEPS)


def resolve_theta(theta: Number | None, k: int, *, monotone: bool) -> Fraction:
    """The share of the budget that the threshold gets; None: the optimal one."""
    return optimal_theta(k, monotone=monotone) if theta is None else probability(theta, "theta")


def require_threshold(threshold: Number) -> Fraction:
    """A public rational threshold of moderate size."""
    level = exact_fraction(threshold, "threshold")
    if abs(level) > MAX_THRESHOLD:
        raise InvalidArgument("threshold", threshold, allowed="a number from -2^62 to 2^62")
    return level
