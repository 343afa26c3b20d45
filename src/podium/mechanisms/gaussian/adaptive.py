"""A long list from an unknown domain: find, decide what is sure, and ask again only about the border."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from podium.exact import Number, positive_integer
from podium.histogram import Item
from podium.mechanisms.base import UNSAID
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.gaussian.asking import Asking, Find
from podium.mechanisms.gaussian.in_rounds import FIRST, Found, MechanismInRounds, Rounds
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.privacy import calibrate_gaussian
from podium.privacy.events import Event, GaussianNoise, HiddenItems
from podium.privacy.proofs import Proof
from podium.privacy.theorems.conversion import split_delta
from podium.randomness import BitSource

__all__ = ["OF_DELTA", "AdaptiveTopK", "Discovering"]

_MAX_SECOND, _MIN_SECOND = Fraction(1, 2), Fraction(1, 10)
OF_DELTA = (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
"""Shares of delta for up to three discoveries, fixed beforehand; the second decides what is found in most tables."""
_FEW = 8
_SPARE, _WORTH = 1.5, 1.1
"""Candidates wanted per place in the list; predicted candidates per place below which only finding matters."""
_GRID = 1 << 10
_MAX_EXCLUDED = 10_000
"""What a source leaves out of a count in one go; whatever is found beyond may be found again."""


@dataclass(frozen=True, slots=True, init=False)
class AdaptiveTopK(MechanismInRounds):
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
        self._put(k, mu_squared, max_items_per_user, counts)
        object.__setattr__(self, "delta", unknown_domain_delta(delta))
        object.__setattr__(self, "clip", positive_integer(clip, "clip"))

    @classmethod
    def within(
        cls, k: int, *, epsilon: Number, delta: Number, max_items_per_user: int = 1000, counts: bool = False
    ) -> AdaptiveTopK:
        """The mechanism whose whole release is (epsilon, delta)-DP: half of delta is for thresholds."""
        whole = unknown_domain_delta(delta)
        mu = calibrate_gaussian(epsilon, split_delta(whole, whole / 2))
        return cls(k, mu**2, whole / 2, max_items_per_user=max_items_per_user, counts=counts)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What all rounds together may cost."""
        # In units of the noise, so exactly mu^2: a sigma on a grid would guarantee less than all rounds may add up to.
        return GaussianNoise(1, sensitivity_squared=self.mu_squared), HiddenItems(self.delta)

    @property
    def first_threshold(self) -> Fraction:
        """What a weighted count must pass if all that is not for counts is for finding: a public measure of reach."""
        return self.stage(self.for_finding, discovery=2).count_threshold

    @property
    def first_stage(self) -> TruncatedGaussianHistogram:
        """Round 1, whose parameters are public."""
        return self.stage(self.for_finding * FIRST, discovery=1)

    def stage(self, share: Fraction, *, discovery: int) -> TruncatedGaussianHistogram:
        """A round that finds items, the first, second or third of them, for a share of mu^2."""
        return TruncatedGaussianHistogram(
            k=self.max_candidates,
            sigma=self.sigma_for(share),
            delta=self.delta * OF_DELTA[discovery - 1],
            weights=self.first_weights,
            clip=self.clip,
        )

    def _rounds(self, bits: BitSource | None) -> Rounds:
        return Discovering(self, bits, self.for_finding, clip=self.clip)


@dataclass(slots=True)
class Discovering(Rounds):
    """One run in which items have to be found first."""

    mechanism: AdaptiveTopK
    discoveries: int = 0
    threshold: Fraction = Fraction(0)
    crowded: bool = False

    def run(self) -> Asking[tuple[Item, ...]]:
        """Find items, and refine the border of the list."""
        k = self.mechanism.k
        whole = self.left
        yield from self._discover(whole * FIRST)
        if not self._enough():
            share = self._second_share(whole)
            yield from self._discover(share)
            if self.left and len(self.found) <= k:
                yield from self._discover(self.left)
        if not self.left or len(self.found) <= k:
            return self._rank()[:k]
        return (yield from self._refine())[:k]

    def _discover(self, share: Fraction) -> Asking[None]:
        self.discoveries += 1
        stage = self.mechanism.stage(share, discovery=self.discoveries)
        release = yield Find(stage, self._rank()[:_MAX_EXCLUDED])
        self._pay(share, *stage.worst_case)
        self.threshold = stage.count_threshold
        self.crowded = len(release.items) == stage.k
        for item, value in zip(release.items, release.values or (), strict=True):
            self.found[item] = Found(value, stage.count_sigma)

    def _enough(self) -> bool:
        """Whether whatever might belong into the list has been found: the border lies above the threshold."""
        if len(self.found) <= self.mechanism.k:
            return False
        return self.crowded or self._first_border()[1] >= self.threshold

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
        first = float(whole * FIRST)
        if number * (float(self.left) / first) ** (power / 2) / _WORTH < wanted:
            return self.left
        need = first * (_SPARE * wanted / number) ** (2 / power)
        share = Fraction(math.ceil(need * _GRID), _GRID)
        return min(max(share, whole * _MIN_SECOND), whole * _MAX_SECOND)
