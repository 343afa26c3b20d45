"""Accounts with a Gaussian filter (docs/proofs/gaussian-filter.md).

A price depends on what is left after a step, so a reservation writes down the prices of all its steps in the order in
which they run, from what was free at that moment. Settling charges the prices of the steps that ran, and a reservation
that is given up stays charged, unless its prices hold whatever is left. Only the total is a guarantee: what is free is
no smaller one, and is never turned into an epsilon.

Charges are rounded up to multiples of 2^-64, and the total down, so that sums of many have no more digits than these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from podium.errors import BudgetExceeded, BudgetMismatch
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.held import Charged, Sum, Terms, plus
from podium.ledger.bookkeeping.priced import KeptByIdentity, priced_events
from podium.ledger.bookkeeping.remaining import Remaining
from podium.privacy import Cost, Event
from podium.privacy.gaussian import Chain, GaussianLimits, Step, chain, steps_of
from podium.privacy.rounding import above, below, smallest_integer

__all__ = ["GaussianBooks"]


@dataclass(frozen=True, slots=True)
class GaussianBooks:
    """Chains of prices against mu^2, and sums of epsilon and delta against their limits.

    A question is admitted if its chain fits, or if the sum of epsilons does. In the second case it is charged in mu^2
    all the same, at prices that hold whatever is left; more may be held then than there is, and nothing else fits.
    """

    limits: GaussianLimits
    _total: Fraction = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_total", below(self.limits.mu_squared))

    @property
    def filter(self) -> str:
        """The kind."""
        return "gaussian"

    def check_kind(self, charge: Charged) -> None:
        """Refuse what has no price: amounts without the events that they are made of, and discrete Gaussian noise."""
        if not charge.events and charge.cost != Cost.nothing():
            raise BudgetMismatch(
                "an amount without events cannot be charged to a budget with a Gaussian filter, whose prices are those "
                "of single steps. Charge the events of the mechanism."
            )
        steps_of(charge.events)

    def refusal(self, charge: Charged, held: Sum, *, session: bool = False) -> BudgetExceeded | None:
        """Why neither its chain nor its epsilons fit; None if one of them does, and its delta."""
        most = self.limits.delta_for_calls
        if plus(held.delta, charge.cost.delta) > most:
            return BudgetExceeded("delta", charge.cost.delta, max(Fraction(0), most - held.delta))
        priced = priced_events(self._total, charge.events)
        if priced.offer(held.mu_squared, session=session).terms is not None or self._adds_up(charge, held):
            return None
        return BudgetExceeded("mu_squared", Chain.at_zero(priced.steps).total, max(Fraction(0), self._free(held)))

    def reserve(self, charge: Charged, held: Sum, *, session: bool = False) -> Terms:
        """The chain; at prices that hold beside whatever is left, if only the epsilons fit or if it is a session."""
        priced = priced_events(self._total, charge.events)
        return priced.offer(held.mu_squared, session=session).terms or priced.terms_at_zero

    def settle(self, terms: Terms, reserved: Charged, actual: Charged) -> Terms:
        """The prices of the steps that ran; all of them, if it is not said which."""
        return _settled(terms, actual.events)

    def remaining(self, held: Sum) -> Remaining:
        """The limits less what is held."""
        cost = held.cost
        return Remaining(
            None if cost.epsilon is None else max(Fraction(0), self.limits.epsilon - cost.epsilon),
            None,
            max(Fraction(0), self.limits.delta_for_calls - cost.delta),
            max(Fraction(0), self._free(held)),
        )

    def items_left(self, epsilon_per_item: Fraction, held: Sum) -> int:
        """The longest chain of such selections that fits, or what is left of epsilon."""
        left = self.remaining(held)
        by_epsilon = 0 if left.epsilon is None else math.floor(left.epsilon / epsilon_per_item)

        def is_too_long(count: int) -> bool:
            return not _fits([Step.bounded_range(epsilon_per_item, count=count + 1)], self._free(held))

        return max(by_epsilon, smallest_integer(is_too_long))

    def holds_noise(self, items: int, epsilon_per_item: Fraction) -> bool:
        """Whether so many selections fit without adding up epsilons."""
        return _fits([Step.bounded_range(epsilon_per_item, count=items)], self._free(Sum()))

    def covers(self, other: Books) -> bool:
        """Whether mu^2, and what failures may add up to, are at least the other's: a larger epsilon is not enough."""
        if not isinstance(other, GaussianBooks):
            return False
        large, small = self.limits, other.limits
        return (
            large.mu_squared >= small.mu_squared
            and large.delta_for_calls >= small.delta_for_calls
            and large.epsilon >= small.epsilon
        )

    def to_dict(self) -> dict[str, Any]:
        """The limits as stored."""
        limits = self.limits
        return {
            "epsilon": str(limits.epsilon),
            "delta": str(limits.delta),
            "delta_for_calls": str(limits.delta_for_calls),
            "mu_squared": str(limits.mu_squared),
        }

    def _free(self, held: Sum) -> Fraction:
        return self._total - held.mu_squared

    def _adds_up(self, charge: Charged, held: Sum) -> bool:
        epsilon, before = charge.cost.epsilon, held.cost.epsilon
        return epsilon is not None and before is not None and before + epsilon <= self.limits.epsilon


@KeptByIdentity
def _settled(terms: Terms, events: tuple[Event, ...]) -> Terms:
    found, ran = Chain.from_dict(terms["chain"]), steps_of(events)
    if not found.has_price(ran):
        # No amounts here, as for a release that cost too much: charging all would not make up for it.
        raise BudgetMismatch(
            "the steps of a release are not those that were reserved for it, in their order; it is withheld. "
            "Reserve the steps that a mechanism may run in the order in which they run, or as a session."
        )
    return {"mu_squared": str(above(found.charge(ran) if events else found.total))}


def _fits(steps: Iterable[Step], free: Fraction) -> bool:
    return chain(steps, free) is not None
