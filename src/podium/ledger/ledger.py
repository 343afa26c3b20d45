"""The ledger: budgets that outlive the process, and every release paid from them."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from podium.closed_at_exit import ClosedAtExit
from podium.errors import LedgerTampered, QuestionPending
from podium.exact import positive_integer
from podium.ledger import admission, reservations, single_flight
from podium.ledger.account import Contradiction
from podium.ledger.budget import Budget
from podium.ledger.entries import Entry, Kind, Reason
from podium.ledger.ledger_view import LedgerView
from podium.ledger.receipts import Presented
from podium.ledger.registration import RegistrationRequest, new_totals, register, stored_users
from podium.ledger.reservation_request import Request, checked_charge, key_of, new_request
from podium.ledger.reservations import Reservation, StoredRelease
from podium.ledger.status import Status, status_of
from podium.ledger.tables.consistency import Checker
from podium.ledger.tables.copying import read_copy
from podium.ledger.tables.migrations import migrate
from podium.ledger.tables.rows import stored_integer
from podium.ledger.tables.store import DatasetRecord, Holder, Store
from podium.ledger.verification import Verification, verify_copy
from podium.privacy import Charge
from podium.storage.backend import Backend, BrokenRule
from podium.storage.labels import label, long_text, private_text
from podium.user_columns import UserColumns

__all__ = ["Ledger"]

_FIRST_VERSION = "1"
_FAILURES_ALLOWED = 3
_PATIENCE = 60.0

_Answers: TypeAlias = Callable[[str], bool]
_T = TypeVar("_T")


class Ledger(LedgerView, ClosedAtExit):
    """Data sets with totals fixed at registration, and what was reserved, settled and forfeited against them.

    One object may serve many threads, and a forked child may go on using it. ``open_ledger`` makes one.
    """

    def __init__(self, backend: Backend, *, create: bool = True) -> None:
        self._backend = backend
        self._checker = Checker()
        migrate(backend, create=create)
        with suppress(LedgerTampered):
            # An unsound ledger must still open, so that it can be verified.
            self.recover()

    @property
    def name(self) -> str:
        """Where the ledger is, without passwords."""
        return self._backend.name

    # What the owner does

    def datasets(self) -> tuple[str, ...]:
        """The names of all data sets in the order of their registration."""
        with self._backend.transaction(write=False) as session:
            return tuple(Store(session).names())

    def register(
        self,
        dataset: str,
        budget: Budget,
        *,
        source: str,
        user: UserColumns | None = None,
        data_version: str = _FIRST_VERSION,
        failures_allowed: int = _FAILURES_ALLOWED,
        force: bool = False,
        schedule: str | None = None,
        tables: Mapping[str, tuple[str, UserColumns]] | None = None,
        joins: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> Entry:
        """Fix the total of a data set under a name, once and for all.

        ``source`` says where the data is (a location, never a fingerprint of rows): registering the same source under
        a second name is refused without ``force``, because both totals then add up. ``user`` names the column
        whose values are protected, or several whose values together are one user; once named, the data set has no
        other. Registering again with the same budget, source and user changes nothing; with ``force`` another source
        counts as a copy of the first. After
        ``failures_allowed`` forfeited reservations of one analyst that analyst is locked out, after ten times as many
        everybody. A data set that belongs to a ``schedule`` answers no other questions. ``tables`` are several tables
        of the same users by name, each with its source and user column: they share the total. ``joins``
        are the tables that questions may join to each table, "" where there is one without a name.
        """
        wanted = RegistrationRequest(
            label(dataset, "dataset"),
            budget,
            long_text(source, "source"),
            None if user is None else stored_users(user),
            label(data_version, "data_version"),
            positive_integer(failures_allowed, "failures_allowed"),
            force,
            None if schedule is None else long_text(schedule, "schedule"),
            {
                label(name, "table"): (long_text(at, "source"), stored_users(user))
                for name, (at, user) in (tables or {}).items()
            },
            joins or {},
        )
        with self._report_tampering(wanted.dataset), self._backend.transaction(write=True) as session:
            store = Store(session)
            head = store.lock_registry()
            return register(store, head, self._checker.find(store, wanted.dataset, lock=True), wanted)

    def raise_total(self, dataset: str, budget: Budget) -> Entry:
        """Replace the total by a larger one of the same kind; the earlier guarantee no longer holds."""
        with self._write(dataset) as (store, record):
            totals = new_totals(record.account.totals, budget)
            return store.append(record, Kind.RAISED, facts={"totals": totals.to_dict()})

    def set_data_version(self, dataset: str, data_version: str, *, table: str | None = None) -> Entry:
        """Declare that the data changed: each question asked before costs once more.

        Of several tables, ``table`` is the one that changed; all of them by default.
        """
        version = label(data_version, "data_version")
        with self._write(dataset) as (store, record):
            if table is not None:
                admission.require_table(record.account, table)
            facts = None if table is None else {"table": table}
            return store.append(record, Kind.RELABELLED, data_version=version, facts=facts)

    def unlock(self, dataset: str, *, analyst: str | None = None) -> Entry:
        """Allow questions again after failures, of one analyst or of everybody; what they reserved stays charged."""
        who = None if analyst is None else label(analyst, "analyst")
        with self._write(dataset) as (store, record):
            admission.require_failures(record, who)
            return store.append(record, Kind.UNLOCKED, analyst=who)

    # What a question does

    def reserve(
        self,
        dataset: str,
        worst_case: Charge,
        question: str,
        *,
        analyst: str | None = None,
        question_key: str | None = None,
        idempotency_key: str | None = None,
        after: str | None = None,
        schedule: str | None = None,
        table: str | None = None,
        session: bool = False,
    ) -> Reservation:
        """Charge the worst case of a question before any row is read; ``BudgetExceeded`` if it does not fit.

        ``question`` is its canonical text; ``question_key`` (the question itself unless given) is what questions must
        share so that one's release can answer the other. A second call with the same ``idempotency_key`` returns the
        first one's reservation and charges nothing. ``after`` is the hash that the last entry must have, for a question
        whose size was computed from the history: it is refused if another entry was written since.
        ``schedule`` names the schedule that asks: its questions have a plan of their own, so that neither the least
        price nor the limit on questions applies. ``table`` is the one that it reads, where the data set has several.
        A ``session`` reacts to what others are answered meanwhile; a Gaussian filter charges more for it.
        """
        request = new_request(
            worst_case, question, question_key=question_key, analyst=analyst, idempotency_key=idempotency_key,
            table=table,
        )  # fmt: skip
        request = replace(request, after=after, schedule=schedule, session=session)
        (reserved,) = self._reserve_in_hand(
            dataset, lambda store, find: (reservations.reserve(store, find(), request),)
        )
        return reserved

    def reserve_once(
        self,
        dataset: str,
        worst_case: Charge,
        question: str,
        *,
        analyst: str | None = None,
        question_key: str | None = None,
        older_key: str | None = None,
        idempotency_key: str | None = None,
        answers: _Answers | None = None,
        table: str | None = None,
        patience: float = _PATIENCE,
    ) -> Reservation | StoredRelease:
        """The release that answers a question, or else a reservation for it: ``find_release`` and ``reserve`` in one.

        Single flight: while a reservation is open whose release would answer the question, in any process, this waits
        for it, so that an answer is paid for once. ``QuestionPending`` after ``patience`` seconds, with no charge.
        ``older_key`` is the key that an earlier podium would have stored the same question under.
        """
        request = new_request(
            worst_case, question, question_key=question_key, older_key=older_key, analyst=analyst,
            idempotency_key=idempotency_key, table=table, answers=answers,
        )  # fmt: skip
        return self.claim_together(dataset, (request,), patience=patience)[0]

    def claim_together(
        self, dataset: str, wanted: Sequence[Request], *, patience: float = _PATIENCE
    ) -> tuple[Reservation | StoredRelease, ...]:
        """For each question what ``reserve_once`` returns, in one transaction: all are admitted, or none."""
        end = time.monotonic() + patience
        while True:
            claimed = self._reserve_in_hand(dataset, lambda store, find: single_flight.claim(store, find, wanted))
            if not isinstance(claimed, Holder):
                return claimed
            if not self._wait_until_closed(claimed, end):
                raise QuestionPending(dataset, patience)

    def _reserve_in_hand(self, dataset: str, work: Callable[[Store, Callable[[], DatasetRecord]], _T]) -> _T:
        """Do the work in a transaction, and mark new reservations as in hand before anybody else can see them."""
        made: tuple[str, ...] = ()
        try:
            with self._write(dataset) as (store, _):
                claimed = work(store, lambda: self._require_dataset(store, dataset, lock=True))
                made = single_flight.fresh_hashes(claimed)
                single_flight.in_hand.update(made)
        except BaseException:
            # Committed or not, nobody will work on them.
            single_flight.in_hand.difference_update(made)
            raise
        return claimed

    def _wait_until_closed(self, holder: Holder, end: float) -> bool:
        """Wait until a reservation is closed, or forfeit it if it is abandoned; False if ``end`` comes first."""
        pauses = single_flight.pauses()
        while (reason := single_flight.abandonment(holder)) is None:
            pause = next(pauses)
            if time.monotonic() + pause > end:
                return False
            time.sleep(pause)
            with self._read(holder.dataset) as (_, record):
                if holder.number not in record.state.opened:
                    return True
        self._give_up(holder, reason)
        return True

    def _give_up(self, holder: Holder, reason: Reason) -> tuple[Entry, ...]:
        with self._write(holder.dataset) as (store, record):
            if holder.number not in record.state.opened:
                return ()
            return (reservations.forfeit(store, record, holder.number, reason),)

    def settle(self, reservation: Reservation, release_json: str, events: Charge) -> Entry:
        """Store the release and charge what it cost, in one transaction; only then may it be shown.

        The entry's ``hash`` is the head of the chain, for the receipt. Settling is idempotent: with the same release it
        returns the same entry, so it can be retried after a lost reply.
        """
        release = private_text(release_json, "release_json")
        actual = checked_charge(events)
        with self._write(reservation.dataset) as (store, record):
            entry = reservations.settle(store, record, reservation, release, actual)
        single_flight.in_hand.discard(reservation.hash)
        return entry

    def release_of(self, reservation: Reservation) -> StoredRelease | None:
        """The release that settled a reservation; None if it is not settled."""
        with self._read(reservation.dataset) as (store, record):
            return reservations.release_of(store, record, reservation)

    def forfeit(self, reservation: Reservation, reason: Reason = Reason.FAILED) -> Entry:
        """Close a reservation without a release. All of it stays charged, and it counts as a failure.

        If the database cannot be reached, the next equal question of this process forfeits it, or the next recovery.
        """
        single_flight.in_hand.discard(reservation.hash)
        with self._write(reservation.dataset) as (store, record):
            return reservations.forfeit(store, record, reservation, Reason(reason))

    def recover(self, *, force: bool = False) -> tuple[Entry, ...]:
        """Forfeit abandoned reservations; opening a ledger does this too.

        These are the reservations of processes that are certainly gone, and those that this process gave up. With
        ``force`` also those of every other process, for machines that will not come back.
        """
        with self._backend.transaction(write=False) as session:
            holders = Store(session).holders()
        forfeited: list[Entry] = []
        for holder in holders:
            with self._report_tampering(str(holder.dataset)):
                stored_integer(holder.number)
            reason = single_flight.abandonment(holder)
            if reason is None and force and not single_flight.is_ours(holder):
                reason = Reason.ABANDONED
            if reason is not None:
                forfeited += self._give_up(holder, reason)
        return tuple(forfeited)

    def find_release(
        self,
        dataset: str,
        question_key: str,
        data_version: str | None = None,
        *,
        analyst: str | None = None,
        answers: _Answers | None = None,
        table: str | None = None,
    ) -> StoredRelease | None:
        """The release that answers a question again, free of charge; None if there is none for this data.

        ``data_version`` is the current one by default. ``answers`` says of the text of a question with the same key
        whether its release answers this one (an ordered top-10 answers a top-5). Where analysts have caps, an analyst
        who sees a release for the first time is charged what it cost, and refused if its worst case would not fit.
        """
        key = key_of(long_text(question_key, "question_key"))
        who = None if analyst is None else label(analyst, "analyst")

        def look(store: Store, record: DatasetRecord) -> StoredRelease | None:
            admission.require_analyst(record.account, who)
            admission.require_table(record.account, table)
            version = record.account.version_of(table) if data_version is None else data_version
            return reservations.find(store, record, (key,), version, who, answers)

        with self._read(dataset) as (store, record):
            if record.account.totals.per_analyst is None:
                return look(store, record)
        with self._write(dataset) as (store, record):
            return look(store, record)

    # What anybody may look at

    def status(self, dataset: str) -> Status:
        """Totals, what is charged, what is left, and the guarantee."""
        with self._read(dataset) as (store, record):
            return status_of(store, record)

    def history(self, dataset: str) -> tuple[Entry, ...]:
        """All entries of a data set in their order."""
        with self._read(dataset) as (store, record):
            return tuple(store.entries(record))

    def verify(self, dataset: str | None = None, *, receipts: Iterable[Presented] = ()) -> Verification:
        """Replay the chain of one data set, or of all, and compute every sum again.

        ``receipts`` that were kept elsewhere show that nobody rewrote the whole ledger: hashes of entries that must
        exist, or releases, which must also agree with what was settled.
        """
        reader = partial(self._backend.transaction, write=False)
        with reader() as session:
            copy = read_copy(session, dataset, reader)
            if dataset is not None and not copy.datasets:
                raise Store(session).unknown(dataset)
        return verify_copy(copy, receipts)

    def clock(self) -> dt.datetime:
        """The database's current time, in UTC and without a zone."""
        with self._backend.transaction(write=False) as session:
            return Store(session).clock()

    def close(self) -> None:
        """Close the connections; the ledger opens new ones if it is used again."""
        self._backend.close()

    @contextmanager
    def _write(self, dataset: str) -> Iterator[tuple[Store, DatasetRecord]]:
        """A transaction that is the only writer of this data set."""
        with self._report_tampering(dataset), self._backend.transaction(write=True) as session:
            store = Store(session)
            yield store, self._require_dataset(store, dataset, lock=True)

    @contextmanager
    def _read(self, dataset: str) -> Iterator[tuple[Store, DatasetRecord]]:
        """A transaction that sees one snapshot."""
        with self._report_tampering(dataset), self._backend.transaction(write=False) as session:
            store = Store(session)
            yield store, self._require_dataset(store, dataset, lock=False)

    def _require_dataset(self, store: Store, dataset: str, *, lock: bool) -> DatasetRecord:
        record = self._checker.find(store, label(dataset, "dataset"), lock=lock)
        if record is None:
            raise store.unknown(dataset)
        return record

    @contextmanager
    def _report_tampering(self, dataset: str) -> Iterator[None]:
        try:
            yield
        except Contradiction as contradiction:
            raise LedgerTampered(dataset, str(contradiction)) from None
        except BrokenRule:
            raise LedgerTampered(dataset, "a rule of the database would have been broken") from None
