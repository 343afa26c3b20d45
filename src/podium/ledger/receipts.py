"""Receipts: whether what somebody holds is what this ledger settled.

A hash alone shows that an entry is there. A release is compared with what its entry settled, in everything but what is
added or left out when it is told: the entry's hash; the events, if it was told again free of charge; places after the
k-th, if a shorter list was asked for; of a list of a schedule, its period.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from podium.errors import InvalidArgument
from podium.ledger.account import Contradiction
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.privacy.documents import Document
from podium.release import BOTTOM, Receipt, Release

__all__ = ["Claim", "Confirmed", "Presented", "confirm", "first_places"]

_WINDOW = ("period", "opens", "closes")
_COMPARISON = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody holds: a hash, whose data set may be named, and the release that is said to be settled there."""

    hash: str
    dataset: str | None = None
    document: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, presented: Presented) -> Claim:
        """A hash, or a release with its receipt."""
        if isinstance(presented, Claim):
            return presented
        if isinstance(presented, str):
            return cls(presented)
        entry = presented.paid.entry
        if entry is None:
            raise InvalidArgument("receipt", None, allowed="the hash of an entry, or a release that a ledger settled")
        return cls(entry, document=json.loads(presented.to_json()))


Presented: TypeAlias = str | Release | Claim


@dataclass(frozen=True, slots=True)
class Confirmed(Document):
    """A claim that holds: the entry, and what was compared with it."""

    hash: str
    dataset: str
    sequence: int
    kind: Kind
    compared: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "hash": self.hash,
            "dataset": self.dataset,
            "sequence": self.sequence,
            "kind": self.kind.value,
            "compared": self.compared,
        }


def confirm(claim: Claim, entry: Entry, reservation: Entry | None) -> Confirmed:
    """Compare a claim with the entry of its hash; ``Contradiction`` says what differs, and shows no value."""
    if claim.dataset not in (None, entry.dataset):
        raise Contradiction(f"the hash {claim.hash!r} of a receipt is of another data set, {entry.dataset!r}")
    compared = "its hash" if claim.document is None else _compare(claim.document, entry, reservation)
    return Confirmed(entry.hash, entry.dataset, entry.sequence, entry.kind, compared)


def first_places(release: Release, k: int) -> Release:
    """An ordered release cut to its first k places."""
    outcome = tuple(release.outcome)[:k]
    found = sum(item is not BOTTOM for item in outcome)
    values = None if release.values is None else release.values[:found]
    return replace(release, k=k, outcome=outcome, values=values)


def _compare(document: Mapping[str, Any], settled: Entry, reservation: Entry | None) -> str:
    if settled.kind is not Kind.SETTLED or reservation is None:
        raise Contradiction(f"the entry of a receipt did not settle a release, it is {settled.kind.value!r}")
    try:
        stored = Release.from_json(settled.release or "")
    except InvalidArgument:
        raise Contradiction("what was settled under the hash of a receipt is not a release") from None
    try:
        presented = Release.from_json(canonical_json(document))
    except InvalidArgument:
        raise Contradiction("what came with the hash of a receipt is not a release") from None
    schedule = _schedule(reservation.question)
    if stored.user is None and presented.user is not None:
        # Releases did not always name the column of the users; their questions did.
        stored = replace(stored, user=_asked(reservation.question).get("user"))
    expected, told = _as_told(stored, presented, schedule)
    wanted = json.loads(replace(expected, paid=replace(expected.paid, entry=settled.hash)).to_json())
    if "period" in schedule:
        wanted["period"] = schedule["period"]
    # From the object, so that an older spelling of the same release is the same; what it has no place for as it is.
    written = {**document, **json.loads(presented.to_json()), "complete": document.get("complete", wanted["complete"])}
    missing = set(wanted) - set(written) - {"period"}
    differing = missing | {name for name in written if _text(written[name]) != _text(wanted.get(name))}
    if differing:
        raise Contradiction(f"a release differs from the one that was settled, in {', '.join(sorted(differing))}")
    return told


def _as_told(stored: Release, presented: Release, schedule: Mapping[str, Any]) -> tuple[Release, str]:
    """What was settled, as it would be told to somebody who holds this; and how that is said."""
    expected, told = stored, "the whole release"
    if presented.k < stored.k and stored.ordered:
        expected, told = first_places(stored, presented.k), f"its first {presented.k} of {stored.k} places"
    events = presented.paid.events
    if not events and stored.paid.events:
        expected, told = replace(expected, paid=Receipt(())), f"{told}, told again free of charge"
    if schedule:
        return _in_schedule(expected, presented, schedule, told)
    return expected, told


def _in_schedule(
    expected: Release, presented: Release, schedule: Mapping[str, Any], told: str
) -> tuple[Release, str]:  # fmt: skip
    """The same for a list of a schedule: it names its period, may be shorter than k, and pays for its finding too."""
    if presented.k > expected.k:
        expected, told = replace(expected, k=presented.k), f"{told}, but for k"
    if schedule["role"] == "finding" and not presented.outcome:
        expected, told = replace(expected, outcome=(), values=None, value_kind=None), "that nothing was found"
    events, own = presented.paid.events, expected.paid.events
    if own and len(events) > len(own) and events[-len(own) :] == own:
        expected, told = replace(expected, paid=Receipt(events)), f"{told}, but for the events of the round of finding"
    window = {name: presented.parameters[name] for name in _WINDOW if name in presented.parameters}
    if _is_window_of(schedule, window):
        expected = replace(expected, parameters={**expected.parameters, **window})
    return expected, told


def _is_window_of(schedule: Mapping[str, Any], window: Mapping[str, str]) -> bool:
    """Whether a question of a schedule was about these times, of this period."""
    where = schedule.get("where")
    conditions = where[1:] if isinstance(where, list) and where[:1] == ["and"] else [where]
    asked = {(part[0], _text(part[2])) for part in conditions if isinstance(part, list) and len(part) == _COMPARISON}
    # What a round of finding reads begins with its period where a list would look further back.
    edges = (("opens", ">="), ("closes", "<")) if schedule["role"] == "list" else (("closes", "<"),)
    return window.get("period") == schedule["period"] and all(
        any((sign, _text(form)) in asked for form in _written(window.get(name, ""))) for name, sign in edges
    )


def _written(moment: str) -> list[dict[str, str]]:
    """How a condition writes a time, and a day if it is the beginning of one."""
    try:
        time = dt.datetime.fromisoformat(moment)
    except ValueError:
        return []
    forms = [{"timestamp": time.isoformat(timespec="microseconds")}]
    return [*forms, {"date": time.date().isoformat()}] if time.time() == dt.time() else forms


def _schedule(question: str | None) -> Mapping[str, Any]:
    """The question of a schedule; empty for any other."""
    found = _asked(question)
    return found if {"schedule", "period", "role"} <= set(found) else {}


def _asked(question: str | None) -> Mapping[str, Any]:
    """A question as an object; empty if it is none of podium's."""
    try:
        found = json.loads(question or "")
    except (RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    # As text, because True == 1 in Python and the two are different items.
    return json.dumps(value, sort_keys=True)
