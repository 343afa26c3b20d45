"""Single flight: equal questions in all threads, processes and machines share one reservation, and pay once.

The first to reserve computes the answer. The others wait until that reservation is closed. They then read its release
free of charge; if it was forfeited, the next of them reserves. A waiter holds no lock, so there are no deadlocks.
Whether to wait depends on the question, which the ledger shows anyway, and never on rows.

An abandoned reservation must not be waited for. A reservation is certainly abandoned if its process is gone, or if it
is of this process and not in hand: its question was interrupted, or the database missed how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from podium.errors import BudgetExceeded
from podium.ledger import admission, reservations
from podium.ledger.entries import Entry, Reason
from podium.ledger.reservation_request import Request
from podium.ledger.reservations import Reservation, StoredRelease
from podium.ledger.tables.store import DatasetRecord, Holder, Store
from podium.storage.processes import Owner, is_certainly_gone, this_process

__all__ = ["abandonment", "claim", "fresh_hashes", "in_hand", "is_ours", "pauses"]

_FIRST_PAUSE = 0.005
_MAX_PAUSE = 0.25

in_hand: set[str] = set()
"""The hashes of the reservations that threads of this process work on. Each is added before anybody else can see the
reservation. Single operations on a set are thread-safe; a lock could be copied by a fork while it is held."""


Claims: TypeAlias = tuple[StoredRelease | Reservation, ...]


def claim(store: Store, find: Callable[[], DatasetRecord], wanted: Sequence[Request]) -> Claims | Holder:
    """For each question the release that answers it, or a new reservation; or the holder who is computing one.

    Either all are claimed or, if one of them does not fit, none: the caller's transaction ends with the error. ``find``
    reads the data set again, because every claim may change it.
    """
    record = find()
    for request in wanted:
        admission.require_analyst(record.account, request.analyst)
        admission.require_table(record.account, request.table)
        holder = _holder_of(store, record, request)
        if holder is not None:
            # Refuse a key that was used for another question now, not after the wait.
            reservations.find_by_idempotency_key(store, record, request)
            return holder
    claimed: list[StoredRelease | Reservation] = []
    for place, request in enumerate(wanted):
        record = find()
        version = record.account.version_of(request.table)
        stored = reservations.find(store, record, request.keys, version, request.analyst, request.answers)
        try:
            claimed.append(reservations.reserve(store, record, request) if stored is None else stored)
        except BudgetExceeded as refused:
            raise (refused if len(wanted) == 1 else _all_refused(refused, record, place, len(wanted))) from None
    return tuple(claimed)


def fresh_hashes(claimed: object) -> tuple[str, ...]:
    """The hashes of the reservations that were made just now."""
    each = claimed if isinstance(claimed, tuple) else ()
    return tuple(one.hash for one in each if isinstance(one, Reservation) and one.fresh)


def _all_refused(refused: BudgetExceeded, record: DatasetRecord, place: int, of: int) -> BudgetExceeded:
    """Why the questions of a batch do not fit together."""
    return BudgetExceeded(
        refused.measure,
        refused.requested,
        refused.remaining,
        budget=f"{record.account.dataset!r}, after {place} of the {of} questions of this batch,",
        hint="They are admitted together, or none: nothing was charged. Take some out, ask for fewer items or a "
        "smaller epsilon, or ask the owner to raise the total.",
        total=refused.total,
    )


def _holder_of(store: Store, record: DatasetRecord, request: Request) -> Holder | None:
    """Who is computing the answer; None if nobody is, or if it is stored."""
    opened = store.open_for(record, request.keys, record.account.version_of(request.table))
    found = [entry for entry in opened if request.answers is None or request.answers(entry.question or "")]
    if not found or reservations.is_stored(store, record, request):
        return None
    return _holder(found[0])


def abandonment(holder: Holder) -> Reason | None:
    """Why an open reservation counts as abandoned; None if somebody may still settle it."""
    owner = Owner.from_text(holder.owner)
    if owner is None:
        return None
    if is_ours(holder):
        return None if holder.hash in in_hand else Reason.ABANDONED
    return Reason.CRASHED if is_certainly_gone(owner) else None


def is_ours(holder: Holder) -> bool:
    """Whether this process made the reservation."""
    owner = Owner.from_text(holder.owner)
    return owner is not None and owner.token == this_process().token


def pauses() -> Iterator[float]:
    """Seconds to sleep between looks: exponential backoff from 5 ms to a quarter of a second."""
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(_MAX_PAUSE, 1.5 * pause)


def _holder(entry: Entry) -> Holder:
    return Holder(entry.dataset, entry.sequence, entry.owner or "", entry.hash)
