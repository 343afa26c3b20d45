"""Receipts: whether a hash or release that somebody presents is what this ledger settled.

A hash alone shows that an entry exists. A release is compared with what its entry settled, except for what changes
when it is delivered: the entry's hash; the events, if it was replayed free of charge; places after the k-th, if a
shorter list was asked for; the period, if it belongs to a schedule.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from podium.errors import InvalidArgument
from podium.ledger.account import Contradiction
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.privacy.documents import Document
from podium.query import QuestionRecord
from podium.release import BOTTOM, Group, GroupedRelease, GroupLists, RankedList, Receipt, Release
from podium.release.release import read_stored

__all__ = ["Claim", "Confirmed", "Presented", "confirm", "first_places", "lists_of"]

_WINDOW = ("period", "opens", "closes")
_COMPARISON = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody presents: a hash, perhaps its data set, and the release said to be settled under it."""

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
    if isinstance(release, GroupedRelease):
        lists = ((group, _first_of(found, k)) for group, found in release.lists.items())
        return replace(release, k=k, lists=GroupLists(lists))
    outcome = tuple(release.outcome)[:k]
    found = sum(item is not BOTTOM for item in outcome)
    values = None if release.values is None else release.values[:found]
    return replace(release, k=k, outcome=outcome, values=values)


def _first_of(found: RankedList, k: int) -> RankedList:
    outcome = tuple(found.outcome)[:k]
    items = sum(item is not BOTTOM for item in outcome)
    return RankedList(outcome, k, None if found.values is None else found.values[:items])


def lists_of(release: GroupedRelease, groups: Iterable[Group]) -> GroupedRelease:
    """The lists of these groups alone; nothing came out of those that are not shown."""
    nothing = release.nothing
    return replace(release, lists=GroupLists((group, release.lists.get(group, nothing)) for group in groups))


def _compare(document: Mapping[str, Any], settled: Entry, reservation: Entry | None) -> str:
    if settled.kind is not Kind.SETTLED or reservation is None:
        raise Contradiction(f"the entry of a receipt did not settle a release, it is {settled.kind.value!r}")
    try:
        stored = read_stored(settled.release)
    except InvalidArgument:
        raise Contradiction("what was settled under the hash of a receipt is not a release") from None
    try:
        presented = Release.from_json(canonical_json(document))
    except InvalidArgument:
        raise Contradiction("what came with the hash of a receipt is not a release") from None
    asked = QuestionRecord.from_text(reservation.question)
    if stored.user is None and presented.user is not None and asked is not None:
        # Releases did not always name the column of the users; their questions did.
        stored = replace(stored, user=asked.user)
    expected, told = _as_presented(stored, presented, asked)
    # How a question was put is not settled: the same answer may be asked for in other words.
    expected = replace(expected, asked=presented.asked)
    told = told if presented.asked is None else f"{told}, but for how it was asked"
    wanted = json.loads(replace(expected, paid=replace(expected.paid, entry=settled.hash)).to_json())
    if asked is not None and asked.schedule:
        wanted["period"] = asked.schedule["period"]
    # Read and written again, so that older spellings compare equal; unknown fields stay as they are.
    derived = {name: document.get(name, wanted[name]) for name in ("complete", "decimals")}
    written = {**document, **json.loads(presented.to_json()), **derived}
    missing = set(wanted) - set(written) - {"period"}
    differing = missing | {name for name in written if not _is_same(name, written[name], wanted.get(name))}
    if differing:
        raise Contradiction(f"a release differs from the one that was settled, in {', '.join(sorted(differing))}")
    return told


def _as_presented(stored: Release, presented: Release, asked: QuestionRecord | None) -> tuple[Release, str]:
    """The settled release in the form in which it was presented, and a description of what is compared."""
    expected, told = stored, "the whole release"
    if presented.value_name != stored.value_name:
        # Whoever asks names the column, and the same answer may be asked for under several names.
        expected, told = replace(stored, value_name=presented.value_name), "the whole release, but for the values' name"
    # What stands beside a list is about the whole of it.
    if presented.k < stored.k and stored.ordered and stored.beside is None:
        expected, told = first_places(expected, presented.k), f"its first {presented.k} of {stored.k} places"
    if isinstance(expected, GroupedRelease) and isinstance(presented, GroupedRelease):
        groups = presented.lists.keys()
        # Where groups were listed, nothing is known of others.
        among = asked is None or asked.groups is None or groups <= expected.lists.keys()
        if groups and among and groups != expected.lists.keys():
            expected, told = lists_of(expected, groups), f"its lists of {len(groups)} groups"
    events = presented.paid.events
    if not events and stored.paid.events:
        expected, told = replace(expected, paid=Receipt(())), f"{told}, told again free of charge"
    if asked is not None and asked.schedule:
        return _in_schedule(expected, presented, asked, told)
    return expected, told


def _in_schedule(
    expected: Release, presented: Release, asked: QuestionRecord, told: str
) -> tuple[Release, str]:  # fmt: skip
    """The same for a list of a schedule: it names its period, may be shorter than k, and pays for its finding too."""
    if presented.k > expected.k:
        expected, told = replace(expected, k=presented.k), f"{told}, but for k"
    if asked.schedule["role"] == "finding" and not presented.outcome:
        expected, told = replace(expected, outcome=(), values=None, value_kind=None), "that nothing was found"
    events, own = presented.paid.events, expected.paid.events
    if own and len(events) > len(own) and events[-len(own) :] == own:
        expected, told = replace(expected, paid=Receipt(events)), f"{told}, but for the events of the round of finding"
    window = {name: presented.parameters[name] for name in _WINDOW if name in presented.parameters}
    if _is_window_of(asked, window):
        expected = replace(expected, parameters={**expected.parameters, **window})
    return expected, told


def _is_window_of(question: QuestionRecord, window: Mapping[str, str]) -> bool:
    """Whether a question of a schedule was about these times, of this period."""
    where = question.where
    conditions = where[1:] if isinstance(where, list) and where[:1] == ["and"] else [where]
    asked = {(part[0], _text(part[2])) for part in conditions if isinstance(part, list) and len(part) == _COMPARISON}
    # A round of finding reads from the start of its period; a list may look further back.
    edges = (("opens", ">="), ("closes", "<")) if question.schedule["role"] == "list" else (("closes", "<"),)
    return window.get("period") == question.schedule["period"] and all(
        any((sign, _text(form)) in asked for form in _spellings(window.get(name, ""))) for name, sign in edges
    )


def _spellings(moment: str) -> list[dict[str, str]]:
    """How a condition writes a time: as a timestamp, and also as a date if it is midnight."""
    try:
        time = dt.datetime.fromisoformat(moment)
    except ValueError:
        return []
    forms = [{"timestamp": time.isoformat(timespec="microseconds")}]
    return [*forms, {"date": time.date().isoformat()}] if time.time() == dt.time() else forms


def _is_same(name: str, written: Any, wanted: Any) -> bool:
    if name == "decimals":
        # Plain numbers, which other programs may write in another way: 1.0 as 1.
        written, wanted = (json.loads(_text(value), parse_int=float) for value in (written, wanted))
    return _text(written) == _text(wanted)


def _text(value: Any) -> str:
    # As text, because True == 1 in Python, and they are different items.
    return json.dumps(value, sort_keys=True)
