"""The k best items in order, chosen at once: the joint exponential mechanism of Gillenwater and others."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint

from podium.exact import Number, ball, flag, positive_fraction, positive_integer
from podium.histogram import KnownDomain
from podium.mechanisms.base import Distribution, Mechanism
from podium.mechanisms.domain import list_scores
from podium.mechanisms.joint.sampler import Ladder, SequenceSampler
from podium.privacy.events import Event, SetSelection
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, system_bits
from podium.release import Release

__all__ = ["JointTopK"]


@dataclass(frozen=True, slots=True, init=False)
class JointTopK(Mechanism):
    """A ranked list of k items, scored by the place that falls furthest behind the true one.

    Use
        The items can be listed, and all k are chosen at once: best where neighbouring ranks lie far apart.
    Shape
        known domain; ordered; no values
    Guarantee
        epsilon-bounded-range, hence epsilon-DP, for the whole list: it costs one rho(epsilon). Neighbours: one user
        added or removed; replaced if monotone=False.
    Distribution
        P(s_1, ..., s_k) is proportional to exp(-epsilon/(2 span) * u) over all sequences of k different items; u is the
        largest of h_(j) - h_(s_j) over the places j. The 2 is needed for counts too: the true j-th can gain a user
        that s_j does not, and the other way round. It is excellent while few sequences lose little, and poor once
        the gaps between ranks no longer pay for the number of sequences.
    Symbols
        k; epsilon = eps, the total of the call; h_(j) = the j-th largest score; span: 1 for counts, 2 if they may move
        both ways (monotone=False), rises_by + falls_by for Scores.
    Source
        Gillenwater, Joseph, Medina & Diaz 2022 (the mechanism, and counting sequences by their largest difference);
        docs/proofs/joint.md for bounded range and for the sampler.
    Assumes
        A known domain of at least k items; each user adds at most 1 to each count (or moves Scores as stated).
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/joint.md", "section 2", "section 3")
    theorem: ClassVar[str] = "Gillenwater, Joseph, Medina & Diaz 2022 (joint exponential mechanism), bounded range"

    k: int
    epsilon: Fraction
    monotone: bool

    def __init__(self, k: int, epsilon: Number, *, monotone: bool = True) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "monotone", flag(monotone, "monotone"))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One choice of a whole sequence."""
        return (SetSelection(self.epsilon),)

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        ladder = Ladder(histogram.groups(), self.k)
        sampler = SequenceSampler(ladder, self._rate(histogram, ladder))
        ranks = sampler.draw(system_bits() if bits is None else bits)
        return self._make_release(ladder.items(ranks), self.worst_case, k=self.k)

    def _rate(self, histogram: KnownDomain, ladder: Ladder) -> Fraction:
        return self.epsilon / (2 * histogram.span(monotone=self.monotone)) * ladder.unit

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        groups = histogram.groups()
        ladder = Ladder(groups, self.k)
        items, scores = list_scores(groups, outcomes=math.perm(ladder.size, self.k))
        values = [int(score / ladder.unit) for score in scores]
        best = sorted(values, reverse=True)[: self.k]
        losses = {
            tuple(items[i] for i in chosen): max(top - values[i] for top, i in zip(best, chosen, strict=True))
            for chosen in itertools.permutations(range(len(items)), self.k)
        }
        chance = _chances(ladder, self._rate(histogram, ladder), sorted(set(losses.values())))
        return {outcome: chance[loss] for outcome, loss in losses.items()}


def _chances(ladder: Ladder, rate: Fraction, losses: list[int]) -> dict[int, flint.arb]:
    """The probability of one sequence of each loss; how many there are is a difference of two products."""
    within = [ladder.count(loss) for loss in losses]
    weights = {loss: ball(-rate * loss).exp() for loss in losses}
    total = flint.arb(0)
    for loss, sequences, fewer in zip(losses, within, [0, *within], strict=False):
        total += (sequences - fewer) * weights[loss]
    return {loss: weight / total for loss, weight in weights.items()}
