"""Costs: what a receipt adds up to, exactly, in the three currencies that ledgers keep."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument
from podium.exact import Number, ShownFraction, exact_fraction
from podium.privacy.events import Event, PureMechanism
from podium.privacy.rounding import decimal_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Cost", "actual_cost", "worst_case"]


@dataclass(frozen=True, slots=True, init=False)
class Cost:
    """Up to probability ``delta``: a log-likelihood ratio of at most ``epsilon``, and rho-zCDP.

    Both bounds hold at once. ``epsilon`` is None where the ratio is unbounded, as with Gaussian noise. Costs add
    component by component, exactly, so the order in which a ledger adds them cannot matter.
    """

    __repr__ = decimal_repr

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction

    def __init__(self, *, epsilon: Number | None, rho: Number, delta: Number = 0) -> None:
        object.__setattr__(self, "epsilon", None if epsilon is None else _amount(epsilon, "epsilon"))
        object.__setattr__(self, "rho", _amount(rho, "rho"))
        object.__setattr__(self, "delta", _amount(delta, "delta"))

    @classmethod
    def nothing(cls) -> Cost:
        """The cost of not looking at the data."""
        return cls(epsilon=0, rho=0)

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        both = self.epsilon is not None and other.epsilon is not None
        return Cost(
            epsilon=self.epsilon + other.epsilon if both else None,  # type: ignore[operator]
            rho=self.rho + other.rho,
            delta=min(Fraction(1), self.delta + other.delta),
        )

    def __le__(self, other: Cost) -> bool:
        """Not more in any currency. Two costs may be incomparable."""
        if not isinstance(other, Cost):
            return NotImplemented
        if self is other:
            return True
        pure = other.epsilon is None or (self.epsilon is not None and self.epsilon <= other.epsilon)
        return pure and self.rho <= other.rho and self.delta <= other.delta

    def __ge__(self, other: Cost) -> bool:
        if not isinstance(other, Cost):
            return NotImplemented
        return other <= self


def actual_cost(events: Iterable[Event]) -> Cost:
    """What these events cost, given what came out: the number that a ledger settles."""
    return _sum(events, reserve=False)


def worst_case(events: Iterable[Event]) -> Cost:
    """What these events may cost, whatever comes out: the number that a ledger reserves."""
    return _sum(events, reserve=True)


def _sum(events: Iterable[Event], *, reserve: bool) -> Cost:
    epsilon: Fraction | None = Fraction(0)
    rho = delta = Fraction(0)
    # A top-1000 is a thousand equal events: multiplying is exact too, and fast.
    for event, count in Counter(events).items():
        pure = event.reserved if reserve and isinstance(event, PureMechanism) else event.epsilon
        epsilon = None if pure is None or epsilon is None else epsilon + count * pure
        rho += count * event.rho
        delta += count * event.delta
    return Cost(epsilon=epsilon, rho=rho, delta=min(Fraction(1), delta))


def _amount(value: Number, name: str) -> Fraction:
    number = exact_fraction(value, name)
    if number < 0:
        raise InvalidArgument(name, value, allowed="a number, 0 or more")
    return ShownFraction(number)
