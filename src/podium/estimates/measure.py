"""Fresh measurements of selected counts: discrete noise, its cost, and intervals that hold whatever was selected.

The noise is new and does not know which items were selected, so these intervals keep their confidence. They are the
default wherever an interval is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

import flint

from podium.errors import InvalidArgument
from podium.estimates.linear import Estimate
from podium.exact import (
    Number,
    ball,
    ball_precision,
    dyadic_above,
    exact_integer,
    positive_fraction,
    positive_integer,
    probability,
    rational_bounds,
)
from podium.histogram import Histogram, Item
from podium.mechanisms.base import UNSAID, UNSAID_ZERO, describe
from podium.mechanisms.domain import scores_of
from podium.privacy.events import Event, GaussianNoise, LaplaceNoise
from podium.privacy.guarantee import total
from podium.privacy.rounding import display, smallest_integer
from podium.randomness import BitSource, discrete_gaussian, discrete_laplace
from podium.release import Receipt, Release

__all__ = ["Interval", "MeasureCounts", "counts_of", "release_counts", "selected_items"]

MeasureNoise: TypeAlias = Literal["laplace", "gaussian"]

_PRECISION: Final = 256
_VARIANCE_BITS: Final = 40
_SIGMA_BITS: Final = 20


class Interval(NamedTuple):
    """Both ends included; a count is never negative, so neither is the lower end of its interval."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, init=False)
class MeasureCounts:
    """The counts of items that were selected, each with fresh discrete noise.

    Guarantee
        Each count costs epsilon_per_item (discrete Laplace) or 1/(2 sigma^2) in zCDP (discrete Gaussian), on top of the
        selection. Neighbours: one user added, removed or replaced; for sums that also fall, added or removed.
    Distribution
        count + X, P(X = x) proportional to exp(-epsilon_per_item |x|/c) or exp(-x^2/(2 c^2 sigma^2)) on the integers.
    Symbols
        epsilon_per_item (discrete Laplace, scale = c/epsilon_per_item) or sigma (discrete Gaussian, scale = c sigma);
        clip and falls_by: the most that one user adds to one sum, and takes from it; c is the larger, 1 for counts.
    Source
        Ghosh, Roughgarden & Sundararajan 2009 (discrete Laplace); Canonne, Kamath & Steinke 2020 (discrete Gaussian).
    Assumes
        One user adds an integer from -falls_by to clip to each count.
    """

    noise: MeasureNoise
    scale: Fraction
    clip: int = field(metadata=UNSAID)
    falls_by: int = field(metadata=UNSAID_ZERO)

    def __init__(
        self,
        *,
        epsilon_per_item: Number | None = None,
        sigma: Number | None = None,
        clip: int = 1,
        falls_by: int = 0,
    ) -> None:
        if (epsilon_per_item is None) == (sigma is None):
            raise InvalidArgument(
                "sigma", sigma, allowed="either epsilon_per_item (discrete Laplace) or sigma (discrete Gaussian)"
            )
        gaussian = epsilon_per_item is None
        scale = (
            positive_fraction(sigma, "sigma")
            if gaussian
            else 1 / positive_fraction(epsilon_per_item, "epsilon_per_item")
        )
        object.__setattr__(self, "noise", "gaussian" if gaussian else "laplace")
        object.__setattr__(self, "clip", positive_integer(clip, "clip"))
        object.__setattr__(self, "falls_by", exact_integer(falls_by, "falls_by", minimum=0))
        object.__setattr__(self, "scale", self.sensitivity * scale)

    @property
    def sensitivity(self) -> int:
        """How far one user moves a value at most, in its units."""
        return max(self.clip, self.falls_by)

    @classmethod
    def within(cls, items: int, *, epsilon: Number | None = None, rho: Number | None = None) -> MeasureCounts:
        """The step that measures this many items for a total of epsilon, or of rho (sigma rounded up)."""
        count = positive_integer(items, "items")
        if (epsilon is None) == (rho is None):
            raise InvalidArgument("rho", rho, allowed="either epsilon (discrete Laplace) or rho (discrete Gaussian)")
        if epsilon is not None:
            return cls(epsilon_per_item=positive_fraction(epsilon, "epsilon") / count)
        square = count / (2 * positive_fraction(rho, "rho")) * (1 << (2 * _SIGMA_BITS))
        root = math.isqrt(math.ceil(square))
        return cls(sigma=Fraction(root if root * root >= square else root + 1, 1 << _SIGMA_BITS))

    def events(self, items: int) -> tuple[Event, ...]:
        """What measuring this many items costs, whatever comes out."""
        if self.noise == "laplace":
            return (LaplaceNoise(self.sensitivity / self.scale, discrete=True),) * items
        return (GaussianNoise(self.scale, sensitivity_squared=self.sensitivity**2, discrete=True),) * items

    def worst_case(self, items: int) -> tuple[Event, ...]:
        """What measuring up to this many items may cost."""
        return self.events(items)

    def describe_noise(self, items: int) -> str:
        """The noise in words, for a plan; here the same for any number of items."""
        return f"{self.noise} noise of scale {display(self.scale)} on each count"

    def count_parameters(self, items: int) -> dict[str, str]:
        """What a release says about this many counts, besides its own parameters."""
        return {f"count_{name}": value for name, value in describe(self).items()}

    @property
    def variance(self) -> Fraction:
        """The variance of one measurement, rounded up; for the discrete Gaussian sigma^2, which bounds it."""
        if self.noise == "gaussian":
            return self.scale**2
        with ball_precision(_PRECISION):
            value = 1 / (2 * ball(1 / (2 * self.scale)).sinh() ** 2)
            return dyadic_above(rational_bounds(value)[1], _VARIANCE_BITS)

    def release(self, histogram: Histogram, items: Sequence[Item], *, bits: BitSource | None = None) -> Release:
        """Measure these items, which must be public by now: named in a release, or chosen without looking."""
        names = tuple(items)
        counts = counts_of(histogram, names)
        noise = self._draw(len(names), bits)
        values = tuple(Fraction(count + draw) for count, draw in zip(counts, noise, strict=True))
        theorem = "discrete Laplace (Ghosh et al. 2009) or discrete Gaussian (Canonne, Kamath & Steinke 2020)"
        return release_counts(self, names, values, self.events(len(names)), theorem)

    def _draw(self, size: int, bits: BitSource | None) -> list[int]:
        if self.noise == "laplace":
            return [int(draw) for draw in discrete_laplace(scale=self.scale, size=size, bits=bits)]
        return [int(draw) for draw in discrete_gaussian(variance=self.scale**2, size=size, bits=bits)]

    def estimates(self, measured: Release) -> tuple[Estimate, ...]:
        """The measured values with their variance, unbiased whatever was selected."""
        return tuple(Estimate(value, self.variance) for value in self._values(measured))

    def margin(self, confidence: Number = "0.95") -> int:
        """The smallest integer w found with P(|noise| <= w) at least the confidence.

        Exact for the discrete Laplace; for the discrete Gaussian from P(|X| > w) <= erfc(w/(sigma sqrt 2)), which holds
        because the sum over x > w is below the integral from w, and the normaliser above sigma sqrt(2 pi).
        """
        level = probability(confidence, "confidence")
        return smallest_integer(lambda width: self._covers(width, level))

    def _covers(self, width: int, level: Fraction) -> bool:
        with ball_precision(_PRECISION):
            return bool(self._tail(width) <= ball(1 - level))

    def _tail(self, width: int) -> flint.arb:
        """P(|noise| > width), or a bound above it."""
        if self.noise == "laplace":
            rate = ball(-1 / self.scale)
            return 2 * ((width + 1) * rate).exp() / (1 + rate.exp())
        return (ball(width / self.scale) / flint.arb(2).sqrt()).erfc()

    def intervals(
        self, measured: Release, *, confidence: Number = "0.95", simultaneous: bool = False
    ) -> tuple[Interval, ...]:
        """An interval for each true count: each holds with this confidence, or all at once if ``simultaneous``.

        From the fresh noise alone, so the confidence is kept however the items were selected.
        """
        values = self._values(measured)
        miss = 1 - probability(confidence, "confidence")
        width = self.margin(1 - miss / len(values) if simultaneous else 1 - miss)
        lows, highs = ([int(value) + side for value in values] for side in (-width, width))
        # Only sums that nobody can lower are known to be 0 or more.
        least = min(lows) if self.falls_by else 0
        return tuple(Interval(max(least, low), max(least, high)) for low, high in zip(lows, highs, strict=True))

    def _values(self, measured: Release) -> tuple[Fraction, ...]:
        if measured.mechanism != type(self).__name__ or measured.values is None:
            raise InvalidArgument(
                "measured", f"a release of {measured.mechanism}", allowed="what MeasureCounts.release returned"
            )
        if dict(measured.parameters) != describe(self):
            raise InvalidArgument("measured", "a release with other noise", allowed="a release of this very step")
        return measured.values


