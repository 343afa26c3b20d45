"""Verification: walk the chain from the first entry on and compute everything again.

Found this way: a changed, missing, inserted or moved entry; an entry that breaks a rule although its hash is right;
sums, totals, labels or lists of open reservations that do not follow from the entries. Somebody who may rewrite the
whole database can also rewrite the whole chain: against that help the hashes that receipts carry away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from podium.ledger.account import Account, Contradiction, Sum, change, charged_analyst, recorded_cost
from podium.ledger.backend import Row
from podium.ledger.entries import Entry, Kind
from podium.ledger.rows import UNREADABLE, account_from_row, entry_from_row, sum_from_row
from podium.ledger.store import RawDataset, Registration, Store

__all__ = ["Copy", "Problem", "Verification", "read_copy", "verify_copy"]


@dataclass(frozen=True, slots=True)
class Problem:
    """The first thing that is wrong: in which data set, at which entry, and what."""

    dataset: str | None
    sequence: int | None
    what: str

    def __str__(self) -> str:
        where = "the ledger" if self.dataset is None else f"{self.dataset!r}"
        return f"{where}: {self.what}" if self.sequence is None else f"{where}, entry {self.sequence}: {self.what}"


@dataclass(frozen=True, slots=True)
class Verification:
    """How many entries were read, the head of every chain, and the first problem if there is one."""

    entries: int
    heads: dict[str, str]
    problem: Problem | None

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        problem = self.problem
        return {
            "sound": self.sound,
            "entries": self.entries,
            "heads": self.heads,
            "problem": None
            if problem is None
            else {"dataset": problem.dataset, "sequence": problem.sequence, "what": problem.what},
        }


@dataclass(frozen=True, slots=True)
class Copy:
    """What verification reads, as of one moment."""

    datasets: list[RawDataset]
    registrations: list[Registration]
    genesis: str | None
    registry_head: str | None
    orphans: int


def read_copy(store: Store, dataset: str | None) -> Copy:
    """Read one data set, or all."""
    ends = store.registry()
    return Copy(
        store.raw_datasets(dataset),
        store.registrations(),
        ends[0] if ends else None,
        ends[1] if ends else None,
        store.orphans(),
    )


class _Found(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def verify_copy(copy: Copy, receipts: Iterable[str]) -> Verification:
    """Check a copy, and that every hash of ``receipts`` is in one of its chains."""
    heads: dict[str, str] = {}
    known: set[str] = set()
    count = 0
    try:
        for raw in copy.datasets:
            account, hashes = _verify_dataset(raw)
            heads[account.dataset] = account.head
            known.update(hashes)
            count += len(hashes)
        _verify_registry(copy)
        _verify_receipts(receipts, known)
    except _Found as found:
        return Verification(count, heads, found.problem)
    return Verification(count, heads, None)


def _verify_receipts(receipts: Iterable[str], known: set[str]) -> None:
    for receipt in receipts:
        if receipt not in known:
            raise _Found(Problem(None, None, f"no entry has the hash {receipt!r} of a receipt"))


def _verify_registry(copy: Copy) -> None:
    if copy.genesis is None:
        raise _Found(Problem(None, None, "the row that starts all chains is missing"))
    if copy.orphans:
        raise _Found(Problem(None, None, "there are entries of a data set that is not registered"))
    previous: str | None = copy.genesis
    for number, registration in enumerate(copy.registrations, start=1):
        if registration.id != number:
            raise _Found(Problem(None, None, f"registration {number} is missing"))
        if registration.previous != previous:
            raise _Found(Problem(registration.dataset, 1, "the registration does not follow the one before"))
        previous = registration.hash
    if previous != copy.registry_head:
        raise _Found(Problem(None, None, "the last registration is not the one that was written"))


@dataclass(slots=True)
class _Walk:
    """The state while entries are read one by one."""

    account: Account
    reservations: dict[int, Entry] = field(default_factory=dict)
    opened: dict[int, Entry] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)
    analysts: dict[str, Sum] = field(default_factory=dict)

    def follow(self, entry: Entry) -> None:
        """Apply one more entry, or say which rule it breaks."""
        reservation = None if entry.reservation is None else self.reservations.get(entry.reservation)
        self._check_rules(entry, reservation)
        self.account = self.account.after(entry, reservation)
        if entry.kind is Kind.RESERVED:
            self.reservations[entry.sequence] = self.opened[entry.sequence] = entry
        elif reservation is not None and entry.kind in (Kind.SETTLED, Kind.FORFEITED):
            del self.opened[reservation.sequence]
            if entry.kind is Kind.SETTLED:
                self.settled.add(reservation.sequence)
        analyst = charged_analyst(entry, reservation)
        if analyst is not None:
            self.analysts[analyst] = self.analysts.get(analyst, Sum()) + change(entry, reservation)

    def _check_rules(self, entry: Entry, reservation: Entry | None) -> None:
        if entry.kind is Kind.RESERVED:
            if self.account.locked:
                raise Contradiction("it reserves on a locked data set")
            if entry.data_version != self.account.data_version:
                raise Contradiction("it names another version of the data")
            self._check_cap(entry.analyst, entry)
        elif entry.kind is Kind.SEEN:
            if reservation is None or reservation.sequence not in self.settled or entry.analyst is None:
                raise Contradiction("it reads a release that was not settled")
            self._check_cap(entry.analyst, reservation)
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED) and entry.reservation not in self.opened:
            raise Contradiction("it closes a reservation that is not open")

    def _check_cap(self, analyst: str | None, worst: Entry) -> None:
        cap = self.account.totals.per_analyst
        if cap is None:
            return
        if analyst is None or cap.excess(recorded_cost(worst), self.analysts.get(analyst, Sum()).cost) is not None:
            raise Contradiction("it charges an analyst for more than was left")


def _verify_dataset(raw: RawDataset) -> tuple[Account, list[str]]:
    walk: _Walk | None = None
    hashes: list[str] = []
    for expected, row in enumerate(raw.entries, start=1):
        entry = _checked(raw.dataset, expected, row, hashes[-1] if hashes else None)
        hashes.append(entry.hash)
        try:
            if walk is None:
                walk = _Walk(Account.opened(entry))
            else:
                walk.follow(entry)
        except Contradiction as contradiction:
            raise _Found(Problem(raw.dataset, expected, str(contradiction))) from None
        except UNREADABLE:
            raise _Found(Problem(raw.dataset, expected, "its details cannot be read")) from None
    if walk is None:
        raise _Found(Problem(raw.dataset, 1, "it is missing"))
    _compare(raw, walk)
    return walk.account, hashes


def _checked(dataset: str, expected: int, row: Row, previous: str | None) -> Entry:
    """The entry in a row, if it is the expected one and its hashes are right."""
    if row[0] != expected:
        raise _Found(Problem(dataset, expected, "it is missing"))
    try:
        entry = entry_from_row(dataset, row)
    except Contradiction as contradiction:
        raise _Found(Problem(dataset, expected, str(contradiction))) from None
    if previous is not None and entry.previous != previous:
        raise _Found(Problem(dataset, expected, "it does not follow the entry before"))
    if entry.computed_hash() != entry.hash:
        raise _Found(Problem(dataset, expected, "it was changed"))
    return entry


def _compare(raw: RawDataset, walk: _Walk) -> None:
    """The tables that repeat what follows from the entries."""
    last = walk.account.sequence
    try:
        cached = account_from_row(raw.account)
        analysts = {row[0]: sum_from_row(row[1:]) for row in raw.analysts}
    except Contradiction as contradiction:
        raise _Found(Problem(raw.dataset, last, f"in the sums, {contradiction}")) from None
    if cached.sequence > last:
        raise _Found(Problem(raw.dataset, last + 1, "it is missing"))
    for item in fields(Account):
        if getattr(cached, item.name) != getattr(walk.account, item.name):
            raise _Found(Problem(raw.dataset, last, f"{item.name} does not follow from the entries"))
    if dict(raw.opened) != {number: entry.owner for number, entry in walk.opened.items()}:
        raise _Found(Problem(raw.dataset, last, "the open reservations do not follow from the entries"))
    if analysts != walk.analysts:
        raise _Found(Problem(raw.dataset, last, "the sums of analysts do not follow from the entries"))
