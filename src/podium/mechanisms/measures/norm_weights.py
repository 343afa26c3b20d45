"""One multiplier for all that a user adds, by the length of the user's vector: L2 sensitivity 1 for any amounts.

A user who adds f_i to item i is scaled so that the vector is no longer than a public bound. All arithmetic is in
integers: amounts are rounded down to parts of the bound, and the multiplier is a step function of the sum of their
squares. Scaling entries one by one and rounding each would not do: see docs/proofs/measures.md, section 8.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from podium.errors import InvalidArgument
from podium.exact import positive_integer

__all__ = ["MAX_LENGTH", "MAX_NORMED_ITEMS", "NormWeights"]

MAX_NORMED_ITEMS = 1 << 20
"""So many squares fit into 64 bits."""
MAX_LENGTH = 1 << 40
"""The longest clip, in units, of which a source can take parts."""
_UNIT = 1 << 20
_BITS = 10
_HEADROOM = 10
_FINE, _COARSE, _FINE_UP_TO = Fraction(9, 8), Fraction(7, 4), 1 << 10
"""Ratios of successive ends of steps: up to 32 times the bound a step takes at most 6 percent from a user."""
_ROOM = 31
"""n times the largest part must be below 2^31, so that all sums of products fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class NormWeights:
    """A user's vector in parts of ``clip``, times one integer weight: no longer than ``one`` for anybody.

    An amount x > 0 becomes G = floor(x 2^bits / clip), at most ``most``; items with G = 0 are left out. What decides
    is Q = the sum of G^2 over at most ``items`` items. With ``named`` it is what differences among that many named
    items move by: the larger of n sum G^2 - (sum G)^2 and floor(n max G^2 / 2).
    """

    clip: int
    items: int
    named: bool = False

    def __post_init__(self) -> None:
        if positive_integer(self.clip, "clip") > MAX_LENGTH:
            raise InvalidArgument("clip", self.clip, allowed="an integer from 1 to 2^40", hint="Take a larger unit.")
        if positive_integer(self.items, "items") > MAX_NORMED_ITEMS:
            raise InvalidArgument("items", self.items, allowed="an integer from 1 to 2^20")

    @property
    def cap(self) -> int:
        """How many items a user may have."""
        return self.items

    @property
    def bits(self) -> int:
        """The clip has 2^bits parts."""
        return _BITS

    @property
    def headroom(self) -> int:
        """An amount of 2^headroom clips or more counts as that much."""
        return min(_HEADROOM, _ROOM - _BITS - self.items.bit_length()) if self.named else _HEADROOM

    @property
    def most(self) -> int:
        """The most that an amount can be in parts of the clip."""
        return 1 << (_BITS + self.headroom)

    @property
    def one(self) -> int:
        """The length of the clip in weighted parts: what no vector exceeds."""
        return _UNIT << _BITS

    @property
    def sensitivity_squared(self) -> Fraction:
        """In units of ``one``."""
        return Fraction(1)

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """Pairs (up_to, weight): whose Q is above the pair before and at most ``up_to`` is multiplied by the weight."""
        return _steps(self)

    def parts(self, amount: int) -> int:
        """G of an amount."""
        return min((amount << _BITS) // self.clip, self.most)

    def square(self, parts: Sequence[int]) -> int:
        """Q of a user with these parts, none of them 0."""
        squares = sum(part**2 for part in parts)
        if not self.named:
            return squares
        return max(self.items * squares - sum(parts) ** 2, self.items * max(parts, default=0) ** 2 // 2)

    def weight(self, square: int) -> int:
        """The multiplier of a user with this Q."""
        return self.steps[bisect.bisect_left(self.steps, (square, 0))][1]


@lru_cache(maxsize=64)
def _steps(weights: NormWeights) -> tuple[tuple[int, int], ...]:
    first = weights.square((1 << _BITS,)) if not weights.named else weights.items << (2 * _BITS)
    last = weights.items * weights.most**2
    if weights.named:
        # n sum G^2 - (sum G)^2 is n^2 times a variance, at most (most/2)^2.
        last = max(last // 2, (weights.items * weights.most) ** 2 // 4)
    ends = [first]
    while ends[-1] < last:
        ratio = _FINE if ends[-1] < first * _FINE_UP_TO else _COARSE
        ends.append(min(last, math.floor(ends[-1] * ratio)))
    # The upper end of a step decides, and the root is rounded down: nobody's vector is longer than one.
    return tuple((end, math.isqrt(_UNIT**2 * first // end)) for end in ends)
