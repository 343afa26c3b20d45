"""Peeling with a rising rate: the later choices, where the right items are few and close, get more of the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import flint
import numpy as np

from podium.exact import Number, flag, positive_fraction, positive_integer, probability
from podium.histogram import Groups, Item, KnownDomain
from podium.mechanisms.base import Distribution, Mechanism
from podium.mechanisms.domain import list_scores, require_items
from podium.mechanisms.peeling import peeling_distribution
from podium.privacy import calibrate_schedule
from podium.privacy.events import Event, Selection
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, Finish, race, system_bits
from podium.release import Release

__all__ = ["RATES", "RisingTopK", "rising_schedule", "rising_unit"]

RATES = (3, 4, 5, 6)
"""The epsilons of the four quarters of the list, in units. Chosen on synthetic histograms, not on data."""


@dataclass(frozen=True, slots=True, init=False)
class RisingTopK(Mechanism):
    """The k best items in order, chosen in turn as in ExponentialTopK, the later ones with a larger epsilon.

    Use
        The items can be listed, their order is wanted, a delta is allowed, and the question has a budget of its own.
    Shape
        known domain; ordered; no values
    Guarantee
        k selections of bounded range 3, 4, 5 and 6 units in the four quarters of the list. RisingTopK.within finds the
        largest unit for (epsilon, delta). Neighbours: one user added or removed (monotone=True), or counts that may
        move both ways.
    Distribution
        Peeling with weights exp(r_j h), r_j = c_j * unit / span: P(o_1, ..., o_k) is the product over j of
        exp(r_j h_(o_j)) / (sum of exp(r_j h_i) over the items not yet chosen); c_j = 3, 4, 5 or 6 as j is in the first,
        second, third or last quarter of 1..k.
    Symbols
        k; unit; quarter i ends at floor(i k/4); span = 1 for counts under addition or removal, 2 if monotone=False,
        rises_by + falls_by for Scores.
    Source
        docs/proofs/rising.md; each choice as in ExponentialTopK.
    Assumes
        A known domain of at least k items; each user adds at most 1 to each count (or moves Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/rising.md", "section 2", "section 3")
    theorem: ClassVar[str] = f"{proofs[0].file} (adaptive bounded-range selections of unequal epsilons)"

    k: int
    unit: Fraction
    monotone: bool

    def __init__(self, k: int, unit: Number, *, monotone: bool = True) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "unit", positive_fraction(unit, "unit"))
        put(self, "monotone", flag(monotone, "monotone"))

    @classmethod
    def within(cls, k: int, *, epsilon: Number, delta: Number, monotone: bool = True) -> RisingTopK:
        """The one with the largest unit that is (epsilon, delta)-DP."""
        places = positive_integer(k, "k")
        whole, most = positive_fraction(epsilon, "epsilon"), probability(delta, "delta", zero=True)
        return cls(places, rising_unit(places, whole, most, Fraction(0)), monotone=monotone)

    @property
    def quarters(self) -> tuple[tuple[int, Fraction], ...]:
        """How many items are chosen with which epsilon, in turn; quarters without an item are left out."""
        return tuple((size, rate * self.unit) for size, rate in _quarters(self.k) if size)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """k selections."""
        return tuple(Selection(epsilon) for size, epsilon in self.quarters for _ in range(size))

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        source = system_bits() if bits is None else bits
        left = _Left(histogram.groups())
        require_items(self.k, left.groups)
        span = histogram.span(monotone=self.monotone)
        outcome: list[Item] = []
        for size, epsilon in self.quarters:
            finish = race(
                left.scores, k=size, scale=span / epsilon, noise="gumbel", multiplicities=left.sizes, bits=source
            )
            outcome += left.take(finish)
        return self._make_release(tuple(outcome), self.worst_case, k=self.k)

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        size = require_items(self.k, groups)
        items, scores = list_scores(groups, outcomes=math.perm(size, self.k))
        span = histogram.span(monotone=self.monotone)
        distribution: Distribution = {(): flint.arb(1)}
        for places, epsilon in self.quarters:
            longer: Distribution = {}
            for before, chance in distribution.items():
                rest = [place for place, item in enumerate(items) if item not in before]
                chosen = peeling_distribution(
                    [items[i] for i in rest], [scores[i] for i in rest], epsilon / span, places
                )
                longer |= {(*before, *after): chance * share for after, share in chosen.items()}
            distribution = longer
        return distribution


class _Left:
    """The part of a domain that was not chosen yet, for the next race."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._gone: dict[int, list[int]] = {}
        self._kept = np.arange(len(groups.scores))

    @property
    def scores(self) -> object:
        """The scores of the groups that still have a member."""
        scores = self.groups.scores
        return scores[self._kept] if isinstance(scores, np.ndarray) else [scores[place] for place in self._kept]

    @property
    def sizes(self) -> Sequence[int] | None:
        """How many members each of them still has."""
        sizes = self.groups.multiplicities
        return None if sizes is None else [self._size(int(place)) for place in self._kept]

    def take(self, finish: Finish) -> list[Item]:
        """Remove the winners from the domain and return them."""
        winners = [
            (int(self._kept[place]), member) for place, member in zip(finish.groups, finish.members, strict=True)
        ]
        # A member is a number among those that were left when the race began.
        named = [(group, _member_skipping(member, self._gone.get(group, []))) for group, member in winners]
        for group, member in named:
            self._gone[group] = sorted([*self._gone.get(group, []), member])
        empty = [group for group in {group for group, _ in named} if not self._size(group)]
        self._kept = self._kept[~np.isin(self._kept, empty)]
        return [self.groups.name(group, member) for group, member in named]

    def _size(self, group: int) -> int:
        sizes = self.groups.multiplicities
        return (1 if sizes is None else sizes[group]) - len(self._gone.get(group, ()))


def _member_skipping(number: int, gone: Sequence[int]) -> int:
    """The member with this number among those that are not gone (in increasing order)."""
    for other in gone:
        number += other <= number
    return number


def rising_schedule(k: int) -> tuple[int, ...]:
    """The epsilons of k choices, in units."""
    return tuple(rate for size, rate in _quarters(k) for _ in range(size))


def _quarters(k: int) -> list[tuple[int, int]]:
    ends = [k * quarter // len(RATES) for quarter in range(len(RATES) + 1)]
    return [(end - start, rate) for (start, end), rate in zip(pairwise(ends), RATES, strict=True)]


@lru_cache(maxsize=256)
def rising_unit(k: int, epsilon: Fraction, delta: Fraction, test: Fraction) -> Fraction:
    """The largest unit for k choices after a test that costs ``test``; cached, as the search can take a second."""
    return calibrate_schedule(rising_schedule(k), epsilon=epsilon, delta=delta, test=test)
