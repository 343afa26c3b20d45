"""One distribution for all histograms that differ only by names and by a common shift.

A mechanism that is equivariant under renaming and invariant under shifts has few different distributions in a small
world. The property tests show that ours are; here that is used to compute each distribution once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

import flint
from tests.support.worlds import DistributionOf, SmallHistogram

Joint: TypeAlias = dict[Any, flint.arb]


def symmetric(distribution: DistributionOf) -> DistributionOf:
    """The same distribution, asked only of histograms sorted from the largest count to 0."""
    known: dict[tuple[int, ...], Joint] = {}

    def lookup(counts: SmallHistogram) -> Joint:
        names = sorted(counts, key=lambda item: -counts[item])
        least = min(counts.values())
        key = tuple(counts[item] - least for item in names)
        if key not in known:
            known[key] = dict(distribution({str(place): count for place, count in enumerate(key)}))
        back = {str(place): item for place, item in enumerate(names)}
        return {_renamed(outcome, back): value for outcome, value in known[key].items()}

    return lookup


def _renamed(outcome: Any, names: dict[str, str]) -> Hashable:
    if isinstance(outcome, frozenset):
        return frozenset(names[item] for item in outcome)
    return tuple(names[item] for item in outcome)


def joint_density(density: Callable[[tuple[int, ...], tuple[int, ...], Any], flint.arb]) -> Callable[..., flint.arb]:
    """Of densities that depend on the winners' counts in order and the multiset of the others, each once."""
    known: dict[Hashable, flint.arb] = {}

    def lookup(winners: tuple[int, ...], losers: tuple[int, ...], values: Any) -> flint.arb:
        least = min((*winners, *losers))
        key = (tuple(c - least for c in winners), tuple(sorted(c - least for c in losers)), values)
        if key not in known:
            known[key] = density(*key)
        return known[key]

    return lookup
