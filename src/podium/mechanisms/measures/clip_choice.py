"""The private choice of a clip: two noisy histograms that say how large amounts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.mechanisms.measures.amount_histograms import AmountHistograms
from podium.mechanisms.measures.amounts import Amounts, estimate_amounts
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource

__all__ = ["BUCKETS", "RESOLUTION", "ClipChoice"]

BUCKETS = 41
"""Buckets 0 to 40: amounts up to 1, up to 2, up to 4, ...; the last one has no upper end."""
RESOLUTION = 1 << 20
"""Pairs are counted in units of 1/RESOLUTION of a user."""


@dataclass(frozen=True, slots=True, init=False)
class ClipChoice(AmountHistograms):
    """How large the amounts of users are, and how many items users have: noisy histograms, to choose clips from.

    Guarantee
        mu-Gaussian DP, mu^2 = 2/sigma^2, hence rho-zCDP with rho = 1/sigma^2. Neighbours: one user added or removed.
    Distribution
        Two histograms over public buckets, each entry plus its own N(0, sigma^2), rounded down on a public grid. In the
        first a user with n_j of t pairs in bucket j adds n_j floor(RESOLUTION / t)/RESOLUTION to it, in the second 1 to
        the bucket of t.
    Symbols
        rho; sigma = 1/sqrt(rho), rounded up; buckets.
    Source
        docs/proofs/measures.md, Theorem 3.
    Assumes
        The histograms are sums over users of what each adds as above, the first in units of 1/RESOLUTION. Amounts and t
        are functions of that user's rows; users without pairs add nothing.

    Every choice that follows is post-processing: one release serves a clip for selecting and another for measuring.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/measures.md", "Theorem 3")
    theorem: ClassVar[str] = f"{proofs[0]}: Gaussian noise on two histograms"

    rho: Fraction
    buckets: int

    def __init__(self, rho: Number, *, buckets: int = BUCKETS) -> None:
        object.__setattr__(self, "rho", positive_fraction(rho, "rho"))
        number = positive_integer(buckets, "buckets")
        if number > BUCKETS:
            raise InvalidArgument("buckets", buckets, allowed=f"an integer from 1 to {BUCKETS}")
        object.__setattr__(self, "buckets", number)

    @property
    def _sensitivity_squared(self) -> int:
        return 2

    def noisy(
        self, histograms: tuple[Sequence[int], Sequence[int]], *, bits: BitSource | None = None
    ) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Both histograms with noise: numbers of users, of which the first were counted in parts."""
        parts, users = histograms
        if len(parts) != self.buckets or len(users) != self.buckets:
            raise InvalidArgument("histograms", "other buckets", allowed=f"two with {self.buckets} buckets each")
        released = self._add_noise([*(Fraction(part, RESOLUTION) for part in parts), *users], bits)
        return tuple(released[: self.buckets]), tuple(released[self.buckets :])

    def release(self, histograms: tuple[Sequence[int], Sequence[int]], *, bits: BitSource | None = None) -> Amounts:
        """Add the noise once, and keep what stands out of it."""
        pairs, users = self.noisy(histograms, bits=bits)
        return estimate_amounts([float(value) for value in pairs], [float(value) for value in users], float(self.sigma))
