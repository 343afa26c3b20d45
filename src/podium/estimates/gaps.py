"""From gaps above a threshold to counts: estimates and lower confidence bounds, for free but biased upwards.

A gap is released only for an item that was *found*, and lucky noise helps to be found. The variances and confidences
here are those of the noise before selection, as in the literature; for items near or below the threshold the
estimates are too large and the bounds fail more often than they say. For an honest interval measure the
selected counts afresh (:mod:`podium.estimates.measure`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import flint

from podium.errors import InvalidArgument
from podium.estimates.linear import Estimate
from podium.exact import (
    Number,
    ball,
    ball_precision,
    dyadic_above,
    exact_fraction,
    positive_fraction,
    probability,
    rational_bounds,
)
from podium.mechanisms.sparse_vector.hybrid import HybridTopK
from podium.mechanisms.sparse_vector.scales import SparseNoise, noise_mean, noise_variance
from podium.mechanisms.sparse_vector.technique import SparseVector
from podium.privacy.rounding import smallest_integer
from podium.release import BOTTOM, Release

__all__ = ["gap_confidence", "gap_estimates", "gap_margin", "lower_bounds"]

_BITS = 20
_PRECISION = 256


def gap_estimates(
    mechanism: SparseVector | HybridTopK, release: Release, *, rises_by: Number = 1, falls_by: Number | None = None
) -> tuple[Estimate, ...]:
    """What the gaps of a release say about the counts of the items found: threshold + gap, biased by selection.

    ``rises_by`` and ``falls_by`` as in the mechanism's ``plan`` or ``scales``, where the queries were not counts. The
    estimates share the noise of one threshold, so they are correlated with each other. A mean that the
    mechanism could not take off (geometric noise) is taken off here.
    """
    leads = _leads(mechanism, release)
    noises = _noises(mechanism, release, rises_by, falls_by)
    with ball_precision(_PRECISION):
        return tuple(
            Estimate(mechanism.threshold + lead - noise.bias, noise.variance)
            for lead, noise in zip(leads, noises, strict=True)
        )


def lower_bounds(
    mechanism: SparseVector | HybridTopK,
    release: Release,
    *,
    confidence: Number = "0.95",
    rises_by: Number = 1,
    falls_by: Number | None = None,
) -> tuple[Fraction, ...]:
    """For each item found, a number that its count reaches with this confidence, *before selection*.

    Given that the item was found, the coverage can be much lower (.61 instead of .95 has been seen on flat data).
    """
    estimates = gap_estimates(mechanism, release, rises_by=rises_by, falls_by=falls_by)
    noises = _noises(mechanism, release, rises_by, falls_by)
    return tuple(estimate.value - noise.margin(confidence) for estimate, noise in zip(estimates, noises, strict=True))


def gap_confidence(distance: Number, *, noise: SparseNoise, query_scale: Number, threshold_scale: Number) -> flint.arb:
    """P(the noise in a gap, its mean taken off, is at most ``distance``), before selection.

    So threshold + gap - distance is a lower bound for the count with this probability. Laplace: Ding et al. 2021,
    Lemma 3, in the scales themselves (for general scores the query's scale is 2/eps_j, which their formula, written
    for 1/eps_j, forgets). One-sided noise is not symmetric: what matters is that the query's noise is not too large.
    """
    reach = exact_fraction(distance, "distance")
    query, threshold = (
        positive_fraction(query_scale, "query_scale"),
        positive_fraction(threshold_scale, "threshold_scale"),
    )
    with ball_precision(_PRECISION):
        return _TAILS[noise](reach, query, threshold)


def gap_margin(confidence: Number, *, noise: SparseNoise, query_scale: Number, threshold_scale: Number) -> Fraction:
    """The smallest distance, a multiple of 2^-20 that is 0 or more, at which ``gap_confidence`` is reached."""
    level = probability(confidence, "confidence")

    def reached(steps: int) -> bool:
        distance = Fraction(steps, 1 << _BITS)
        found = gap_confidence(distance, noise=noise, query_scale=query_scale, threshold_scale=threshold_scale)
        return bool(found >= ball(level))

    return Fraction(smallest_integer(reached), 1 << _BITS)


class _GapNoise:
    """The noise in one gap: its kind and its two scales."""

    __slots__ = ("_kind", "_query", "_threshold", "bias")

    def __init__(self, kind: SparseNoise, query: Fraction, threshold: Fraction, bias: Fraction) -> None:
        self._kind: SparseNoise = kind
        self._query = query
        self._threshold = threshold
        self.bias = bias

    @property
    def variance(self) -> Fraction:
        total = noise_variance(self._kind, self._query) + noise_variance(self._kind, self._threshold)
        return dyadic_above(rational_bounds(total)[1], 2 * _BITS)

    def margin(self, confidence: Number) -> Fraction:
        return gap_margin(confidence, noise=self._kind, query_scale=self._query, threshold_scale=self._threshold)


def _leads(mechanism: SparseVector | HybridTopK, release: Release) -> Sequence[Fraction]:
    """How far each item found is above the noisy threshold."""
    if release.mechanism != type(mechanism).__name__ or release.values is None:
        raise InvalidArgument(
            "release", f"a release of {release.mechanism}", allowed=f"a release of {type(mechanism).__name__} with gaps"
        )
    if mechanism.values_are_leads:
        return release.values
    if BOTTOM not in release.outcome:
        raise InvalidArgument(
            "release",
            "k items that did not reach the threshold",
            allowed="a release that ends with BOTTOM where first='identities'",
            hint="Use first='estimates', or measure the selected counts.",
        )
    return list(itertools.accumulate(reversed(release.values)))[::-1]


def _noises(
    mechanism: SparseVector | HybridTopK, release: Release, rises_by: Number, falls_by: Number | None
) -> list[_GapNoise]:
    with ball_precision(_PRECISION):
        return [
            _GapNoise(noise, query, threshold, dyadic_above(rational_bounds(bias)[0], _BITS))
            for noise, query, threshold, bias in mechanism.gap_scales(
                release.items, rises_by=rises_by, falls_by=falls_by
            )
        ]


def _laplace_tail(distance: Fraction, query: Fraction, threshold: Fraction) -> flint.arb:
    size = abs(distance)
    if query == threshold:
        beyond = ball(2 + size / query) / 4 * ball(-size / query).exp()
    else:
        parts = ball(query**2) * ball(-size / query).exp() - ball(threshold**2) * ball(-size / threshold).exp()
        beyond = parts / ball(2 * (query**2 - threshold**2))
    return 1 - beyond if distance >= 0 else beyond


def _exponential_tail(distance: Fraction, query: Fraction, threshold: Fraction) -> flint.arb:
    size = distance + query - threshold
    if size >= 0:
        return 1 - ball(-size / query).exp() * ball(query / (query + threshold))
    return ball(size / threshold).exp() * ball(threshold / (query + threshold))


def _geometric_tail(distance: Fraction, query: Fraction, threshold: Fraction) -> flint.arb:
    means = noise_mean("geometric", query) - noise_mean("geometric", threshold) if query != threshold else flint.arb(0)
    steps = math.floor(rational_bounds(ball(distance) + means)[0])
    q, t = ball(-1 / query), ball(-1 / threshold)
    both = -((q + t).expm1())
    if steps >= 0:
        return 1 - ((steps + 1) * q).exp() * -t.expm1() / both
    return (-steps * t).exp() * -q.expm1() / both


_TAILS: dict[SparseNoise, Callable[[Fraction, Fraction, Fraction], flint.arb]] = {
    "laplace": _laplace_tail,
    "exponential": _exponential_tail,
    "geometric": _geometric_tail,
}
