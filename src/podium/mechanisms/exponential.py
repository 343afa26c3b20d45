"""The exponential mechanism: in turn for an ordered top-k, and once with the gap to the runner-up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeAlias

import flint
import numpy as np

from podium.errors import InvalidArgument
from podium.exact import Number, ball, flag, positive_fraction, positive_integer
from podium.histogram import Item, KnownDomain
from podium.mechanisms.base import UNSAID_NONE, Distribution, Mechanism
from podium.mechanisms.domain import exact_scores, list_scores, require_items, scores_of
from podium.mechanisms.one_item import OneItem
from podium.mechanisms.peeling import peeling_distribution
from podium.privacy.events import BottomEvent, Event, Selection
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, grid_bits_for, race, steps_per_unit, system_bits
from podium.randomness.partial_sample import exact_floor
from podium.randomness.streams import FreshStreams, Uniform
from podium.release import BOTTOM, Outcome, Release

__all__ = ["ExponentialTopK", "ExponentialWithGap", "Sampler"]

Sampler: TypeAlias = Callable[[KnownDomain], Item]
"""A black box that draws one item of a domain by the exponential mechanism."""

_FIRST_DIGITS = 48


@dataclass(frozen=True, slots=True, init=False)
class ExponentialTopK(Mechanism):
    """The k best items in order: k exponential mechanisms in turn, each without the items already chosen.

    Use
        The items can be listed, their order is wanted, and a delta is allowed: all k items at the lowest price.
    Shape
        known domain; ordered; no values
    Guarantee
        k selections, each of bounded range epsilon_per_item: k * epsilon_per_item pure, or k * rho(epsilon_per_item) in
        zCDP. Neighbours: one user added or removed (monotone=True), or counts that may move both ways.
    Distribution
        Peeling with weights exp(r * h), r = epsilon_per_item / span: P(o_1, ..., o_k) is the product over j of exp(r
        h_(o_j)) / (sum of exp(r h_i) over the items not yet chosen). With at_least, BOTTOM takes part with this score
        and ends the output, and only what is returned is paid for, BOTTOM included.
    Symbols
        k; epsilon_per_item = eps; at_least, a public number in the units of the scores; span = 1 for counts under
        addition or removal, 2 if monotone=False, rises_by + falls_by for Scores.
    Source
        Durfee & Rogers 2019, section 4.1 (the k largest of h + Gumbel(1/eps) are peeling) and 4.2 (bounded range);
        BOTTOM: docs/proofs/limited-domain.md, section 9.
    Assumes
        A known domain of at least k items; each user adds at most 1 to each count (or moves Scores as stated, with
        at_least within an interval around 0).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/limited-domain.md", "section 9")
    theorem: ClassVar[str] = (
        "Durfee & Rogers 2019, sections 4.1 and 4.2 (peeling exponential mechanisms, bounded range)"
    )

    k: int
    epsilon_per_item: Fraction
    monotone: bool
    at_least: Fraction | None = field(metadata=UNSAID_NONE)

    def __init__(
        self, k: int, epsilon_per_item: Number, *, monotone: bool = True, at_least: Number | None = None
    ) -> None:
        put = object.__setattr__
        put(self, "at_least", None if at_least is None else positive_fraction(at_least, "at_least"))
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon_per_item", positive_fraction(epsilon_per_item, "epsilon_per_item"))
        put(self, "monotone", flag(monotone, "monotone"))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """k selections."""
        return (Selection(self.epsilon_per_item),) * self.k

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        groups = histogram.groups()
        require_items(self.k, groups)
        scores, members, bottom = groups.scores, groups.multiplicities, len(groups.scores)
        if self.at_least is not None:
            scores = np.append(scores, 0) if isinstance(scores, np.ndarray) else [*scores, Fraction(0)]
            members = None if members is None else [*members, 1]
        finish = race(
            scores,
            k=self.k,
            scale=histogram.span(monotone=self.monotone) / self.epsilon_per_item,
            noise="gumbel",
            multiplicities=members,
            handicaps=None if self.at_least is None else {bottom: self.at_least},
            bits=bits,
        )
        ended = finish.groups.index(bottom) if bottom in finish.groups else None
        outcome: tuple[Item, ...] = tuple(map(groups.name, finish.groups[:ended], finish.members[:ended]))
        if ended is None:
            return self._make_release(outcome, self.worst_case, k=self.k)
        paid = (*self.worst_case[: len(outcome)], BottomEvent(self.epsilon_per_item))
        return self._make_release((*outcome, BOTTOM), paid, k=self.k)

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        size = require_items(self.k, groups)
        items, scores = list_scores(groups, outcomes=math.perm(size, self.k))
        rate = self.epsilon_per_item / histogram.span(monotone=self.monotone)
        return peeling_distribution(items, scores, rate, self.k, bottom=self.at_least)


