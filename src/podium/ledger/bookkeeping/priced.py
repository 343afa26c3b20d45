"""What the Gaussian filter finds for events and terms that come again, kept while they are the same objects.

A ledger of a million entries has few different receipts, and what is free shrinks a little at a time: most entries
have the chain of the one before. Everything kept here is a function of values that never change, and few are kept.
Objects are told apart by identity, because comparing the events of a top-1000 takes longer than pricing them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, Generic, NamedTuple, TypeVar

from podium.ledger.bookkeeping.held import Terms
from podium.privacy import Event
from podium.privacy.gaussian import Chain, FoundChain, Step, find_chain, steps_of
from podium.privacy.rounding import above

__all__ = ["KeptByIdentity", "Offer", "PricedEvents", "priced_events"]

_T = TypeVar("_T")
_MAX_KEPT: Final = 64


class KeptByIdentity(Generic[_T]):
    """Values of a function, by the very objects it was called with; all are dropped when they become too many."""

    def __init__(self, compute: Callable[..., _T]) -> None:
        self._compute = compute
        # The objects are kept too: as long as they are, nothing else can have their ids.
        self._values: dict[tuple[int, ...], tuple[tuple[Any, ...], _T]] = {}

    def __call__(self, *objects: Any) -> _T:
        """The value for these objects, which nobody changes."""
        key = tuple(map(id, objects))
        found = self._values.get(key)
        if found is None:
            found = objects, self._compute(*objects)
            if len(self._values) >= _MAX_KEPT:
                self._values.clear()
            self._values[key] = found
        return found[1]


class Offer(NamedTuple):
    """What fits beside what is spent: a chain, where one does, and the terms of a reservation at its prices."""

    spent: Fraction
    found: FoundChain
    terms: Terms | None


class PricedEvents:
    """The steps of events, and the last chain that was found for them in one total."""

    __slots__ = ("_at_zero", "_last", "_total", "steps")

    def __init__(self, total: Fraction, events: tuple[Event, ...]) -> None:
        self.steps: tuple[Step, ...] = steps_of(events)
        self._total = total
        self._last: dict[bool, Offer] = {}
        self._at_zero: Terms | None = None

    def offer(self, spent: Fraction, *, session: bool) -> Offer:
        """What fits: looked for again only where the chain of the last time may be another one."""
        last = self._last.get(session)
        if last is not None and last.spent is spent:
            return last
        free = self._total - spent
        if last is not None and last.found.holds_at(free):
            found, terms = last.found, last.terms
        else:
            found = find_chain(self.steps, free, one_shot=not session)
            terms = None if found.chain is None else _terms(found.chain)
        self._last[session] = last = Offer(spent, found, terms)
        return last

    @property
    def terms_at_zero(self) -> Terms:
        """The terms at prices that hold whatever is left."""
        if self._at_zero is None:
            self._at_zero = _terms(Chain.at_zero(self.steps))
        return self._at_zero


def _terms(found: Chain) -> Terms:
    return {
        "mu_squared": str(above(found.total)),
        "chain": found.to_dict(),
        "refundable": found.any_order,
    }


priced_events: Final = KeptByIdentity(PricedEvents)
"""What is known of a total and a tuple of events."""
