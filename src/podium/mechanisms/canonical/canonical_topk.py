"""The k best items as a set, chosen at once: the canonical Lipschitz mechanism of Shekelyan & Loukides."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, get_args

import flint

from podium.errors import InvalidArgument
from podium.exact import (
    Number,
    ball,
    ball_precision,
    dyadic_above,
    exact_fraction,
    flag,
    positive_fraction,
    positive_integer,
    probability,
    rational_bounds,
)
from podium.histogram import KnownDomain
from podium.mechanisms.base import Distribution, Mechanism
from podium.mechanisms.canonical.classes import Loss, Ranking, block_size
from podium.mechanisms.canonical.rejection import CanonicalNoise, SubsetSampler
from podium.mechanisms.domain import list_scores
from podium.privacy.events import Event, PureMechanism, SetSelection
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, system_bits
from podium.release import Release

__all__ = ["CanonicalTopK"]

_HALF = Fraction(1, 2)
_BOUND_PRECISION, _BOUND_BITS = 256, 20


@dataclass(frozen=True, slots=True, init=False)
class CanonicalTopK(Mechanism):
    """A set of k items, scored by its worst item and by the best item that it misses.

    Use
        A set is enough, k is small, and the counts of neighbouring ranks lie far apart.
    Shape
        known domain; a set; no values
    Guarantee
        epsilon-DP for the whole set. With Gumbel noise it is epsilon-bounded-range, so the set costs one rho(epsilon);
        with exponential noise epsilon^2/2. Neighbours: one user added or removed; replaced if monotone=False.
    Distribution
        A set with worst score m inside and M = max(m, best score outside) has the score gamma*m - (1-gamma)*M, times
        epsilon/span. Gumbel: probability proportional to its exponential. Exponential: permute-and-flip over all sets.
        It is excellent until the gaps between ranks no longer pay for the number of sets, and poor from there on.
    Symbols
        k; epsilon = eps, the total of the call; gamma; span: 1 for counts, 2 if they may move both ways
        (monotone=False), rises_by + falls_by for Scores. rounded_loss: with gamma=1/2 the loss (M - m)/span is rounded
        up to an integer, that of the users who would have to change for the set to be the top k; the same as
        not rounded for monotone counts.
    Source
        Shekelyan & Loukides 2022, Theorems 3.5 and 4.1, Lemma 3.1, with corrected class sizes; docs/proofs/canonical.md
        for those, for bounded range and for the sampler.
    Assumes
        Each user adds at most 1 to each count, or the sensitivity stated with Scores. The domain is known and has more
        than k items.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/canonical.md", "section 4", "section 5")
    theorem: ClassVar[str] = "Shekelyan & Loukides 2022, Theorems 3.5 and 4.1 (canonical Lipschitz mechanism)"

    k: int
    epsilon: Fraction
    gamma: Fraction
    noise: CanonicalNoise
    monotone: bool
    rounded_loss: bool

    def __init__(
        self,
        k: int,
        epsilon: Number,
        *,
        gamma: Number = 0.5,
        noise: CanonicalNoise = "gumbel",
        monotone: bool = True,
        rounded_loss: bool = False,
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        weight = exact_fraction(gamma, "gamma")
        if not 0 <= weight <= 1:
            raise InvalidArgument("gamma", gamma, allowed="a number from 0 to 1")
        put(self, "gamma", weight)
        if noise not in get_args(CanonicalNoise):
            raise InvalidArgument("noise", noise, allowed="'gumbel' or 'exponential'")
        put(self, "noise", noise)
        put(self, "monotone", flag(monotone, "monotone"))
        put(self, "rounded_loss", flag(rounded_loss, "rounded_loss"))
        if self.rounded_loss and weight != _HALF:
            raise InvalidArgument(
                "rounded_loss",
                rounded_loss,
                allowed="False unless gamma=1/2",
                hint="Only the loss of gamma=1/2 counts users, and rounding it keeps the guarantee.",
            )

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One choice of a whole set."""
        return (SetSelection(self.epsilon) if self.noise == "gumbel" else PureMechanism(self.epsilon),)

    def loss_bound(self, domain_size: int, failure: Number, *, span: Number | None = None) -> Fraction:
        """How far the worst item of the set is below the k-th best, at most, but with this probability of failure.

        Shekelyan & Loukides 2022, Theorem 5.6, as docs/proofs/canonical.md, section 9 has it; rounded up. ``span`` is
        that of Scores, if those are ranked.
        """
        size = positive_integer(domain_size, "domain_size")
        if size <= self.k:
            raise InvalidArgument("domain_size", domain_size, allowed=f"more than k={self.k}")
        if not self.gamma:
            raise InvalidArgument(
                "gamma", "0", allowed="a gamma above 0", hint="With 0 the worst item of a set does not count."
            )
        moves = Fraction(1 if self.monotone else 2) if span is None else positive_fraction(span, "span")
        level = probability(failure, "failure")
        with ball_precision(_BOUND_PRECISION):
            loss = ball((math.comb(size, self.k) - 1) / level).log()
            return dyadic_above(rational_bounds(loss * ball(moves / (self.gamma * self.epsilon)))[1], _BOUND_BITS)

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        ranking = Ranking(histogram.groups(), self.k)
        sampler = SubsetSampler(ranking, self._loss(histogram, ranking), self.noise)
        ranks = sampler.draw(system_bits() if bits is None else bits)
        return self._make_release(ranking.items(ranks), self.worst_case, k=self.k)

    def _loss(self, histogram: KnownDomain, ranking: Ranking) -> Loss:
        rate = self.epsilon / histogram.span(monotone=self.monotone) * ranking.unit
        step = self.epsilon / 2 if self.rounded_loss else None
        return Loss((1 - self.gamma) * rate, self.gamma * rate, step)

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        ranking = Ranking(groups, self.k)
        items, scores = list_scores(groups, outcomes=math.comb(ranking.size, self.k))
        loss = self._loss(histogram, ranking)
        sizes = _class_sizes(ranking, loss)
        chance = _gumbel_chances(sizes) if self.noise == "gumbel" else _exponential_chances(sizes)
        values = [int(score / ranking.unit) for score in scores]
        distribution: Distribution = {}
        for chosen in itertools.combinations(range(len(items)), self.k):
            worst = min(values[i] for i in chosen)
            missed = max(values[i] for i in range(len(items)) if i not in chosen)
            rise, drop = max(worst, missed) - ranking.cut, ranking.cut - worst
            distribution[frozenset(items[i] for i in chosen)] = chance[loss.exact(int(rise), int(drop))]
        return distribution


def _class_sizes(ranking: Ranking, loss: Loss) -> Mapping[Fraction, int]:
    """How many subsets have which loss; the top k itself loses nothing."""
    heads, tails = ranking.blocks(loss)
    sizes = Counter({Fraction(0): 1})
    for first, last, rise in heads:
        for left, right, drop in tails:
            sizes[loss.exact(rise, drop)] += block_size(ranking.k, (first, last), (left, right))
    return sizes


def _gumbel_chances(sizes: Mapping[Fraction, int]) -> dict[Fraction, flint.arb]:
    weights = {loss: ball(-loss).exp() for loss in sizes}
    total = sum((size * weights[loss] for loss, size in sizes.items()), flint.arb(0))
    return {loss: weight / total for loss, weight in weights.items()}


def _exponential_chances(sizes: Mapping[Fraction, int]) -> dict[Fraction, flint.arb]:
    """p * integral over t from 0 to 1 of the product of (1 - p' t) over all other subsets, p = e^-loss.

    In powers of 1 - t all coefficients are positive, so nothing cancels.
    """
    factors = {loss: flint.arb_poly([-ball(-loss).expm1(), ball(-loss).exp()]) for loss in sizes}
    chances = {}
    for loss in sizes:
        product = flint.arb_poly([1])
        for other, size in sizes.items():
            product *= factors[other] ** (size - (other == loss))
        area = sum((coefficient / (power + 1) for power, coefficient in enumerate(product)), flint.arb(0))
        chances[loss] = ball(-loss).exp() * area
    return chances
