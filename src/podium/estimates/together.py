"""Fresh measurements of all selected counts at once, with noise that they share in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar, Final

from podium.errors import InvalidArgument
from podium.estimates.measure import Interval, counts_of, release_counts
from podium.exact import Number, positive_fraction, positive_integer, probability
from podium.histogram import Histogram, Item
from podium.mechanisms.base import UNSAID
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.privacy.events import Event, GaussianNoise
from podium.privacy.rounding import display
from podium.randomness import BitSource
from podium.release import Release

__all__ = ["MeasureTogether"]

_UNSAID_FALSE: Final = MappingProxyType({"unsaid": False})


@dataclass(frozen=True, slots=True, init=False)
class MeasureTogether:
    """The counts of all items that were selected, measured in one release with correlated Gaussian noise.

    Guarantee
        r counts cost mu^2 = r/sigma^2, as if each had independent noise of this sigma; or, with ``items``, mu^2 =
        items/sigma^2 for any number of counts up to it. With ``even`` r counts cost what the noise of ``items`` counts
        costs on r of them, which is less. Neighbours: one user added or removed.
    Distribution
        That of ``CorrelatedCounts.within(r, mu^2)``: the standard deviation is that of independent noise for one
        count, and falls to about half of it for many. For sums clip times as much, in units of the sums.
    Symbols
        sigma: the noise of one count that is measured alone; items: how many counts share what is reserved, None if
        each is paid for by itself; even: whether lists of all lengths have the noise of ``items`` counts;
        max_items_per_user: the bound that the data was cut to, None if there is none; clip:
        the most that one user adds to one sum, 1 for counts.
    Source
        docs/proofs/correlated-counts.md. Idea: Lebeda 2025.
    Assumes
        One user adds at most clip to each count, takes nothing away, and is in at most max_items_per_user of them.
    """

    noise: ClassVar[str] = CorrelatedCounts.noise

    sigma: Fraction
    items: int | None
    max_items_per_user: int | None
    clip: int = field(metadata=UNSAID)
    even: bool = field(metadata=_UNSAID_FALSE)

    def __init__(
        self,
        sigma: Number,
        *,
        items: int | None = None,
        max_items_per_user: int | None = None,
        clip: int = 1,
        even: bool = False,
    ) -> None:
        put = object.__setattr__
        put(self, "sigma", positive_fraction(sigma, "sigma"))
        put(self, "items", None if items is None else positive_integer(items, "items"))
        most = None if max_items_per_user is None else positive_integer(max_items_per_user, "max_items_per_user")
        put(self, "max_items_per_user", most)
        put(self, "clip", positive_integer(clip, "clip"))
        if even and items is None:
            raise InvalidArgument(
                "items", items, allowed="a number of items where lists of all lengths have their noise"
            )
        put(self, "even", even)

    def noise_for(self, items: int) -> CorrelatedCounts:
        """The noise on this many counts."""
        most, number = self.max_items_per_user, self.items if self.even and self.items else items
        noise = CorrelatedCounts.within(number, self._mu_squared(items), max_items_per_user=most, clip=self.clip)
        # Fewer counts are a part of what the same noise on all of them would be.
        return noise if number == items else noise.of_fewer(items)

    def _mu_squared(self, items: int) -> Fraction:
        if self.items is not None and items > self.items:
            raise InvalidArgument("items", items, allowed=f"an integer from 1 to {self.items}")
        return (self.items or items) / self.sigma**2

    def events(self, items: int) -> tuple[Event, ...]:
        """What measuring this many items costs, whatever comes out."""
        return (self.noise_for(items).event,) if items else ()

    def worst_case(self, items: int) -> tuple[Event, ...]:
        """What measuring up to this many items may cost: exactly mu^2, because each number of items rounds anew."""
        return (GaussianNoise(1, sensitivity_squared=self._mu_squared(items)),)

    def describe_noise(self, items: int) -> str:
        """The noise of a list of that many items in words, for a plan."""
        noise = self.noise_for(items)
        return (
            f"gaussian noise of scale {display(noise.sigma)} on each count and of scale "
            f"{display(noise.shared_sigma)} on all of them together, if k come back"
        )

    def count_parameters(self, items: int) -> dict[str, str]:
        """What a release says about this many counts, besides its own parameters."""
        return self.noise_for(items).parameters if items else {"count_noise": self.noise}

    def release(self, histogram: Histogram, items: Sequence[Item], *, bits: BitSource | None = None) -> Release:
        """Measure these items, which must be public by now: named in a release, or chosen without looking."""
        names = tuple(items)
        counts = counts_of(histogram, names)
        noise = self.noise_for(len(names))
        values = noise.measure(counts, bits=bits)
        return release_counts(self, names, values, (noise.event,), noise.theorem, noise.parameters)

    def intervals(
        self, measured: Release, *, confidence: Number = "0.95", simultaneous: bool = False
    ) -> tuple[Interval, ...]:
        """An interval for each true count: each holds with this confidence, or all at once if ``simultaneous``.

        From the fresh noise alone, so the confidence is kept however the items were selected.
        """
        if measured.mechanism != type(self).__name__ or measured.values is None:
            raise InvalidArgument(
                "measured", f"a release of {measured.mechanism}", allowed="what MeasureTogether.release returned"
            )
        miss = 1 - probability(confidence, "confidence")
        noise = CorrelatedCounts.from_parameters(measured.parameters)
        width = noise.margin(1 - miss / noise.items if simultaneous else 1 - miss)
        return tuple(Interval(max(0, int(value) - width), max(0, int(value) + width)) for value in measured.values)
