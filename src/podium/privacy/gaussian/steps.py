"""Steps: what the Gaussian filter charges, read off the events of a receipt.

A step says of one answer, for any neighbours, which pairs of distributions it may come from. Three kinds have a proved
price (docs/proofs/gaussian-filter.md): the likelihood ratio is bounded (pure), it lies in an interval of bounded length
(bounded range), or the pair is at most that of real Gaussian noise. Everything else is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, Literal, TypeAlias, get_args

from podium.errors import BudgetMismatch, InvalidArgument
from podium.exact import Number, positive_fraction, positive_integer
from podium.privacy.events import (
    ApproximateMechanism,
    BottomEvent,
    CorrelatedNoise,
    Event,
    GaussianNoise,
    HiddenItems,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
)
from podium.privacy.rounding import decimal_repr

__all__ = ["Step", "StepKind", "steps_of"]

StepKind: TypeAlias = Literal["pure", "bounded_range", "gaussian"]


@dataclass(frozen=True, slots=True)
class Step:
    """``count`` equal steps, one after the other. Build one with ``pure``, ``bounded_range`` or ``gaussian``."""

    __repr__ = decimal_repr

    kind: StepKind
    size: Fraction
    """Epsilon, or the mu^2 of Gaussian noise."""
    count: int = 1

    @classmethod
    def pure(cls, epsilon: Number, *, count: int = 1) -> Step:
        """An epsilon-DP answer: the absolute value of its loss is at most epsilon."""
        return cls("pure", positive_fraction(epsilon, "epsilon"), positive_integer(count, "count"))

    @classmethod
    def bounded_range(cls, epsilon: Number, *, count: int = 1) -> Step:
        """An answer whose losses lie in an interval of length epsilon, as of an exponential mechanism."""
        return cls("bounded_range", positive_fraction(epsilon, "epsilon"), positive_integer(count, "count"))

    @classmethod
    def gaussian(cls, mu_squared: Number, *, count: int = 1) -> Step:
        """Real Gaussian noise: mu is the L2 sensitivity in units of the noise."""
        return cls("gaussian", positive_fraction(mu_squared, "mu_squared"), positive_integer(count, "count"))

    @property
    def half_width(self) -> Fraction:
        """How far losses lie from the middle of their interval: the ``a`` of the proofs."""
        return self.size / 2 if self.kind == "bounded_range" else self.size

    def times(self, count: int) -> Step:
        """As many equal steps."""
        return Step(self.kind, self.size, count)

    def to_list(self) -> list[str | int]:
        """Kind, size and count; the size is text."""
        return [self.kind, str(self.size), self.count]

    @classmethod
    def from_list(cls, document: Any) -> Step:
        """The step that ``to_list`` wrote."""
        kinds = get_args(StepKind)
        if not isinstance(document, list) or len(document) != 3 or document[0] not in kinds:
            raise InvalidArgument("step", document, allowed=f"[kind, size, count] with a kind of {', '.join(kinds)}")
        kind, size, count = document
        return cls(kind, positive_fraction(size, "size"), positive_integer(count, "count"))


def steps_of(events: Iterable[Event]) -> tuple[Step, ...]:
    """The steps of a receipt in its order, runs of equal ones as one. Deltas are not in them: they add up apart.

    Raises ``BudgetMismatch`` for an event without a proved price.
    """
    found: list[Step] = []
    for event, run in groupby(events):
        step = _step(event)
        if step is None:
            continue
        count = sum(1 for _ in run)
        if found and found[-1].times(1) == step:
            count += found.pop().count
        found.append(step.times(count))
    return tuple(found)


def _step(event: Event) -> Step | None:
    """The step that an event is, given that nothing failed; None where all of its loss is in its delta."""
    match event:
        case LimitedDomainCall() | HiddenItems():
            return None
        case Selection() | BottomEvent() | SetSelection():
            return Step("bounded_range", event.epsilon)
        case PureMechanism():
            # What came out decides how much of the loss is known to be used, so it cannot be the price.
            return Step("pure", event.reserved)
        case LaplaceNoise() | ApproximateMechanism():
            return Step("pure", event.epsilon)
        case CorrelatedNoise():
            return Step("gaussian", 2 * event.rho)
        case GaussianNoise():
            if event.discrete:
                raise BudgetMismatch(
                    "discrete Gaussian noise cannot be charged to a Gaussian filter: only its rho is known, and what "
                    "the filter promises is not proved of it. Real Gaussian noise, rounded after it was added, can "
                    "be charged: measure counts with MeasureTogether. Or use an account with the zCDP filter."
                )
            return Step("gaussian", 2 * event.rho)
    raise BudgetMismatch(f"the event {event!r} has no price in a Gaussian filter. Use an account with the zCDP filter.")
