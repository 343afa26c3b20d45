"""Rounds on sums, in which each user's vector is scaled to a public length."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number
from podium.histogram import Item
from podium.mechanisms.gaussian.adaptive import OF_DELTA, AdaptiveTopK, Discovering
from podium.mechanisms.gaussian.asking import Asking, NormSizes, NormSums
from podium.mechanisms.gaussian.in_rounds import FOR_SIZES, Measured
from podium.mechanisms.measures.border_lengths import border_clip, norm_edges
from podium.mechanisms.measures.norm_weights import MAX_NORMED_ITEMS, NormWeights
from podium.mechanisms.measures.normed_histogram import NormedHistogram
from podium.privacy.calibration import calibrate_sigma
from podium.privacy.events import GaussianNoise
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, centred_values, grid_bits_for, noisy_values

__all__ = ["NormedTopK"]


@dataclass(frozen=True, slots=True, init=False)
class NormedTopK(AdaptiveTopK):
    """The k items with the largest sums, in rounds, where each user's amounts together have a public length at most.

    Use
        As AdaptiveTopK, by events or by a column: a user with one large amount and many small ones adds almost all.
    Shape
        unknown domain; ordered; no values
    Guarantee
        That of AdaptiveTopK: delta-approximate mu-Gaussian DP over all rounds. Neighbours: one user added or removed.
    Distribution
        As AdaptiveTopK, with NormedHistogram for the rounds that find, and around the k-th place the sums of vectors
        whose differences have the length 1 at most (NormWeights with named items), at a length that is chosen from the
        noisy numbers of users by length.
    Symbols
        k; mu_squared; delta; max_items_per_user as in AdaptiveTopK; clip = the length, in units of amounts.
    Source
        docs/proofs/measures.md, Theorem 10.
    Assumes
        The reader has one integer amount > 0 for each user and item, a function of that user's rows, and cuts users by
        a rule that sees only their rows.
    """

    proofs: ClassVar[tuple[Proof, ...]] = (
        *proofs_in("docs/proofs/measures.md", "Theorem 8", "Theorem 10"),
        Proof("docs/proofs/adaptive.md", "Theorem 2"),
    )
    theorem: ClassVar[str] = f"{proofs[1]}: adaptively chosen Gaussian noise on vectors of one length"

    def __init__(
        self, k: int, mu_squared: Number, delta: Number, *, max_items_per_user: int = 1000, clip: int = 1
    ) -> None:
        AdaptiveTopK.__init__(self, k, mu_squared, delta, max_items_per_user=max_items_per_user, clip=clip)
        if max(len(OF_DELTA) * self.max_candidates, self.max_items_per_user) > MAX_NORMED_ITEMS:
            allowed = "at most 2^20, and a k of at most 174,000"
            raise InvalidArgument("max_items_per_user", max_items_per_user, allowed=allowed)

    @property
    def first_weights(self) -> NormWeights:  # type: ignore[override] # it has what is read of weights here
        """The weights of round 1."""
        return NormWeights(self.clip, self.max_items_per_user)

    def stage(self, share: Fraction, *, discovery: int) -> NormedHistogram:
        """A round that finds items, the first, second or third of them, for a share of mu^2."""
        return NormedHistogram(
            k=self.max_candidates,
            sigma=self.sigma_for(share),
            delta=self.delta * OF_DELTA[discovery - 1],
            weights=self.first_weights,
        )

    def _rounds(self, bits: BitSource | None) -> _NormedRounds:
        return _NormedRounds(self, bits, Fraction(1), clip=self.clip)


@dataclass(slots=True)
class _NormedRounds(Discovering):
    """One run: as for counts, but for what is read and drawn at the border."""

    def measure_border(self, items: tuple[Item, ...], level: Fraction, mu_squared: Fraction) -> Asking[Measured]:
        """Differences of the items' sums to their mean, their noise, and what they cost."""
        for_sizes, for_sums = mu_squared * FOR_SIZES, mu_squared * (1 - FOR_SIZES)
        first, sigma = NormWeights(self.clip, len(items), named=True), calibrate_sigma(for_sizes / 2)
        users = yield NormSizes(items, first, norm_edges(first))
        noisy = noisy_values(users, scale=sigma, noise="gaussian", grid_bits=grid_bits_for(sigma), bits=self.bits)
        clip = border_clip(first, noisy, sigma, level=level, mu_squared=for_sums)
        weights, noise = NormWeights(clip, len(items), named=True), calibrate_sigma(for_sums / 2)
        sums = yield NormSums(items, weights)
        values, scale = [Fraction(clip * total, weights.one) for total in sums], noise * clip
        centred = centred_values(values, scale=scale, grid_bits=grid_bits_for(scale), bits=self.bits)
        return centred, scale, (GaussianNoise(sigma), GaussianNoise(noise))
