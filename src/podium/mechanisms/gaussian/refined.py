"""A long list from a known domain: rank everything roughly, decide what is sure, and ask again about the border."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from podium.exact import Number, positive_fraction, positive_integer
from podium.histogram import Item
from podium.mechanisms.base import describe
from podium.mechanisms.domain import flag
from podium.mechanisms.gaussian.adaptive import _FOR_COUNTS, _Found, _Rounds
from podium.mechanisms.gaussian.noisy_ranking import NoisyRanking
from podium.mechanisms.reader import KnownRoundsReader, Reads
from podium.mechanisms.weights import Weights
from podium.privacy import Guarantee, calibrate_gaussian, calibrate_sigma, total
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.proofs import Proof
from podium.randomness import BitSource
from podium.release import Receipt, Release

__all__ = ["RefinedTopK"]

_FIRST = Fraction(1, 10)
_CANDIDATES, _MORE, _MAX_CANDIDATES = 20, 200, 20_000


@dataclass(frozen=True, slots=True, init=False)
class RefinedTopK:
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

    reads: ClassVar[Reads] = Reads.ROUNDS
    first_edges: ClassVar[tuple[int, ...] | None] = None
    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/adaptive.md", "Theorem 1"),
        Proof("docs/proofs/adaptive.md", "Lemma 5"),
    )
    theorem: ClassVar[str] = f"{proofs[0]}: adaptively chosen Gaussian noise"

    k: int
    mu_squared: Fraction
    max_items_per_user: int
    counts: bool

    def __init__(self, k: int, mu_squared: Number, *, max_items_per_user: int = 1000, counts: bool = False) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "mu_squared", positive_fraction(mu_squared, "mu_squared"))
        put(self, "max_items_per_user", positive_integer(max_items_per_user, "max_items_per_user"))
        put(self, "counts", flag(counts, "counts"))
        # A cap that no weights can have is refused here, not when the first round is about to read.
        _spread(self.max_items_per_user)

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
    def guarantee(self) -> Guarantee:
        """The guarantee, which holds for every outcome."""
        return total(self.worst_case)

    @property
    def first_stage(self) -> NoisyRanking:
        """Round 1, whose parameters are public."""
        return self.stage((1 - _FOR_COUNTS if self.counts else 1) * _FIRST)

    def stage(self, share: Fraction) -> NoisyRanking:
        """A ranking of everything, for a share of mu^2."""
        weights = _spread(self.max_items_per_user)
        sigma = calibrate_sigma(self.mu_squared * share / 2, sensitivity_squared=weights.sensitivity_squared)
        return NoisyRanking(self.max_candidates, sigma, weights)

    @property
    def max_candidates(self) -> int:
        """How many items take part in later rounds: those beyond are far from the k-th place."""
        return max(2 * self.k, min(_CANDIDATES * self.k + _MORE, _MAX_CANDIDATES))

    @property
    def first_weights(self) -> Weights:
        """The weights of round 1."""
        return self.first_stage.weights

    def release(self, reader: KnownRoundsReader, *, bits: BitSource | None = None) -> Release:
        """Run all rounds."""
        rounds = _KnownRounds(self, reader, bits, 1 - _FOR_COUNTS if self.counts else Fraction(1))
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
class _KnownRounds(_Rounds):
    """One run: everything is ranked instead of discovered, and the border is measured as for unknown items."""

    mechanism: RefinedTopK  # type: ignore[assignment]
    reader: KnownRoundsReader

    def run(self) -> tuple[Item, ...]:
        share, k = self.left * _FIRST, self.mechanism.k
        stage = self.mechanism.stage(share)
        release = self.reader.rank_known(stage)
        self._pay(share, stage.event)
        for item, value in zip(release.items, release.values or (), strict=True):
            self.found[item] = _Found(value, stage.count_sigma)
        return self._rank()[:k] if len(self.found) <= k else self._refine()[:k]
