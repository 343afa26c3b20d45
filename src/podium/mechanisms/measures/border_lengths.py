"""How long a user's vector may be where items are compared with each other: from noisy numbers of users by length."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from podium.mechanisms.measures.amounts import noticeable
from podium.mechanisms.measures.norm_weights import MAX_LENGTH, NormWeights

__all__ = ["border_clip", "norm_edges"]

_DOWN = 6
"""The shortest length that is looked at is 2^-6 of the one that was chosen before."""
_BIAS = 1.5
"""As for counts: how much of the mean loss of long vectors an item may lose more than others."""
_TYPICAL = 0.75


def norm_edges(weights: NormWeights) -> tuple[int, ...]:
    """Lower ends of buckets of Q among named items; the upper end of bucket j is the length clip 2^(j - 6)."""
    one = weights.items << (2 * weights.bits)
    ends = (one * 4**j // 4**_DOWN for j in range(_DOWN + weights.headroom))
    return (1, *(end + 1 for end in ends))


def border_clip(
    weights: NormWeights, users: Sequence[Fraction], sigma: Fraction, *, level: Fraction, mu_squared: Fraction
) -> int:
    """The length that balances noise against what longer vectors lose; all of it is released, so floats decide."""
    lengths = [weights.clip * 2.0 ** (j - _DOWN) for j in range(len(users))]
    # Two users who are not there would outweigh all others, if they were a thousand times as long.
    sizes = noticeable([float(n) for n in users], float(sigma))
    mass = sum(size * _TYPICAL * length for size, length in zip(sizes, lengths, strict=True))
    if mass <= 0:
        return weights.clip

    def cost(clip: int) -> float:
        lost = sum(size * max(0.0, _TYPICAL * length - clip) for size, length in zip(sizes, lengths, strict=True))
        return clip**2 / float(mu_squared) + (_BIAS * lost / mass * float(level)) ** 2

    # A limit that depends on rows would be a failure that depends on them.
    return min(sorted({min(MAX_LENGTH, max(1, int(length))) for length in lengths}), key=cost)
