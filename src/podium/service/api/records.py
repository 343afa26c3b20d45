"""Access to the ledger on behalf of tokens: releases by permalink, budgets, the chain.

If analysts have caps, the guarantee for each rests on what that analyst has seen. Then only the owner sees everything;
analysts see what they asked or paid for, and nothing that was computed from the rest.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from podium.errors import LedgerTampered
from podium.ledger import Entry, Kind, Status
from podium.ledger.account import recorded_sum
from podium.ledger.bookkeeping.held import Sum
from podium.present.analyst_budget import analyst_budget
from podium.present.text.accounts import left_sentence
from podium.release import Receipt, Release
from podium.release.release import read_stored
from podium.service.store.datasets import Datasets
from podium.service.store.tokens import Role, Token
from podium.wire.refusals import forbidden, not_found

__all__ = ["Record", "Records"]

_MAX_CACHED = 1_024
_UNSOUND = "its entries and sums contradict each other; its owner can see where"


@dataclass(frozen=True, slots=True)
class Record:
    """A release with its ledger entry."""

    dataset: str
    entry: str
    at: str
    question: str
    data_version: str
    release: Release
    charged: Sum
    """What it was charged, in every measure of the budget."""

    @property
    def question_document(self) -> dict[str, Any]:
        """The canonical question."""
        found: dict[str, Any] = json.loads(self.question)
        return found

    @property
    def items(self) -> list[str]:
        """The names of the item columns; a ranking releases neither of the columns that it compares."""
        asked = self.question_document
        return ["item"] if asked.get("ranking") is not None else [str(name) for name in asked.get("items", ["item"])]

    def summary(self) -> dict[str, Any]:
        """The record without the answer."""
        return {
            "entry": self.entry,
            "at": self.at,
            "question": self.question_document,
            "data_version": self.data_version,
        }


class Records:
    """Reads the ledger on behalf of tokens."""

    def __init__(self, datasets: Datasets) -> None:
        self._datasets = datasets
        self._kept: OrderedDict[tuple[str, str], Record] = OrderedDict()
        self._lock = Lock()

    def release(self, dataset: str, entry: str, token: Token) -> Record:
        """The release settled in the entry with that hash."""
        if not self._is_capped(dataset, token):
            with self._lock:
                kept = self._kept.get((dataset, entry))
            if kept is not None:
                return kept
        entries = self._history(dataset)
        found = next((one for one in entries if one.kind is Kind.SETTLED and one.hash == entry), None)
        if found is None:
            raise not_found("this release")
        record = _record(found, entries)
        if not self._is_capped(dataset, token):
            with self._lock:
                self._kept[dataset, entry] = record
                while len(self._kept) > _MAX_CACHED:
                    self._kept.popitem(last=False)
        elif not _has_seen(found, entries, token.name):
            raise forbidden(
                "see this release, because every analyst of this data set has a cap",
                "releases that you asked for; ask the same question, and it is charged to your cap",
            )
        return record

    def releases(self, dataset: str, token: Token) -> list[Record]:
        """All releases that the token may see, newest first."""
        entries = self._history(dataset)
        capped = self._is_capped(dataset, token)
        settled = [one for one in reversed(entries) if one.kind is Kind.SETTLED]
        return [_record(one, entries) for one in settled if not capped or _has_seen(one, entries, token.name)]

    def budget(self, dataset: str, token: Token) -> dict[str, Any]:
        """The status of the data set, or of the analyst if analysts have caps."""
        status = self._datasets.status(dataset)
        if token.role is Role.OWNER:
            return {**status.to_dict(), "left": left_sentence(status)}
        return analyst_budget(status, token.name)

    def status(self, dataset: str) -> Status:
        """The full status of the data set, for pages that choose what to show."""
        return self._datasets.status(dataset)

    def history(self, dataset: str, token: Token) -> list[Entry]:
        """The entries that the token may see, oldest first."""
        entries = self._history(dataset)
        if not self._is_capped(dataset, token):
            return list(entries)
        own = {one.sequence for one in entries if one.analyst == token.name}
        return _renumber([one for one in entries if one.sequence in own or one.reservation in own or _is_public(one)])

    def history_document(self, dataset: str, token: Token) -> list[dict[str, Any]]:
        """The same as JSON; only the owner sees who asked."""
        hidden = () if token.role is Role.OWNER else ("analyst", "details")
        return [
            {
                name: value
                for name, value in one.to_dict().items()
                if name not in hidden or (name == "analyst" and value == token.name)
            }
            for one in self.history(dataset, token)
        ]

    def verification(self, dataset: str, receipts: list[str], token: Token) -> dict[str, Any]:
        """Verify the chain, and look for receipts in it.

        If analysts have caps, the length of the chain reveals how much others asked: then an analyst learns only
        whether it is sound and whether it holds their own releases.
        """
        self._datasets.require(dataset)
        ledger = self._datasets.ledger
        try:
            capped = self._is_capped(dataset, token)
        except LedgerTampered:
            # Whether analysts have caps is then unknown, so nothing else is revealed.
            return _own_document(dataset, (), _UNSOUND)
        if not capped:
            return ledger.verify(dataset, receipts=receipts).to_dict()
        if not ledger.verify(dataset).sound:
            return _own_document(dataset, (), _UNSOUND)
        entries = ledger.history(dataset)
        own = {one.hash for one in entries if one.kind is Kind.SETTLED and _has_seen(one, entries, token.name)}
        missing = next((hash_ for hash_ in receipts if hash_ not in own), None)
        if missing is not None:
            return _own_document(dataset, (), f"no release of yours has the hash {missing!r} of a receipt")
        return _own_document(dataset, receipts, None)

    def has_caps(self, dataset: str) -> bool:
        """Whether analysts have caps."""
        return self._datasets.status(dataset).totals.per_analyst is not None

    def _is_capped(self, dataset: str, token: Token) -> bool:
        if token.role is Role.OWNER:
            return False
        return self.has_caps(dataset)

    def _history(self, dataset: str) -> tuple[Entry, ...]:
        self._datasets.require(dataset)
        return self._datasets.ledger.history(dataset)


def _record(settled: Entry, entries: tuple[Entry, ...]) -> Record:
    asked = entries[(settled.reservation or 0) - 1]
    release = read_stored(settled.release)
    return Record(
        settled.dataset,
        settled.hash,
        settled.at,
        asked.question or "{}",
        asked.data_version or "",
        replace(release, paid=Receipt(release.paid.events, entry=settled.hash)),
        recorded_sum(settled),
    )


def _has_seen(settled: Entry, entries: tuple[Entry, ...], analyst: str) -> bool:
    asked = entries[(settled.reservation or 0) - 1]
    return asked.analyst == analyst or any(
        one.kind is Kind.SEEN and one.reservation == settled.reservation and one.analyst == analyst for one in entries
    )


def _own_document(dataset: str, receipts: Iterable[str], problem: str | None) -> dict[str, Any]:
    """A verification for an analyst with a cap: without the number of entries and the head."""
    return {
        "sound": problem is None,
        "receipts": [
            {"hash": hash_, "dataset": dataset, "kind": Kind.SETTLED.value, "compared": "its hash"}
            for hash_ in receipts
        ],
        "problem": None if problem is None else {"dataset": dataset, "sequence": None, "what": problem},
    }


def _renumber(entries: list[Entry]) -> list[Entry]:
    """Number the entries as shown: the ledger's own numbers reveal how many others there are."""
    numbers = {one.sequence: place for place, one in enumerate(entries, start=1)}
    return [
        replace(
            one,
            sequence=numbers[one.sequence],
            reservation=None if one.reservation is None else numbers.get(one.reservation),
        )
        for one in entries
    ]


def _is_public(entry: Entry) -> bool:
    return entry.kind in (Kind.REGISTERED, Kind.RAISED, Kind.RELABELLED, Kind.UNLOCKED)
