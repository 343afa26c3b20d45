"""How to rank a known domain, from noisy numbers of users by how many of its items they have.

Everything here is post-processing of released numbers and public facts, so floats may decide. A wrong decision costs
accuracy, never privacy: each way has its own guarantee (docs/proofs/by-sizes.md). The constants are measured:
``python -m bench known_rounds``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["KNOWN_BUCKETS", "KNOWN_EDGES", "KnownBranch", "NoiseLevels", "choose_known_branch"]

KNOWN_EDGES = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513)
"""Lower ends of the buckets, of which those above the size of the domain are left out."""
KNOWN_BUCKETS = ("1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-128", "129-256", "257-512", "513+")
_TYPICAL = (1.0, 2.0, 3.5, 6.3, 12.0, 23.0, 45.0, 90.0, 180.0, 360.0, 720.0)
"""About how many items a user of each bucket has."""
_NOTICEABLE = 7.0
"""A bucket counts if it is this many scales of its noise above 0: noise in a bucket of heavy users would mean a lot."""
_MIN_ENERGY = 0.25


class KnownBranch(StrEnum):
    """The ways to rank a known domain."""

    IN_TURN = "in turn"
    LAPLACE = "Laplace noise"
    ROUNDS = "rounds"


@dataclass(frozen=True, slots=True)
class NoiseLevels:
    """The noise of a difference between two counts in each way.

    ``in_turn`` in users, whoever they are; ``laplace`` and ``rounds`` for users with one item. ``rounds`` is None where
    delta is 0.
    """

    in_turn: float
    laplace: float
    rounds: float | None


def choose_known_branch(
    noisy: Sequence[float], scale: float, *, domain_size: int, cap: int, levels: NoiseLevels
) -> KnownBranch:
    """The way with the least noise, given numbers of users with Laplace noise of this scale.

    An item with n users who have t items each gets n/t votes, so that noise of one vote is t users wide. In rounds,
    items are told apart by differences, in which such a user counts for the root of t (1 - t/size).
    """
    kept = [value if value > _NOTICEABLE * scale else 0.0 for value in noisy]
    if not any(kept):
        largest = max(range(len(noisy)), key=lambda bucket: noisy[bucket])
        kept[largest] = 1.0
    typical = [min(items, float(cap), float(domain_size)) for items in _TYPICAL[: len(kept)]]
    pairs = sum(users * items for users, items in zip(kept, typical, strict=True))
    found = {
        KnownBranch.IN_TURN: levels.in_turn,
        KnownBranch.LAPLACE: levels.laplace * pairs / sum(kept),
    }
    if levels.rounds is not None:
        energies = [max(items * (1 - items / domain_size), _MIN_ENERGY) for items in typical]
        roots = sum(
            users * items * math.sqrt(energy) for users, items, energy in zip(kept, typical, energies, strict=True)
        )
        found[KnownBranch.ROUNDS] = levels.rounds * roots / pairs
    return min(found, key=lambda branch: found[branch])
