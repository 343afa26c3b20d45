"""Combining what is known about a count: linear estimates of least variance, in exact rationals.

All of it is post-processing and costs nothing. The variances leave out that the items were *selected*: among items
with close counts those with lucky noise win, so gaps are biased upwards, and whatever uses them inherits that. An
interval should come from a fresh measurement alone (:mod:`podium.estimates.measure`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from podium.errors import InvalidArgument
from podium.exact import Number, exact_fraction, positive_fraction, positive_integer

__all__ = ["Estimate", "blue", "blue_error_ratio", "gap_noise_ratio", "inverse_variance"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the variance of its noise, which leaves out any bias from selection."""

    value: Fraction
    variance: Fraction


def blue(measurements: Sequence[Number], gaps: Sequence[Number], *, ratio: Number) -> tuple[Fraction, ...]:
    """The best linear unbiased estimates of k counts from fresh measurements and the gaps between neighbours.

    ``measurements`` are those of the selected items in their released order, with independent noise of equal variance;
    ``gaps`` the leads of each over the next (a k-th gap, to the best loser, is not used); ``ratio`` is
    lambda, the variance of the noise on each *query* in the selection over that of a measurement (a gap then
    has 2 lambda). Unbiased but for the selection itself (Ding et al. 2021, Theorem 4).
    """
    alpha = [exact_fraction(value, "measurements") for value in measurements]
    leads = [exact_fraction(gap, "gaps") for gap in gaps]
    weight = positive_fraction(ratio, "ratio")
    k = len(alpha)
    if not k:
        raise InvalidArgument("measurements", list(measurements), allowed="one measurement or more")
    if len(leads) not in (k - 1, k):
        raise InvalidArgument("gaps", f"{len(leads)} gaps", allowed=f"{k - 1} or {k} gaps for {k} measurements")
    prefix = list(itertools.accumulate(leads[: k - 1], initial=Fraction(0)))
    common = sum(alpha) + sum((k - i) * gap for i, gap in enumerate(leads[: k - 1], start=1))
    return tuple(
        (common + k * (weight * own - before)) / (k * (1 + weight)) for own, before in zip(alpha, prefix, strict=True)
    )


def blue_error_ratio(k: int, ratio: Number) -> Fraction:
    """The variance of each estimate of ``blue`` over that of a measurement: (1 + lambda k)/(k + lambda k)."""
    places, weight = positive_integer(k, "k"), positive_fraction(ratio, "ratio")
    return (1 + weight * places) / (places + weight * places)


def gap_noise_ratio(noise: Literal["laplace", "exponential"], scale: Number, *, variance: Number) -> Fraction:
    """lambda for ``blue``: the variance of the selection's noise of this scale over that of a measurement."""
    if noise not in ("laplace", "exponential"):
        raise InvalidArgument("noise", noise, allowed="'laplace' or 'exponential'")
    square = positive_fraction(scale, "scale") ** 2
    return (2 if noise == "laplace" else 1) * square / positive_fraction(variance, "variance")


def inverse_variance(estimates: Sequence[Estimate]) -> Estimate:
    """The average of independent estimates of one number, weighted by inverse variance."""
    if not estimates or any(estimate.variance <= 0 for estimate in estimates):
        raise InvalidArgument("estimates", list(estimates), allowed="one or more, each with a variance above 0")
    precision = sum((1 / estimate.variance for estimate in estimates), Fraction(0))
    value = sum((estimate.value / estimate.variance for estimate in estimates), Fraction(0))
    return Estimate(value / precision, 1 / precision)
