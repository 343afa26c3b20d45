"""The spectral method for Bradley-Terry-Luce scores, mixed with a public chain so that its sensitivity is bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import Number, dyadic_above, positive_integer, probability
from podium.privacy.proofs import Proof, proofs_in
from podium.ranking.method import RankingMethod, Tally

__all__ = ["Neighbours", "Spectral", "stationary"]

Neighbours = Literal["user", "comparison"]

_ROUNDOFF = Fraction(1, 1 << 53)
_FINER = 12
"""Errors of computing are kept below 2^-12 of what one user can move."""
_MAX_STEPS = 100_000
_MAX_EXACT_INTEGER = 1 << 53


@dataclass(frozen=True)
class Spectral(RankingMethod):
    """The stationary distribution of a walk that goes from items to those that beat them (Bradley-Terry-Luce).

    From item i the walk goes to j with probability min(w_ij, L)/(d L), where w_ij users preferred j, and stays
    otherwise; with probability c it starts again at an item chosen uniformly. So every step forgets a part c of where
    it was, whatever the comparisons are, and what one user can move is bounded without looking at them.

    Guarantee
        Adding or removing a user with at most B comparisons moves no score by more than (1-c) min(U B, D)/(c d L) and
        the error of computing; D is the largest degree, and U = (c/m + (1-c)/d)/(c + (1-c)/d + (1-c)/(d L)) bounds the
        score of an item that lost at all. neighbours="comparison": changing one comparison moves no score by more
        than (1-c) min(2 V, 1)/(c d L), where V, the same as U without its last term, bounds every score.
        What is then released holds for one comparison: where a sentence says "any one user", read "comparison".
    Symbols
        mixing = c; normalisation = d, by default D; comparisons_per_pair = L; max_comparisons_per_user = B; m items.
    Source
        Qiao, Su & Zhang 2021, section 3, whose condition on the data holds here by construction.
        docs/proofs/ranking.md, Theorems 1 and 2.
    """

    name: ClassVar[str] = "spectral"
    unit: ClassVar[str] = "share of the walk's time"
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/ranking.md", "Theorem 1", "Theorem 2")
    theorem: ClassVar[str] = f"{proofs[0].file}, Theorems 1 and 2 (spectral scores with mixing)"

    mixing: Number = Fraction(1, 5)
    normalisation: int | None = None
    neighbours: Neighbours = "user"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mixing", probability(self.mixing, "mixing"))
        most = self.graph.largest_degree
        if self.normalisation is None:
            object.__setattr__(self, "normalisation", most)
        elif positive_integer(self.normalisation, "normalisation") < most:
            raise InvalidArgument(
                "normalisation",
                self.normalisation,
                allowed=f"at least {most}, the largest number of others with which an item is compared",
            )
        if self.neighbours not in ("user", "comparison"):
            raise InvalidArgument("neighbours", self.neighbours, allowed="'user' or 'comparison'")
        finest = min(self.ideal_sensitivity, Fraction(1))
        if self._full >= _MAX_EXACT_INTEGER or 8 * self._rounding > finest or self.steps > _MAX_STEPS:
            raise InvalidArgument(
                "comparisons_per_pair",
                self.comparisons_per_pair,
                allowed="a number small enough for the arithmetic of the walk",
                hint="Lower comparisons_per_pair, or raise mixing.",
            )

    @property
    def _c(self) -> Fraction:
        return Fraction(self.mixing)

    @property
    def _full(self) -> int:
        """d L: the whole of a row."""
        return (self.normalisation or 1) * self.comparisons_per_pair

    def largest_score(self, *, losses: int = 0) -> Fraction:
        """The largest share of the walk's time that an item with ``losses`` losses can have."""
        arriving, leaving = (1 - self._c) / (self.normalisation or 1), (1 - self._c) * losses / self._full
        return (self._c / len(self.graph.items) + arriving) / (self._c + arriving + leaving)

    @property
    def ideal_sensitivity(self) -> Fraction:
        """What one neighbour can move a score of the exact stationary distribution."""
        if self.neighbours == "user":
            touched = min(self.largest_score(losses=1) * self.max_per_user, Fraction(self.graph.largest_degree))
        else:
            touched = min(2 * self.largest_score(), Fraction(1))
        return (1 - self._c) * touched / (self._c * self._full)

    @cached_property
    def grid_bits(self) -> int:
        """Scores are multiples of 2^-grid_bits."""
        finest = self.ideal_sensitivity
        return max(0, finest.denominator.bit_length() - finest.numerator.bit_length()) + 1 + _FINER

    @cached_property
    def steps(self) -> int:
        """Number of steps after which every walk is close enough to its limit, for all comparisons."""
        return math.ceil((self.grid_bits + 1) * math.log(2) / -math.log1p(-float(self._c))) + 1

    @property
    def _rounding(self) -> Fraction:
        """The most by which all roundings of floating-point numbers together can move a score."""
        return 2 * (self.graph.largest_degree + 6) * _ROUNDOFF / self._c

    @cached_property
    def error(self) -> Fraction:
        """How far a computed score can be from the exact one, before it is put on the grid; the same for all data."""
        unfinished = dyadic_above((1 - self._c) ** self.steps, self.grid_bits)
        return unfinished + self._rounding

    @cached_property
    def rises_by(self) -> Fraction:
        """The ideal sensitivity, the error on both sides, and one step of the grid."""
        whole = self.ideal_sensitivity + 2 * self.error + Fraction(1, 1 << self.grid_bits)
        return dyadic_above(whole, self.grid_bits + _FINER)

    @property
    def falls_by(self) -> Fraction:
        """Scores add up to 1, so what one gains others lose."""
        return self.rises_by

    def _moves_together(self, items: int) -> Fraction:
        """What some scores gain others lose, so all of them move by twice what one can; each has a grid of its own."""
        return 2 * self.rises_by + Fraction(items, 1 << self.grid_bits)

    def values(self, tally: Tally) -> list[Fraction]:
        """The walk's share of time at each item, rounded down to the grid."""
        shares = stationary(self.graph.directed, tally, self)
        # A power of two: the product is exact, and so is the floor.
        places = np.floor(np.ldexp(shares, self.grid_bits))
        return [Fraction(int(place), 1 << self.grid_bits) for place in places.tolist()]

    def describe(self) -> dict[str, str]:
        """The public parameters, exact, for a receipt."""
        own = {"mixing": str(self._c), "normalisation": str(self.normalisation), "neighbours": self.neighbours}
        return {**super().describe(), **own, "grid_bits": str(self.grid_bits), "steps": str(self.steps)}


def stationary(directed: NDArray[np.int64], tally: Tally, method: Spectral) -> NDArray[np.float64]:
    """A public number of steps of the walk, in numbers that are never negative.

    The matrix has an entry for every pair of the graph, zero or not, so that the work does not depend on the data.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to import

    size, full = len(method.graph.items), int(method.normalisation or 1) * method.comparisons_per_pair
    arrive, leave = directed[:, 0], directed[:, 1]
    moved = np.minimum(tally, method.comparisons_per_pair)
    stayed = np.full(size, full, dtype=np.int64)
    np.subtract.at(stayed, leave, moved)
    everyone = np.arange(size)
    rows, columns = np.concatenate([arrive, everyone]), np.concatenate([leave, everyone])
    entries = np.concatenate([moved, stayed]).astype(np.float64)
    walk = coo_array((entries, (rows, columns)), shape=(size, size)).tocsr()
    c = Fraction(method.mixing)
    kept, anew = float((1 - c) / full), float(c / size)
    shares = np.full(size, float(Fraction(1, size)))
    for _ in range(method.steps):
        shares = anew + kept * (walk @ shares)
    return shares
