"""Sums of what is charged, which support subtraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from podium.exact import exact_fraction
from podium.privacy import Cost, Event, actual_cost, worst_case
from podium.privacy.rounding import above

__all__ = ["Charged", "Sum", "Terms", "plus"]

_ZERO = Fraction(0)

Terms: TypeAlias = Mapping[str, Any]
"""What an entry records beside its cost: the prices of an account whose charges do not follow from costs alone."""


def plus(first: Fraction, second: Fraction) -> Fraction:
    """Most parts of most sums are 0, and verification adds up millions."""
    if second is _ZERO:
        return first
    return first + second if first and second else first or second


def _minus(first: Fraction, second: Fraction) -> Fraction:
    return _ZERO if first is second or first == second else first - second if second else first


class Charged(NamedTuple):
    """What is charged, with rho rounded up once to a multiple of 2^-64, and the events if they are known."""

    cost: Cost
    events: tuple[Event, ...]

    @classmethod
    def of(cls, charge: Cost | tuple[Event, ...], *, reserve: bool) -> Charged:
        """The worst case of a charge, or what came out."""
        events = () if isinstance(charge, Cost) else charge
        cost = charge if isinstance(charge, Cost) else worst_case(charge) if reserve else actual_cost(charge)
        return cls(Cost(epsilon=cost.epsilon, rho=above(cost.rho), delta=cost.delta), events)


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of costs that supports subtraction: unbounded losses are counted, not added.

    ``mu_squared`` is what the Gaussian filter charges; 0 in accounts of the other kind.
    """

    epsilon: Fraction = _ZERO
    unbounded: int = 0
    rho: Fraction = _ZERO
    delta: Fraction = _ZERO
    mu_squared: Fraction = _ZERO

    @classmethod
    def of(cls, cost: Cost, terms: Terms | None = None) -> Sum:
        """The sum of one cost, with what its entry records beside it."""
        paid = _ZERO if not terms else _recorded(terms["mu_squared"])
        loss = cost.epsilon
        return cls(_ZERO, 1, cost.rho, cost.delta, paid) if loss is None else cls(loss, 0, cost.rho, cost.delta, paid)

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            plus(self.epsilon, other.epsilon),
            self.unbounded + other.unbounded,
            plus(self.rho, other.rho),
            plus(self.delta, other.delta),
            plus(self.mu_squared, other.mu_squared),
        )

    def __sub__(self, other: Sum) -> Sum:
        return Sum(
            _minus(self.epsilon, other.epsilon),
            self.unbounded - other.unbounded,
            _minus(self.rho, other.rho),
            _minus(self.delta, other.delta),
            _minus(self.mu_squared, other.mu_squared),
        )

    @property
    def cost(self) -> Cost:
        """The same as a cost, which saturates at delta = 1."""
        return Cost(epsilon=None if self.unbounded else self.epsilon, rho=self.rho, delta=min(Fraction(1), self.delta))


def _recorded(value: object) -> Fraction:
    return _amount(value) if isinstance(value, str) else exact_fraction(value, "mu_squared")


@lru_cache(maxsize=1024)
def _amount(text: str) -> Fraction:
    return exact_fraction(text, "mu_squared")
