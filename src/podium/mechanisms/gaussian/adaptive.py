"""A long list from an unknown domain: find, decide what is sure, and ask again only about the border."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from podium.exact import Number, positive_fraction, positive_integer, probability
from podium.histogram import Item
from podium.mechanisms.base import UNSAID, describe
from podium.mechanisms.domain import flag
from podium.mechanisms.gaussian.border import EDGES, BorderWeights, floor_for
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.reader import Reads, RoundsReader
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.mechanisms.weights import Weights
from podium.privacy import Guarantee, calibrate_gaussian, calibrate_sigma, total
from podium.privacy.events import Event, GaussianNoise, HiddenItems
from podium.privacy.proofs import Proof
from podium.privacy.theorems.conversion import split_delta
from podium.randomness import BitSource, grid_bits_for, noisy_values
from podium.release import Receipt, Release

__all__ = ["AdaptiveTopK"]

_FIRST = Fraction(1, 10)
_MAX_SECOND, _MIN_SECOND = Fraction(1, 2), Fraction(1, 10)
_REFINEMENTS = 3
_FOR_SIZES = Fraction(1, 20)
_FOR_COUNTS = Fraction(1, 2)
_OF_DELTA = (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
"""Shares of delta for up to three discoveries, fixed beforehand; the second decides what is found in most tables."""
_FEW = 8
_SPARE, _WORTH = 1.5, 1.1
"""Candidates wanted per place in the list; predicted candidates per place below which only finding matters."""
_WIDE, _SIGMAS, _BIASED = 3, 2, Fraction(1, 20)
"""A first estimate may be wrong by a factor, because heavy users count for little; a later one by 5 percent."""
_GRID = 1 << 10
_CANDIDATES, _MORE, _MAX_CANDIDATES = 20, 200, 20_000
"""Items that one round may find: a number per place, plus a constant. Items beyond are not near the border."""
_MAX_EXCLUDED = 10_000
"""What a source leaves out of a count in one go; whatever is found beyond may be found again."""


@dataclass(frozen=True, slots=True, init=False)
class AdaptiveTopK:
    """The k most common items of an unknown domain, in rounds that each know what the last ones released.

    Use
        Nobody can list the items beforehand and k is large: nothing to tune, what is spent goes to the k-th place.
    Shape
        unknown domain; ordered; no values, or noisy counts
    Guarantee
        delta-approximate mu-Gaussian DP over all rounds, mu^2 = mu_squared, hence also rho = mu^2/2. Neighbours:
        one user added or removed. Every round is Gaussian noise; the shares of mu^2 may depend on earlier rounds.
    Distribution
        Round 1 releases noisy counts weighted by 1/sqrt(t) above a threshold (TruncatedGaussianHistogram) with a
        tenth of what is not kept for counts. If too few came out, the next finds more of the rest, where users do not
        spend weight on what is out. What is clearly inside the k is settled; the items around the k-th place are
        measured against each other alone, up to three times, each time fewer of them. ``counts`` keeps half of mu^2
        for plain noisy counts of what is returned, with correlated noise (CorrelatedCounts).
    Symbols
        k; mu_squared; delta (of all thresholds together); max_items_per_user = t at most; counts; clip, 1 for counts:
        the most that one user adds to one sum, where a user with t items adds w(t) times an integer from 0 to clip.
    Source
        docs/proofs/adaptive.md, docs/proofs/truncated-noise.md, for sums docs/proofs/measures.md. Ideas: Swanberg,
        Desfontaines & Haney 2023 (rounds), Gopi et al. 2020 (weights), Lebeda 2025 (centring), Smith & Thakurta 2022
        (adaptive Gaussian composition).
    Assumes
        The reader counts distinct (user, item) pairs and cuts users by a rule that sees only their rows.
    """

    reads: ClassVar[Reads] = Reads.ROUNDS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/adaptive.md", "Theorem 2"),
        Proof("docs/proofs/truncated-noise.md", "Lemma 3"),
        Proof("docs/proofs/measures.md", "Theorem 6"),
    )
    theorem: ClassVar[str] = f"{proofs[0]}: adaptively chosen Gaussian noise"

    k: int
    mu_squared: Fraction
    delta: Fraction
    max_items_per_user: int
    counts: bool
    clip: int = field(metadata=UNSAID)

    def __init__(
        self,
        k: int,
        mu_squared: Number,
        delta: Number,
        *,
        max_items_per_user: int = 1000,
        counts: bool = False,
        clip: int = 1,
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "mu_squared", positive_fraction(mu_squared, "mu_squared"))
        put(self, "delta", probability(delta, "delta", hint="An unknown domain cannot be private with delta=0."))
        put(self, "max_items_per_user", positive_integer(max_items_per_user, "max_items_per_user"))
        put(self, "counts", flag(counts, "counts"))
        put(self, "clip", positive_integer(clip, "clip"))
        # A cap that no weights can have is refused here, not when the first round is about to read.
        _spread(self.max_items_per_user)

    @classmethod
    def within(
        cls, k: int, *, epsilon: Number, delta: Number, max_items_per_user: int = 1000, counts: bool = False
    ) -> AdaptiveTopK:
        """The mechanism whose whole release is (epsilon, delta)-DP: half of delta is for thresholds."""
        whole = probability(delta, "delta", hint="An unknown domain cannot be private with delta=0.")
        mu = calibrate_gaussian(epsilon, split_delta(whole, whole / 2))
        return cls(k, mu**2, whole / 2, max_items_per_user=max_items_per_user, counts=counts)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What all rounds together may cost."""
        # In units of the noise, so exactly mu^2: a sigma on a grid would guarantee less than all rounds may add up to.
        return GaussianNoise(1, sensitivity_squared=self.mu_squared), HiddenItems(self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    @property
    def first_threshold(self) -> Fraction:
        """What a weighted count must pass if all that is not for counts is for finding: a public measure of reach."""
        return self.stage(1 - _FOR_COUNTS if self.counts else Fraction(1), discovery=2).count_threshold

    @property
    def first_stage(self) -> TruncatedGaussianHistogram:
        """Round 1, whose parameters are public."""
        return self.stage((1 - _FOR_COUNTS if self.counts else 1) * _FIRST, discovery=1)

    def stage(self, share: Fraction, *, discovery: int) -> TruncatedGaussianHistogram:
        """A round that finds items, the first, second or third of them, for a share of mu^2."""
        weights = _spread(self.max_items_per_user)
        sigma = calibrate_sigma(self.mu_squared * share / 2, sensitivity_squared=weights.sensitivity_squared)
        delta = self.delta * _OF_DELTA[discovery - 1]
        return TruncatedGaussianHistogram(
            k=self.max_candidates, sigma=sigma, delta=delta, weights=weights, clip=self.clip
        )

    @property
    def max_candidates(self) -> int:
        """How many items one round may find, however many pass: the best are enough."""
        return max(2 * self.k, min(_CANDIDATES * self.k + _MORE, _MAX_CANDIDATES))

    @property
    def first_weights(self) -> Weights:
        """The weights of round 1."""
        return self.first_stage.weights

    def release(self, reader: RoundsReader, *, bits: BitSource | None = None) -> Release:
        """Run all rounds."""
        rounds = _Rounds(self, reader, bits, 1 - _FOR_COUNTS if self.counts else Fraction(1), clip=self.clip)
        items = rounds.run()
        values, parameters = None, describe(self)
        if self.counts:
            counted, noise = rounds.count(items, rounds.left + _FOR_COUNTS)
            ranked = sorted(zip(items, counted, strict=True), key=lambda pair: pair[1], reverse=True)
            items, values = tuple(item for item, _ in ranked), tuple(value for _, value in ranked)
            parameters |= {} if noise is None else noise.parameters
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


@lru_cache(maxsize=64)
def _spread(cap: int) -> Weights:
    return Weights.spread(cap)


@dataclass(slots=True)
class _Found:
    """What is known of an item, in counts: a first estimate is low for items of heavy users."""

    estimate: Fraction
    sigma: Fraction
    weight: Fraction = Fraction(0)


@dataclass(slots=True)
class _Rounds:
    """One run. Every decision here is taken on released numbers: post-processing, so floats may decide."""

    mechanism: AdaptiveTopK
    reader: RoundsReader
    bits: BitSource | None
    left: Fraction
    paid: list[Event] = field(default_factory=list)
    found: dict[Item, _Found] = field(default_factory=dict)
    discoveries: int = 0
    threshold: Fraction = Fraction(0)
    crowded: bool = False
    clip: int = 1

    def run(self) -> tuple[Item, ...]:
        k = self.mechanism.k
        whole = self.left
        self._discover(whole * _FIRST)
        if not self._enough():
            share = self._second_share(whole)
            self._discover(share)
            if self.left and len(self.found) <= k:
                self._discover(self.left)
        if not self.left or len(self.found) <= k:
            return self._rank()[:k]
        return self._refine()[:k]

    def _rank(self) -> tuple[Item, ...]:
        return tuple(sorted(self.found, key=lambda item: self.found[item].estimate, reverse=True))

    def _discover(self, share: Fraction) -> None:
        self.discoveries += 1
        stage = self.mechanism.stage(share, discovery=self.discoveries)
        release = self.reader.discover(stage, self._rank()[:_MAX_EXCLUDED])
        self._pay(share, *stage.worst_case)
        self.threshold = stage.count_threshold
        self.crowded = len(release.items) == stage.k
        for item, value in zip(release.items, release.values or (), strict=True):
            self.found[item] = _Found(value, stage.count_sigma)

    def _pay(self, share: Fraction, *events: Event) -> None:
        self.left -= share
        self.paid.extend(events)

    def _enough(self) -> bool:
        """Whether whatever might belong into the list has been found: the border lies above the threshold."""
        if len(self.found) <= self.mechanism.k:
            return False
        return self.crowded or self._first_border()[1] >= self.threshold

    def _first_border(self) -> tuple[Fraction, Fraction]:
        """Above the first an item is surely in, below the second surely out."""
        ranked = self._rank()
        k = self.mechanism.k
        last, next_ = (self.found[item] for item in ranked[k - 1 : k + 1])
        middle, margin = (last.estimate + next_.estimate) / 2, _SIGMAS * last.sigma
        return max(middle * _WIDE, middle + margin), min(middle / _WIDE, middle - margin)

    def _second_share(self, whole: Fraction) -> Fraction:
        """What finding half as many again as wanted should need; everything, if even that would not reach k.

        Numbers of items above a threshold fall like a power of it in most data; the power is read off round 1.
        """
        number, wanted = len(self.found), self.mechanism.k
        if number < _FEW:
            return self.left if number <= wanted else whole * _MAX_SECOND
        middle = self.found[self._rank()[number // 2 - 1]].estimate
        power = math.log(2) / max(1e-9, math.log(middle / self.threshold)) if middle > self.threshold else 3.0
        power = min(max(power, 0.3), 3.0)
        first = float(whole * _FIRST)
        if number * (float(self.left) / first) ** (power / 2) / _WORTH < wanted:
            return self.left
        need = first * (_SPARE * wanted / number) ** (2 / power)
        share = Fraction(math.ceil(need * _GRID), _GRID)
        return min(max(share, whole * _MIN_SECOND), whole * _MAX_SECOND)

    def _refine(self) -> tuple[Item, ...]:
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
            sigma = self._measure(border, self.mechanism.k - len(sure), share)
            border.sort(key=lambda item: self.found[item].estimate, reverse=True)
            high, low = self._later_border(border, self.mechanism.k - len(sure), sigma)
        return (*sure, *border)

    def _later_border(self, border: Sequence[Item], places: int, sigma: Fraction) -> tuple[Fraction, Fraction]:
        last, next_ = (self.found[item].estimate for item in border[places - 1 : places + 1])
        middle = (last + next_) / 2
        margin = _SIGMAS * sigma + abs(middle) * _BIASED
        return middle + margin, middle - margin

    def _measure(self, border: Sequence[Item], places: int, share: Fraction) -> Fraction:
        """Measure the items of the border against each other; what earlier rounds say gives the level."""
        items = tuple(border)
        level = self.found[items[places - 1]].estimate
        for_sizes = share * _FOR_SIZES
        for_sums = share - for_sizes
        floor = self._floor(items, max(level / self.clip, Fraction(1)), for_sizes, for_sums)
        weighting = BorderWeights(len(items), floor)
        sums = self.reader.sums(items, weighting.weights)
        mu_squared = self.mechanism.mu_squared * for_sums
        centred, sigma, event = weighting.measure(sums, mu_squared, clip=self.clip, bits=self.bits)
        self._pay(for_sums, event)
        mean = sum((self.found[item].estimate for item in items), start=Fraction(0)) / len(items)
        for item, value in zip(items, centred, strict=True):
            self._update(self.found[item], mean + value, 1 / sigma**2)
        return sigma

    def _update(self, known: _Found, value: Fraction, weight: Fraction) -> None:
        """The mean of border measurements by inverse variance; the first replaces the estimate of a discovery."""
        known.estimate = (known.estimate * known.weight + value * weight) / (known.weight + weight)
        known.weight += weight

    def _floor(self, items: tuple[Item, ...], level: Fraction, share: Fraction, for_sums: Fraction) -> Fraction:
        edges = tuple(edge for edge in EDGES if edge <= len(items))
        sigma = calibrate_sigma(self.mechanism.mu_squared * share / 2)
        users = self.reader.sizes(items, edges)
        noisy = noisy_values(users, scale=sigma, noise="gaussian", grid_bits=grid_bits_for(sigma), bits=self.bits)
        self._pay(share, GaussianNoise(sigma))
        mu_squared = self.mechanism.mu_squared * for_sums
        return floor_for(len(items), noisy, sigma, count=level, mu_squared=mu_squared)

    def count(self, items: tuple[Item, ...], share: Fraction) -> tuple[tuple[Fraction, ...], CorrelatedCounts | None]:
        """Plain noisy counts of the items for a share of mu^2, and their noise: a user adds 1 to each at most."""
        if not items:
            return (), None
        # The bound on items per user is for finding only: nobody is cut here, so a user may be in all the counts.
        noise = CorrelatedCounts.within(len(items), self.mechanism.mu_squared * share, clip=self.clip)
        sums = self.reader.sums(items, Weights.bounded(noise.max_items))
        self.paid.append(noise.event)
        return noise.measure(sums, bits=self.bits), noise
