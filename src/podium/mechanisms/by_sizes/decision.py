"""Which branch to run, from noisy numbers of users by how many items they have.

Everything here is post-processing of released numbers and public facts, so floats may decide. A wrong decision costs
accuracy, never privacy: each branch has its own guarantee (docs/proofs/by-sizes.md). The constants are measured:
``python -m bench utility_regimes``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "BUCKETS",
    "LONGEST_CALL",
    "SHORT_BUCKETS",
    "SHORT_EDGES",
    "SIZE_EDGES",
    "Branch",
    "Sizes",
    "Thresholds",
    "choose_branch",
    "choose_short_branch",
    "estimate_sizes",
    "largest_selection",
]

SIZE_EDGES = (1, 2, 3, 5, 9, 17, 33, 65)
"""Lower ends of the buckets: users with 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, 65 and more items."""
BUCKETS = ("1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65+")
SHORT_EDGES = (1, 2)
SHORT_BUCKETS = ("1", "2+")
"""For one or two places the only question is whether most users have one item."""
_SINGLES = 2.0
"""How many times as many users must have one item as have more, for Laplace noise to find one or two items better."""
_TYPICAL = (1.0, 2.0, 3.5, 6.3, 12.0, 23.0, 45.0, 110.0)
"""About how many items a user of each bucket has."""
_CAPS = (8, 8, 8, 16, 32, 64, 128, 1000)
"""Twice the upper end of each bucket, at least 8; the last bucket is open."""
_NOTICEABLE = 4.0
"""A bucket counts if it is this many scales of its noise above 0."""
_REACHED = 0.98
_MOSTLY_ONE = 0.75
"""The share of users with one item above which weights 1/t lose nothing against 1/sqrt(t)."""
_LAPLACE, _GAUSSIAN, _CALL = 1.05, 0.9, 0.95
_CALL_FOR_THREE, _CALL_FOR_TEN = 2.0, 1.2
"""How many times as high the threshold of selections may be as the others, for up to so many places."""
_NEAR = 1.5
_FEW = 64.0
LONGEST_CALL = 30
"""From longer lists successive selections are no branch: their threshold is the highest for all tables."""


class Branch(StrEnum):
    """The ways to find the top k."""

    LIMITED_DOMAIN = "limited domain"
    LAPLACE = "Laplace noise"
    ROUNDS = "rounds"
    ONE_DISCOVERY = "one round"


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the noisy numbers of users say.

    ``users``, ``pairs`` and ``roots`` are sums over users of 1, t and sqrt(t), where t is how many items a user has;
    ``single`` is the share of users with one item, and ``cap`` a number of items that hardly anybody exceeds.
    """

    users: float
    pairs: float
    roots: float
    single: float
    cap: int


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What an item must exceed in each branch, in the units of that branch, and the noise of one selection.

    ``call`` is None where successive selections are no branch.
    """

    laplace: float
    gaussian: float
    call: float | None
    selection: float


def largest_selection(k: int, epsilon: float, delta: float) -> float:
    """An epsilon that k selections of an (epsilon, delta)-DP plan cannot exceed, whoever calibrates them.

    Randomised response of odds e^(s/2) is a selection of this s. All k answers are true with probability at least
    2^-k, and then k s/2 is lost, so that 2^-k (1 - e^(epsilon - k s/2)) <= delta.
    """
    rest = 1.0 - math.ldexp(delta, k)
    return 2.0 * (epsilon - math.log(rest)) / k if rest > 0 else math.inf


def estimate_sizes(noisy: Sequence[float], scale: float) -> Sizes:
    """Read the sizes off noisy numbers of users, one for each bucket, with Laplace noise of this scale."""
    kept = [value if value > _NOTICEABLE * scale else 0.0 for value in noisy]
    if not any(kept):
        largest = max(range(len(noisy)), key=lambda bucket: noisy[bucket])
        kept[largest] = max(noisy[largest], 0.0) or 1.0
    users = sum(kept)
    total = max(sum(noisy), noisy[0])
    reached, cap = 0.0, _CAPS[-1]
    for number, limit in zip(kept, _CAPS, strict=True):
        reached += number
        if reached >= _REACHED * users:
            cap = limit
            break
    return Sizes(
        users=users,
        pairs=sum(number * typical for number, typical in zip(kept, _TYPICAL, strict=True)),
        roots=sum(number * math.sqrt(typical) for number, typical in zip(kept, _TYPICAL, strict=True)),
        single=noisy[0] / total if noisy[0] > _NOTICEABLE * scale else 0.0,
        cap=cap,
    )


def choose_short_branch(single: float, others: float) -> Branch:
    """The branch for one or two places, by noisy numbers of users with one item and with more."""
    return Branch.LAPLACE if single > _SINGLES * others else Branch.LIMITED_DOMAIN


def choose_branch(k: int, sizes: Sizes, thresholds: Thresholds) -> Branch:
    """The branch that is expected to find the most of the top k.

    A higher ``call`` or ``selection`` turns LIMITED_DOMAIN into something else, and nothing else into anything.
    """
    # In counts of users: an item's users have about as many other items as users in general.
    laplace = _LAPLACE * thresholds.laplace * sizes.pairs / sizes.users
    gaussian = _GAUSSIAN * thresholds.gaussian * sizes.pairs / sizes.roots
    call = math.inf if thresholds.call is None else thresholds.call
    kth = sizes.pairs / (10 * k)
    rounds = Branch.ONE_DISCOVERY if sizes.pairs / 8 < _FEW / 8 * gaussian else Branch.ROUNDS
    near = (_CALL_FOR_THREE if k <= 3 else _CALL_FOR_TEN) * min(laplace, gaussian)
    if k <= 10 and sizes.single <= _MOSTLY_ONE and kth > call + thresholds.selection and _CALL * call < near:
        return Branch.LIMITED_DOMAIN
    if kth < _NEAR * min(laplace, gaussian):
        found = {Branch.LAPLACE: laplace, rounds: gaussian, Branch.LIMITED_DOMAIN: _CALL * call}
        return min(found, key=lambda branch: found[branch])
    return Branch.LAPLACE if sizes.single > _MOSTLY_ONE else rounds
