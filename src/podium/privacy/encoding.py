"""Events as JSON and back, from a closed registry.

A document names its kind and version; anything else is refused. Numbers are texts ("1/10"), so that no JSON
library can turn them into something close by; a hand-written JSON number is read as the decimal it shows.
Runs of equal events are written once with a count, because a top-1000 is a thousand equal selections.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from podium.errors import InvalidArgument, UnknownEvent
from podium.exact import positive_integer
from podium.privacy.events import CorrelatedNoise, Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["REGISTRY", "decode_event", "decode_events", "encode_event", "events_from_json", "events_to_json"]

_KINDS: tuple[type[Event], ...] = get_args(Event)

REGISTRY: Mapping[tuple[str, int], type[Event]] = MappingProxyType({(kind.kind, kind.version): kind for kind in _KINDS})
"""Every kind and version that can be read. Read-only: events are added to ``Event``, by a release, or not at all."""

_MAX_COUNT = 10_000_000
_MAX_DENOMINATOR_BITS = 1 << 16


def encode_event(event: Event) -> dict[str, str | int | bool]:
    """One event as a JSON object."""
    document: dict[str, str | int | bool] = {"kind": event.kind, "version": event.version}
    for field in fields(event):
        value = getattr(event, field.name)
        document[field.name] = str(value) if isinstance(value, Fraction) else value
    return document


def decode_event(document: Mapping[str, Any]) -> Event:
    """The event that a JSON object records; ``UnknownEvent`` for any kind, version or field not in the registry."""
    if not hasattr(document, "items"):
        raise InvalidArgument("event", document, allowed="a JSON object")
    given = dict(document)
    kind = _lookup(given.pop("kind", None), given.pop("version", None))
    expected = {field.name for field in fields(kind)}
    if set(given) != expected:
        raise InvalidArgument(
            "event",
            sorted(given),
            allowed=f"exactly the fields {sorted(expected)} for kind={kind.kind!r}",
        )
    return kind(**given)


def decode_events(documents: Iterable[Mapping[str, Any]]) -> tuple[Event, ...]:
    """The events of a receipt, one document each."""
    events = tuple(decode_event(document) for document in documents)
    _require_addable(set(events))
    return events


def _require_addable(events: set[Event]) -> None:
    """Refuse events whose sum is no number that can be written down.

    A short document can name thousands of ratios without a common factor: their sum would have millions of digits.
    """
    shared = 1
    for event in events:
        shared = math.lcm(shared, *_below(event))
        if shared.bit_length() > _MAX_DENOMINATOR_BITS:
            raise InvalidArgument(
                "events",
                f"{len(events)} different events",
                allowed=f"costs with a common denominator below 2^{_MAX_DENOMINATOR_BITS}",
            )


def _below(event: Event) -> list[int]:
    """What may come below the line in the costs of an event: denominators, and what costs divide by."""
    if isinstance(event, CorrelatedNoise):
        return [event.rho.denominator]
    found = []
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, Fraction):
            found.append(value.denominator)
            if field.name == "sigma":
                found.append(value.numerator)
            elif field.name == "delta_parameter":
                found.append(value.numerator + value.denominator)
    return found


def _lookup(name: object, version: object) -> type[Event]:
    known = isinstance(name, str) and isinstance(version, int) and not isinstance(version, bool)
    found = REGISTRY.get((str(name), int(str(version)))) if known else None
    if found is None:
        raise UnknownEvent(name, version)
    return found


def events_to_json(events: Iterable[Event]) -> str:
    """A receipt as JSON text: one object per run of equal events, in order."""
    runs = [{**encode_event(event), "count": sum(1 for _ in run)} for event, run in groupby(events)]
    return json.dumps(runs, separators=(",", ":"))


def events_from_json(text: str) -> tuple[Event, ...]:
    """The receipt that ``events_to_json`` wrote."""
    try:
        runs = json.loads(text, parse_float=Decimal)
    except (RecursionError, TypeError, ValueError):
        raise InvalidArgument("events", text, allowed="a JSON array of events") from None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise InvalidArgument("events", text, allowed="a JSON array of events")
    events: list[Event] = []
    different: set[Event] = set()
    for run in runs:
        count = positive_integer(run.pop("count", 1), "count")
        if count + len(events) > _MAX_COUNT:
            raise InvalidArgument("count", count, allowed=f"at most {_MAX_COUNT} events in one receipt")
        event = decode_event(run)
        different.add(event)
        events.extend([event] * count)
    _require_addable(different)
    return tuple(events)
