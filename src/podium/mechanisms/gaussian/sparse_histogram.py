"""Noisy counts of every item with a positive count, released where they pass a public threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.mechanisms.base import UNSAID
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.gaussian.level_distribution import NormalNoise, StandardNoise
from podium.mechanisms.noisy_histogram import NoisyHistogram
from podium.mechanisms.weights import Weights
from podium.privacy.calibration import calibrate_sigma
from podium.privacy.events import Event, GaussianNoise, HiddenItems
from podium.privacy.proofs import Proof

__all__ = ["GaussianSparseHistogram"]


@dataclass(frozen=True, slots=True, init=False)
class GaussianSparseHistogram(NoisyHistogram):
    """The items whose weighted count plus Gaussian noise passes a public threshold, in order, with these noisy counts.

    Use
        Nobody can list the items beforehand, and the list is long or counts are wanted: all counts for one price.
    Shape
        unknown domain; ordered; noisy counts
    Guarantee
        delta-approximate mu-Gaussian DP with mu = s/sigma, hence delta-approximate mu^2/2-zCDP. All that passes may
        be released for it, with its noisy counts; a k only shortens the list. Neighbours: one user added or removed.
    Distribution
        x_i = the sum of w(t_u)/unit over the users u who have item i, t_u = how many items u has. Every item with
        x_i > 0 gets x_i + N(0, sigma^2); those above T = max over t of w(t)/unit + sigma Phi^-1((1-delta)^(1/t))
        come out, largest first, at most k.
    Symbols
        k (None: all that pass); sigma, or rho = s^2/(2 sigma^2); delta (of the threshold); weights = w; s^2 = the
        largest t w(t)^2/unit^2; max_items_per_user = D stands for weights that count 1 for users cut to D items:
        s^2 = D and T = 1 + sigma Phi^-1((1-delta)^(1/D)). clip = c, 1 for counts: a user may add w(t) times an integer
        from 0 to c, and all values are in the units of that integer (docs/proofs/measures.md, Theorem 6).
    Source
        Korolova, Kenthapadi, Mishra & Ntoulas 2009 and Gopi, Gulhane, Kulkarni, Shen, Shokouhi & Yekhanin 2020 for
        the threshold; general weights and the exact accounting: docs/proofs/gaussian-histograms.md.
    Assumes
        Each user was cut to at most ``weights.cap`` items by a rule that sees only that user's rows and public facts,
        and adds ``weights.weight(t)`` to each of t items. Counts are these integer sums.

    Values are released in units of the weight of the lightest users, w(1): they estimate counts of users, too low for
    items of users who have so many that their weight is smaller. They are rounded down to a multiple of
    2^-grid_bits, or at most 2^-31 of a sigma above 2^12; ``density`` is that of the ideal real-valued mechanism, of
    which the release is post-processing.
    """

    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/gaussian-histograms.md", "Theorem 1"),
        Proof("docs/proofs/measures.md", "Theorem 6"),
    )
    theorem: ClassVar[str] = (
        f"{proofs[0]}, after Korolova et al. 2009 and Gopi et al. 2020; Balle & Wang 2018 (Gaussian noise)"
    )

    k: int | None
    sigma: Fraction
    delta: Fraction
    weights: Weights
    clip: int = field(metadata=UNSAID)

    def __init__(
        self,
        *,
        delta: Number,
        sigma: Number | None = None,
        rho: Number | None = None,
        weights: Weights | None = None,
        max_items_per_user: int | None = None,
        k: int | None = None,
        clip: int = 1,
    ) -> None:
        put = object.__setattr__
        put(self, "clip", positive_integer(clip, "clip"))
        put(self, "k", None if k is None else positive_integer(k, "k"))
        put(self, "delta", unknown_domain_delta(delta))
        put(self, "weights", _one_weighting(weights, max_items_per_user))
        put(self, "sigma", self._scale(sigma, rho))

    def _scale(self, sigma: Number | None, rho: Number | None) -> Fraction:
        if (sigma is None) == (rho is None):
            raise InvalidArgument(
                "sigma", sigma, allowed="either sigma or rho", hint="rho=0.01 buys sigma = s / sqrt(0.02)."
            )
        if rho is not None:
            return calibrate_sigma(rho, sensitivity_squared=self.weights.sensitivity_squared)
        return positive_fraction(sigma, "sigma")

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """Gaussian noise on everything that others have too, and what hides the rest; never less is paid."""
        return (
            GaussianNoise(self.sigma, sensitivity_squared=self.weights.sensitivity_squared),
            HiddenItems(self.delta),
        )

    @property
    def threshold(self) -> Fraction:
        """T in units of weight (the released values are in counts: see ``count_threshold``), rounded up."""
        return _threshold(self.weights, self.sigma, self.delta)

    @property
    def count_threshold(self) -> Fraction:
        """What every released value is above."""
        return self.threshold * self._counts_per_weight

    @property
    def count_sigma(self) -> Fraction:
        """The standard deviation of the released values."""
        return self.sigma * self._counts_per_weight

    @property
    def noise_scale(self) -> Fraction:
        """The scale of their noise, whether it is cut off or not."""
        return self.count_sigma

    @property
    def _counts_per_weight(self) -> Fraction:
        # A contribution is at most clip units, and at most w(t) in units of weight: T and sigma are those of counts.
        return self.clip * Fraction(self.weights.unit, self.weights.weight(1))

    @property
    def first_weights(self) -> Weights:
        """How much one user adds to each item."""
        return self.weights

    def _standard_noise(self) -> StandardNoise:
        return NormalNoise()


@lru_cache(maxsize=256)
def _threshold(weights: Weights, sigma: Fraction, delta: Fraction) -> Fraction:
    return weights.threshold(sigma, delta)


def _one_weighting(weights: Weights | None, max_items_per_user: int | None) -> Weights:
    if (weights is None) == (max_items_per_user is None):
        raise InvalidArgument(
            "weights",
            weights,
            allowed="either weights or max_items_per_user",
            hint="Unless users are bounded, one of them can make any number of items appear.",
        )
    if weights is None:
        return Weights.bounded(positive_integer(max_items_per_user, "max_items_per_user"))
    if not isinstance(weights, Weights):
        raise InvalidArgument("weights", weights, allowed="a Weights, such as Weights.floored(20, 1000)")
    return weights
