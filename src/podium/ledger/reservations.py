"""Reserving, settling and forfeiting, inside one transaction: the rules that keep a total.

A question is paid in two steps. Its worst case is reserved before a row is read; its actual cost is settled together
with the release. A crash between the two leaves the worst case charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from podium.errors import (
    BudgetMismatch,
    DatasetLocked,
    InvalidArgument,
    LedgerTampered,
    ReservationClosed,
)
from podium.ledger.account import (
    describe_events,
    recorded_charge,
    recorded_cost,
    recorded_terms,
    terms_of,
)
from podium.ledger.admission import require_analyst, require_room, require_schedule, require_table, require_turn
from podium.ledger.bookkeeping.books import Books
from podium.ledger.bookkeeping.held import Charged, Terms
from podium.ledger.entries import Entry, Kind, Reason
from podium.ledger.reservation_request import Request
from podium.ledger.tables.store import DatasetRecord, Store
from podium.privacy import Cost, Event
from podium.storage.processes import this_process

__all__ = [
    "Reservation",
    "State",
    "StoredRelease",
    "find",
    "find_by_idempotency_key",
    "forfeit",
    "is_stored",
    "release_of",
    "reserve",
    "settle",
]


class State(StrEnum):
    """Where a reservation stands."""

    RESERVED = "reserved"
    SETTLED = "settled"
    FORFEITED = "forfeited"


@dataclass(frozen=True, slots=True)
class Reservation:
    """A worst case that is charged until it is settled or forfeited.

    ``fresh`` is False if the idempotency key was used before. Then ``state`` is that of the first attempt, and there is
    no point in running the mechanism again: one reservation pays for one release. ``hash`` is that of its entry.
    """

    dataset: str
    number: int
    cost: Cost
    question: str
    data_version: str
    analyst: str | None
    state: State
    fresh: bool
    hash: str


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release that was paid for before. ``hash`` is the head of the chain when it was settled, for its receipt.

    ``charged`` says whether this read was charged to the analyst.
    """

    dataset: str
    reservation: int
    question: str
    data_version: str
    release: str = field(repr=False)
    paid: Cost
    hash: str
    charged: bool


def reserve(store: Store, record: DatasetRecord, request: Request) -> Reservation:
    """Charge the worst case, or refuse."""
    account = record.account
    charge = Charged.of(request.charge, reserve=True)
    require_analyst(account, request.analyst)
    before = find_by_idempotency_key(store, record, request)
    if before is not None:
        return before
    if request.after not in (None, account.head):
        raise InvalidArgument(
            "after",
            request.after,
            allowed=f"the hash of the last entry of {account.dataset!r}",
            hint="Somebody else asked meanwhile, and nothing was charged here: read the history again, and ask again.",
        )
    require_schedule(store, record, request.schedule)
    require_table(account, request.table)
    if account.locked:
        raise DatasetLocked(account.dataset, account.failures)
    if record.state.locked(request.analyst):
        raise DatasetLocked(account.dataset, record.state.failures(request.analyst), request.analyst)
    account.totals.books.check_kind(charge)
    terms = require_room(account.totals.books, account.held, charge, account.dataset, session=request.session)
    own: Terms = {}
    if account.totals.cap is not None and request.analyst is not None:
        held = record.state.analyst(request.analyst)
        whose = f"analyst {request.analyst!r}"
        own = require_room(account.totals.cap, held, charge, account.dataset, whose=whose, session=request.session)
    if request.schedule is None:
        require_turn(account, charge.cost)
    entry = store.append(
        record,
        Kind.RESERVED,
        facts={
            **({"events": describe_events(charge.events)} if charge.events else {}),
            **recorded_terms(terms, own),
            **({} if request.schedule is None else {"schedule": request.schedule}),
            **({} if request.table is None else {"table": request.table}),
            **({"session": True} if request.session else {}),
        },
        cost=charge.cost,
        analyst=request.analyst,
        question=request.question,
        question_key=request.question_key,
        data_version=account.version_of(request.table),
        idempotency_key=request.idempotency_key,
        owner=this_process().to_text(),
    )
    return _reservation(entry, State.RESERVED, fresh=True)


def find_by_idempotency_key(store: Store, record: DatasetRecord, request: Request) -> Reservation | None:
    """The reservation made with the same idempotency key; refused if it was for another question."""
    before = None if request.idempotency_key is None else store.with_idempotency_key(record, request.idempotency_key)
    if before is None:
        return None
    cost, _ = Charged.of(request.charge, reserve=True)
    if (before.question, before.analyst, before.cost) != (request.question, request.analyst, cost):
        raise InvalidArgument(
            "idempotency_key",
            request.idempotency_key,
            allowed="a key that was not used for another question",
            hint="Use a new key for a new question.",
        )
    closing = store.closing_entry(record, before.sequence)
    state = State.RESERVED if closing is None else State(closing.kind.value)
    return _reservation(before, state, fresh=False)


def _reservation(entry: Entry, state: State, *, fresh: bool) -> Reservation:
    return Reservation(
        entry.dataset,
        entry.sequence,
        recorded_cost(entry),
        entry.question or "",
        entry.data_version or "",
        entry.analyst,
        state,
        fresh,
        entry.hash,
    )


