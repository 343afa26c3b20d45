"""Single flight: equal questions in all threads, processes and machines share one reservation, and pay once.

The first to reserve computes the answer. The others wait until that reservation is closed. They then read its release
free of charge; if it was forfeited, the next of them reserves. A waiter holds no lock, so there are no deadlocks.
Whether to wait depends on the question, which the ledger shows anyway, and never on rows.

An abandoned reservation must not be waited for. A reservation is certainly abandoned if its process is gone, or if it
is of this process and not in hand: its question was interrupted, or the database missed how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podium.ledger import reservations
from podium.ledger.entries import Entry, Reason
from podium.ledger.reservation_request import Request
from podium.ledger.reservations import Reservation, StoredRelease
from podium.ledger.tables.store import DatasetRecord, Holder, Store
from podium.storage.processes import Owner, is_certainly_gone, this_process

__all__ = ["abandonment", "claim", "in_hand", "is_ours", "pauses"]

_FIRST_PAUSE = 0.005
_MAX_PAUSE = 0.25

in_hand: set[str] = set()
"""The hashes of the reservations that threads of this process work on. Each is added before anybody else can see the
reservation. Single operations on a set are thread-safe; a lock could be copied by a fork while it is held."""


def claim(
    store: Store, record: DatasetRecord, request: Request, answers: Callable[[str], bool] | None
) -> StoredRelease | Reservation | Holder:
    """The release that answers a question, or the holder who is computing it, or else a new reservation."""
    account = record.account
    reservations.require_analyst(account, request.analyst)
    reservations.require_table(account, request.table)
    version = account.version_of(request.table)
    stored = reservations.find(store, record, request.keys, version, request.analyst, answers)
    if stored is not None:
        return stored
    for entry in store.open_for(record, request.keys, version):
        if answers is None or answers(entry.question or ""):
            # Refuse a key that was used for another question now, not after the wait.
            reservations.find_by_idempotency_key(store, record, request)
            return _holder(entry)
    return reservations.reserve(store, record, request)


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
