"""Rounds that settle what is sure and ask again only about the border, and what mechanisms in rounds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from podium.exact import flag, positive_fraction, positive_integer
from podium.histogram import Item
from podium.mechanisms.base import describe
from podium.mechanisms.gaussian.asking import Asking, Sizes, Sums, answered
from podium.mechanisms.gaussian.border import EDGES, BorderWeights, floor_for
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import Weights, spread_weights
from podium.privacy import Guarantee, calibrate_sigma, total
from podium.privacy.events import Event, GaussianNoise
from podium.randomness import BitSource, grid_bits_for, noisy_values
from podium.release import Receipt, Release

__all__ = ["FIRST", "FOR_SIZES", "Found", "Measured", "MechanismInRounds", "Rounds"]

FIRST = Fraction(1, 10)
"""The share of the first round in what is not kept for counts."""
_REFINEMENTS = 3
FOR_SIZES = Fraction(1, 20)
"""The share of a measurement at the border with which users are counted by how much they have of it."""
_FOR_COUNTS = Fraction(1, 2)
_WIDE, _SIGMAS, _BIASED = 3, 2, Fraction(1, 20)
"""A first estimate may be wrong by a factor, because heavy users count for little; a later one by 5 percent."""
_CANDIDATES, _MORE, _MAX_CANDIDATES = 20, 200, 20_000
"""Items that one round may find: a number per place, plus a constant. Items beyond are not near the border."""


class MechanismInRounds(ABC):
    """A list whose border is measured again: a frozen dataclass that says how its rounds begin."""

    __slots__ = ()
    reads: ClassVar[Reads] = Reads.ROUNDS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    theorem: ClassVar[str]

    k: int
    mu_squared: Fraction
    max_items_per_user: int
    counts: bool
    clip: int = 1

    def _put(self, k: int, mu_squared: object, max_items_per_user: int, counts: bool) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "mu_squared", positive_fraction(mu_squared, "mu_squared"))
        put(self, "max_items_per_user", positive_integer(max_items_per_user, "max_items_per_user"))
        put(self, "counts", flag(counts, "counts"))
        # A cap that no weights can have is refused here, not when the first round is about to read.
        spread_weights(self.max_items_per_user)

    @property
    @abstractmethod
    def worst_case(self) -> tuple[Event, ...]:
        """What all rounds together may cost."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    @property
    def max_candidates(self) -> int:
        """How many items one round may find or rank: those beyond are far from the k-th place."""
        return max(2 * self.k, min(_CANDIDATES * self.k + _MORE, _MAX_CANDIDATES))

    @property
    def first_weights(self) -> Weights:
        """The weights of round 1."""
        return spread_weights(self.max_items_per_user)

    @property
    def for_finding(self) -> Fraction:
        """The share of mu^2 that is not kept for counts."""
        return 1 - _FOR_COUNTS if self.counts else Fraction(1)

    def sigma_for(self, share: Fraction) -> Fraction:
        """The noise on counts with the first weights, for a share of mu^2."""
        return calibrate_sigma(self.mu_squared * share / 2, sensitivity_squared=self.first_weights.sensitivity_squared)

    @abstractmethod
    def _rounds(self, bits: BitSource | None) -> Rounds:
        """One run of this mechanism."""

    def release(self, reader: Any, *, bits: BitSource | None = None) -> Release:
        """Run all rounds on one table."""
        return answered(self.run(bits=bits), reader)

    def run(self, *, bits: BitSource | None = None, alike: bool = False) -> Asking[Release]:
        """One run, which is told what it asks; ``alike`` gives lists of all lengths the noise of k counts."""
        rounds = self._rounds(bits)
        items = yield from rounds.run()
        values, parameters = None, describe(self)
        if self.counts and items:
            noise = self.noise_of_counts(len(items)) if alike else self._noise_within(len(items), rounds.left)
            counted = yield from rounds.count(items, noise)
            ranked = sorted(zip(items, counted, strict=True), key=lambda pair: pair[1], reverse=True)
            items, values = tuple(item for item, _ in ranked), tuple(value for _, value in ranked)
            parameters |= noise.parameters
        elif self.counts:
            values = ()
        return Release(
            mechanism=type(self).__name__,
            outcome=items,
            k=self.k,
            paid=Receipt(tuple(rounds.paid)),
            guarantee=self.guarantee,
            theorem=self.theorem,
            parameters=parameters,
            values=values,
            value_kind=None if values is None else "counts",
        )

    def noise_of_counts(self, items: int) -> CorrelatedCounts:
        """The noise of k counts for the share that is kept for them, on so many of them: the same in every list."""
        return self._noise_within(self.k, Fraction(0)).of_fewer(items)

    def _noise_within(self, items: int, left: Fraction) -> CorrelatedCounts:
        # The bound on items per user is for finding only: nobody is cut here, so a user may be in all the counts.
        return CorrelatedCounts.within(items, self.mu_squared * (left + _FOR_COUNTS), clip=self.clip)