def settle(
    store: Store, record: DatasetRecord, reservation: Reservation, release: str, actual: Cost | tuple[Event, ...]
) -> Entry:
    """Record the release and what it cost, and give back the rest of the reservation."""
    charge = Charged.of(actual, reserve=False)
    opened = _find_reservation(store, record, reservation)
    closing = store.closing_entry(record, opened.sequence)
    if closing is not None:
        # The reply to an earlier attempt may have been lost.
        if closing.kind is Kind.SETTLED and (closing.release, closing.cost) == (release, charge.cost):
            return closing
        raise ReservationClosed(reservation.dataset, reservation.number, closing.kind.value)
    if not charge.cost <= recorded_cost(opened):
        # No amounts here: the outcome is private until it is settled.
        raise BudgetMismatch(
            "a release cost more than was reserved for it; it is withheld. What is settled is at most what was "
            "reserved. Reserve the mechanism's worst case."
        )
    worst, totals = recorded_charge(opened), record.account.totals
    own = totals.cap.settle(terms_of(opened, of_analyst=True), worst, charge) if totals.cap is not None else {}
    return store.append(
        record,
        Kind.SETTLED,
        reservation=opened,
        facts={
            **({"events": describe_events(charge.events)} if charge.events else {}),
            **recorded_terms(totals.books.settle(terms_of(opened), worst, charge), own),
        },
        cost=charge.cost,
        release=release,
    )


def forfeit(store: Store, record: DatasetRecord, reservation: Reservation | int, reason: Reason) -> Entry:
    """Close a reservation without a release; all of it stays charged."""
    opened = _find_reservation(store, record, reservation)
    closing = store.closing_entry(record, opened.sequence)
    if closing is None:
        return store.append(record, Kind.FORFEITED, reservation=opened, facts={"reason": reason.value})
    if closing.kind is Kind.FORFEITED:
        return closing
    raise ReservationClosed(record.account.dataset, opened.sequence, closing.kind.value)


def _find_reservation(store: Store, record: DatasetRecord, reservation: Reservation | int) -> Entry:
    number = reservation if isinstance(reservation, int) else reservation.number
    entry = store.entry(record, number)
    if entry is None or entry.kind is not Kind.RESERVED:
        raise InvalidArgument("reservation", number, allowed="what reserve() returned, on the same ledger")
    if (number in record.state.opened) == (store.closing_entry(record, number) is not None):
        raise LedgerTampered(record.account.dataset, "the list of open reservations is wrong")
    return entry


def find(
    store: Store,
    record: DatasetRecord,
    question_keys: tuple[str, ...],
    data_version: str,
    analyst: str | None,
    answers: Callable[[str], bool] | None,
) -> StoredRelease | None:
    """The oldest release of this question on this data that is free for the analyst, or else the oldest, charged.

    Only the texts of questions, and who asked them, decide which release it is. The check against an analyst's cap
    uses the worst case: whether a release is shown must not depend on what it says.
    """
    cap = record.account.totals.cap
    unseen: tuple[Entry, Entry] | None = None
    for reservation, closing in _settled(store, record, question_keys, data_version, answers):
        if cap is None or analyst is None or _has_seen(store, record, reservation, analyst):
            return _stored(reservation, closing, charged=False)
        unseen = unseen or (reservation, closing)
    if unseen is None or cap is None or analyst is None:
        return None
    _charge_reader(store, record, *unseen, analyst, cap)
    return _stored(*unseen, charged=True)


def is_stored(store: Store, record: DatasetRecord, request: Request) -> bool:
    """Whether a release is stored that answers the question, whoever may see it."""
    version = record.account.version_of(request.table)
    return next(_settled(store, record, request.keys, version, request.answers), None) is not None


def _settled(
    store: Store,
    record: DatasetRecord,
    question_keys: tuple[str, ...],
    data_version: str,
    answers: Callable[[str], bool] | None,
) -> Iterator[tuple[Entry, Entry]]:
    """Settled reservations of the same question on the same data, oldest first, with the entries that settled them."""
    for reservation in store.reservations_for(record, question_keys, data_version):
        closing = store.closing_entry(record, reservation.sequence)
        answered = closing is not None and closing.kind is Kind.SETTLED
        if closing is not None and answered and (answers is None or answers(reservation.question or "")):
            yield reservation, closing


def _has_seen(store: Store, record: DatasetRecord, reservation: Entry, analyst: str) -> bool:
    return analyst == reservation.analyst or store.seen_by(record, reservation.sequence, analyst) is not None


def _charge_reader(
    store: Store, record: DatasetRecord, reservation: Entry, closing: Entry, analyst: str, cap: Books
) -> None:
    # The release was drawn before: whether it is shown is decided only now, so it is no call fixed beforehand.
    worst, held, dataset = recorded_charge(reservation), record.state.analyst(analyst), record.account.dataset
    terms = require_room(cap, held, worst, dataset, whose=f"analyst {analyst!r}", session=True)
    store.append(
        record,
        Kind.SEEN,
        reservation=reservation,
        facts=recorded_terms({}, cap.settle(terms, worst, recorded_charge(closing))),
        cost=recorded_cost(closing),
        analyst=analyst,
    )


def release_of(store: Store, record: DatasetRecord, reservation: Reservation) -> StoredRelease | None:
    """The release that settled a reservation, for its owner."""
    opened = _find_reservation(store, record, reservation)
    closing = store.closing_entry(record, opened.sequence)
    if closing is None or closing.kind is not Kind.SETTLED:
        return None
    return _stored(opened, closing, charged=False)


def _stored(reservation: Entry, closing: Entry, *, charged: bool) -> StoredRelease:
    return StoredRelease(
        reservation.dataset,
        reservation.sequence,
        reservation.question or "",
        reservation.data_version or "",
        closing.release or "",
        recorded_cost(closing),
        closing.hash,
        charged,
    )