def selected_items(release: Release) -> tuple[Item, ...]:
    """The names of the items that a selection found, ready to be measured; a sparse vector's without the branches."""
    if release.mechanism == "SparseVector":
        return tuple(pair[0] for pair in release.items)  # type: ignore[index]
    return release.items


def counts_of(histogram: Histogram, items: Sequence[Item]) -> list[int]:
    """The true counts of distinct items, from the rows that were read."""
    if not items:
        raise InvalidArgument("items", items, allowed="one item or more")
    if len(set(items)) != len(items):
        raise InvalidArgument("items", items, allowed="distinct items", hint="Each measurement is paid for.")
    if not isinstance(histogram, Histogram):
        raise InvalidArgument(
            "histogram",
            type(histogram).__name__,
            allowed="a Histogram, because discrete noise protects integers only",
        )
    if histogram.known:
        return [int(score) for score in scores_of(histogram, items)]
    rows = histogram.top(len(histogram))
    known = dict(zip(rows.items, rows.counts.tolist(), strict=True))
    if rows.next_count and any(item not in known for item in items):
        raise InvalidArgument(
            "items",
            "an item beyond the rows that were read",
            allowed="items that the release named",
            hint="Their counts are read together with the rows of the selection.",
        )
    return [known.get(item, 0) for item in items]


def release_counts(
    mechanism: object,
    items: tuple[Item, ...],
    values: tuple[Fraction, ...],
    paid: tuple[Event, ...],
    theorem: str,
    noise: Mapping[str, str] = MappingProxyType({}),
) -> Release:
    """The release of measured counts; ``noise`` is said with the parameters."""
    return Release(
        mechanism=type(mechanism).__name__,
        outcome=items,
        k=len(items),
        paid=Receipt(paid),
        guarantee=total(paid),
        theorem=theorem,
        parameters={**describe(mechanism), **noise},
        values=values,
        value_kind="counts",
    )
