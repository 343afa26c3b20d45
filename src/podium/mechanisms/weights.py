"""How much one user adds to each of their items, as a public function of how many items they have.

A user with many items moves many counts. Either the user is cut to a few of them, or each counts for less: with the
weight 1/sqrt(t) on each of t items the whole vector moves by 1 in L2 norm, with 1/t by 1 in L1 norm, whatever t is.
Weights are integers in units of 1/unit, so weighted counts are exact sums.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, ball, positive_fraction, positive_integer, probability
from podium.privacy.rounding import above, certified_bound

__all__ = ["MAX_ROUND_WEIGHT", "SharesOneVote", "Weights", "shared_weights", "spread_weights"]

_UNIT = 1 << 20
MAX_ROUND_WEIGHT = 1 << 21
"""No weight of any round is larger, those of a border of two items included."""
_MAX_STEPS = 100
_MAX_CAP = 1 << 40


@dataclass(frozen=True, slots=True, init=False)
class Weights:
    """A user with t items adds ``weight(t) / unit`` to each of them; nobody has more than ``cap`` items.

    ``steps`` are pairs (up_to, weight): a user with more items than the pair before and at most ``up_to`` gives each of
    them this weight. Weights do not grow with the number of items. Users are cut to ``cap`` items *before* weights are
    given, by a rule that sees only that user's rows and public facts.
    """

    steps: tuple[tuple[int, int], ...]
    unit: int
    rule: str = field(compare=False)

    def __init__(self, steps: Iterable[tuple[int, int]], *, unit: int = _UNIT, rule: str = "steps") -> None:
        pairs = tuple((positive_integer(end, "steps"), positive_integer(weight, "steps")) for end, weight in steps)
        rising = all(left[0] < right[0] and left[1] >= right[1] for left, right in itertools.pairwise(pairs))
        if not pairs or not rising:
            raise InvalidArgument(
                "steps",
                pairs,
                allowed="pairs (up_to, weight) with rising up_to and weights that do not rise",
                hint="Weights.bounded, Weights.spread, Weights.floored and Weights.shared make the usual ones.",
            )
        object.__setattr__(self, "steps", pairs)
        object.__setattr__(self, "unit", positive_integer(unit, "unit"))
        object.__setattr__(self, "rule", rule)

    @classmethod
    def bounded(cls, max_items_per_user: int) -> Weights:
        """Plain counts of users bounded to ``max_items_per_user`` items: every item counts 1."""
        most = positive_integer(max_items_per_user, "max_items_per_user")
        return cls([(most, 1)], unit=1, rule=f"bounded({most})")

    @classmethod
    def spread(cls, cap: int, *, unit: int = _UNIT) -> Weights:
        """1/sqrt(t) on each of t items, at most ``cap`` of them: L2 sensitivity 1 for everybody."""
        return cls._by_root(1, cap, unit, f"spread({cap})")

    @classmethod
    def floored(cls, m: int, cap: int, *, unit: int = _UNIT) -> Weights:
        """1/sqrt(max(m, t)) on each of t items, at most ``cap`` of them: light users count alike, heavy ones less."""
        return cls._by_root(m, cap, unit, f"floored({m}, {cap})")

    @classmethod
    def shared(cls, cap: int, *, unit: int = _UNIT) -> Weights:
        """1/t on each of t items, at most ``cap`` of them: everybody adds 1 in all, so L1 sensitivity 1."""
        last, scale = _checked_cap(cap), positive_integer(unit, "unit")
        if scale < last:
            raise InvalidArgument("unit", unit, allowed=f"an integer of at least cap={last}")
        # The upper end of a step decides, and the share is rounded down: nobody adds more than 1 in all.
        steps = [(end, scale // end) for end in _ends(1, last)]
        rule = f"shared({last})"
        return cls(steps, unit=scale, rule=rule if scale == _UNIT else f"{rule} in units of 1/{scale}")

    @classmethod
    def _by_root(cls, m: int, cap: int, unit: int, rule: str) -> Weights:
        first, last = positive_integer(m, "m"), _checked_cap(cap)
        if first > last:
            raise InvalidArgument("m", m, allowed=f"an integer from 1 to cap={last}")
        scale = positive_integer(unit, "unit")
        if scale**2 < last:
            raise InvalidArgument("unit", unit, allowed=f"an integer of at least sqrt(cap={last})")
        # The upper end of a step decides, and the root is rounded down: no user's vector is longer than 1.
        steps = [(end, math.isqrt(scale**2 // end)) for end in _ends(first, last)]
        return cls(steps, unit=scale, rule=rule if scale == _UNIT else f"{rule} in units of 1/{scale}")

    def __str__(self) -> str:
        return self.rule if self.rule != "steps" else f"{self.steps} in units of 1/{self.unit}"

    @property
    def cap(self) -> int:
        """How many items a user may have: what the data is cut to."""
        return self.steps[-1][0]

    def weight(self, items: int) -> int:
        """The weight of each item of a user with ``items`` items, in units of 1/unit."""
        count = positive_integer(items, "items")
        if count > self.cap:
            raise InvalidArgument("items", items, allowed=f"an integer from 1 to cap={self.cap}")
        return self.steps[bisect.bisect_left(self.steps, (count, 0))][1]

    @property
    def squared_sensitivity(self) -> int:
        """The largest t * weight(t)^2: the squared L2 norm of what one user adds, in units of 1/unit^2.

        Within a step the weight is constant, so only the upper ends count.
        """
        return max(end * weight**2 for end, weight in self.steps)

    @property
    def sensitivity_squared(self) -> Fraction:
        """The same in natural units: what ``GaussianNoise`` takes."""
        return Fraction(self.squared_sensitivity, self.unit**2)

    @property
    def total_sensitivity(self) -> Fraction:
        """The largest t * weight(t) in natural units: the L1 norm of what one user adds, what ``LaplaceNoise`` takes.

        As for the squares, only the upper ends of steps count.
        """
        return Fraction(max(end * weight for end, weight in self.steps), self.unit)

    def threshold(self, sigma: Number, delta: Number) -> Fraction:
        """What an item that only one user has passes with probability at most delta, however many the user has.

        The largest weight(t)/unit + sigma Phi^-1((1 - delta)^(1/t)), t = 1, ..., cap, rounded up to a multiple of
        2^-64. The second term rises with t, and within a step the first is constant: only the upper ends count.
        """
        scale, failure = positive_fraction(sigma, "sigma"), probability(delta, "delta")
        return max(
            certified_bound(lambda end=end, weight=weight: self._hidden(end, weight, scale, failure), above)  # type: ignore[misc]
            for end, weight in self.steps
        )

    def _hidden(self, items: int, weight: int, sigma: Fraction, delta: Fraction) -> flint.arb:
        # 1 - (1 - delta)^(1/t), without losing the digits of a small delta; then Phi^-1(1 - p) = sqrt(2) erfcinv(2p).
        chance = -(ball(-delta).log1p() / items).expm1()
        return ball(Fraction(weight, self.unit)) + ball(sigma) * ball(2).sqrt() * (2 * chance).erfcinv()


@lru_cache(maxsize=64)
def spread_weights(cap: int) -> Weights:
    """``Weights.spread(cap)``, made once."""
    return Weights.spread(cap)


@lru_cache(maxsize=64)
def shared_weights(cap: int) -> Weights:
    """``Weights.shared(cap)``, made once."""
    return Weights.shared(cap)


class SharesOneVote:
    """What mechanisms have in common in which every user shares one vote among at most ``max_items_per_user`` items."""

    __slots__ = ()
    max_items_per_user: int

    @property
    def weights(self) -> Weights:
        """What a user with t items adds to each of them: a share of 1, rounded down."""
        return shared_weights(self.max_items_per_user)

    @property
    def first_weights(self) -> Weights:
        """How much one user adds to each item."""
        return self.weights


def _checked_cap(cap: int) -> int:
    last = positive_integer(cap, "cap")
    if last > _MAX_CAP:
        raise InvalidArgument("cap", cap, allowed=f"an integer from 1 to {_MAX_CAP}")
    return last


@lru_cache(maxsize=64)
def _ends(first: int, last: int) -> tuple[int, ...]:
    """From ``first`` to ``last``, one by one while that takes few steps, then by the finest ratio that does."""
    tries = (_geometric(first, last, fineness) for fineness in range(_MAX_STEPS, 0, -1))
    # The last try doubles, and 40 doublings reach any cap.
    return next(tuple(ends) for ends in tries if ends[-1] == last)


def _geometric(first: int, last: int, fineness: int) -> list[int]:
    ends = [first]
    while ends[-1] < last and len(ends) < _MAX_STEPS:
        ends.append(min(last, ends[-1] + max(1, ends[-1] // fineness)))
    return ends
