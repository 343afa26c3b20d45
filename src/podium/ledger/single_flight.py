"""Equal questions wait for each other, in all threads, processes and machines, so that an answer is paid for once.

Whoever reserves first answers. The others wait until that reservation is closed: then they read its release free of
charge, or, if it was forfeited, the next of them reserves. Who waits holds nothing, so nobody can wait in a circle.
Whether to wait follows from what was asked, which the ledger shows anyway, and never from rows.

A reservation that nobody works on any more must not be waited for. That is certain if its process is gone, or if
it is of this process and not among those in hand: a question that was interrupted, or whose end the database missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podium.ledger import reservations
from podium.ledger.entries import Entry, Reason
from podium.ledger.reservations import Request, Reservation, StoredRelease
from podium.ledger.tables.store import DatasetRecord, Holder, Store
from podium.storage.processes import Owner, is_certainly_gone, this_process

__all__ = ["abandonment", "claim", "in_hand", "is_ours", "pauses"]

_FIRST_PAUSE = 0.005
_MAX_PAUSE = 0.25

in_hand: set[str] = set()
"""The hashes of the reservations that threads of this process work on. Each is added before the reservation can be
seen by anybody else. One operation on a set is safe between threads; no lock, because a fork could copy it held."""


def claim(
    store: Store, record: DatasetRecord, request: Request, answers: Callable[[str], bool] | None
) -> StoredRelease | Reservation | Holder:
    """The release that answers a question, or who is answering it, or else a reservation for it."""
    account = record.account
    reservations.require_analyst(account, request.analyst)
    stored = reservations.find(store, record, request.question_key, account.data_version, request.analyst, answers)
    if stored is not None:
        return stored
    for entry in store.open_for(record, request.question_key, account.data_version):
        if answers is None or answers(entry.question or ""):
            # A key that was used for another question is refused at once, not after the wait.
            reservations.find_by_idempotency_key(store, record, request)
            return _holder(entry)
    return reservations.reserve(store, record, request)


def abandonment(holder: Holder) -> Reason | None:
    """Why nobody will settle an open reservation; None if somebody may."""
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
    """How long to sleep between looks: hardly at first, a quarter of a second in the end."""
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(_MAX_PAUSE, 1.5 * pause)


def _holder(entry: Entry) -> Holder:
    return Holder(entry.dataset, entry.sequence, entry.owner or "", entry.hash)
