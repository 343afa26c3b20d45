"""A long list from a known domain: rank everything roughly, decide what is sure, and ask again about the border."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.exact import Number
from podium.histogram import Item
from podium.mechanisms.gaussian.asking import Asking, Rank
from podium.mechanisms.gaussian.in_rounds import FIRST, Found, MechanismInRounds, Rounds
from podium.mechanisms.gaussian.noisy_ranking import NoisyRanking
from podium.privacy import calibrate_gaussian
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource

__all__ = ["RefinedTopK"]


@dataclass(frozen=True, slots=True, init=False)
class RefinedTopK(MechanismInRounds):
    """The k most common items of a known domain, in rounds that each know what the last ones released.

    Use
        The items can be listed, k is large, and a delta is allowed: nothing to tune.
    Shape
        known domain; ordered; no values, or noisy counts
    Guarantee
        mu-Gaussian DP over all rounds, mu^2 = mu_squared, hence also rho = mu^2/2. Neighbours: one user added or
        removed. Every round is Gaussian noise; the shares of mu^2 may depend on earlier rounds.
    Distribution
        Round 1 ranks all items by counts weighted by 1/sqrt(t) with Gaussian noise, those that nobody has among them.
        Then as in AdaptiveTopK: what is clearly inside the k is settled, and the items around the k-th place are
        measured against each other alone, up to three times. ``counts`` keeps half of mu^2 for noisy counts.
    Symbols
        k; mu_squared; max_items_per_user = t at most; counts.
    Source
        docs/proofs/adaptive.md, Theorem 1 and Lemma 5.
    Assumes
        The reader counts distinct (user, item) pairs and cuts users by a rule that sees only their rows.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/adaptive.md", "Theorem 1", "Lemma 5")
    theorem: ClassVar[str] = f"{proofs[0]}: adaptively chosen Gaussian noise"

    k: int
    mu_squared: Fraction
    max_items_per_user: int
    counts: bool

    def __init__(self, k: int, mu_squared: Number, *, max_items_per_user: int = 1000, counts: bool = False) -> None:
        self._put(k, mu_squared, max_items_per_user, counts)

    @classmethod
    def within(
        cls, k: int, *, epsilon: Number, delta: Number, max_items_per_user: int = 1000, counts: bool = False
    ) -> RefinedTopK:
        """The mechanism whose whole release is (epsilon, delta)-DP: no item is hidden, so all of delta converts."""
        mu = calibrate_gaussian(epsilon, delta)
        return cls(k, mu**2, max_items_per_user=max_items_per_user, counts=counts)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """What all rounds together may cost: exactly mu^2, because the sigma of each round is rounded by itself."""
        return (GaussianNoise(1, sensitivity_squared=self.mu_squared),)

    @property
    def first_stage(self) -> NoisyRanking:
        """Round 1, whose parameters are public."""
        return self.stage(self.for_finding * FIRST)

    def stage(self, share: Fraction) -> NoisyRanking:
        """A ranking of everything, for a share of mu^2."""
        return NoisyRanking(self.max_candidates, self.sigma_for(share), self.first_weights)

    def _rounds(self, bits: BitSource | None) -> Rounds:
        return _Ranking(self, bits, self.for_finding)


@dataclass(slots=True)
class _Ranking(Rounds):
    """One run: everything is ranked instead of discovered, and the border is measured as for unknown items."""

    mechanism: RefinedTopK

    def run(self) -> Asking[tuple[Item, ...]]:
        share, k = self.left * FIRST, self.mechanism.k
        stage = self.mechanism.stage(share)
        release = yield Rank(stage)
        self._pay(share, stage.event)
        for item, value in zip(release.items, release.values or (), strict=True):
            self.found[item] = Found(value, stage.count_sigma)
        return self._rank()[:k] if len(self.found) <= k else (yield from self._refine())[:k]
