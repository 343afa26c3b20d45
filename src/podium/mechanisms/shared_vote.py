"""Laplace noise on every count of a known domain, where each user shares one vote among their items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from podium.exact import Number, positive_fraction, positive_integer
from podium.histogram import Histogram
from podium.mechanisms.base import Distribution, Mechanism
from podium.mechanisms.domain import list_scores, rank_by_noise, require_items
from podium.mechanisms.finish_distribution import order_distribution
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import SharesOneVote, shared_weights
from podium.privacy.events import Event, LaplaceNoise
from podium.privacy.proofs import Proof, proofs_in
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["SharedVoteTopK"]


@dataclass(frozen=True, slots=True, init=False)
class SharedVoteTopK(SharesOneVote, Mechanism):
    """The k items of a known domain with the largest shared counts plus Laplace noise, in order.

    Use
        The items can be listed and users have few of them: the noise does not grow with k.
    Shape
        known domain; ordered; noisy counts
    Guarantee
        epsilon-DP, and (epsilon + e^-epsilon - 1)-zCDP. All noisy counts might be released for it; k only shortens the
        list. Neighbours: one user added or removed.
    Distribution
        x_i = the sum of w(t_u)/unit over the users u who have item i, t_u = how many items u has, w(t)/unit <= 1/t.
        Every item of the domain, those that nobody has among them, gets x_i + Lap(1/epsilon); the k largest come out,
        largest first.
    Symbols
        k; epsilon; max_items_per_user = cap, to which users are cut before they share; w = ``weights``,
        Weights.shared(cap).
    Source
        docs/proofs/by-sizes.md, Theorem 2. Dwork, McSherry, Nissim & Smith 2006 (noise for the L1 sensitivity).
    Assumes
        A known domain of at least k items. Each user was cut to at most ``max_items_per_user`` items by a rule that
        sees only that user's rows and public facts, and adds ``weights.weight(t)`` to each of t items. Counts are these
        integer sums.

    Values estimate counts of users where these have one item, and are low elsewhere. They are rounded down to a public
    grid, a post-processing of the noisy counts.
    """

    reads: ClassVar[Reads] = Reads.WEIGHTED_COUNTS
    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/by-sizes.md", "Theorem 2")
    theorem: ClassVar[str] = f"{proofs[0]} (Laplace noise on shared counts)"

    k: int
    epsilon: Fraction
    max_items_per_user: int

    def __init__(self, k: int, epsilon: Number, *, max_items_per_user: int = 1000) -> None:
        put = object.__setattr__
        put(self, "k", positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "max_items_per_user", positive_integer(max_items_per_user, "max_items_per_user"))
        # A cap that no weights can have is refused here, not when rows are about to be read.
        shared_weights(self.max_items_per_user)

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """Laplace noise on all counts; never less is paid."""
        return (LaplaceNoise(self.epsilon * self.weights.total_sensitivity),)

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on the shared counts of a known domain."""
        groups = histogram.groups()
        require_items(self.k, groups)
        scale = self.weights.unit / self.epsilon
        items, values = rank_by_noise(groups, self.k, noise="laplace", scale=scale, weights=self.weights, bits=bits)
        return self._make_release(items, self.worst_case, k=self.k, values=values, value_kind="counts")

    def _exact_distribution(self, histogram: Histogram) -> Distribution:
        groups = histogram.groups()
        size = require_items(self.k, groups)
        items, scores = list_scores(groups, outcomes=math.perm(size, self.k))
        best, rate = max(scores), self.epsilon / self.weights.unit
        # Relative to the largest, so that no exponential overflows.
        return order_distribution(items, [(score - best) * rate for score in scores], "laplace", self.k)
