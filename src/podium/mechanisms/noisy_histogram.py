"""What noisy counts above a public level have in common: one race, and its exact probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

import flint

from podium.errors import InvalidArgument
from podium.histogram import Groups, Histogram, Item
from podium.mechanisms.base import Distribution, Mechanism, certified_floats
from podium.mechanisms.domain import list_scores
from podium.mechanisms.gaussian.level_distribution import MAX_ORDER, LevelRace, StandardNoise
from podium.mechanisms.reader import Reads
from podium.mechanisms.weights import Weights
from podium.randomness import BitSource, grid_bits_for, race_above
from podium.release import Release

__all__ = ["NoisyHistogram"]


class NoisyHistogram(Mechanism):
    """The items whose weighted count plus noise of their own passes ``count_threshold``, with these noisy counts."""

    __slots__ = ()
    reads: ClassVar[Reads] = Reads.WEIGHTED_COUNTS
    family: ClassVar[Literal["gaussian", "laplace"]] = "gaussian"
    grid_bits: ClassVar[int] = 20

    k: int | None

    @property
    @abstractmethod
    def count_threshold(self) -> Fraction:
        """What every released value is above."""

    @property
    @abstractmethod
    def noise_scale(self) -> Fraction:
        """The scale of the noise, in units of the released values."""

    @property
    def noise_bound(self) -> Fraction | None:
        """What the noise of the released values is conditioned on not to exceed in size; None: it is unbounded."""
        return None

    @abstractmethod
    def _standard_noise(self) -> StandardNoise:
        """The distribution of the noise in units of its scale."""

    @property
    @abstractmethod
    def first_weights(self) -> Weights:
        """How much one user adds to each item; a user with one item counts as 1."""

    @property
    def score_unit(self) -> Fraction:
        """What one unit of a weighted count is in the units of the released values."""
        return Fraction(1, self.first_weights.weight(1))

    def release(self, histogram: Histogram, *, bits: BitSource | None = None) -> Release:
        """Run the mechanism once on weighted counts, known domain or not; items with count 0 take no part."""
        groups = histogram.observed_groups()
        finish = race_above(
            groups.scores,
            above=self.count_threshold,
            k=self.k,
            scale=self.noise_scale,
            unit=self.score_unit,
            noise=self.family,
            noise_bound=self.noise_bound,
            multiplicities=groups.multiplicities,
            value_bits=grid_bits_for(self.noise_scale, self.grid_bits),
            bits=bits,
        )
        items = tuple(map(groups.name, finish.groups, finish.members))
        k = len(items) if self.k is None else self.k
        return self._make_release(items, self.worst_case, k=k, values=finish.values, value_kind="counts")

    def inclusion(self, histogram: Histogram) -> dict[Item, float]:
        """The probability of each item to pass the threshold."""
        balls = certified_floats(lambda: self.chances(histogram))
        return {item: float(value.mid()) for item, value in balls.items()}

    def chances(self, histogram: Histogram) -> dict[Item, flint.arb]:
        """The same as balls at the current precision, for distributions of what uses this mechanism as a stage."""
        items, race = self._race(histogram.observed_groups(), outcomes=len(histogram))
        return dict(zip(items, race.pass_probabilities(), strict=True))

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
        scores = [score * self.score_unit for score in sums]
        noise = self._standard_noise()
        return items, LevelRace(items, scores, self.count_threshold, self.noise_scale, self.k, noise=noise)
