"""The k best items, as far as they are above a public threshold, with free gaps: the two hybrids."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias, get_args

import flint
import numpy as np

from podium.errors import InvalidArgument
from podium.exact import Number, flag
from podium.histogram import Groups, Item, KnownDomain
from podium.mechanisms.base import Distribution
from podium.mechanisms.domain import domain_size, list_scores
from podium.mechanisms.sparse_vector.hybrid_distribution import (
    Candidate,
    Field,
    chained_density,
    hybrid_distribution,
    level_density,
)
from podium.mechanisms.sparse_vector.scales import GapScales
from podium.mechanisms.sparse_vector.threshold_budget import AboveThreshold, Movement, movement_of, resolve_theta
from podium.privacy.events import PureMechanism
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, grid_bits_for, race
from podium.release import BOTTOM, Release

__all__ = ["HybridScales", "HybridTopK", "Priority"]

Priority: TypeAlias = Literal["identities", "estimates"]


@dataclass(frozen=True, slots=True)
class HybridScales:
    """The public noise scales; ``lift`` is added to the threshold so that only differences of means are left."""

    query: Fraction
    threshold: Fraction
    lift: Fraction


@dataclass(frozen=True, slots=True, init=False)
class HybridTopK(AboveThreshold):
    """The k items of largest noisy count, in order, cut at a noisy public threshold; with gaps for free.

    Use
        The items can be listed, and those below a public threshold do not matter.
    Shape
        known domain; ordered; gaps
    Guarantee
        epsilon-DP, and what came out may cost less. ``first="identities"``: t output symbols, BOTTOM included,
        cost (t/k)*epsilon. ``first="estimates"``: t items, without BOTTOM, cost theta*epsilon +
        (t/k)*(1-theta)*epsilon. Neighbours: one user added or removed (``monotone=False``: or replaced).
    Distribution
        Identities: the threshold takes part as one more item; all have exponential noise of scale span*k/epsilon; items
        in order until BOTTOM, which stands for the threshold, at most k symbols. Gaps are leads over the next: of
        the last item over the threshold if it was reached (then they add up to estimates above it), else over the
        best that was left out. Estimates: exponential noise of scale reach/eps0 on the threshold and span/eps1 on
        the items, minus their means; the k largest as far as above the threshold, BOTTOM if fewer than k are; gaps
        to the noisy threshold. Gaps are rounded down to multiples of 2^-20, or at most 2^-31 of noise above 2^12:
        ``density`` is that of the ideal real-valued mechanism, of which the release is post-processing.
    Symbols
        threshold = T; k; epsilon = eps; theta = eps0/eps (None for identities), eps1 = (1-theta)*eps/k. Counts: reach
        1, span 1 (2 unless monotone). Scores: reach = max(rises_by, falls_by), span = their sum.
    Source
        Ding, Wang, Xiao, Zhang & Kifer 2021, Algorithms 5 and 6, Lemmas 7 and 8; that the cost may be settled after the
        fact, and asymmetric scores: docs/proofs/thresholds-and-gaps.md.
    Assumes
        A known domain; each user moves each count by at most 1 (or Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/thresholds-and-gaps.md", "Theorem 2", "Theorem 3")
    theorem: ClassVar[str] = "Ding et al. 2021, Lemmas 7 and 8 (hybrids of noisy top-k and sparse vector)"

    threshold: Fraction
    k: int
    epsilon: Fraction
    first: Priority
    theta: Fraction | None
    monotone: bool

    def __init__(
        self,
        threshold: Number,
        k: int,
        epsilon: Number,
        *,
        first: Priority = "identities",
        theta: Number | None = None,
        monotone: bool = True,
    ) -> None:
        self._put(threshold, k, epsilon)
        put = object.__setattr__
        if first not in get_args(Priority):
            raise InvalidArgument("first", first, allowed="'identities' or 'estimates'")
        if first == "identities" and theta is not None:
            raise InvalidArgument(
                "theta",
                theta,
                allowed="None where first='identities'",
                hint="The threshold then has the same noise as the items.",
            )
        put(self, "first", first)
        put(self, "monotone", flag(monotone, "monotone"))
        put(self, "theta", None if first == "identities" else resolve_theta(theta, self.k, monotone=monotone))

    def cost(self, outcome: Sequence[Item]) -> Fraction:
        """What an outcome costs."""
        if self.theta is None:
            return self.epsilon * len(outcome) / self.k
        found = sum(1 for item in outcome if item is not BOTTOM)
        return self.epsilon * (self.theta + (1 - self.theta) * found / self.k)

    def scales(self, *, rises_by: Number = 1, falls_by: Number | None = None) -> HybridScales:
        """The noise scales for scores that one more user moves by -falls_by to rises_by.

        Unless stated, monotone scores do not fall, and others fall as far as they rise.
        """
        return self._scales(Movement.from_bounds(rises_by, falls_by, monotone=self.monotone))

    @property
    def values_are_leads(self) -> bool:
        """Whether each released value says how far its item is above the noisy threshold, and not above the next."""
        return self.first == "estimates"

    def gap_scales(
        self, items: Sequence[Item], *, rises_by: Number = 1, falls_by: Number | None = None
    ) -> list[GapScales]:
        """The noise in the gap of each item found."""
        scales = self.scales(rises_by=rises_by, falls_by=falls_by)
        return [GapScales("exponential", scales.query, scales.threshold, flint.arb(0))] * len(items)

    def _scales(self, movement: Movement) -> HybridScales:
        if self.theta is None:
            # The threshold is a query that never moves, and 0 is one of the allowed moves: only the span counts.
            same = movement.span * self.k / self.epsilon
            return HybridScales(same, same, Fraction(0))
        query = movement.span * self.k / ((1 - self.theta) * self.epsilon)
        threshold = movement.reach / (self.theta * self.epsilon)
        return HybridScales(query, threshold, query - threshold)

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once over a known domain; items that nobody has take part, however many they are."""
        groups = histogram.groups()
        scales = self._scales(movement_of(histogram, monotone=self.monotone))
        level, base = len(groups.scores), self.threshold // 1
        finish = race(
            _with_threshold(groups, base),
            k=self.k,
            scale=scales.query,
            noise="exponential",
            multiplicities=None if groups.multiplicities is None else [*groups.multiplicities, 1],
            handicaps={level: self.threshold - base + scales.lift},
            scales={level: scales.threshold},
            gap_bits=grid_bits_for(scales.query, self.grid_bits),
            gaps_to=level if self.theta is not None else None,
            bits=bits,
        )
        stop = finish.groups.index(level) if level in finish.groups else None
        found = tuple(zip(finish.groups, finish.members, strict=True))[:stop]
        items = tuple(groups.name(group, member) for group, member in found)
        outcome = items if stop is None else (*items, BOTTOM)
        paid = (PureMechanism(self.cost(outcome), reserved=self.epsilon),)
        return self._make_release(outcome, paid, k=self.k, values=finish.gaps[: len(items)], value_kind="gaps")

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        size = domain_size(histogram.groups())
        outcomes = sum(math.perm(size, found) for found in range(min(self.k, size) + 1))
        return hybrid_distribution(self._field(histogram, outcomes=outcomes), self.k)

    def _field(self, data: KnownDomain, *, outcomes: int) -> Field:
        """All that take part, with the places and scales of their noise."""
        scales = self._scales(movement_of(data, monotone=self.monotone))
        items, scores = list_scores(data.groups(), outcomes=outcomes)
        entered = {item: Candidate(score, scales.query) for item, score in zip(items, scores, strict=True)}
        return Field(entered, Candidate(self.threshold + scales.lift, scales.threshold))

    def _density(
        self, histogram: KnownDomain, outcome: Sequence[Item], values: list[Fraction]
    ) -> Callable[[], flint.arb]:
        """The joint density of an outcome and its gaps."""
        items = [item for item in outcome if item is not BOTTOM]
        if len(values) != len(items):
            raise InvalidArgument("values", list(values), allowed=f"one gap for each of {len(items)} items")
        stopped = self._ends_with_bottom(outcome, len(items))
        field = self._field(histogram, outcomes=domain_size(histogram.groups()))
        compute = chained_density if self.theta is None else level_density
        return lambda: compute(field, items, values, stopped=stopped)

    def _ends_with_bottom(self, outcome: Sequence[Item], found: int) -> bool:
        stopped = len(outcome) > found
        if stopped and not (outcome[-1] is BOTTOM and found < self.k and len(outcome) == found + 1):
            raise InvalidArgument("outcome", outcome, allowed="fewer than k items and BOTTOM at the end, or k items")
        if not stopped and found != self.k:
            raise InvalidArgument("outcome", outcome, allowed="fewer than k items and BOTTOM at the end, or k items")
        return stopped


def _with_threshold(groups: Groups, base: int) -> object:
    if isinstance(groups.scores, np.ndarray):
        return np.append(groups.scores, np.int64(base))
    return [*groups.scores, Fraction(base)]
