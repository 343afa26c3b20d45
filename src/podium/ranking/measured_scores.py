"""The scores of a ranking, measured once its winners are public: the second phase, with noise and a price of its own.

One comparison moves few scores, and scores that add up to 1 move together. So the noise is that of all measured scores
at once, and hardly grows with their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, positive_fraction, positive_integer, probability
from podium.histogram import Item, Scores
from podium.mechanisms.base import describe
from podium.mechanisms.domain import scores_of
from podium.privacy.events import Event, GaussianNoise, LaplaceNoise
from podium.privacy.proofs import Proof
from podium.privacy.rounding import display, smallest_integer
from podium.randomness import BitSource, grid_bits_for, noisy_values
from podium.ranking.method import RankingMethod

__all__ = ["MeasureScores", "ScoreNoise", "grid_of_scores", "margin_of_scores"]

ScoreNoise: TypeAlias = Literal["laplace", "gaussian"]

_PRECISION: Final = 128
_SIGMA_BITS: Final = 40
_GRID_BITS: Final = 20
_MARGIN_PARTS: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class MeasureScores:
    """The scores of the items that a ranking selected, each with fresh noise, rounded down to a public grid.

    Guarantee
        Laplace noise costs epsilon = in_all/scale, Gaussian noise rho = each in_all/(2 scale^2), for all scores
        together and on top of the selection. Neighbours: one user added or removed.
    Distribution
        score + Lap(scale) or score + N(0, scale^2), rounded down to a multiple of a power of two below scale/2^20.
    Symbols
        items: how many scores; each: how far one user moves a score; in_all: how far one user moves all of them, added
        up; scale: that of the noise, its standard deviation where it is Gaussian.
    Source
        Dwork, McSherry, Nissim & Smith 2006; the sensitivities are Theorem 4 of docs/proofs/ranking.md.
    Assumes
        The items are public by now: a release named them.
    """

    noise: ScoreNoise
    scale: Fraction
    items: int
    each: Fraction
    in_all: Fraction

    @classmethod
    def within(
        cls, method: RankingMethod, items: int, *, epsilon: Number | None = None, rho: Number | None = None
    ) -> MeasureScores:
        """The step that measures so many scores for a total of epsilon (Laplace), or of rho (sigma rounded up)."""
        count = positive_integer(items, "items")
        if (epsilon is None) == (rho is None):
            raise InvalidArgument("rho", rho, allowed="either epsilon (Laplace) or rho (Gaussian)")
        each, in_all = method.moves_each, method.moves_in_all(count)
        if epsilon is not None:
            return cls("laplace", in_all / positive_fraction(epsilon, "epsilon"), count, each, in_all)
        square = each * in_all / (2 * positive_fraction(rho, "rho"))
        return cls("gaussian", _root_above(square), count, each, in_all)

    @property
    def proof(self) -> Proof:
        """Where it is proved how far one user moves all scores."""
        return Proof("docs/proofs/ranking.md", "Theorem 4")

    def worst_case(self, items: int) -> tuple[Event, ...]:
        """What measuring costs: one release of all scores."""
        if items > self.items:
            raise InvalidArgument("items", items, allowed=f"an integer from 1 to {self.items}")
        if self.noise == "laplace":
            return (LaplaceNoise(self.in_all / self.scale),)
        # The sum of squares is at most the largest move times the sum of all.
        return (GaussianNoise(self.scale, sensitivity_squared=self.each * self.in_all),)

    def describe_noise(self, items: int) -> str:
        """The noise in words, for a plan."""
        return f"{self.noise.capitalize()} noise of scale {display(self.scale)} on each score"

    def count_parameters(self, items: int) -> dict[str, str]:
        """What a release says about the noise of its scores, besides its own parameters."""
        return {f"score_{name}": value for name, value in describe(self).items()}

    def release(self, scores: Scores, items: Sequence[Item], *, bits: BitSource | None = None) -> tuple[Fraction, ...]:
        """The noisy scores of these distinct items, in their order."""
        if len(set(items)) != len(items) or len(items) > self.items:
            raise InvalidArgument("items", len(items), allowed=f"at most {self.items} distinct items")
        grid = grid_of_scores(self.scale)
        return tuple(
            noisy_values(scores_of(scores, items), scale=self.scale, noise=self.noise, grid_bits=grid, bits=bits)
        )


def grid_of_scores(scale: Fraction) -> int:
    """The m of the grid of multiples of 2^-m: about a millionth of the noise, which scores below 1 need."""
    smaller = scale.denominator.bit_length() - scale.numerator.bit_length()
    return _GRID_BITS + smaller if smaller > 0 else grid_bits_for(scale, _GRID_BITS)


def margin_of_scores(noise: str, scale: Fraction, confidence: Number = "0.95") -> Fraction:
    """A width w with P(|released - true| <= w) at least the confidence: that of the noise, and a step of the grid."""
    level = probability(confidence, "confidence")

    def covers(parts: int) -> bool:
        with ball_precision(_PRECISION):
            width = ball(Fraction(parts, _MARGIN_PARTS))
            missed = (-width).exp() if noise == "laplace" else (width / ball(2).sqrt()).erfc()
            return bool(missed <= ball(1 - level))

    width = scale * Fraction(smallest_integer(covers), _MARGIN_PARTS)
    return width + 1 / Fraction(2) ** grid_of_scores(scale)


def _root_above(square: Fraction) -> Fraction:
    """The square root, rounded up at its fortieth binary digit or so."""
    larger = square.denominator.bit_length() - square.numerator.bit_length()
    bits = max(0, _SIGMA_BITS + larger // 2 + 1)
    return Fraction(math.isqrt(math.ceil(square * (1 << (2 * bits)))) + 1, 1 << bits)
