"""Noisy counts whose Laplace noise is cut off at the threshold: everybody shares one vote among their items."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.mechanisms.domain import unknown_domain_delta
from podium.mechanisms.gaussian.level_distribution import StandardNoise
from podium.mechanisms.noisy_histogram import NoisyHistogram
from podium.mechanisms.truncated.cutoff_noise import CutOffNoise
from podium.mechanisms.truncated.cutoffs import laplace_cutoff
from podium.mechanisms.weights import SharesOneVote
from podium.privacy.events import Event, HiddenItems, LaplaceNoise
from podium.privacy.proofs import Proof, proofs_in

__all__ = ["TruncatedLaplaceHistogram"]

_MAX_ITEMS = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class TruncatedLaplaceHistogram(SharesOneVote, NoisyHistogram):
    """The items whose shared count plus Laplace noise cut off at a public bound passes that bound, in order.

    Use
        Nobody can list the items beforehand and most users have one item: the lowest threshold of all.
    Shape
        unknown domain; ordered; noisy counts
    Guarantee
        (epsilon, delta)-DP, and delta-approximate (epsilon + e^-epsilon - 1)-zCDP. All that passes may be released
        for it, with its noisy counts; a k only shortens the list. Neighbours: one user added or removed.
    Distribution
        x_i = the sum of w(t_u)/unit over the users u who have item i, t_u = how many items u has, w(t)/unit <= 1/t.
        Every item gets x_i + N_i, N_i ~ Lap(1/epsilon) given |N_i| <= A; those above A come out, largest first, at
        most k. An item that nobody has cannot be above A = max(1, ln(1 + (e^epsilon - 1)/(2 delta))/epsilon).
    Symbols
        epsilon; delta; max_items_per_user = cap, to which users are cut before they share; k (None: all that pass);
        w = ``weights``, Weights.shared(cap); A = ``threshold``.
    Source
        docs/proofs/truncated-noise.md, Theorems 2 and 3.
    Assumes
        Each user was cut to at most ``max_items_per_user`` items by a rule that sees only that user's rows and public
        facts, and adds ``weights.weight(t)`` to each of t items. Counts are these integer sums.

    Values estimate counts of users where these have one item, and are low elsewhere. They are rounded down to a
    multiple of 2^-grid_bits, or at most 2^-31 of 1/epsilon above 2^12; ``density`` is that of the ideal real-valued
    mechanism, of which the release is post-processing.
    """

    proofs: ClassVar[tuple[Proof, ...]] = proofs_in("docs/proofs/truncated-noise.md", "Theorem 2", "Theorem 3")
    theorem: ClassVar[str] = f"{proofs[0]} (noise cut off at the threshold); Theorem 3 there for zCDP"
    family: ClassVar[Literal["gaussian", "laplace"]] = "laplace"

    k: int | None
    epsilon: Fraction
    delta: Fraction
    max_items_per_user: int

    def __init__(self, *, epsilon: Number, delta: Number, max_items_per_user: int = 1000, k: int | None = None) -> None:
        put = object.__setattr__
        put(self, "k", None if k is None else positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "delta", unknown_domain_delta(delta))
        put(self, "max_items_per_user", _cap(max_items_per_user))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """Laplace noise on what may come out either way, and what hides the rest; never less is paid."""
        return LaplaceNoise(self.epsilon * self.weights.total_sensitivity), HiddenItems(self.delta)

    @property
    def threshold(self) -> Fraction:
        """A, rounded up: what noise does not exceed, and released values do."""
        return laplace_cutoff(self.epsilon, self.delta)

    @property
    def count_threshold(self) -> Fraction:
        """The same: a user with one item adds 1."""
        return self.threshold

    @property
    def noise_scale(self) -> Fraction:
        """The scale of the Laplace noise."""
        return 1 / self.epsilon

    @property
    def noise_bound(self) -> Fraction | None:
        """A: noise is cut off exactly at the threshold."""
        return self.threshold

    def _standard_noise(self) -> StandardNoise:
        return CutOffNoise.laplace(self.threshold * self.epsilon)


def _cap(max_items_per_user: int) -> int:
    cap = positive_integer(max_items_per_user, "max_items_per_user")
    if cap > _MAX_ITEMS:
        raise InvalidArgument(
            "max_items_per_user",
            cap,
            allowed=f"an integer from 1 to {_MAX_ITEMS}",
            hint="Shares of one vote among more items would round to nothing.",
        )
    return cap
