"""Verification: replay the chain from the first entry and compute everything again.

This detects a changed, missing, inserted or moved entry; an entry that breaks a rule although its hash is right; and
sums, totals, labels or open reservations that do not follow from the entries. Whoever can rewrite the whole database
can also rewrite the whole chain; the hashes in receipts that are kept elsewhere detect that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from typing import Any, Final, NamedTuple

from podium.errors import BudgetMismatch
from podium.ledger.account import Account, Contradiction, is_session, own_terms, recorded_charge
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.held import Terms
from podium.ledger.entries import Entry, Kind
from podium.ledger.receipts import Claim, Confirmed, Presented, confirm
from podium.ledger.recorded import facts_of
from podium.ledger.state import NAMELESS, State
from podium.ledger.tables.copying import Copy, RawDataset, RawEntries
from podium.ledger.tables.rows import UNREADABLE, account_from_row, analysts_from_rows, entry_from_row
from podium.privacy.documents import Document
from podium.storage.backend import Row

__all__ = ["Problem", "Verification", "replay_state", "verify_copy"]

_HASH_BYTES: Final = 32
_MAX_SETTLED: Final = 1024
"""How many settled reservations are kept that somebody saw later."""


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
class Verification(Document):
    """How many entries were read, the head of every chain, the receipts that hold, and the first problem if any."""

    entries: int
    heads: dict[str, str]
    problem: Problem | None
    receipts: tuple[Confirmed, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        problem = self.problem
        return {
            "sound": self.sound,
            "entries": self.entries,
            "heads": self.heads,
            "receipts": [receipt.to_dict() for receipt in self.receipts],
            "problem": None
            if problem is None
            else {"dataset": problem.dataset, "sequence": problem.sequence, "what": problem.what},
        }


class _Found(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def verify_copy(copy: Copy, receipts: Iterable[Presented]) -> Verification:
    """Check a copy, and that every receipt belongs to one of its entries and agrees with it."""
    claims = [Claim.of(receipt) for receipt in receipts]
    wanted = {claim.hash for claim in claims}
    heads: dict[str, str] = {}
    kept: dict[str, tuple[Entry, Entry | None]] = {}
    confirmed: tuple[Confirmed, ...] = ()
    count = 0
    try:
        for raw in copy.datasets:
            walk = _verify_dataset(raw, wanted)
            heads[walk.account.dataset] = walk.account.head
            kept.update(walk.kept)
            count += walk.account.sequence
        _verify_registry(copy)
        confirmed = tuple(_verify_claim(claim, kept) for claim in claims)
    except _Found as found:
        return Verification(count, heads, found.problem)
    return Verification(count, heads, None, confirmed)


def replay_state(raw: RawDataset) -> State:
    """The state after replaying all entries of a data set; ``Contradiction`` if they are not sound.

    The tables that cache it are not compared.
    """
    try:
        return _walk(raw, frozenset()).state
    except _Found as found:
        raise Contradiction(str(found.problem)) from None


def _verify_claim(claim: Claim, kept: Mapping[str, tuple[Entry, Entry | None]]) -> Confirmed:
    if claim.hash not in kept:
        raise _Found(Problem(None, None, f"no entry has the hash {claim.hash!r} of a receipt"))
    entry, reservation = kept[claim.hash]
    try:
        return confirm(claim, entry, reservation)
    except Contradiction as contradiction:
        raise _Found(Problem(entry.dataset, entry.sequence, str(contradiction))) from None


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


class _Settled(NamedTuple):
    """A reservation, and the entry that settled it."""

    reservation: Entry
    settlement: Entry


@dataclass(slots=True)
class _Walk:
    """The state while entries are read one by one; ``kept`` are those whose hashes are ``wanted``.

    Its memory grows by the 32 bytes of a hash for each entry, and by what is open.
    """

    entries: RawEntries
    state: State
    wanted: AbstractSet[str]
    schedule: str | None
    opened: dict[int, Entry] = field(default_factory=dict)
    settled: dict[int, _Settled] = field(default_factory=dict)
    hashes: bytearray = field(default_factory=bytearray)
    kept: dict[str, tuple[Entry, Entry | None]] = field(default_factory=dict)

    @classmethod
    def from_first(cls, entries: RawEntries, entry: Entry, wanted: AbstractSet[str]) -> _Walk:
        """Begin with the registration."""
        walk = cls(entries, State(Account.from_registration(entry)), wanted, entry.facts.get("schedule"))
        walk._keep(entry, None)
        return walk

    @property
    def account(self) -> Account:
        """The account at this point."""
        return self.state.account

    def follow(self, entry: Entry) -> None:
        """Apply the next entry; ``Contradiction`` says which rule it breaks."""
        reservation = self._reservation_of(entry)
        self._check_rules(entry, reservation)
        self.state = self.state.after(entry, reservation)
        if entry.kind is Kind.RESERVED:
            self.opened[entry.sequence] = entry
        elif reservation is not None and entry.kind in (Kind.SETTLED, Kind.FORFEITED):
            del self.opened[reservation.sequence]
        self._keep(entry, reservation)

    def _reservation_of(self, entry: Entry) -> Entry | None:
        """The reservation that an entry closes, which must be open, or whose release it reads, which must be settled.

        What was settled is forgotten, but for its hash, and read once more where somebody saw it later.
        """
        if entry.reservation is None:
            return None
        if entry.kind is not Kind.SEEN:
            return self.opened.get(entry.reservation)
        if entry.reservation not in self.settled:
            if len(self.settled) >= _MAX_SETTLED:
                self.settled.clear()
            found = self._read_settled(entry.reservation)
            if found is None:
                return None
            self.settled[entry.reservation] = found
        return self.settled[entry.reservation].reservation

    def _read_settled(self, reservation: int) -> _Settled | None:
        """A reservation and its settlement, if both come before this entry and are those that were read before."""
        rows = self.entries.settled(reservation)
        found = [entry_from_row(self.account.dataset, row) for row in rows if self._was_read(row)]
        if [entry.kind for entry in found] != [Kind.RESERVED, Kind.SETTLED] or found[0].sequence != reservation:
            return None
        return _Settled(*found)

    def _was_read(self, row: Row) -> bool:
        sequence = row[0]
        if not isinstance(sequence, int) or not 0 < sequence <= self.account.sequence:
            return False
        entry = entry_from_row(self.account.dataset, row)
        remembered = self.hashes[_HASH_BYTES * (sequence - 1) : _HASH_BYTES * sequence]
        return entry.computed_hash() == remembered.hex()

    def _keep(self, entry: Entry, reservation: Entry | None) -> None:
        if entry.state not in (None, self.state.digest()):
            raise Contradiction("the sums that it commits to do not follow from the entries")
        self.hashes += bytes.fromhex(entry.hash)
        if entry.hash in self.wanted:
            self.kept[entry.hash] = (entry, reservation)

    def _check_rules(self, entry: Entry, reservation: Entry | None) -> None:
        if entry.kind is Kind.RESERVED:
            if self.state.locked(entry.analyst):
                raise Contradiction("it reserves on a locked data set")
            if self.schedule not in (None, facts_of(entry).get("schedule")):
                raise Contradiction("it is not a question of the schedule that the data set belongs to")
            if entry.data_version != self.account.version_of(facts_of(entry).get("table")):
                raise Contradiction("it names another version of the data")
        elif entry.kind is Kind.SEEN:
            if reservation is None or entry.analyst is None:
                raise Contradiction("it reads a release that was not settled")
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED) and entry.reservation not in self.state.opened:
            raise Contradiction("it closes a reservation that is not open")
        if own_terms(entry) != self._terms_of_analyst(entry, reservation):
            raise Contradiction("the terms of its analyst are not those of its events")

    def _terms_of_analyst(self, entry: Entry, reservation: Entry | None) -> Terms:
        """What an entry must record under the cap of its analyst."""
        cap = self.account.totals.cap
        if cap is None:
            return {}
        if entry.kind is Kind.RESERVED:
            return self._admitted(cap, entry.analyst, entry, session=is_session(entry))
        if entry.kind is Kind.SETTLED and reservation is not None:
            return cap.settle(own_terms(reservation), recorded_charge(reservation), recorded_charge(entry))
        if entry.kind is Kind.SEEN and reservation is not None:
            terms = self._admitted(cap, entry.analyst, reservation, session=True)
            closing = self.settled[reservation.sequence].settlement
            return cap.settle(terms, recorded_charge(reservation), recorded_charge(closing))
        return {}

    def _admitted(self, cap: Books, analyst: str | None, worst: Entry, *, session: bool) -> Terms:
        charge, held = recorded_charge(worst), self.state.analyst(analyst or NAMELESS)
        if analyst is None or cap.refusal(charge, held, session=session) is not None:
            raise Contradiction("it charges an analyst for more than was left")
        return cap.reserve(charge, held, session=session)


def _verify_dataset(raw: RawDataset, wanted: AbstractSet[str]) -> _Walk:
    walk = _walk(raw, wanted)
    _compare(raw, walk.state)
    return walk


def _walk(raw: RawDataset, wanted: AbstractSet[str]) -> _Walk:
    walk: _Walk | None = None
    for expected, row in enumerate(raw.entries, start=1):
        entry = _read_entry(raw.dataset, expected, row, None if walk is None else walk.account.head)
        try:
            if walk is None:
                walk = _Walk.from_first(raw.entries, entry, wanted)
            else:
                walk.follow(entry)
        except Contradiction as contradiction:
            raise _Found(Problem(raw.dataset, expected, str(contradiction))) from None
        except BudgetMismatch:
            raise _Found(Problem(raw.dataset, expected, "its events have no price in this account")) from None
        except UNREADABLE:
            raise _Found(Problem(raw.dataset, expected, "its details cannot be read")) from None
    if walk is None:
        raise _Found(Problem(raw.dataset, 1, "it is missing"))
    return walk


def _read_entry(dataset: str, expected: int, row: Row, previous: str | None) -> Entry:
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


def _compare(raw: RawDataset, state: State) -> None:
    """Compare the cached tables with what follows from the entries."""
    last = state.account.sequence
    try:
        cached = account_from_row(raw.account)
        analysts = analysts_from_rows(raw.analysts)
    except Contradiction as contradiction:
        raise _Found(Problem(raw.dataset, last, f"in the sums, {contradiction}")) from None
    if cached.sequence > last:
        raise _Found(Problem(raw.dataset, last + 1, "it is missing"))
    for item in fields(Account):
        if getattr(cached, item.name) != getattr(state.account, item.name):
            raise _Found(Problem(raw.dataset, last, f"{item.name} does not follow from the entries"))
    if dict(raw.opened) != state.opened:
        raise _Found(Problem(raw.dataset, last, "the open reservations do not follow from the entries"))
    if analysts != state.analysts:
        raise _Found(Problem(raw.dataset, last, "the sums of analysts do not follow from the entries"))
