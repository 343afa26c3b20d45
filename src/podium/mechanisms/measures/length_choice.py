"""The private choice of a length: noisy histograms of how long users' vectors are, and how much users add in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from podium.exact import Number, flag, positive_fraction
from podium.mechanisms.measures.amount_histograms import AmountHistograms
from podium.mechanisms.measures.amounts import Totals, estimate_totals
from podium.mechanisms.measures.clip_choice import BUCKETS, RESOLUTION
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource

if TYPE_CHECKING:
    from podium.mechanisms.reader import AmountsReader

__all__ = ["NormChoice"]


@dataclass(frozen=True, slots=True, init=False)
class NormChoice(AmountHistograms):
    """How long the vectors of users are and what they add up to: noisy histograms, to choose a length from.

    Guarantee
        mu-Gaussian DP, mu^2 = s/sigma^2, s = the number of histograms. Neighbours: one user added or removed.
    Distribution
        Histograms over public buckets, each entry plus its own N(0, sigma^2), rounded down on a public grid. In the
        first a user adds 1 to the bucket of sqrt(sum of x^2) over the user's amounts x, in the second 1 to that of
        their sum. With ``values`` a third has the user's pairs by size, as ClipChoice.
    Symbols
        rho; values; sigma = sqrt(s/(2 rho)), rounded up.
    Source
        docs/proofs/measures.md, Theorem 11.
    Assumes
        The histograms are sums over users of what each adds as above. Users without pairs add nothing.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/measures.md", "Theorem 11")
    theorem: ClassVar[str] = f"{proofs[0]}: Gaussian noise on histograms"

    rho: Fraction
    values: bool

    def __init__(self, rho: Number, *, values: bool = False) -> None:
        object.__setattr__(self, "rho", positive_fraction(rho, "rho"))
        object.__setattr__(self, "values", flag(values, "values"))

    @property
    def _sensitivity_squared(self) -> int:
        return 3 if self.values else 2

    def noisy(self, histograms: Sequence[Sequence[int | Fraction]], *, bits: BitSource | None = None) -> list[Fraction]:
        """All entries with noise, one histogram after the other."""
        return self._add_noise([entry for histogram in histograms for entry in histogram], bits)

    def release(self, reader: AmountsReader, *, bits: BitSource | None = None) -> tuple[Totals, Totals]:
        """What a length for selecting follows from, and a clip for measuring: the same unless there are ``values``."""
        histograms: list[Sequence[int | Fraction]] = [*reader.norm_histograms(BUCKETS)]
        if self.values:
            pairs = reader.clip_histograms(BUCKETS, RESOLUTION)[0]
            histograms.append([Fraction(part, RESOLUTION) for part in pairs])
        released = [float(value) for value in self.noisy(histograms, bits=bits)]
        sigma, sums = float(self.sigma), released[BUCKETS : 2 * BUCKETS]
        return (
            estimate_totals(released[:BUCKETS], sums, sigma),
            estimate_totals(released[-BUCKETS:] if self.values else released[:BUCKETS], sums, sigma),
        )
