"""What every way from comparisons to scores has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument
from podium.exact import exact_integer, positive_integer
from podium.histogram import Item, Scores
from podium.privacy.proofs import Proof
from podium.ranking.graph import ComparisonGraph

__all__ = ["MAX_COMPARISONS_PER_PAIR", "METHODS", "Counted", "RankingMethod", "Tally"]

METHODS = ("spectral", "borda", "wins")
MAX_COMPARISONS_PER_PAIR = 10**9

Tally: TypeAlias = NDArray[np.int64]
"""How many users preferred the winner, for each of ``ComparisonGraph.directed``."""
Counted: TypeAlias = Mapping[Any, int]
"""(winner, loser) -> how many users preferred the winner; comparisons that are not in the graph are dropped."""


@dataclass(frozen=True)
class RankingMethod(ABC):
    """Scores of the items of a graph, from how many users preferred one item of a pair to the other.

    ``comparisons_per_pair`` = L says what counts as a full pair: beyond L users who say the same, more of them change
    nothing. ``max_comparisons_per_user`` = B: each user has at most B different (winner, loser), whoever bounds them;
    None: as many as the graph has.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    """What the scores are, for a sentence."""
    proofs: ClassVar[tuple[Proof, ...]]
    theorem: ClassVar[str]

    graph: ComparisonGraph
    comparisons_per_pair: int
    max_comparisons_per_user: int | None = None

    def __post_init__(self) -> None:
        per_pair = positive_integer(self.comparisons_per_pair, "comparisons_per_pair")
        if per_pair > MAX_COMPARISONS_PER_PAIR:
            allowed = f"an integer from 1 to {MAX_COMPARISONS_PER_PAIR:,}"
            raise InvalidArgument("comparisons_per_pair", self.comparisons_per_pair, allowed=allowed)
        object.__setattr__(self, "comparisons_per_pair", per_pair)
        if self.max_comparisons_per_user is not None:
            most = positive_integer(self.max_comparisons_per_user, "max_comparisons_per_user")
            object.__setattr__(self, "max_comparisons_per_user", most)

    @property
    def max_per_user(self) -> int:
        """B: the most comparisons that count of one user."""
        everything = 2 * len(self.graph.edges)
        return everything if self.max_comparisons_per_user is None else min(self.max_comparisons_per_user, everything)

    @property
    @abstractmethod
    def rises_by(self) -> Fraction:
        """How far adding one user can raise a score."""

    @property
    @abstractmethod
    def falls_by(self) -> Fraction:
        """How far adding one user can lower a score."""

    @property
    def span(self) -> Fraction:
        """The width of the interval in which all changes of scores lie: what the noise is measured by."""
        return self.rises_by + self.falls_by

    @property
    def moves_each(self) -> Fraction:
        """How far adding one user can move a score, up or down."""
        return max(self.rises_by, self.falls_by)

    def moves_in_all(self, items: int) -> Fraction:
        """How far adding one user can move so many scores, added up."""
        return min(items * self.moves_each, self._moves_together(items))

    @abstractmethod
    def _moves_together(self, items: int) -> Fraction:
        """The same, from what one comparison does to all scores at once (docs/proofs/ranking.md, Theorem 4)."""

    @abstractmethod
    def values(self, tally: Tally) -> list[Fraction]:
        """The exact score of each item."""

    def tally(self, wins: Counted) -> Tally:
        """The counts in the order of the graph; whatever else was counted is dropped."""
        counts = (exact_integer(wins.get(pair, 0), "wins", minimum=0) for pair in self.graph.comparisons)
        return np.fromiter(counts, dtype=np.int64, count=len(self.graph.comparisons))

    def scores(self, wins: Counted) -> Scores:
        """The scores, with how far one user can move them."""
        values: dict[Item, Any] = dict(zip(self.graph.items, self.values(self.tally(wins)), strict=True))
        return Scores(values, rises_by=self.rises_by, falls_by=self.falls_by)

    def describe(self) -> dict[str, str]:
        """The public parameters, exact, for a receipt."""
        return {
            "ranking": self.name,
            "comparisons_per_pair": str(self.comparisons_per_pair),
            "max_comparisons_per_user": str(self.max_comparisons_per_user),
            "items": str(len(self.graph.items)),
            "pairs": str(len(self.graph.edges)),
            "rises_by": str(self.rises_by),
            "falls_by": str(self.falls_by),
        }
