"""Noisy counts whose Gaussian noise is cut off at the threshold, so that only items that somebody has can pass it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.mechanisms.gaussian.level_distribution import StandardNoise
from podium.mechanisms.gaussian.sparse_histogram import GaussianSparseHistogram
from podium.mechanisms.truncated.cutoff_noise import CutOffNoise
from podium.mechanisms.truncated.cutoffs import gaussian_cutoff
from podium.privacy.proofs import Proof, proofs_in

__all__ = ["TruncatedGaussianHistogram"]


@dataclass(frozen=True, slots=True, init=False)
class TruncatedGaussianHistogram(GaussianSparseHistogram):
    """The items whose weighted count plus Gaussian noise cut off at a public bound passes that bound, in order.

    Use
        As GaussianSparseHistogram, with a lower threshold for the same price: nobody can list the items beforehand.
    Shape
        unknown domain; ordered; noisy counts
    Guarantee
        delta-approximate mu-Gaussian DP with mu = s/sigma, hence delta-approximate mu^2/2-zCDP. All that passes may
        be released for it, with its noisy counts; a k only shortens the list. Neighbours: one user added or removed.
    Distribution
        x_i = the sum of w(t_u)/unit over the users u who have item i, t_u = how many items u has. Every item gets
        x_i + N_i, N_i ~ N(0, sigma^2) given |N_i| <= A; those above A come out, largest first, at most k. An item
        that nobody has cannot be above A. A >= w(1)/unit is the smallest multiple of 2^-64 with
        1 - (1 - m(w(t)/unit))^t <= delta for all t, m(w) = (Q((A-w)/sigma) - Q(A/sigma)) / (1 - 2 Q(A/sigma)).
    Symbols
        k (None: all that pass); sigma, or rho = s^2/(2 sigma^2); delta (of the cut-off); weights = w; s^2 = the
        largest t w(t)^2/unit^2; max_items_per_user = D stands for weights that count 1 for users cut to D items;
        A = ``threshold``; Q = 1 - Phi; clip as in GaussianSparseHistogram.
    Source
        docs/proofs/truncated-noise.md, Theorem 1; the weights are those of Gopi, Gulhane, Kulkarni, Shen, Shokouhi &
        Yekhanin 2020.
    Assumes
        Each user was cut to at most ``weights.cap`` items by a rule that sees only that user's rows and public facts,
        and adds ``weights.weight(t)`` to each of t items. Counts are these integer sums.

    Values are in the units and on the grid of GaussianSparseHistogram. Their noise is that of N(0, sigma^2) given its
    size: ``count_sigma`` is above its standard deviation.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/truncated-noise.md", "Theorem 1")
    theorem: ClassVar[str] = (
        f"{proofs[0]} (Gaussian noise cut off at the threshold); Balle & Wang 2018 (Gaussian noise)"
    )

    @property
    def threshold(self) -> Fraction:
        """A in units of weight, rounded up: what noise does not exceed, and released values do."""
        return gaussian_cutoff(self.weights, self.sigma, self.delta)

    @property
    def noise_bound(self) -> Fraction | None:
        """A in units of the released values: noise is cut off exactly at the threshold."""
        return self.count_threshold

    def _standard_noise(self) -> StandardNoise:
        return CutOffNoise.gaussian(self.threshold / self.sigma)
