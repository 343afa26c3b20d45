"""Noise once on every score, then the best few: the Lipschitz mechanism with its free gaps, and permute-and-flip."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, ball, flag, positive_fraction, positive_integer
from podium.histogram import KnownDomain
from podium.mechanisms.base import Distribution, Mechanism
from podium.mechanisms.domain import list_scores, require_items
from podium.mechanisms.finish_distribution import (
    RationalNoise,
    gap_density,
    order_distribution,
    rational_set_distribution,
)
from podium.mechanisms.one_item import OneItem
from podium.mechanisms.peeling import peeling_distribution
from podium.mechanisms.piecewise import ClosedNoise
from podium.privacy.events import Event, PureMechanism, Selection
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, NoiseName, grid_bits_for, lipschitz_noise, race
from podium.release import Outcome, Release

__all__ = ["NoisyTopK", "PermuteAndFlip"]

_WITH_GAPS: tuple[NoiseName, ...] = ("exponential", "laplace")
_SET_ONLY: tuple[NoiseName, ...] = ("logistic", "half-logistic")


@dataclass(frozen=True, slots=True, init=False)
class NoisyTopK(Mechanism):
    """The k largest of scaled score plus noise; with exponential or Laplace noise in order and with their gaps.

    Use
        The items can be listed and the budget is pure (delta = 0): order and gaps for one epsilon.
    Shape
        known domain; ordered, or a set with logistic noise; gaps
    Guarantee
        epsilon-DP for all that is released together. In zCDP k * rho(epsilon/k) with Gumbel noise and epsilon^2/2 with
        the others, which are not of bounded range. Neighbours: one user added or removed (monotone=True), or
        counts that may move both ways.
    Distribution
        v_i = (epsilon/(k span)) h_i + Z_i with independent standard noise Z_i; the k largest, and the gaps
        v_(j) - v_(j+1), j = 1..k, the last one to the best loser, in counts (times k span/epsilon). With exactly k
        items there is no k-th gap. Gaps are rounded down to a multiple of 2^-grid_bits, or at most 2^-31 of a scale k
        span/epsilon above 2^12: density() is that of the ideal real gaps, of which the release is post-processing.
    Symbols
        k; epsilon = eps, the total; noise: exponential, laplace (order and gaps), gumbel (order), logistic,
        half-logistic (a set); gaps=None means "where they are free"; span = 1 for counts under addition or
        removal, 2 if monotone=False, rises_by + falls_by for Scores.
    Source
        Shekelyan & Loukides 2022, Lipschitz mechanism (their Algorithm 2 divides by the sensitivity twice); Ding, Wang,
        Xiao, Zhang & Kifer 2021, Theorem 3 and section 6.2, for order and gaps. docs/proofs/noisy-selection.md.
    Assumes
        A known domain of at least k items; each user adds at most 1 to each count (or moves Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/noisy-selection.md", "section 2", "section 3")
    theorem: ClassVar[str] = (
        "Shekelyan & Loukides 2022, Theorem 4.1 (Lipschitz mechanism); "
        "Ding, Wang, Xiao, Zhang & Kifer 2021, Theorem 3 (free gaps)"
    )
    grid_bits: ClassVar[int] = 20

    k: int
    epsilon: Fraction
    noise: NoiseName
    gaps: bool
    monotone: bool

    def __init__(
        self,
        k: int,
        epsilon: Number,
        *,
        noise: NoiseName = "exponential",
        gaps: bool | None = None,
        monotone: bool = True,
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "noise", lipschitz_noise(noise).name)
        put(self, "gaps", self.noise in _WITH_GAPS if gaps is None else flag(gaps, "gaps"))
        put(self, "monotone", flag(monotone, "monotone"))
        if self.gaps and self.noise not in _WITH_GAPS:
            raise InvalidArgument(
                "gaps",
                gaps,
                allowed=f"False or None with noise={self.noise!r}; gaps come with 'exponential' or 'laplace' noise",
                hint="For one item with Gumbel noise and its gap, use ExponentialWithGap.",
            )

    @property
    def ordered(self) -> bool:
        """Whether the order of the k items is released."""
        return self.noise not in _SET_ONLY

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """k exponential-mechanism selections with Gumbel noise, otherwise one pure mechanism."""
        if self.noise == "gumbel":
            return (Selection(self.epsilon / self.k),) * self.k
        return (PureMechanism(self.epsilon),)

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        groups = histogram.groups()
        require_items(self.k, groups)
        scale = 1 / self._rate(histogram)
        finish = race(
            groups.scores,
            k=self.k,
            scale=scale,
            noise=self.noise,
            multiplicities=groups.multiplicities,
            gap_bits=grid_bits_for(scale, self.grid_bits) if self.gaps else None,
            bits=bits,
        )
        names = tuple(map(groups.name, finish.groups, finish.members))
        outcome = names if self.ordered else frozenset(names)
        if not self.gaps:
            return self._make_release(outcome, self.worst_case, k=self.k)
        return self._make_release(outcome, self.worst_case, k=self.k, values=finish.gaps, value_kind="gaps")

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        size = require_items(self.k, groups)
        count = math.perm if self.ordered else math.comb
        items, scores = list_scores(groups, outcomes=count(size, self.k))
        rate = self._rate(histogram)
        if self.noise == "gumbel":
            return peeling_distribution(items, scores, rate, self.k)
        offsets = _offsets(scores, rate)
        if self.ordered:
            return order_distribution(items, offsets, cast("ClosedNoise", self.noise), self.k)
        return rational_set_distribution(items, offsets, cast("RationalNoise", self.noise), self.k)

    def _density(self, histogram: KnownDomain, outcome: Outcome, values: list[Fraction]) -> Callable[[], flint.arb]:
        """The joint density of an order and its gaps in counts."""
        if not self.gaps:
            raise InvalidArgument(
                "gaps", self.gaps, allowed="True: only gaps have a density", hint="Use distribution()."
            )
        winners, losers, rate = self._sides(histogram, outcome)
        gaps = [value * rate for value in values]
        expected = self.k if losers else self.k - 1
        if len(gaps) != expected:
            raise InvalidArgument("values", tuple(values), allowed=f"{expected} gaps, in the order of the outcome")
        noise = cast("ClosedNoise", self.noise)
        return lambda: ball(rate) ** expected * gap_density(winners, losers, gaps, noise)

    def _sides(self, histogram: KnownDomain, outcome: Outcome) -> tuple[list[Fraction], list[Fraction], Fraction]:
        """The offsets of the items that won, in order, those of all others, and the rate."""
        groups, rate = histogram.groups(), self._rate(histogram)
        items, scores = list_scores(groups, outcomes=require_items(self.k, groups))
        offsets = dict(zip(items, _offsets(scores, rate), strict=True))
        if not isinstance(outcome, tuple) or len(outcome) != self.k or len({*outcome} & {*items}) != self.k:
            raise InvalidArgument("outcome", outcome, allowed=f"a tuple of k={self.k} different items of the domain")
        winners = [offsets.pop(item) for item in outcome]
        return winners, list(offsets.values()), rate

    def _rate(self, histogram: KnownDomain) -> Fraction:
        return self.epsilon / (self.k * histogram.span(monotone=self.monotone))


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip(OneItem):
    """One item: the largest score plus exponential noise, never less useful than the exponential mechanism.

    Use
        One item is wanted and the budget is pure: never worse than the exponential mechanism.
    Shape
        known domain; one item; no values
    Guarantee
        epsilon-DP, hence epsilon^2/2 in zCDP. Not of bounded range epsilon: its range is up to
        epsilon + ln(2 - e^-epsilon). Neighbours: one user added or removed (monotone=True), or counts that may move
        both ways.
    Distribution
        P(i) = p_i * integral over [0, 1] of prod_(j != i) (1 - p_j t) dt, p_j = exp((epsilon/span)(h_j - max h)).
    Symbols
        epsilon = eps, the total; span = 1 for counts under addition or removal, 2 if monotone=False, rises_by +
        falls_by for Scores.
    Source
        McKenna & Sheldon 2020, as report noisy max with exponential noise (Ding, Kifer, Steinke et al. 2021).
    Assumes
        A known domain of at least one item; each user adds at most 1 to each count (or moves Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/noisy-selection.md", "section 4")
    theorem: ClassVar[str] = "McKenna & Sheldon 2020 (permute-and-flip)"

    epsilon: Fraction
    monotone: bool

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        winner, _ = self._race(histogram, "exponential", bits=bits)
        return self._make_release((winner,), self.worst_case, k=1)

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        items, scores = list_scores(groups, outcomes=require_items(1, groups))
        chances = [ball(offset).exp() for offset in _offsets(scores, self._rate(histogram))]
        known: dict[Fraction, flint.arb] = {}
        for i, score in enumerate(scores):
            if score not in known:
                known[score] = chances[i] * _all_others_decline([*chances[:i], *chances[i + 1 :]])
        return {(item,): known[score] for item, score in zip(items, scores, strict=True)}


def _offsets(scores: Sequence[Fraction], rate: Fraction) -> list[Fraction]:
    """Scores in noise units, relative to the largest so that no exponential overflows."""
    best = max(scores)
    return [(score - best) * rate for score in scores]


def _all_others_decline(chances: Sequence[flint.arb]) -> flint.arb:
    """The integral over t in [0, 1] of prod (1 - p t), t being the place in the random order of flips."""
    product = flint.arb_poly([1])
    for chance in chances:
        product *= flint.arb_poly([1, -chance])
    return product.integral()(flint.arb(1))
