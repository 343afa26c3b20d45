"""Oneshot Laplace: noise once on every score, the k largest as a set, their values as a step of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint

from podium.errors import InvalidArgument
from podium.exact import (
    Number,
    ball,
    ball_precision,
    dyadic_above,
    flag,
    positive_fraction,
    positive_integer,
    probability,
    rational_bounds,
)
from podium.histogram import KnownDomain, Scores, item_order
from podium.mechanisms.base import Distribution, Mechanism, describe
from podium.mechanisms.domain import list_scores, require_items, scores_of
from podium.mechanisms.finish_distribution import set_distribution
from podium.privacy.events import ApproximateMechanism, Event, LaplaceNoise, PureMechanism
from podium.privacy.guarantee import total
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, grid_bits_for, noisy_values, race
from podium.release import Outcome, Receipt, Release

__all__ = ["OneshotLaplace"]

_SCALE_BITS = 64
_MAX_EPSILON = Fraction(1, 5)
_MAX_DELTA = Fraction(1, 20)


@dataclass(frozen=True, slots=True, init=False)
class OneshotLaplace(Mechanism):
    """The k largest of score plus Laplace noise, as a set; values come from a fresh, separately paid measurement.

    Use
        A set is enough and k is in the hundreds, where the scale with a delta is the smaller one.
    Shape
        known domain; a set; counts from measure(), paid separately
    Guarantee
        epsilon-DP with delta=0; (epsilon, delta)-DP with delta > 0, then only for epsilon <= 0.2, delta <= 0.05 and at
        least two items. The set alone: neither the order nor the values. Neighbours: one user added or
        removed (monotone=True), or counts that may move both ways.
    Distribution
        h_i + Lap(lambda), the k largest. lambda = k span/epsilon with delta=0, else 8 s sqrt(k ln(m/delta))/epsilon
        rounded up to a public dyadic multiple of s. The second is below the first only if k > 64 ln(m/delta), or
        16 ln(m/delta) where span = 2 s. measure() releases h_i + Lap(lambda) with fresh noise for
        the chosen items: k s/lambda more, of which each value costs s/lambda.
    Symbols
        k; epsilon = eps, the total for the set; delta; m = number of items in the domain; s = how far a score moves (1
        for counts); span = 1 for counts under addition or removal, 2 if monotone=False, rises_by + falls_by for
        Scores. monotone has no part in the approximate scale.
    Source
        Qiao, Su & Zhang 2021, Theorems 2.1 and 2.2, for the set alone; docs/proofs/noisy-selection.md.
    Assumes
        A known domain of at least k items; each user adds at most 1 to each count (or moves Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/noisy-selection.md", "section 6")
    theorem: ClassVar[str] = "Qiao, Su & Zhang 2021, Theorems 2.1 and 2.2 (oneshot Laplace, the set alone)"
    grid_bits: ClassVar[int] = 20

    k: int
    epsilon: Fraction
    delta: Fraction
    monotone: bool

    def __init__(self, k: int, epsilon: Number, *, delta: Number = 0, monotone: bool = True) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "delta", probability(delta, "delta", zero=True))
        put(self, "monotone", flag(monotone, "monotone"))
        hint = "The theorem for delta > 0 says nothing beyond that; delta=0 has no such condition."
        if self.delta and self.epsilon > _MAX_EPSILON:
            raise InvalidArgument(
                "epsilon", epsilon, allowed="a number with 0 < value <= 0.2 where delta > 0", hint=hint
            )
        if self.delta > _MAX_DELTA:
            raise InvalidArgument("delta", delta, allowed="a number with 0 <= value <= 0.05", hint=hint)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One mechanism, pure or approximate, for the set."""
        if self.delta:
            return (ApproximateMechanism(self.epsilon, self.delta),)
        return (PureMechanism(self.epsilon),)

    def scale(self, histogram: KnownDomain) -> Fraction:
        """lambda: it depends on the size of the domain and on the sensitivity, never on the scores."""
        size = require_items(self.k, histogram.groups())
        if not self.delta:
            return self.k * histogram.span(monotone=self.monotone) / self.epsilon
        if size < 2:
            raise InvalidArgument(
                "histogram",
                f"a domain of {size} items",
                allowed="a domain of at least 2 items where delta > 0",
                hint="With delta=0 there is no such condition.",
            )
        with ball_precision(256):
            factor = 8 * (self.k * (size / ball(self.delta)).log()).sqrt() / ball(self.epsilon)
            return _sensitivity(histogram) * dyadic_above(rational_bounds(factor)[1], _SCALE_BITS)

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        groups = histogram.groups()
        finish = race(
            groups.scores,
            k=self.k,
            scale=self.scale(histogram),
            noise="laplace",
            multiplicities=groups.multiplicities,
            bits=bits,
        )
        chosen = frozenset(map(groups.name, finish.groups, finish.members))
        return self._make_release(chosen, self.worst_case, k=self.k)

    def measure(self, release: Release, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """The values of the items that a release chose, with fresh noise of the same scale.

        A step of its own: ``paid`` and ``guarantee`` of what comes back are those of the values alone and come on top
        of what the set cost. Values are in the order of ``items``, rounded down to a multiple of 2^-grid_bits, or
        at most 2^-31 of a scale above 2^12.
        """
        if not isinstance(release.outcome, frozenset) or len(release.outcome) != self.k:
            raise InvalidArgument(
                "release",
                f"a release of {release.mechanism}",
                allowed=f"a set of k={self.k} items that release() chose",
            )
        scale, events = self.scale(histogram), self.measurement_events(histogram)
        scores = scores_of(histogram, release.items)
        grid = grid_bits_for(scale, self.grid_bits)
        values = noisy_values(scores, scale=scale, noise="laplace", grid_bits=grid, bits=bits)
        return Release(
            mechanism=f"{type(self).__name__}.measure",
            outcome=release.outcome,
            k=self.k,
            paid=Receipt(events),
            guarantee=total(events),
            theorem="Dwork, McSherry, Nissim & Smith 2006 (Laplace mechanism), once per value",
            parameters=describe(self),
            values=tuple(values),
            value_kind="counts",
        )

    def measurement_events(self, histogram: KnownDomain) -> tuple[Event, ...]:
        """What ``measure`` will cost: k Laplace values, k s/lambda in all."""
        return (LaplaceNoise(_sensitivity(histogram) / self.scale(histogram)),) * self.k

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        scale = self.scale(histogram)
        groups = histogram.groups()
        items, scores = list_scores(groups, outcomes=math.comb(require_items(self.k, groups), self.k))
        return set_distribution(items, [(score - max(scores)) / scale for score in scores], "laplace", self.k)

    def _density(self, histogram: KnownDomain, outcome: Outcome, values: list[Fraction]) -> Callable[[], flint.arb]:
        """The joint density of a set and the values that ``measure`` then releases, in the order of the items.

        It is that of the ideal real values, of which the released ones on the grid are post-processing; and it is
        protected by what both steps cost together.
        """
        if not isinstance(outcome, frozenset) or len(outcome) != self.k or len(values) != self.k:
            raise InvalidArgument("outcome", outcome, allowed=f"a frozenset of k={self.k} items, with {self.k} values")
        scale = self.scale(histogram)
        scores = scores_of(histogram, sorted(outcome, key=item_order))
        distance = sum(abs(value - score) for value, score in zip(values, scores, strict=True))
        return lambda: (
            self._exact_distribution(histogram)[outcome] * ball(-distance / scale).exp() / ball(2 * scale) ** self.k
        )


def _sensitivity(histogram: KnownDomain) -> Fraction:
    """How far one score can move: as stated with Scores, by 1 for counts."""
    return max(histogram.rises_by, histogram.falls_by) if isinstance(histogram, Scores) else Fraction(1)
