"""What is beside a list by events or amounts: the sum of all other items, the total, and shares of the total.

The total is what the page shows, added up; so its noise is that of every value of the list and of the others.
docs/proofs/others.md has the intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from podium.errors import InvalidArgument
from podium.estimates.measure import MeasureCounts
from podium.exact import ball, ball_precision, positive_fraction
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.privacy.rounding import smallest_integer
from podium.release import Beside, Release

__all__ = ["AmountNoise", "additive_share", "fieller"]

_PRECISION = 128
_BITS = 60
_LARGEST_SCALE = Fraction(1 << 50)
_NOTHING = CorrelatedCounts(1, sigma=1, shared_sigma=0)


@dataclass(frozen=True, slots=True)
class AmountNoise:
    """The noise of a list's values and of the others beside it, in units."""

    listed: CorrelatedCounts
    number: int
    others: Fraction
    gaussian: bool
    ceiling: int

    @classmethod
    def of(cls, release: Release, beside: Beside, unit: Fraction) -> AmountNoise:
        """What the release says; ``KeyError`` or ``InvalidArgument`` if it does not."""
        number = len(release.values or ())
        # Of a list without items nothing was measured.
        listed = CorrelatedCounts.from_parameters(release.parameters) if number else _NOTHING
        scale, ceiling = positive_fraction(beside.scale, "scale") / unit, (beside.ceiling or unit) / unit
        if max(scale, listed.sigma, ceiling) > _LARGEST_SCALE or ceiling.denominator != 1:
            raise InvalidArgument("scale", beside.scale, allowed=f"at most {_LARGEST_SCALE} units")
        return cls(listed, number, scale, beside.noise == "gaussian", int(ceiling))

    @property
    def _own(self) -> CorrelatedCounts:
        """Real noise on the others, rounded as the values are."""
        return CorrelatedCounts(1, max_items=1, sigma=self.others, shared_sigma=0, clip=self.ceiling)

    @property
    def others_step(self) -> Fraction:
        """The grid on which the others are released."""
        return self._own.step

    def others_width(self, level: Fraction) -> int:
        """The others are within so many units of what is released."""
        if self.gaussian:
            return self._own.margin(level)
        return MeasureCounts(epsilon_per_item=self.ceiling / self.others, clip=self.ceiling).margin(level)

    def listed_width(self, level: Fraction, *, number: int | None = None) -> int:
        """The sum of so many values, by default all, is within so many units of what is released."""
        count = self.number if number is None else number
        if not count:
            return 0
        variance, slack = self.listed.total_variance(count), count * self.listed.step / 2
        return smallest_integer(lambda width: _covers(width - slack, variance, level))

    def total_width(self, level: Fraction) -> int:
        """The same of the total: both parts hold with half of the doubt each, however they depend on each other."""
        each = (1 + level) / 2
        return self.listed_width(each) + self.others_width(each)


def additive_share(value: Fraction, rest: Fraction, noise: AmountNoise, level: Fraction) -> tuple[Fraction, Fraction]:
    """Both ends of the share of a value in itself and the rest, in units; clamped to [0, 1]."""
    if noise.gaussian:
        return _by_fieller(value, rest, noise, level)
    each = (1 + level) / 2
    part = noise.listed_width(each, number=1)
    # Half of the rest of the doubt for each part of the rest.
    halves = (1 + each) / 2
    others = noise.listed_width(halves, number=noise.number - 1) + noise.others_width(halves)
    low = _quotient(max(value - part, Fraction(0)), max(rest + others, Fraction(0)), least=Fraction(0))
    high = _quotient(max(value + part, Fraction(0)), max(rest - others, Fraction(0)), least=Fraction(1))
    return low, high


def _quotient(part: Fraction, rest: Fraction, *, least: Fraction) -> Fraction:
    return part / (part + rest) if part + rest else least


def _by_fieller(value: Fraction, rest: Fraction, noise: AmountNoise, level: Fraction) -> tuple[Fraction, Fraction]:
    """Exact for Gaussian noise; values are rounded to a grid, for which the variance is enlarged."""
    own, shared, number = noise.listed.sigma**2, noise.listed.shared_sigma**2, noise.number
    variance = own + shared
    with_total = own + number * shared
    total = noise.listed.total_variance(number) + noise.others**2
    # What rounding moves: this value by half a step, the other values and the others by half of theirs.
    slack = max(noise.listed.step, (number - 1) * noise.listed.step + noise.others_step) / 2
    return fieller(value, value + rest, variance, with_total, total, quantile=_quantile(level), slack=slack)


def fieller(
    part: Fraction,
    total: Fraction,
    variance: Fraction,
    covariance: Fraction,
    total_variance: Fraction,
    *,
    quantile: Fraction,
    slack: Fraction = Fraction(0),
) -> tuple[Fraction, Fraction]:
    """All shares t in [0, 1] with |part - t total| <= quantile sd(t) + slack, or more; Gaussian part and total.

    sd(t)^2 = variance - 2 t covariance + t^2 total_variance. Ends are rounded outwards.
    """
    square, constant = quantile**2, Fraction(0)
    if slack:
        # (x + y)^2 <= (1 + h) x^2 + (1 + 1/h) y^2 for every h > 0.
        ease = Fraction(1, 64)
        square, constant = square * (1 + ease), (1 + 1 / ease) * slack**2
    lead = total**2 - square * total_variance
    middle = part * total - square * covariance
    last = part**2 - square * variance - constant
    if lead <= 0 or total <= 0:
        return Fraction(0), Fraction(1)
    root = _root_above(middle**2 - lead * last)
    low, high = (middle - root) / lead, (middle + root) / lead
    # Clamped, not cut: a true share of 0 or 1 must not leave the interval empty.
    return min(max(low, Fraction(0)), Fraction(1)), min(max(high, Fraction(0)), Fraction(1))


def _root_above(square: Fraction) -> Fraction:
    """A root that is not below the true one, 0 of what is not positive."""
    if square <= 0:
        return Fraction(0)
    scaled = math.ceil(square * 4**_BITS)
    root = math.isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 2**_BITS)


@lru_cache(maxsize=16)
def _quantile(level: Fraction) -> Fraction:
    """A z with P(|N(0, 1)| > z) at most 1 - level, to four digits."""
    found = smallest_integer(lambda steps: _covers(Fraction(steps, 10_000), Fraction(1), level))
    return Fraction(found, 10_000)


def _covers(reach: Fraction, variance: Fraction, level: Fraction) -> bool:
    """Whether Gaussian noise of this variance is within reach with this confidence."""
    if reach <= 0:
        return False
    with ball_precision(_PRECISION):
        return bool((ball(reach**2 / (2 * variance)).sqrt()).erfc() <= ball(1 - level))
