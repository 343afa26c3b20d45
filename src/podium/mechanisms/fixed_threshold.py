"""Everything that stands out from rank k+1 by a fixed margin: randomised response per item, as a set."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint

from podium.exact import (
    Number,
    ball,
    ball_precision,
    dyadic_above,
    positive_fraction,
    positive_integer,
    rational_bounds,
)
from podium.histogram import Histogram, Item
from podium.mechanisms.base import Distribution, Mechanism, certified_floats
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.reader import Reads
from podium.privacy.events import ApproximateMechanism, Event
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, grid_bits_for, noisy_values
from podium.release import Release

__all__ = ["FixedThreshold"]

_THRESHOLD_BITS = 64


@dataclass(frozen=True, slots=True, init=False)
class FixedThreshold(Mechanism):
    """Those of the true top k whose noisy count passes a public margin over the count of rank k+1.

    Use
        Nobody can list the items beforehand, and a set without a bottom symbol is enough.
    Shape
        unknown domain; a set; no values
    Guarantee
        k independent (epsilon_per_item, delta)-DP decisions: (k*eps, k*delta)-DP, and k*delta-approximate
        (k*eps^2/2)-zCDP. ``guarantee.epsilon(delta=...)`` takes the best of these and of advanced and optimal
        composition. Neighbours: one user added or removed.
    Distribution
        Item i with h_i > h_(k+1) is in the set if h_i + Lap(1/eps) > h_(k+1) + 1 + ln(1/(2 delta))/eps,
        independently of the others. No order, no values, no bottom symbol.
    Symbols
        k; epsilon_per_item = eps; delta (of one item).
    Source
        Durfee & Rogers 2019, Algorithm 8 and Theorem 5, with the test h_i > h_(k+1) of docs/proofs/limited-domain.md.
    Assumes
        Each user adds at most 1 to each count. Bounding the items per user does not help: one item moves the
        threshold of all.
    """

    reads: ClassVar[Reads] = Reads.TOP_ROWS
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/limited-domain.md", "Theorem 4")
    theorem: ClassVar[str] = "Durfee & Rogers 2019, Theorem 5 with the test h_i > h_(k+1) (fixed threshold)"

    k: int
    epsilon_per_item: Fraction
    delta: Fraction

    def __init__(self, k: int, epsilon_per_item: Number, delta: Number) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon_per_item", positive_fraction(epsilon_per_item, "epsilon_per_item"))
        put(self, "delta", unknown_domain_delta(delta))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One (eps, delta)-DP decision for each of the k items that may stand out; never less is paid."""
        return (ApproximateMechanism(self.epsilon_per_item, self.delta),) * self.k

    @property
    def margin(self) -> Fraction:
        """How far the threshold lies above the count of rank k+1, rounded up to a multiple of 2^-64."""
        with ball_precision(256):
            logarithm = -(2 * ball(self.delta)).log() / ball(self.epsilon_per_item)
            return 1 + dyadic_above(rational_bounds(logarithm)[1], _THRESHOLD_BITS)

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on the top rows of a histogram, known domain or not."""
        leads, scale = self._leads(histogram), 1 / self.epsilon_per_item
        noisy = noisy_values(list(leads.values()), scale=scale, grid_bits=grid_bits_for(scale, 0), bits=bits)
        # The floor of a real number is 0 or more exactly if the number is, on a grid as coarse as the noise too.
        passed = frozenset(item for item, floor in zip(leads, noisy, strict=True) if floor >= 0)
        return self._make_release(passed, self.worst_case, k=self.k)

    def inclusion(self, histogram: Histogram) -> dict[Item, float]:
        """The probability of each item that can come out."""
        balls = certified_floats(lambda: self._inclusion(histogram))
        return {item: float(value.mid()) for item, value in balls.items()}

    def _leads(self, histogram: Histogram) -> dict[Item, Fraction]:
        """By how much each item of the domain leads the threshold, before noise."""
        rows = histogram.top(self.k)
        threshold = rows.next_count + self.margin
        pairs = zip(rows.items, rows.counts.tolist(), strict=True)
        return {item: count - threshold for item, count in pairs if count > rows.next_count}

    def _inclusion(self, histogram: Histogram) -> dict[Item, flint.arb]:
        return {item: _positive(lead * self.epsilon_per_item) for item, lead in self._leads(histogram).items()}

    def _exact_distribution(self, histogram: Histogram) -> Distribution:
        chances = self._inclusion(histogram)
        distribution: Distribution = {}
        for inside in itertools.product((False, True), repeat=len(chances)):
            product = flint.arb(1)
            for is_in, chance in zip(inside, chances.values(), strict=True):
                product *= chance if is_in else 1 - chance
            distribution[frozenset(item for item, is_in in zip(chances, inside, strict=True) if is_in)] = product
        return distribution


def _positive(lead: Fraction) -> flint.arb:
    """P(lead + Lap(1) > 0)."""
    half = ball(-abs(lead)).exp() / 2
    return half if lead <= 0 else 1 - half