@dataclass(frozen=True, slots=True, init=False)
class ExponentialWithGap(OneItem):
    """One item by the exponential mechanism, and how far it was ahead of the runner-up, at no further cost.

    Use
        One item is wanted, and by how much it leads.
    Shape
        known domain; one item; its gap
    Guarantee
        epsilon-DP for the item and the gap together; epsilon^2/2 in zCDP. Once the gap is out the range is up to
        2 epsilon, so the bounded-range constant does not hold. Neighbours: one user added or removed
        (monotone=True), or counts that may move both ways.
    Distribution
        With mu = (epsilon/span) h: item s with weight exp(mu_s); the gap in units of mu is logistic around theta =
        mu_s - log(sum of exp(mu_j), j != s), given that it is not negative. Jointly the gap has the density of
        that logistic distribution at g > 0. The gap is released in counts, rounded down to a multiple of
        2^-grid_bits, or at most 2^-31 of a scale above 2^12: density() is that of the ideal real gap, of which the
        release is post-processing.
    Symbols
        epsilon = eps, the total; span as for ExponentialTopK. A domain of one item has no gap.
    Source
        Ding, Wang, Xiao, Zhang & Kifer 2021, section 8, Theorem 7; their Algorithm 8 lacks eps in the location.
        docs/proofs/noisy-selection.md.
    Assumes
        A known domain of at least one item; each user adds at most 1 to each count (or moves Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/noisy-selection.md", "section 5")
    theorem: ClassVar[str] = "Ding, Wang, Xiao, Zhang & Kifer 2021, Theorem 7 (exponential mechanism with gap)"
    grid_bits: ClassVar[int] = 20

    epsilon: Fraction
    monotone: bool

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once: the winner of a Gumbel race, and its lead."""
        winner, gaps = self._race(histogram, "gumbel", gap_grid=self.grid_bits, bits=bits)
        return self._make_release((winner,), self.worst_case, k=1, values=gaps, value_kind="gaps")

    def release_around(self, sampler: Sampler, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """The item that a black box draws, and a gap for it.

        ``sampler(histogram)`` must draw an item with weights exp((epsilon/span) * score): then item and gap have
        together the distribution of ``release``, and cost the same. Nothing but the item is asked of the black box.
        """
        require_items(1, histogram.groups())
        winner = sampler(histogram)
        try:
            gaps = self.gap_of(winner, histogram, bits=bits)
        except InvalidArgument:
            # The item itself must not be quoted: nothing is known of a black box that is not what it should be.
            raise InvalidArgument(
                "sampler", "a sampler that drew something else", allowed="a sampler that draws an item of the domain"
            ) from None
        return self._make_release((winner,), self.worst_case, k=1, values=gaps, value_kind="gaps")

    def gap_of(self, winner: Item, histogram: KnownDomain, *, bits: BitSource | None = None) -> tuple[Fraction, ...]:
        """One gap drawn from its distribution given that ``winner`` won; empty if there is no other item.

        Private only for a winner that the exponential mechanism drew from the same histogram and nobody else uses.
        """
        (score,) = scores_of(histogram, [winner])
        rate = self._rate(histogram)
        field = _Field.without(histogram, score, rate)
        if not field.offsets:
            return ()
        fine = steps_per_unit(grid_bits_for(1 / rate, self.grid_bits))
        source = system_bits() if bits is None else bits
        uniform = Uniform(FreshStreams(source), 0, 1, int(source.words(1)[0]))
        steps = exact_floor(
            lambda digits: field.gap_bounds(uniform.digits(digits), digits),
            field.precision,
            fine / rate,
            _FIRST_DIGITS,
        )
        return (steps / fine,)

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        items, scores = list_scores(groups, outcomes=require_items(1, groups))
        return peeling_distribution(items, scores, self._rate(histogram), 1)

    def _density(self, histogram: KnownDomain, outcome: Outcome, values: list[Fraction]) -> Callable[[], flint.arb]:
        """The joint density of the item and its gap in counts; without another item, the probability 1."""
        if not isinstance(outcome, tuple) or len(outcome) != 1:
            raise InvalidArgument("outcome", outcome, allowed="a tuple of one item")
        (score,) = scores_of(histogram, outcome)
        rate = self._rate(histogram)
        field = _Field.without(histogram, score, rate)
        if len(values) != min(1, len(field.offsets)):
            raise InvalidArgument("values", tuple(values), allowed="one gap, or none where the domain has one item")
        return lambda: ball(rate) * field.density(values[0] * rate) if values else flint.arb(1)


@dataclass(frozen=True, slots=True)
class _Field:
    """The winner and all others, in noise units relative to the best of the others.

    ``lead`` is the winner's offset; ``offsets`` and ``counts`` are the others, so that W = e^lead / sum of
    counts * e^offset is e^theta, with the sum at least 1.
    """

    lead: Fraction
    offsets: tuple[Fraction, ...]
    counts: tuple[int, ...]

    @classmethod
    def without(cls, histogram: KnownDomain, winner: Fraction, rate: Fraction) -> _Field:
        groups = histogram.groups()
        sizes: dict[Fraction, int] = {}
        members = [1] * len(groups.scores) if groups.multiplicities is None else groups.multiplicities
        for score, size in zip(exact_scores(groups), members, strict=True):
            sizes[score] = sizes.get(score, 0) + size
        sizes[winner] -= 1
        others = {score: size for score, size in sizes.items() if size}
        best = max(others, default=winner)
        return cls((winner - best) * rate, tuple((s - best) * rate for s in others), tuple(others.values()))

    def precision(self, digits: int) -> int:
        """Bits at which the rounding of exponentials is far below the width of the interval."""
        return digits + 64 + abs(int(self.lead)).bit_length()

    def odds(self) -> flint.arb:
        """W, the odds of the winner against all others."""
        rest = sum((count * ball(o).exp() for o, count in zip(self.offsets, self.counts, strict=True)), flint.arb(0))
        return ball(self.lead).exp() / rest

    def gap_bounds(self, digits: int, count: int) -> tuple[flint.arb, flint.arb]:
        """Balls below and above the gap whose survival probability V starts with these digits.

        P(gap > g | winner) = (1 + W)/(e^g + W) = V has the solution g = log(1 + W (1 - V)) - log V.
        """
        odds = self.odds()

        def gap(top: int) -> flint.arb:
            share = Fraction(top, 1 << count)
            return (odds * ball(1 - share)).log1p() - ball(share).log()

        return gap(digits + 1), gap(digits) if digits else flint.arb.pos_inf()

    def density(self, gap: Fraction) -> flint.arb:
        """The logistic density around log W, at a gap that is not negative."""
        if gap < 0:
            return flint.arb(0)
        # With u = W e^-gap the density is u/(1 + u)^2, the same for 1/u; the smaller of the two is computed.
        share = self.odds() * ball(-gap).exp()
        if share > 1:
            share = 1 / share
        return share / (1 + share) ** 2
