"""What a source is told of a bound on all that one user adds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from podium.errors import InvalidArgument
from podium.exact import positive_integer
from podium.query.ranked_by import MAX_CLIP

__all__ = ["PairNorm"]

_MAX_STEPS, _MAX_BITS, _MAX_PART = 100, 20, 2**31


@dataclass(frozen=True, slots=True)
class PairNorm:
    """Values as parts of a bound, and one weight for all parts of a user.

    A value v becomes floor(v * 2^bits / clip), at most ``most``; pairs for which that is 0 are left out. Q is the sum
    of the squares of a user's parts, and each part counts times the weight of the first of ``steps`` (up_to, weight)
    with Q <= up_to, or 0 beyond. With ``named`` = n, where n items are named, Q is the larger of
    n * SUM(part^2) - SUM(part)^2 and floor(n * MAX(part)^2 / 2).
    """

    clip: int
    bits: int
    most: int
    steps: tuple[tuple[int, int], ...]
    named: int | None = None

    def __post_init__(self) -> None:
        if positive_integer(self.clip, "clip") > MAX_CLIP or not 0 <= self.bits <= _MAX_BITS:
            raise InvalidArgument("clip", self.clip, allowed="an integer from 1 to 2^40, in at most 2^20 parts")
        steps = [(positive_integer(end, "steps"), positive_integer(weight, "steps")) for end, weight in self.steps]
        falling = all(left[0] < right[0] and left[1] >= right[1] for left, right in pairwise(steps))
        if not 1 <= len(steps) <= _MAX_STEPS or not falling:
            allowed = f"1 to {_MAX_STEPS} pairs: up_to increases, weights do not"
            raise InvalidArgument("steps", f"{len(steps)} pairs", allowed=allowed)
        # What a user adds to an item, and the sums of products that decide about it, fit into 64 bits.
        if not 1 <= self.most * (self.named or 1) < _MAX_PART:
            raise InvalidArgument("most", self.most, allowed="less than 2^31, times the number of named items")
