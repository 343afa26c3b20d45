"""At once or in turn: a small private test of the data decides how the k best items are chosen.

Choosing a whole set at once is excellent while the gaps between ranks pay for the number of sets, and useless below
that cliff; choosing in turn decays gently. Which side of the cliff the data is on shows in a few sorted counts,
and can be asked for a small part of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from podium.errors import InvalidArgument
from podium.exact import Number, ball, exact_fraction, flag, positive_fraction, positive_integer, probability
from podium.histogram import KnownDomain
from podium.mechanisms.base import Distribution, Mechanism
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK
from podium.mechanisms.canonical.envelope import log_binomial
from podium.mechanisms.joint.sampler import Ladder
from podium.mechanisms.noisy import NoisyTopK
from podium.mechanisms.rising import RisingTopK, rising_unit
from podium.privacy.events import ApproximateMechanism, Event, PureMechanism
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource, choose, system_bits
from podium.release import Release

__all__ = ["Blocks", "TestedTopK", "blocks_of"]

_EVEN_ODDS = 6
"""Nats: the test is a fair coin where the bad sets carry e^-6 of the weight of the true top k."""
_GRID = 1 << 10
_GROWTH = 8


@dataclass(frozen=True, slots=True, init=False)
class TestedTopK(Mechanism):
    """k items, as a set chosen at once where the gaps allow it, else in turn; a paid test of the data decides which.

    Use
        The items can be listed, and it is not known whether the counts of neighbouring ranks lie far apart.
    Shape
        known domain; a set or ordered, as the test decides; no values
    Guarantee
        (epsilon, delta)-DP for all of it; epsilon-DP with delta=0. In zCDP epsilon^2/2. Neighbours: one user added or
        removed; replaced if monotone=False.
    Distribution
        With probability 1/(1 + exp(-(2 epsilon_test/epsilon_set) (margin - 6))) CanonicalTopK(k, epsilon_set) with
        exponential noise, else RisingTopK(k, unit), or NoisyTopK(k, epsilon_set) if delta=0. The margin is the smallest
        of epsilon_set/(2 span) * (h_(i) - h_(j)) - s_ij over a public list of ranks i < j;
        s_ij is about the logarithm of the number of sets that miss rank i, reach down to rank j and are largely wrong.
    Symbols
        k; epsilon = eps, the total; delta; share of epsilon for the test, by default 1/(8 r), r being k^(1/4) rounded
        up, and with delta > 0 the smaller of 1/10 and 2/(5 floor(sqrt(k))); epsilon_test = share * epsilon; epsilon_set
        = epsilon - epsilon_test; unit = the largest with which the test's outcome and k selections keep (epsilon,
        delta); span = 1 for counts, 2 if monotone=False, rises_by + falls_by for Scores.
    Source
        docs/proofs/tested.md; the parts as in CanonicalTopK, RisingTopK and NoisyTopK.
    Assumes
        A known domain of more than k items; each user adds at most 1 to each count (or moves Scores as stated).
    """

    __test__: ClassVar[bool] = False  # The name begins like that of a test.
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/tested.md", "section 3", "section 4")
    theorem: ClassVar[str] = f"{proofs[0].file} (a bounded-range test, then a set at once or selections in turn)"

    k: int
    epsilon: Fraction
    delta: Fraction
    share: Fraction
    monotone: bool

    def __init__(
        self, k: int, epsilon: Number, *, delta: Number = 0, share: Number | None = None, monotone: bool = True
    ) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "delta", probability(delta, "delta", zero=True))
        part = min(Fraction(1, 10), Fraction(2, 5 * math.isqrt(self.k)))
        part = part if self.delta else Fraction(1, 8 * _fourth_root(self.k))
        part = part if share is None else exact_fraction(share, "share")
        if not 0 < part < 1:
            raise InvalidArgument("share", share, allowed="a number with 0 < value < 1")
        put(self, "share", part)
        put(self, "monotone", flag(monotone, "monotone"))

    @property
    def epsilon_test(self) -> Fraction:
        """What the test uses."""
        return self.share * self.epsilon

    @property
    def epsilon_set(self) -> Fraction:
        """What a set chosen at once uses."""
        return self.epsilon - self.epsilon_test

    @property
    def at_once(self) -> CanonicalTopK:
        """The mechanism on the good side of the cliff."""
        return CanonicalTopK(self.k, self.epsilon_set, noise="exponential", monotone=self.monotone)

    @property
    def in_turn(self) -> RisingTopK | NoisyTopK:
        """The mechanism on the other side."""
        if self.delta:
            unit = rising_unit(self.k, self.epsilon, self.delta, self.epsilon_test)
            return RisingTopK(self.k, unit, monotone=self.monotone)
        return NoisyTopK(self.k, self.epsilon_set, gaps=False, monotone=self.monotone)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """One mechanism, pure or approximate: which of its two ways it goes is part of it."""
        return (ApproximateMechanism(self.epsilon, self.delta) if self.delta else PureMechanism(self.epsilon),)

    def release(self, histogram: KnownDomain, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on a known domain."""
        source = system_bits() if bits is None else bits
        test = choose([self.log_odds(histogram), 0], k=1, rate=1, bits=source)
        chosen = self.in_turn if test.groups[0] else self.at_once
        outcome = chosen.release(histogram, bits=source).outcome
        return self._make_release(outcome, self.worst_case, k=self.k)

    def log_odds(self, histogram: KnownDomain) -> Fraction:
        """The log odds of the test for choosing at once, an exact rational. Private: only the test may see it."""
        ladder = Ladder(histogram.groups(), self.k)
        blocks = blocks_of(self.k, ladder.size)
        rate = self.epsilon_set / (2 * histogram.span(monotone=self.monotone)) * ladder.unit * _GRID
        gaps = zip(ladder.depths(blocks.missed), ladder.depths(blocks.reached), blocks.sizes, strict=True)
        margin = min((low - high) * rate.numerator - size * rate.denominator for high, low, size in gaps)
        nats = Fraction(margin, rate.denominator * _GRID)
        return 2 * self.epsilon_test / self.epsilon_set * (nats - _EVEN_ODDS)

    def _exact_distribution(self, histogram: KnownDomain) -> Distribution:
        odds = ball(self.log_odds(histogram)).exp()
        distribution = {
            outcome: chance * odds / (1 + odds)
            for outcome, chance in self.at_once._exact_distribution(histogram).items()
        }
        return distribution | {
            outcome: chance / (1 + odds) for outcome, chance in self.in_turn._exact_distribution(histogram).items()
        }


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of classes of largely wrong sets, each with one rank missed, one reached, and its log size in 1/1024.

    A function of k and of the number of items alone. The guarantee holds for any such list.
    """

    missed: Sequence[int]
    reached: Sequence[int]
    sizes: Sequence[int]


@lru_cache(maxsize=16)
def blocks_of(k: int, size: int) -> Blocks:
    """The blocks for k of ``size`` items: sets that contain ranks 1..a, miss a+1 and reach down to t.

    Blocks widen with the distance from rank k, so they are few. A block counts if its sets have k/4 wrong items, 5 at
    least, k/2 at most; those with fewer are no loss. If no block does, the last one stands in for them.
    """
    if k >= size:
        raise InvalidArgument(
            "k",
            k,
            allowed=f"less than {size}, the number of items in the domain",
            hint="All items of a known domain are no secret: with k equal to their number publish the domain itself.",
        )
    heads = [(k - far, k - near) for near, far in _ranges(k)]
    tails = [(k + near, k + far) for near, far in _ranges(size - k)]
    wrong = max(Fraction(k, 4), min(Fraction(k, 2), Fraction(5)))
    kept, widths = [], []
    for head in heads:
        for tail in tails:
            if _mistakes(k, head[0], tail[1]) >= wrong or (head, tail) == (heads[-1], tails[-1]):
                kept.append((sum(head) // 2, sum(tail) // 2))
                widths.append(math.log((head[1] - head[0] + 1) * (tail[1] - tail[0] + 1)))
    chosen = np.array([k - 1 - a for a, _ in kept], dtype=object)
    left = np.array([t - k - 1 for _, t in kept], dtype=object)
    sizes = np.ceil((log_binomial(chosen, left) + widths) * _GRID)
    return Blocks([a + 1 for a, _ in kept], [t for _, t in kept], [int(size) for size in sizes])


def _ranges(length: int) -> list[tuple[int, int]]:
    """1..length in ranges that widen by an eighth of the distance."""
    ranges, first = [], 1
    while first <= length:
        last = min(first + first // _GROWTH, length)
        ranges.append((first, last))
        first = last + 1
    return ranges


def _mistakes(k: int, a: int, t: int) -> Fraction:
    """How many of the k items of a set of class (a, t) rank below k, on average: rank t, and a share of the others."""
    others = t - a - 2
    return 1 + Fraction((k - 1 - a) * (t - 1 - k), others) if others else Fraction(1)


def _fourth_root(k: int) -> int:
    """k^(1/4), rounded up."""
    root = math.isqrt(math.isqrt(k))
    return root if root**4 == k else root + 1
