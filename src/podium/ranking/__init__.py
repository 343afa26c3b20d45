"""Ranking from pairwise comparisons: who beat whom becomes scores, with a proved bound on what one user can move.

A comparison is (user, winner, loser). Which pairs can be compared is public: a ``ComparisonGraph``. A method turns the
number of users who preferred one item of a pair to the other into exact ``Scores``, which any mechanism for a known
domain can select from. The bounds are proved in docs/proofs/ranking.md.
"""

from podium.ranking.counting import Borda, Wins
from podium.ranking.graph import ComparisonGraph
from podium.ranking.measured_scores import MeasureScores
from podium.ranking.method import METHODS, RankingMethod
from podium.ranking.spectral import Spectral

__all__ = ["METHODS", "Borda", "ComparisonGraph", "MeasureScores", "RankingMethod", "Spectral", "Wins"]
