"""What is beside a list, measured once the list is public: those with none of its items, and what other items have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.estimates.measure import MeasureCounts
from podium.exact import Number, positive_fraction
from podium.histogram import Histogram
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.measures.amounts import best_ceiling
from podium.privacy.events import CorrelatedNoise, Event
from podium.privacy.proofs import Proof
from podium.privacy.rounding import display
from podium.randomness import BitSource
from podium.release import Beside

__all__ = ["MeasureOthers", "rest_of"]

_NUMBERS = 2


@dataclass(frozen=True, slots=True, init=False)
class MeasureOthers:
    """Two numbers beside a list.

    Where users rank: how many have none of the listed items, and how many have at least one item of all. With
    ``amounts``: users by the size of what they add to items that are not listed, and then the sum of that, of which
    each user adds at most a ceiling that follows from the first.

    Guarantee
        One user moves each number by at most 1, or one entry of the histogram by 1 and the sum by the ceiling: twice
        the cost of one count.
    Distribution
        Discrete Laplace noise of scale 2/epsilon on each, or Gaussian noise of sigma on each (discrete; on a sum real
        noise, rounded to the nearest integer), times the ceiling.
    Source
        docs/proofs/others.md.
    Assumes
        The listed items are public by now. Never a difference of a total and of counts: users with two of the items
        would be taken away twice, and a total that is clipped by itself fits no clipped values.
    """

    step: MeasureCounts
    amounts: bool

    def __init__(self, *, epsilon: Number | None = None, sigma: Number | None = None, amounts: bool = False) -> None:
        if (epsilon is None) == (sigma is None):
            raise InvalidArgument("sigma", sigma, allowed="either epsilon (discrete Laplace) or sigma (Gaussian)")
        if epsilon is None:
            made = MeasureCounts(sigma=sigma)
        else:
            made = MeasureCounts(epsilon_per_item=positive_fraction(epsilon, "epsilon") / _NUMBERS)
        object.__setattr__(self, "step", made)
        object.__setattr__(self, "amounts", amounts)

    @property
    def proof(self) -> Proof:
        """Why it may be added to an answer."""
        return Proof("docs/proofs/others.md", "Theorem 2" if self.amounts else "Theorem 1")

    @property
    def group_proof(self) -> Proof:
        """Why it may be measured beside the list of every group, for the price of the groups of one user."""
        return Proof("docs/proofs/others.md", "Theorem 3")

    @property
    def events(self) -> tuple[Event, ...]:
        """What it costs, whatever comes out."""
        if self.amounts and self.step.noise == "gaussian":
            return (*self.step.events(1), CorrelatedNoise(1, 1, self.step.scale, Fraction(0)))
        return self.step.events(_NUMBERS)

    def describe_noise(self) -> str:
        """The noise in words, for a plan."""
        what = "the numbers of other and of all users"
        if self.amounts:
            what = "how much users add to other items, then times a ceiling on the sum of that"
        return f"{self.step.noise} noise of scale {display(self.step.scale)} on {what}"

    def release(self, others: int, total: int, *, bits: BitSource | None = None) -> Beside:
        """The noisy numbers of users."""
        measured = self.step.release(Histogram({"others": others, "total": total}), ("others", "total"), bits=bits)
        first, second = measured.values or ()
        return Beside(first, second, self.step.noise, str(Fraction(self.step.scale)))

    def release_rest(
        self, users: Sequence[int], sums: Sequence[int], listed: Sequence[Fraction], *, bits: BitSource | None = None
    ) -> Beside:
        """The noisy sum of what users add to other items; ``listed`` are the released values of the list.

        ``users`` and ``sums``: how many users add from above 2^(j-1) to 2^j units, and how much together.
        """
        names = tuple(range(len(users)))
        noisy = self.step.release(Histogram(dict(zip(names, users, strict=True))), names, bits=bits)
        sigma = float(self.step.variance) ** 0.5
        laplace = self.step.noise == "laplace"
        place = best_ceiling([float(value) for value in noisy.values or ()], sigma, laplace=laplace)
        true = rest_of(users, sums, place)
        measured, scale = self._measure(true, 2**place, bits)
        total = sum(listed, Fraction(0)) + measured
        return Beside(measured, total, self.step.noise, str(scale), Fraction(2**place))

    def _measure(self, true: int, ceiling: int, bits: BitSource | None) -> tuple[Fraction, Fraction]:
        """The noisy sum, and the scale of its noise."""
        scale = ceiling * self.step.scale
        if self.step.noise == "gaussian":
            # Real noise, like that of the values: shares have intervals that need no allowance for discrete noise.
            noise = CorrelatedCounts(1, max_items=1, sigma=scale, shared_sigma=0, clip=ceiling)
            return noise.measure((true,), bits=bits)[0], scale
        step = MeasureCounts(epsilon_per_item=1 / self.step.scale, clip=ceiling)
        found = step.release(Histogram({"others": true}), ("others",), bits=bits)
        return Fraction((found.values or (0,))[0]), scale


def rest_of(users: Sequence[int], sums: Sequence[int], place: int) -> int:
    """The sum over users of what they add, at most 2^place each."""
    return sum(sums[: place + 1]) + (sum(users[place + 1 :]) << place)
