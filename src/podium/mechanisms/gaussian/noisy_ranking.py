"""All items of a known domain by noisy weighted counts: the first round of a long list."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from podium.exact import Number, positive_fraction, positive_integer
from podium.histogram import Histogram
from podium.mechanisms.base import describe
from podium.mechanisms.domain import rank_by_noise
from podium.mechanisms.weights import Weights
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.guarantee import total
from podium.privacy.proofs import Proof
from podium.randomness import BitSource
from podium.release import Receipt, Release

__all__ = ["NoisyRanking"]

_PROOF = Proof("docs/proofs/adaptive.md", "Lemma 5")


@dataclass(frozen=True, slots=True, init=False)
class NoisyRanking:
    """Gaussian noise on the weighted count of every item of a known domain; the k largest, with their values.

    There is no threshold, and items that nobody has take part like all others: nothing is hidden, and delta is 0.
    """

    k: int
    sigma: Fraction
    weights: Weights

    def __init__(self, k: int, sigma: Number, weights: Weights) -> None:
        object.__setattr__(self, "k", positive_integer(k, "k"))
        object.__setattr__(self, "sigma", positive_fraction(sigma, "sigma"))
        object.__setattr__(self, "weights", weights)

    @property
    def event(self) -> Event:
        """What it costs, whatever comes out."""
        return GaussianNoise(self.sigma, sensitivity_squared=self.weights.sensitivity_squared)

    @property
    def count_sigma(self) -> Fraction:
        """The standard deviation of the released values, in counts of users with one item."""
        return self.sigma * Fraction(self.weights.unit, self.weights.weight(1))

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run it once on the weighted counts of the domain."""
        groups = histogram.groups()
        scale = self.sigma * self.weights.unit
        items, values = rank_by_noise(groups, self.k, noise="gaussian", scale=scale, weights=self.weights, bits=bits)
        return Release(
            mechanism=type(self).__name__,
            outcome=items,
            k=self.k,
            paid=Receipt((self.event,)),
            guarantee=total([self.event]),
            theorem=str(_PROOF),
            parameters=describe(self),
            values=values,
            value_kind="counts",
        )
