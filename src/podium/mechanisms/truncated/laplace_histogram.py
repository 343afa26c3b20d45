"""Noisy counts whose Laplace noise is cut off at the threshold: everybody shares one vote among their items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import flint

from podium.errors import InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer, probability
from podium.histogram import Groups, Histogram, Item
from podium.mechanisms.base import Distribution, Mechanism, certified_floats
from podium.mechanisms.domain import list_scores
from podium.mechanisms.gaussian.level_distribution import MAX_ORDER, LevelRace
from podium.mechanisms.reader import Reads
from podium.mechanisms.truncated.cutoff_noise import CutOffNoise
from podium.mechanisms.truncated.cutoffs import laplace_cutoff
from podium.mechanisms.weights import Weights
from podium.privacy.events import Event, HiddenItems, LaplaceNoise
from podium.privacy.proofs import Proof
from podium.randomness import BitSource, grid_bits_for, race_above
from podium.release import Release

__all__ = ["TruncatedLaplaceHistogram"]

_MAX_ITEMS = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class TruncatedLaplaceHistogram(Mechanism):
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

    reads: ClassVar[Reads] = Reads.WEIGHTED_COUNTS
    proofs: ClassVar[tuple[Proof, ...]] = (
        Proof("docs/proofs/truncated-noise.md", "Theorem 2"),
        Proof("docs/proofs/truncated-noise.md", "Theorem 3"),
    )
    theorem: ClassVar[str] = f"{proofs[0]} (noise cut off at the threshold); Theorem 3 there for zCDP"
    grid_bits: ClassVar[int] = 20

    k: int | None
    epsilon: Fraction
    delta: Fraction
    max_items_per_user: int

    def __init__(self, *, epsilon: Number, delta: Number, max_items_per_user: int = 1000, k: int | None = None) -> None:
        put = object.__setattr__
        put(self, "k", None if k is None else positive_integer(k, "k"))
        put(self, "epsilon", positive_fraction(epsilon, "epsilon"))
        put(self, "delta", probability(delta, "delta", hint="An unknown domain cannot be private with delta=0."))
        put(self, "max_items_per_user", _cap(max_items_per_user))

    @property
    def worst_case(self) -> tuple[Event, ...]:
        """Laplace noise on what may come out either way, and what hides the rest; never less is paid."""
        return LaplaceNoise(self.epsilon * self.weights.total_sensitivity), HiddenItems(self.delta)

    @property
    def weights(self) -> Weights:
        """What a user with t items adds to each of them: a share of 1, rounded down."""
        return _shared(self.max_items_per_user)

    @property
    def first_weights(self) -> Weights:
        """How much one user adds to each item."""
        return self.weights

    @property
    def threshold(self) -> Fraction:
        """A, rounded up: what noise does not exceed, and released values do."""
        return laplace_cutoff(self.epsilon, self.delta)

    @property
    def count_threshold(self) -> Fraction:
        """The same: a user with one item adds 1."""
        return self.threshold

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on shared counts, known domain or not; items with count 0 take no part."""
        groups = histogram.observed_groups()
        scale = 1 / self.epsilon
        finish = race_above(
            groups.scores,
            above=self.threshold,
            k=self.k,
            scale=scale,
            unit=Fraction(1, self.weights.unit),
            noise="laplace",
            noise_bound=self.threshold,
            multiplicities=groups.multiplicities,
            value_bits=grid_bits_for(scale, self.grid_bits),
            bits=bits,
        )
        items = tuple(map(groups.name, finish.groups, finish.members))
        k = len(items) if self.k is None else self.k
        return self._make_release(items, self.worst_case, k=k, values=finish.values, value_kind="counts")

    def inclusion(self, histogram: Histogram) -> dict[Item, float]:
        """The probability of each item to pass the threshold."""
        items, race = self._race(histogram.observed_groups(), outcomes=len(histogram))
        balls = certified_floats(lambda: dict(zip(items, race.pass_probabilities(), strict=True)))
        return {item: float(value.mid()) for item, value in balls.items()}

    def _exact_distribution(self, histogram: Histogram) -> Distribution:
        groups = histogram.observed_groups()
        items, race = self._race(groups, outcomes=len(histogram) ** MAX_ORDER)
        if min(len(items), len(items) if self.k is None else self.k) > MAX_ORDER:
            raise InvalidArgument(
                "k",
                self.k,
                allowed=f"at most {MAX_ORDER} for the exact distribution of the order",
                hint="inclusion() and density() have no such limit.",
            )
        return race.distribution()

    def _density(
        self, histogram: Histogram, outcome: Sequence[Item], values: list[Fraction]
    ) -> Callable[[], flint.arb]:
        if not isinstance(outcome, tuple) or len(values) != len(outcome):
            raise InvalidArgument("values", tuple(values), allowed="one value for each item of the outcome, a tuple")
        _, race = self._race(histogram.observed_groups(), outcomes=len(histogram))
        return lambda: race.density(outcome, values)

    def _race(self, groups: Groups, *, outcomes: int) -> tuple[list[Item], LevelRace]:
        items, sums = list_scores(groups, outcomes=outcomes)
        scores = [score / self.weights.unit for score in sums]
        noise = CutOffNoise.laplace(self.threshold * self.epsilon)
        return items, LevelRace(items, scores, self.threshold, 1 / self.epsilon, self.k, noise=noise)


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


@lru_cache(maxsize=64)
def _shared(cap: int) -> Weights:
    return Weights.shared(cap)
