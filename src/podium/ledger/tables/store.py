"""The statements that read and write a ledger's tables, the same on both databases."""

from __future__ import annotations

import datetime as dt
import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from podium.errors import UnknownDataset
from podium.ledger.account import Account, Contradiction, analyst_sums
from podium.ledger.bookkeeping.held import Sum
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.ledger.state import State
from podium.ledger.tables.copying import RawDataset, raw_datasets
from podium.ledger.tables.rows import (
    ACCOUNT_COLUMNS,
    ENTRY_COLUMNS,
    account_from_row,
    account_to_row,
    analysts_from_rows,
    entry_from_row,
    entry_to_row,
    mu_squared_value,
    opened_from_rows,
    stored_integer,
    sum_to_row,
)
from podium.randomness import system_bits
from podium.storage.backend import Session, Value

__all__ = ["DatasetRecord", "Holder", "Store", "rebuild_analysts"]

_SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A data set as its tables describe it, and its row id."""

    id: int
    state: State

    @property
    def account(self) -> Account:
        """The account of the data set."""
        return self.state.account


class Holder(NamedTuple):
    """An open reservation: its data set and number, the process that made it, and the hash of its entry."""

    dataset: str
    number: int
    owner: str
    hash: str


class Store:
    """The tables, inside one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # Accounts

    def names(self) -> list[str]:
        """All data sets in the order of their registration."""
        return [name for (name,) in self._session.rows("SELECT name FROM datasets ORDER BY id")]

    def unknown(self, dataset: str) -> UnknownDataset:
        """That there is no data set of this name, and which name is near."""
        near = difflib.get_close_matches(dataset, self.names(), n=1)
        return UnknownDataset(dataset, near[0] if near else None)

    def find(self, dataset: str, *, lock: bool) -> DatasetRecord | None:
        """A data set as its tables describe it; with ``lock`` nobody else changes it until the transaction ends."""
        suffix = self._session.lock_rows if lock else ""
        rows = self._session.rows(
            f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets WHERE name = ?{suffix}",  # noqa: S608
            (dataset,),
        )
        if not rows:
            return None
        number = rows[0][0]
        analysts = self._session.rows(
            "SELECT analyst, epsilon, unbounded, rho, delta, failures, mu_squared FROM analysts WHERE dataset_id = ?",
            (number,),
        )
        opened = self._session.rows("SELECT sequence, owner FROM open_reservations WHERE dataset_id = ?", (number,))
        account = account_from_row(rows[0][1:])
        return DatasetRecord(number, State(account, analysts_from_rows(analysts), opened_from_rows(opened)))

    def rows_of(self, dataset: str) -> RawDataset:
        """The unchecked rows of a data set that exists."""
        return raw_datasets(self._session, dataset)[0]

    def dataset_with_source(self, sources: Iterable[str]) -> str | None:
        """The data set that was registered first for one of these sources."""
        wanted = set(sources)
        for name, source, tables in self._session.rows("SELECT name, source, tables FROM datasets ORDER BY id"):
            if wanted & {source, *(told[0] for told in json.loads(tables or "{}").values())}:
                return str(name)
        return None

    def last(self, record: DatasetRecord) -> Entry:
        """The last entry, which must be the one that the account names."""
        found = _first(self._entries(record, "TRUE ORDER BY sequence DESC LIMIT 1"))
        if found is None or (found.sequence, found.hash) != (record.account.sequence, record.account.head):
            raise Contradiction("the last entry is not the one that was written")
        return found

    def clock(self) -> dt.datetime:
        """The database's current time in UTC. SQLite returns text, and uses this machine's clock."""
        ((now,),) = self._session.rows("SELECT CURRENT_TIMESTAMP")
        moment = dt.datetime.fromisoformat(now) if isinstance(now, str) else now.astimezone(dt.UTC)
        return moment.replace(tzinfo=None)

    # Entries

    def entries(self, record: DatasetRecord) -> list[Entry]:
        """All entries of a data set in their order."""
        return self._entries(record, "TRUE ORDER BY sequence")

    def entry(self, record: DatasetRecord, sequence: int) -> Entry | None:
        """One entry."""
        return _first(self._entries(record, "sequence = ?", sequence))

    def registration(self, record: DatasetRecord) -> Entry:
        """The registration."""
        first = self.entry(record, 1)
        if first is None:
            raise Contradiction("its registration is missing")
        return first

    def closing_entry(self, record: DatasetRecord, reservation: int) -> Entry | None:
        """The entry that settled or forfeited a reservation."""
        return _first(self._entries(record, "reservation = ? AND kind IN ('settled', 'forfeited')", reservation))

    def with_idempotency_key(self, record: DatasetRecord, idempotency_key: str) -> Entry | None:
        """The reservation that was made with this key."""
        return _first(self._entries(record, "idempotency_key = ?", idempotency_key))

    def seen_by(self, record: DatasetRecord, reservation: int, analyst: str) -> Entry | None:
        """The entry by which an analyst was charged for a stored release."""
        return _first(self._entries(record, "reservation = ? AND analyst = ? AND kind = 'seen'", reservation, analyst))

    def reservations_for(self, record: DatasetRecord, question_keys: tuple[str, ...], data_version: str) -> list[Entry]:
        """Reservations of the same question on the same data, oldest first."""
        marks = ", ".join("?" * len(question_keys))
        where = f"question_key IN ({marks}) AND data_version = ? AND kind = 'reserved' ORDER BY sequence"
        return self._entries(record, where, *question_keys, data_version)

    def open_reservations(self, record: DatasetRecord) -> list[Entry]:
        """Reservations that are neither settled nor forfeited."""
        where = "sequence IN (SELECT o.sequence FROM open_reservations o WHERE o.dataset_id = ?) ORDER BY sequence"
        return self._entries(record, where, record.id)

    def open_for(self, record: DatasetRecord, question_keys: tuple[str, ...], data_version: str) -> list[Entry]:
        """Those of the same question on the same data, oldest first."""
        opened = self.open_reservations(record)
        return [one for one in opened if one.question_key in question_keys and one.data_version == data_version]

    def holders(self) -> list[Holder]:
        """Who holds which reservation open."""
        sql = (
            "SELECT d.name, o.sequence, o.owner, e.hash FROM open_reservations o "
            "JOIN datasets d ON d.id = o.dataset_id "
            "JOIN entries e ON e.dataset_id = o.dataset_id AND e.sequence = o.sequence ORDER BY d.id, o.sequence"
        )
        return [Holder(*row) for row in self._session.rows(sql)]

    def _entries(self, record: DatasetRecord, where: str, *parameters: Value) -> list[Entry]:
        sql = f"SELECT {ENTRY_COLUMNS} FROM entries WHERE dataset_id = ? AND {where}"  # noqa: S608
        account = record.account
        found = [entry_from_row(account.dataset, row) for row in self._session.rows(sql, (record.id, *parameters))]
        for entry in found:
            # Every entry that is read is checked here, so that a change is noticed before anything is decided on it.
            if entry.computed_hash() != entry.hash:
                raise Contradiction(f"entry {entry.sequence} was changed")
            if not 0 < entry.sequence <= account.sequence:
                raise Contradiction("the last entry is not the one that was written")
        return found

    # Writing

    def lock_registry(self) -> str:
        """The head of the chain of registrations, locked against other writers until the transaction ends."""
        rows = self._session.rows(
            f"SELECT registry_head FROM ledger WHERE id = 1{self._session.lock_rows}"  # noqa: S608
        )
        if not rows:
            raise Contradiction("the row that starts all chains is missing")
        return str(rows[0][0])

    def register(self, head: str, dataset: str, data_version: str, details: dict[str, Any]) -> Entry:
        """Open an account. Registrations form a separate chain, so that none can vanish unnoticed."""
        ((last,),) = self._session.rows("SELECT COALESCE(MAX(id), 0) FROM datasets")
        entry = Entry(
            dataset, 1, Kind.REGISTERED, _now(), head, _salt(),
            data_version=data_version, details=canonical_json(details),
        )  # fmt: skip
        state = State(Account.from_registration(entry))
        entry = _chained(entry, state)
        record = DatasetRecord(stored_integer(last) + 1, State(Account.from_registration(entry)))
        marks = ", ".join("?" * len(account_to_row(record.account)))
        self._session.run(
            f"INSERT INTO datasets (id, {ACCOUNT_COLUMNS}) VALUES (?, {marks})",  # noqa: S608
            (record.id, *account_to_row(record.account)),
        )
        self._insert(record, entry)
        self._session.run("UPDATE ledger SET registry_head = ? WHERE id = 1", (entry.hash,))
        return entry

    def append(
        self, record: DatasetRecord, kind: Kind, *,
        reservation: Entry | None = None, facts: dict[str, Any] | None = None, **fields: Any,
    ) -> Entry:  # fmt: skip
        """Write the next entry, and update the tables that follow from it."""
        account = record.account
        entry = Entry(
            account.dataset, account.sequence + 1, kind, _now(), account.head, _salt(),
            reservation=None if reservation is None else reservation.sequence,
            details=canonical_json(facts) if facts else None,
            **fields,
        )  # fmt: skip
        after = record.state.after(entry, reservation)
        entry = _chained(entry, after)
        self._insert(record, entry)
        self._update(record.id, replace(after.account, head=entry.hash))
        for name, row in after.analysts.items():
            if row != record.state.analysts.get(name):
                self.write_analyst(record.id, name, after.analyst(name), after.failures(name))
        self._track(record, entry)
        return entry

    def _insert(self, record: DatasetRecord, entry: Entry) -> None:
        row = entry_to_row(entry)
        marks = ", ".join("?" * len(row))
        self._session.run(
            f"INSERT INTO entries (dataset_id, {ENTRY_COLUMNS}) VALUES (?, {marks})",  # noqa: S608
            (record.id, *row),
        )

    def _update(self, dataset_id: int, account: Account) -> None:
        pairs = ", ".join(f"{column} = ?" for column in ACCOUNT_COLUMNS.split(", "))
        self._session.run(
            f"UPDATE datasets SET {pairs} WHERE id = ?",  # noqa: S608
            (*account_to_row(account), dataset_id),
        )

    def write_analyst(self, dataset_id: int, analyst: str, held: Sum, failures: int = 0) -> None:
        """Replace the sum charged to an analyst, and the number of their failed questions."""
        self._session.run("DELETE FROM analysts WHERE dataset_id = ? AND analyst = ?", (dataset_id, analyst))
        self._session.run(
            "INSERT INTO analysts (dataset_id, analyst, epsilon, unbounded, rho, delta, failures, mu_squared) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (dataset_id, analyst, *sum_to_row(held), failures, mu_squared_value(held)),
        )

    def _track(self, record: DatasetRecord, entry: Entry) -> None:
        if entry.kind is Kind.RESERVED:
            self._session.run(
                "INSERT INTO open_reservations (dataset_id, sequence, owner) VALUES (?, ?, ?)",
                (record.id, entry.sequence, entry.owner),
            )
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED):
            self._session.run(
                "DELETE FROM open_reservations WHERE dataset_id = ? AND sequence = ?", (record.id, entry.reservation)
            )


def rebuild_analysts(session: Session) -> None:
    """Fill the sums per analyst from the entries. Their hashes are left to verification."""
    store = Store(session)
    for number, name in session.rows("SELECT id, name FROM datasets ORDER BY id"):
        rows = session.rows(
            f"SELECT {ENTRY_COLUMNS} FROM entries WHERE dataset_id = ? ORDER BY sequence",  # noqa: S608
            (number,),
        )
        for analyst, held in analyst_sums(entry_from_row(name, row) for row in rows).items():
            store.write_analyst(number, analyst, held)


def _chained(entry: Entry, after: State) -> Entry:
    """The entry with the digest that it commits to, and its hash."""
    committed = replace(entry, state=after.digest())
    return replace(committed, hash=committed.computed_hash())


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat()


def _salt() -> str:
    return system_bits().read(_SALT_BYTES).hex()


def _first(entries: list[Entry]) -> Entry | None:
    return entries[0] if entries else None
