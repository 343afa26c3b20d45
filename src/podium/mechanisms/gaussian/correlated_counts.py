"""Counts of several items measured at once: noise that all of them share makes the noise of each smaller."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final

from podium.errors import InvalidArgument
from podium.exact import Number, ball, ball_precision, exact_fraction, positive_fraction, positive_integer, probability
from podium.mechanisms.base import UNSAID, describe
from podium.privacy.calibration import calibrate_sigma
from podium.privacy.events import CorrelatedNoise
from podium.privacy.proofs import Proof
from podium.privacy.rounding import smallest_integer
from podium.privacy.theorems.correlated import correlated_move
from podium.randomness import BitSource, correlated_values, grid_bits_for, steps_per_unit

__all__ = ["CorrelatedCounts"]

_PRECISION: Final = 256
_RATIO_GRID: Final = 1 << 10
_PREFIX: Final = "count_"


@dataclass(frozen=True, slots=True, init=False)
class CorrelatedCounts:
    """The noise on the counts of ``items`` named items that are released together.

    Guarantee
        mu-Gaussian DP, mu^2 = 2 ``event.rho``: the largest c^T Sigma^-1 c over what one user can add. Neighbours: one
        user added or removed, who adds from 0 to 1 to each of at most max_items of the counts. Not for values that one
        user may both raise and lower.
    Distribution
        count_i + X_i + X, rounded to the nearest integer (or point of a coarser public grid), with independent
        X_i ~ N(0, sigma^2) for each item and one X ~ N(0, shared_sigma^2) for all of them, new in each release.
    Symbols
        items = r; max_items; sigma = s1; shared_sigma = s0; clip = c, 1 for counts: for sums to which a user adds from
        0 to c each. Both sigmas are in the units of the values, c times those of the event.
    Source
        docs/proofs/correlated-counts.md, for sums docs/proofs/measures.md. Idea: Lebeda 2025.
    Assumes
        The names of the items are public, and chosen without looking at this noise.
    """

    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/correlated-counts.md", "Theorem 1"),
        Proof("docs/proofs/measures.md", "Theorem 4"),
    )
    theorem: ClassVar[str] = f"{proofs[0]}: correlated Gaussian noise (Lebeda 2025)"
    noise: ClassVar[str] = "correlated"

    items: int
    max_items: int
    sigma: Fraction
    shared_sigma: Fraction
    clip: int = field(metadata=UNSAID)

    def __init__(
        self, items: int, *, max_items: int | None = None, sigma: Number, shared_sigma: Number, clip: int = 1
    ) -> None:
        event = CorrelatedNoise(items, items if max_items is None else max_items, sigma, shared_sigma)
        object.__setattr__(self, "clip", positive_integer(clip, "clip"))
        for name in ("items", "max_items", "sigma", "shared_sigma"):
            object.__setattr__(self, name, getattr(event, name))

    @classmethod
    def within(
        cls, items: int, mu_squared: Number, *, max_items_per_user: int | None = None, clip: int = 1
    ) -> CorrelatedCounts:
        """The least noise for this mu^2; fewer items per user, if that is enforced, need less.

        The standard deviation of a count is at most (sqrt(r) + 1)/(2 mu), and at most sqrt(max_items_per_user)/mu.
        """
        number, budget = positive_integer(items, "items"), positive_fraction(mu_squared, "mu_squared")
        bound = number if max_items_per_user is None else positive_integer(max_items_per_user, "max_items_per_user")
        most, unit = min(number, bound), positive_integer(clip, "clip")
        if most == 1:
            return cls(number, max_items=1, sigma=unit * calibrate_sigma(budget / 2), shared_sigma=0, clip=unit)
        ratio = min(_ratios(number, most), key=lambda ratio: _variance(number, most, ratio))
        move = correlated_move(number, most, Fraction(1), 1 / ratio)
        # Both are rounded up: more noise of either kind moves nobody farther.
        return cls(
            number,
            max_items=most,
            sigma=unit * calibrate_sigma(budget / 2, sensitivity_squared=move),
            shared_sigma=unit * calibrate_sigma(budget / 2, sensitivity_squared=move / ratio),
            clip=unit,
        )

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> CorrelatedCounts:
        """The noise that the parameters of a release describe; ``KeyError`` or ``InvalidArgument`` if they do not."""
        number, most = (_integer(parameters[f"{_PREFIX}{name}"], name) for name in ("items", "max_items"))
        return cls(
            number,
            max_items=most,
            sigma=parameters[f"{_PREFIX}sigma"],
            shared_sigma=parameters[f"{_PREFIX}shared_sigma"],
            clip=_integer(parameters.get(f"{_PREFIX}clip", "1"), "clip"),
        )

    @property
    def parameters(self) -> dict[str, str]:
        """What a release with these counts says about them: intervals can be computed from it at any time."""
        return {f"{_PREFIX}{name}": value for name, value in {"noise": self.noise, **describe(self)}.items()}

    @property
    def event(self) -> CorrelatedNoise:
        """What measuring costs."""
        return CorrelatedNoise(self.items, self.max_items, self.sigma / self.clip, self.shared_sigma / self.clip)

    def of_fewer(self, items: int) -> CorrelatedCounts:
        """The same noise on fewer counts, which are a part of what it would be on all of them."""
        most = min(self.max_items, items)
        return CorrelatedCounts(items, max_items=most, sigma=self.sigma, shared_sigma=self.shared_sigma, clip=self.clip)

    @property
    def variance(self) -> Fraction:
        """The variance of the noise on one count."""
        return self.sigma**2 + self.shared_sigma**2

    def total_variance(self, items: int | None = None) -> Fraction:
        """The variance of the noise on a sum of this many of the counts, by default all: the shared part adds up."""
        number = self.items if items is None else positive_integer(items, "items")
        return number * self.sigma**2 + number**2 * self.shared_sigma**2

    @property
    def difference_variance(self) -> Fraction:
        """The variance of the noise on the difference of two counts, from which the shared part drops out."""
        return 2 * self.sigma**2

    @property
    def step(self) -> Fraction:
        """The public grid on which counts are released: integers, unless the noise is wider than 2^32."""
        return 1 / steps_per_unit(self._grid_bits)

    @property
    def _grid_bits(self) -> int:
        return grid_bits_for(self.sigma, finest=0)

    def measure(self, counts: Sequence[int], *, bits: BitSource | None = None) -> tuple[Fraction, ...]:
        """The noisy counts; one draw for all of them, so they must be those of all the items."""
        if len(counts) != self.items:
            raise InvalidArgument("counts", f"{len(counts)} counts", allowed=f"{self.items}, one for each item")
        # Half a step more and rounded down: the nearest point of the grid, a function of the real noisy vector.
        centres = [count + self.step / 2 for count in counts]
        return tuple(
            correlated_values(
                centres, scale=self.sigma, shared_scale=self.shared_sigma, grid_bits=self._grid_bits, bits=bits
            )
        )

    def margin(self, confidence: Number = "0.95") -> int:
        """The smallest integer w such that a released count is within w of the true one with this confidence."""
        level = probability(confidence, "confidence")
        return smallest_integer(lambda width: self._covers(width, level))

    def _covers(self, width: int, level: Fraction) -> bool:
        """Whether P(|noise| > reach) is at most 1 - level, where noise up to reach moves a count by at most width.

        A count is an integer: on the grid of integers noise below w + 1/2 moves it by at most w. A coarser grid may
        itself be off by half a step.
        """
        reach = width + Fraction(1, 2) if self.step == 1 else width - self.step / 2
        if reach <= 0:
            return False
        with ball_precision(_PRECISION):
            return bool((ball(reach**2 / (2 * self.variance)).sqrt()).erfc() <= ball(1 - level))


def _integer(text: str, name: str) -> int:
    number = exact_fraction(text, name)
    if number.denominator != 1:
        raise InvalidArgument(name, text, allowed="an integer")
    return number.numerator


def _variance(items: int, most: int, ratio: Fraction) -> Fraction:
    """The variance of one count for mu = 1, if the shared part is 1/ratio of the own part."""
    return correlated_move(items, most, Fraction(1), 1 / ratio) * (1 + 1 / ratio)


def _ratios(items: int, most: int) -> list[Fraction]:
    """Own variance over shared variance: what is best if no bound matters, if it does, and at the corners between.

    Public numbers, and whatever is chosen is paid for exactly, so floating-point arithmetic proposes.
    """
    rest = items - most
    proposals = [math.sqrt(items)]
    if rest:
        # The minimum of (t - t^2/(r+g)) (1 + 1/g) over g, at t = most.
        proposals.append((rest + math.sqrt(rest**2 + (most - 1) * rest * items)) / (most - 1))
    ratios = [Fraction(max(1, round(proposal * _RATIO_GRID)), _RATIO_GRID) for proposal in proposals]
    # Where t and t + 1 items move the counts equally far: 2t + 1 = r + g.
    tops = {min(most, math.ceil(proposal + items) // 2 + step) for proposal in proposals for step in (-1, 0, 1)}
    return ratios + [Fraction(2 * top + 1 - items) for top in tops if 2 * top + 1 > items]
