"""The users beside a list: those with none of its items, and all of them, measured once the list is public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from podium.errors import InvalidArgument
from podium.estimates.measure import MeasureCounts
from podium.exact import Number, positive_fraction
from podium.histogram import Histogram
from podium.privacy.events import Event
from podium.privacy.proofs import Proof
from podium.privacy.rounding import display
from podium.randomness import BitSource
from podium.release import Beside

__all__ = ["MeasureOthers"]

_NUMBERS = 2


@dataclass(frozen=True, slots=True, init=False)
class MeasureOthers:
    """Two numbers of users: with none of the listed items, and with at least one item of all.

    Guarantee
        One user moves each number by at most 1: twice the cost of one count.
    Distribution
        Discrete Laplace noise of scale 2/epsilon on each, or discrete Gaussian noise of sigma on each.
    Source
        docs/proofs/others.md.
    Assumes
        The listed items are public by now. Never a difference of a total and of counts: users with two of the items
        would be taken away twice.
    """

    step: MeasureCounts

    def __init__(self, *, epsilon: Number | None = None, sigma: Number | None = None) -> None:
        if (epsilon is None) == (sigma is None):
            raise InvalidArgument("sigma", sigma, allowed="either epsilon (discrete Laplace) or sigma (Gaussian)")
        if epsilon is None:
            made = MeasureCounts(sigma=sigma)
        else:
            made = MeasureCounts(epsilon_per_item=positive_fraction(epsilon, "epsilon") / _NUMBERS)
        object.__setattr__(self, "step", made)

    @property
    def proof(self) -> Proof:
        """Why it may be added to an answer."""
        return Proof("docs/proofs/others.md", "Theorem 1")

    @property
    def events(self) -> tuple[Event, ...]:
        """What it costs, whatever comes out."""
        return self.step.events(_NUMBERS)

    def describe_noise(self) -> str:
        """The noise in words, for a plan."""
        return f"{self.step.noise} noise of scale {display(self.step.scale)} on the numbers of other and of all users"

    def release(self, others: int, total: int, *, bits: BitSource | None = None) -> Beside:
        """The noisy numbers."""
        measured = self.step.release(Histogram({"others": others, "total": total}), ("others", "total"), bits=bits)
        first, second = map(int, measured.values or ())
        return Beside(first, second, self.step.noise, str(Fraction(self.step.scale)))
