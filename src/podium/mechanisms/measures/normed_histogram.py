"""Noisy sums of what users add, each user's vector scaled to a public length, above a public threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.exact import Number, positive_fraction, positive_integer
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.measures.norm_cutoff import norm_cutoff
from podium.mechanisms.measures.norm_weights import NormWeights
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.privacy.proofs import Proof, proofs_in

__all__ = ["NormedHistogram"]


@dataclass(frozen=True, slots=True, init=False)
class NormedHistogram(TruncatedGaussianHistogram):
    """The items whose sum of scaled amounts plus Gaussian noise cut off at a public bound passes that bound, in order.

    Use
        As TruncatedGaussianHistogram, where users add amounts: who adds little to most items keeps almost all of it.
    Shape
        unknown domain; ordered; noisy sums
    Guarantee
        delta-approximate mu-Gaussian DP with mu = 1/sigma, hence delta-approximate mu^2/2-zCDP. All that passes may
        be released for it, with its noisy sums; a k only shortens the list. Neighbours: one user added or removed.
    Distribution
        x_i = the sum of w_u G_u(i) over users, in units of ``weights.one``: a vector no longer than 1 for each user.
        Every item gets x_i + N_i, N_i ~ N(0, sigma^2) given |N_i| <= A; those above A come out, largest first, at most
        k. A is such that sum m(a_i) <= delta for all a of up to n entries a_i >= 0 of length at most 1 (m: see
        TruncatedGaussianHistogram).
    Symbols
        k (None: all that pass); sigma; delta (of the cut-off); weights: NormWeights, with n = ``weights.items`` and
        the length ``weights.clip``, in whose units values are released; A = ``threshold``.
    Source
        docs/proofs/measures.md, Theorem 8.
    Assumes
        Each user was cut to at most ``weights.items`` items by a rule that sees only that user's rows and public facts,
        and adds ``weights.weight(Q)`` times G to each. Sums are these integers.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/measures.md", "Theorem 8")
    theorem: ClassVar[str] = f"{proofs[0]} (vectors of one length); Balle & Wang 2018 (Gaussian noise)"

    weights: NormWeights  # type: ignore[assignment] # it has what is read of weights here

    def __init__(self, *, sigma: Number, delta: Number, weights: NormWeights, k: int | None = None) -> None:
        put = object.__setattr__
        put(self, "clip", weights.clip)
        put(self, "k", None if k is None else positive_integer(k, "k"))
        put(self, "delta", unknown_domain_delta(delta))
        put(self, "weights", weights)
        put(self, "sigma", positive_fraction(sigma, "sigma"))

    @property
    def threshold(self) -> Fraction:
        """A in lengths, rounded up: what noise does not exceed, and released values do."""
        return norm_cutoff(self.weights.items, self.sigma, self.delta)

    @property
    def _counts_per_weight(self) -> Fraction:
        return Fraction(self.clip)

    @property
    def score_unit(self) -> Fraction:
        """What one weighted part is in units of amounts."""
        return Fraction(self.clip, self.weights.one)
