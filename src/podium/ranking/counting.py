"""Counts as scores: wins, and average shares of wins. The baselines for the spectral method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from podium.privacy.proofs import Proof, proofs_in
from podium.ranking.method import RankingMethod, Tally

__all__ = ["Borda", "Wins"]


@dataclass(frozen=True)
class Wins(RankingMethod):
    """How often each item was preferred. Items that are compared more often have more wins.

    Guarantee
        Adding a user raises every score by 0 to min(B, D), D the largest degree, and lowers none.
    """

    name: ClassVar[str] = "wins"
    unit: ClassVar[str] = "wins"
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/ranking.md", "Theorem 3")
    theorem: ClassVar[str] = f"{proofs[0]} (wins)"

    @property
    def rises_by(self) -> Fraction:
        """A user has at most one win of an item over each other."""
        return Fraction(min(self.max_per_user, self.graph.largest_degree))

    @property
    def falls_by(self) -> Fraction:
        """More wins lower no score."""
        return Fraction(0)

    def _moves_together(self, items: int) -> Fraction:
        """Each comparison is one win of one item."""
        return Fraction(self.max_per_user)

    def values(self, tally: Tally) -> list[Fraction]:
        """The wins of each item."""
        wins = np.zeros(len(self.graph.items), dtype=np.int64)
        np.add.at(wins, self.graph.directed[:, 0], tally)
        return [Fraction(count) for count in wins.tolist()]


@dataclass(frozen=True)
class Borda(RankingMethod):
    """The average share of wins over the items with which an item can be compared; a half where nobody compared.

    Guarantee
        Adding a user moves a score by at most min(1, B/D_min)/(2L) either way, D_min the smallest degree.
    """

    name: ClassVar[str] = "borda"
    unit: ClassVar[str] = "share of wins"
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/ranking.md", "Theorem 3")
    theorem: ClassVar[str] = f"{proofs[0]} (average shares of wins)"

    @property
    def rises_by(self) -> Fraction:
        """Each win moves one share by 1/(2L)."""
        touched = min(Fraction(1), Fraction(self.max_per_user, self.graph.smallest_degree))
        return touched / (2 * self.comparisons_per_pair)

    @property
    def falls_by(self) -> Fraction:
        """Each loss is somebody's win."""
        return self.rises_by

    def _moves_together(self, items: int) -> Fraction:
        """Each comparison moves the share of its winner and that of its loser."""
        return Fraction(self.max_per_user, self.graph.smallest_degree * self.comparisons_per_pair)

    def values(self, tally: Tally) -> list[Fraction]:
        """1/2 + (wins - losses)/(2 L degree), both cut to L for each pair."""
        cut = np.minimum(tally, self.comparisons_per_pair)
        net = np.zeros(len(self.graph.items), dtype=np.int64)
        np.add.at(net, self.graph.directed[:, 0], cut)
        np.subtract.at(net, self.graph.directed[:, 1], cut)
        full = [2 * self.comparisons_per_pair * degree for degree in self.graph.degrees.tolist()]
        return [Fraction(1, 2) + Fraction(more, most) for more, most in zip(net.tolist(), full, strict=True)]
