"""The ledger: budgets that outlive the process, and every release that was paid from them."""

from __future__ import annotations

import datetime as dt
import difflib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import TypeAlias, TypeVar

from podium.errors import LedgerTampered, QuestionPending, UnknownDataset
from podium.exact import positive_integer
from podium.ledger import reservations, single_flight
from podium.ledger.account import Contradiction
from podium.ledger.budget import Budget
from podium.ledger.entries import Entry, Kind, Reason
from podium.ledger.receipts import Presented
from podium.ledger.registration import Registering, new_totals, register
from podium.ledger.reservations import Request, Reservation, StoredRelease, key_of, require_failures
from podium.ledger.status import Status, status_of
from podium.ledger.tables.consistency import Checker
from podium.ledger.tables.copying import read_copy
from podium.ledger.tables.migrations import migrate
from podium.ledger.tables.rows import whole_number
from podium.ledger.tables.store import Holder, Located, Store
from podium.ledger.verification import Verification, verify_copy
from podium.privacy import Charge, Cost, Event
from podium.storage.backend import Backend, BrokenRule
from podium.storage.labels import label, long_text, withheld_text

__all__ = ["Ledger"]

_FIRST_VERSION = "1"
_FAILURES_ALLOWED = 3
_PATIENCE = 60.0

_Suits: TypeAlias = Callable[[str], bool]
_T = TypeVar("_T")


