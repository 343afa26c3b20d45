"""The details of entries, parsed once for each different text.

A ledger of a million entries has few different details: verification would otherwise parse the same events, and add up
the same costs, once for each of them. What is kept depends on the text alone, so nothing here can go out of date.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from podium.ledger.bookkeeping.held import Charged
from podium.ledger.entries import Entry, canonical_json
from podium.privacy import Cost, Event, events_from_json

__all__ = ["RecordedEvents", "facts_of", "recorded_events", "require_facts"]

_T = TypeVar("_T")
_MAX_KEPT: Final = 256
_MAX_SIZE: Final = 10_000
"""Longer texts, and more events than this, are read again each time, so that few texts cannot fill the memory."""


class RecordedEvents:
    """The events of an entry, and what they add up to."""

    def __init__(self, text: str) -> None:
        self.events: tuple[Event, ...] = events_from_json(text)

        self._costs: dict[bool, Cost] = {}

    def costs(self, cost: Cost, *, reserve: bool) -> bool:
        """Whether this is what a reservation of them, or a settlement for them, must charge."""
        known = self._costs.get(reserve)
        if known is cost:
            return True
        if known is None:
            known = Charged.of(self.events, reserve=reserve).cost
        if known == cost:
            # Equal texts are read as one object, which is compared faster the next time.
            self._costs[reserve] = cost
            return True
        return False


class _Kept(Generic[_T]):
    """Values by the texts that they were read from; all are dropped when they become too many."""

    def __init__(self, read: Callable[[str], _T], size: Callable[[_T], int]) -> None:
        self._read = read
        self._size = size
        self._values: dict[str, _T] = {}

    def get(self, text: str) -> _T:
        """The value of a text."""
        found = self._values.get(text)
        if found is None:
            found = self._read(text)
            if len(text) <= _MAX_SIZE and self._size(found) <= _MAX_SIZE:
                if len(self._values) >= _MAX_KEPT:
                    self._values.clear()
                self._values[text] = found
        return found


def _parse(details: str) -> tuple[Mapping[str, Any], str | None]:
    """The facts, and the text of their events."""
    facts = json.loads(details)
    if not isinstance(facts, dict):
        raise TypeError("not an object")
    events = facts.get("events")
    return MappingProxyType(facts), canonical_json(events) if events else None


_FACTS = _Kept(_parse, lambda _: 0)
_EVENTS = _Kept(RecordedEvents, lambda found: len(found.events))
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def facts_of(entry: Entry) -> Mapping[str, Any]:
    """``entry.facts``, to be read only."""
    return _NOTHING if entry.details is None else _FACTS.get(entry.details)[0]


def require_facts(details: str) -> None:
    """Refuse a text that is not a JSON object: ``RecursionError``, ``TypeError`` or ``ValueError``."""
    _FACTS.get(details)


def recorded_events(entry: Entry) -> RecordedEvents | None:
    """The events that an entry records; None if it has none."""
    text = None if entry.details is None else _FACTS.get(entry.details)[1]
    return None if text is None else _EVENTS.get(text)