Measured: TypeAlias = tuple[Sequence[Fraction], Fraction, tuple[Event, ...]]
"""Values, the scale of their noise, and what they cost."""


@dataclass(slots=True)
class Found:
    """What is known of an item, in counts: a first estimate is low for items of heavy users."""

    estimate: Fraction
    sigma: Fraction
    weight: Fraction = Fraction(0)


@dataclass(slots=True)
class Rounds(ABC):
    """One run. Every decision here is taken on released numbers: post-processing, so floats may decide."""

    mechanism: MechanismInRounds
    bits: BitSource | None
    left: Fraction
    paid: list[Event] = field(default_factory=list)
    found: dict[Item, Found] = field(default_factory=dict)
    clip: int = 1

    @abstractmethod
    def run(self) -> Asking[tuple[Item, ...]]:
        """Find or rank items, and refine the border of the list."""

    def _rank(self) -> tuple[Item, ...]:
        return tuple(sorted(self.found, key=lambda item: self.found[item].estimate, reverse=True))

    def _pay(self, share: Fraction, *events: Event) -> None:
        self.left -= share
        self.paid.extend(events)

    def _first_border(self) -> tuple[Fraction, Fraction]:
        """Above the first an item is surely in, below the second surely out."""
        ranked = self._rank()
        k = self.mechanism.k
        last, next_ = (self.found[item] for item in ranked[k - 1 : k + 1])
        middle, margin = (last.estimate + next_.estimate) / 2, _SIGMAS * last.sigma
        return max(middle * _WIDE, middle + margin), min(middle / _WIDE, middle - margin)

    def _refine(self) -> Asking[tuple[Item, ...]]:
        """Settle what is sure, and measure the rest again, until nothing is left to decide."""
        sure: list[Item] = []
        high, low = self._first_border()
        border = list(self._rank())
        for turn in range(_REFINEMENTS):
            sure += [item for item in border if self.found[item].estimate > high]
            border = [item for item in border if low <= self.found[item].estimate <= high]
            if not 0 < self.mechanism.k - len(sure) < len(border):
                break
            share = self.left if turn == _REFINEMENTS - 1 else self.left / (_REFINEMENTS + 1 - turn)
            sigma = yield from self._measure(border, self.mechanism.k - len(sure), share)
            border.sort(key=lambda item: self.found[item].estimate, reverse=True)
            high, low = self._later_border(border, self.mechanism.k - len(sure), sigma)
        return (*sure, *border)

    def _later_border(self, border: Sequence[Item], places: int, sigma: Fraction) -> tuple[Fraction, Fraction]:
        last, next_ = (self.found[item].estimate for item in border[places - 1 : places + 1])
        middle = (last + next_) / 2
        margin = _SIGMAS * sigma + abs(middle) * _BIASED
        return middle + margin, middle - margin

    def _measure(self, border: Sequence[Item], places: int, share: Fraction) -> Asking[Fraction]:
        """Measure the items of the border against each other; what earlier rounds say gives the level."""
        items = tuple(border)
        level = self.found[items[places - 1]].estimate
        centred, sigma, events = yield from self.measure_border(items, level, self.mechanism.mu_squared * share)
        self._pay(share, *events)
        mean = sum((self.found[item].estimate for item in items), start=Fraction(0)) / len(items)
        for item, value in zip(items, centred, strict=True):
            self._update(self.found[item], mean + value, 1 / sigma**2)
        return sigma

    def _update(self, known: Found, value: Fraction, weight: Fraction) -> None:
        """The mean of border measurements by inverse variance; the first replaces the estimate of a discovery."""
        known.estimate = (known.estimate * known.weight + value * weight) / (known.weight + weight)
        known.weight += weight

    def measure_border(self, items: tuple[Item, ...], level: Fraction, mu_squared: Fraction) -> Asking[Measured]:
        """Differences of the items' counts to their mean, their noise, and what they cost."""
        for_sizes, for_sums = mu_squared * FOR_SIZES, mu_squared * (1 - FOR_SIZES)
        edges, sigma = tuple(edge for edge in EDGES if edge <= len(items)), calibrate_sigma(for_sizes / 2)
        users = yield Sizes(items, edges)
        noisy = noisy_values(users, scale=sigma, noise="gaussian", grid_bits=grid_bits_for(sigma), bits=self.bits)
        count = max(level / self.clip, Fraction(1))
        weighting = BorderWeights(len(items), floor_for(len(items), noisy, sigma, count=count, mu_squared=for_sums))
        sums = yield Sums(items, weighting.weights)
        centred, scale, event = weighting.measure(sums, for_sums, clip=self.clip, bits=self.bits)
        return centred, scale, (GaussianNoise(sigma), event)

    def count(self, items: tuple[Item, ...], noise: CorrelatedCounts) -> Asking[tuple[Fraction, ...]]:
        """Plain noisy counts of the items: a user adds 1 to each at most."""
        sums = yield Sums(items, Weights.bounded(noise.max_items))
        self.paid.append(noise.event)
        return noise.measure(sums, bits=self.bits)