class Ledger:
    """Data sets with totals fixed at registration, and what was reserved, settled and forfeited against them.

    One object may serve many threads, and a forked child may go on using it. ``open_ledger`` makes one.
    """

    def __init__(self, backend: Backend, *, create: bool = True) -> None:
        self._backend = backend
        self._checker = Checker()
        migrate(backend, create=create)
        with suppress(LedgerTampered):
            # A ledger that is not sound must still open, so that it can be verified.
            self.recover()

    @property
    def name(self) -> str:
        """Where the ledger is, without passwords."""
        return self._backend.name

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

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
        user: str | None = None,
        data_version: str = _FIRST_VERSION,
        failures_allowed: int = _FAILURES_ALLOWED,
        insist: bool = False,
        schedule: str | None = None,
    ) -> Entry:
        """Fix the total of a data set under a name, once and for all.

        ``source`` says where the data is (a location, never a fingerprint of rows): registering the same source under
        a second name is refused unless the owner insists, because both totals then add up. ``user`` names the column
        whose values are protected; once named, the data set has no other. Registering again with the same budget,
        source and user changes nothing, and the owner may insist that another source is a copy. After
        ``failures_allowed`` forfeited reservations of one analyst that analyst is locked out, after ten times as many
        everybody. A data set that belongs to a ``schedule`` answers no other questions.
        """
        wanted = Registering(
            label(dataset, "dataset"),
            budget,
            long_text(source, "source"),
            None if user is None else long_text(user, "user"),
            label(data_version, "data_version"),
            positive_integer(failures_allowed, "failures_allowed"),
            insist,
            None if schedule is None else long_text(schedule, "schedule"),
        )
        with self._honest(wanted.dataset), self._backend.transaction(write=True) as session:
            store = Store(session)
            head = store.lock_registry()
            return register(store, head, self._checker.located(store, wanted.dataset, lock=True), wanted)

    def raise_total(self, dataset: str, budget: Budget) -> Entry:
        """Replace the total by a larger one of the same kind; the promise made before no longer holds."""
        with self._writing(dataset) as (store, located):
            totals = new_totals(located.account.totals, budget)
            return store.append(located, Kind.RAISED, facts={"totals": totals.to_dict()})

    def set_data_version(self, dataset: str, data_version: str) -> Entry:
        """Say that the data changed: questions asked before cost again, once."""
        version = label(data_version, "data_version")
        with self._writing(dataset) as (store, located):
            return store.append(located, Kind.RELABELLED, data_version=version)

    def unlock(self, dataset: str, *, analyst: str | None = None) -> Entry:
        """Let questions in again after failures, of one analyst or of everybody; what they reserved stays charged."""
        who = None if analyst is None else label(analyst, "analyst")
        with self._writing(dataset) as (store, located):
            require_failures(located, who)
            return store.append(located, Kind.UNLOCKED, analyst=who)

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
    ) -> Reservation:
        """Charge the worst case of a question before any row is read; ``BudgetExceeded`` if it does not fit.

        ``question`` is its canonical text; ``question_key`` (the question itself unless given) is what questions must
        share so that one's release can answer the other. A second call with the same ``idempotency_key`` returns the
        first one's reservation and charges nothing. ``after`` is the hash of the entry that must be the last one, for a
        question whose size was worked out from the history: it is refused if somebody else wrote meanwhile.
        ``schedule`` names the schedule that asks: its questions have a plan of their own, so that neither the least
        price nor the limit on questions applies.
        """
        request = _request(worst_case, question, question_key, analyst, idempotency_key)
        request = replace(request, after=after, schedule=schedule)
        return self._held(dataset, lambda store, located: reservations.reserve(store, located, request))

    def reserve_once(
        self,
        dataset: str,
        worst_case: Charge,
        question: str,
        *,
        analyst: str | None = None,
        question_key: str | None = None,
        idempotency_key: str | None = None,
        suits: _Suits | None = None,
        patience: float = _PATIENCE,
    ) -> Reservation | StoredRelease:
        """The release that answers a question, or else a reservation for it: what ``find_release`` and ``reserve`` do.

        While somebody else holds a reservation whose release would do, in whatever process, this waits for it, so that
        an answer is paid for once. ``QuestionPending`` after ``patience`` seconds, with nothing charged.
        """
        request = _request(worst_case, question, question_key, analyst, idempotency_key)
        end = time.monotonic() + patience
        while True:
            claimed = self._held(dataset, lambda store, located: single_flight.claim(store, located, request, suits))
            if not isinstance(claimed, Holder):
                return claimed
            if not self._closed(claimed, end):
                raise QuestionPending(dataset, patience)

    def _held(self, dataset: str, work: Callable[[Store, Located], _T]) -> _T:
        """Do the work in a transaction; a reservation that it makes is in hand before anybody else can see it."""
        made: _T | None = None
        try:
            with self._writing(dataset) as (store, located):
                made = work(store, located)
                if isinstance(made, Reservation) and made.fresh:
                    single_flight.in_hand.add(made.hash)
        except BaseException:
            if isinstance(made, Reservation) and made.fresh:
                # Whether it was committed or not, nobody will work on it.
                single_flight.in_hand.discard(made.hash)
            raise
        return made

    def _closed(self, holder: Holder, end: float) -> bool:
        """Wait until a reservation is closed, or close it if nobody works on it; False if it takes too long."""
        pauses = single_flight.pauses()
        while (reason := single_flight.given_up(holder)) is None:
            pause = next(pauses)
            if time.monotonic() + pause > end:
                return False
            time.sleep(pause)
            with self._reading(holder.dataset) as (_, located):
                if holder.number not in located.state.opened:
                    return True
        self._give_up(holder, reason)
        return True

    def _give_up(self, holder: Holder, reason: Reason) -> tuple[Entry, ...]:
        with self._writing(holder.dataset) as (store, located):
            if holder.number not in located.state.opened:
                return ()
            return (reservations.forfeit(store, located, holder.number, reason),)

    def settle(self, reservation: Reservation, release_json: str, events: Charge) -> Entry:
        """Store the release and charge what it cost, in one transaction; only then may it be shown.

        The entry's ``hash`` is the head of the chain, for the receipt. Settling again with the same release returns the
        same entry, so a lost answer of the database can be asked for again.
        """
        release = withheld_text(release_json, "release_json")
        actual = _charge(events)
        with self._writing(reservation.dataset) as (store, located):
            entry = reservations.settle(store, located, reservation, release, actual)
        single_flight.in_hand.discard(reservation.hash)
        return entry

    def release_of(self, reservation: Reservation) -> StoredRelease | None:
        """What a reservation was settled with; None if it was not."""
        with self._reading(reservation.dataset) as (store, located):
            return reservations.release_of(store, located, reservation)

    def forfeit(self, reservation: Reservation, reason: Reason = Reason.FAILED) -> Entry:
        """Close a reservation without a release. All of it stays charged, and it counts as a failure.

        If the database cannot be reached, the next equal question of this process closes it, or the next recovery.
        """
        single_flight.in_hand.discard(reservation.hash)
        with self._writing(reservation.dataset) as (store, located):
            return reservations.forfeit(store, located, reservation, Reason(reason))

    def recover(self, *, force: bool = False) -> tuple[Entry, ...]:
        """Forfeit the open reservations that nobody works on any more (done at every opening, too).

        Those of processes that are certainly gone, and those that this process gave up. With ``force`` those of every
        other process: for machines that will not come back.
        """
        with self._backend.transaction(write=False) as session:
            holders = Store(session).holders()
        forfeited: list[Entry] = []
        for holder in holders:
            with self._honest(str(holder.dataset)):
                whole_number(holder.number)
            reason = single_flight.given_up(holder)
            if reason is None and force and not single_flight.ours(holder):
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
        suits: _Suits | None = None,
    ) -> StoredRelease | None:
        """The release that answers a question again, free of charge; None if there is none for this data.

        ``data_version`` is the present one unless given. ``suits`` picks among questions with the same key by their
        text (an ordered top-10 answers a top-5). Where analysts have caps, an analyst who sees a release for the
        first time is charged what it cost, and refused if its worst case would not fit.
        """
        key = key_of(long_text(question_key, "question_key"))
        who = None if analyst is None else label(analyst, "analyst")

        def look(store: Store, located: Located) -> StoredRelease | None:
            reservations.require_analyst(located.account, who)
            version = located.account.data_version if data_version is None else data_version
            return reservations.find(store, located, key, version, who, suits)

        with self._reading(dataset) as (store, located):
            if located.account.totals.per_analyst is None:
                return look(store, located)
        with self._writing(dataset) as (store, located):
            return look(store, located)

    # What anybody may look at

    def status(self, dataset: str) -> Status:
        """Totals, what is charged, what is left, and the promise."""
        with self._reading(dataset) as (store, located):
            return status_of(store, located)

    def history(self, dataset: str) -> tuple[Entry, ...]:
        """All entries of a data set in their order."""
        with self._reading(dataset) as (store, located):
            return tuple(store.entries(located))

    def verify(self, dataset: str | None = None, *, receipts: Iterable[Presented] = ()) -> Verification:
        """Walk the chain of one data set, or of all, and compute every sum again.

        ``receipts`` were kept elsewhere, and show that nobody rewrote the whole ledger: hashes of entries that must be
        there, or releases, which must also say what was settled.
        """
        with self._backend.transaction(write=False) as session:
            copy = read_copy(session, dataset)
            if dataset is not None and not copy.datasets:
                raise _unknown(Store(session), dataset)
        return verify_copy(copy, receipts)

    def clock(self) -> dt.datetime:
        """What time it is by the database that the ledger is in, in UTC and without a zone."""
        with self._backend.transaction(write=False) as session:
            return Store(session).clock()

    def close(self) -> None:
        """Close the connections; the ledger opens new ones if it is used again."""
        self._backend.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _writing(self, dataset: str) -> Iterator[tuple[Store, Located]]:
        """A transaction that nobody else writes to this data set in."""
        with self._honest(dataset), self._backend.transaction(write=True) as session:
            store = Store(session)
            yield store, self._located(store, dataset, lock=True)

    @contextmanager
    def _reading(self, dataset: str) -> Iterator[tuple[Store, Located]]:
        """A transaction that sees one moment."""
        with self._honest(dataset), self._backend.transaction(write=False) as session:
            store = Store(session)
            yield store, self._located(store, dataset, lock=False)

    def _located(self, store: Store, dataset: str, *, lock: bool) -> Located:
        located = self._checker.located(store, label(dataset, "dataset"), lock=lock)
        if located is None:
            raise _unknown(store, dataset)
        return located

    @contextmanager
    def _honest(self, dataset: str) -> Iterator[None]:
        try:
            yield
        except Contradiction as contradiction:
            raise LedgerTampered(dataset, str(contradiction)) from None
        except BrokenRule:
            raise LedgerTampered(dataset, "a rule of the database would have been broken") from None


def _unknown(store: Store, dataset: str) -> UnknownDataset:
    near = difflib.get_close_matches(dataset, store.names(), n=1)
    return UnknownDataset(dataset, near[0] if near else None)


def _request(
    worst_case: Charge, question: str, question_key: str | None, analyst: str | None, idempotency_key: str | None
) -> Request:
    text = long_text(question, "question")
    return Request(
        _charge(worst_case),
        text,
        key_of(text if question_key is None else long_text(question_key, "question_key")),
        None if analyst is None else label(analyst, "analyst"),
        None if idempotency_key is None else label(idempotency_key, "idempotency_key"),
    )


def _charge(charge: Charge) -> Cost | tuple[Event, ...]:
    if isinstance(charge, Cost):
        return charge
    return tuple(charge) if isinstance(charge, Iterable) else (charge,)
