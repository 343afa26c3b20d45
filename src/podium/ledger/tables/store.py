"""Rows and back: the statements that read and write a ledger's tables, the same on both databases."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from podium.ledger.account import Account, Contradiction, Sum, analyst_sums
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
    opened_from_rows,
    sum_to_row,
    whole_number,
)
from podium.randomness import system_bits
from podium.storage.backend import Session, Value

__all__ = ["Holder", "Located", "Store", "rebuild_analysts"]

_SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Located:
    """A data set as its tables describe it, and the number of its rows."""

    id: int
    state: State

    @property
    def account(self) -> Account:
        """Where the data set stands."""
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

    def located(self, dataset: str, *, lock: bool) -> Located | None:
        """A data set as its tables describe it; locked, nobody else changes it until the transaction ends."""
        suffix = self._session.lock_rows if lock else ""
        rows = self._session.rows(
            f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets WHERE name = ?{suffix}",  # noqa: S608
            (dataset,),
        )
        if not rows:
            return None
        number = rows[0][0]
        analysts = self._session.rows(
            "SELECT analyst, epsilon, unbounded, rho, delta, failures FROM analysts WHERE dataset_id = ?", (number,)
        )
        opened = self._session.rows("SELECT sequence, owner FROM open_reservations WHERE dataset_id = ?", (number,))
        account = account_from_row(rows[0][1:])
        return Located(number, State(account, analysts_from_rows(analysts), opened_from_rows(opened)))

    def rows_of(self, dataset: str) -> RawDataset:
        """The rows of a data set that is there, not yet believed."""
        return raw_datasets(self._session, dataset)[0]

    def named_source(self, source: str) -> str | None:
        """The data set that was registered first for this source."""
        rows = self._session.rows("SELECT name FROM datasets WHERE source = ? ORDER BY id LIMIT 1", (source,))
        return rows[0][0] if rows else None

    def last(self, located: Located) -> Entry:
        """The last entry, which must be the one that the account names."""
        found = _first(self._entries(located, "TRUE ORDER BY sequence DESC LIMIT 1"))
        if found is None or (found.sequence, found.hash) != (located.account.sequence, located.account.head):
            raise Contradiction("the last entry is not the one that was written")
        return found

    def clock(self) -> dt.datetime:
        """What time it is by the database, in UTC; SQLite writes it as text, and takes it from this machine."""
        ((now,),) = self._session.rows("SELECT CURRENT_TIMESTAMP")
        moment = dt.datetime.fromisoformat(now) if isinstance(now, str) else now.astimezone(dt.UTC)
        return moment.replace(tzinfo=None)

    # Entries

    def entries(self, located: Located) -> list[Entry]:
        """All entries of a data set in their order."""
        return self._entries(located, "TRUE ORDER BY sequence")

    def entry(self, located: Located, sequence: int) -> Entry | None:
        """One entry."""
        return _first(self._entries(located, "sequence = ?", sequence))

    def registered(self, located: Located) -> Entry:
        """The registration."""
        first = self.entry(located, 1)
        if first is None:
            raise Contradiction("its registration is missing")
        return first

    def closing(self, located: Located, reservation: int) -> Entry | None:
        """The entry that settled or forfeited a reservation."""
        return _first(self._entries(located, "reservation = ? AND kind IN ('settled', 'forfeited')", reservation))

    def asked(self, located: Located, idempotency_key: str) -> Entry | None:
        """The reservation that was made with this key."""
        return _first(self._entries(located, "idempotency_key = ?", idempotency_key))

    def seen(self, located: Located, reservation: int, analyst: str) -> Entry | None:
        """The entry by which an analyst was charged for a stored release."""
        return _first(self._entries(located, "reservation = ? AND analyst = ? AND kind = 'seen'", reservation, analyst))

    def reservations_for(self, located: Located, question_keys: tuple[str, ...], data_version: str) -> list[Entry]:
        """Reservations of the same question on the same data, oldest first."""
        marks = ", ".join("?" * len(question_keys))
        where = f"question_key IN ({marks}) AND data_version = ? AND kind = 'reserved' ORDER BY sequence"
        return self._entries(located, where, *question_keys, data_version)

    def open_reservations(self, located: Located) -> list[Entry]:
        """What is reserved and not yet settled or forfeited."""
        where = "sequence IN (SELECT o.sequence FROM open_reservations o WHERE o.dataset_id = ?) ORDER BY sequence"
        return self._entries(located, where, located.id)

    def open_for(self, located: Located, question_keys: tuple[str, ...], data_version: str) -> list[Entry]:
        """Those of the same question on the same data, oldest first."""
        opened = self.open_reservations(located)
        return [one for one in opened if one.question_key in question_keys and one.data_version == data_version]

    def holders(self) -> list[Holder]:
        """Who holds which reservation open."""
        sql = (
            "SELECT d.name, o.sequence, o.owner, e.hash FROM open_reservations o "
            "JOIN datasets d ON d.id = o.dataset_id "
            "JOIN entries e ON e.dataset_id = o.dataset_id AND e.sequence = o.sequence ORDER BY d.id, o.sequence"
        )
        return [Holder(*row) for row in self._session.rows(sql)]

    def _entries(self, located: Located, where: str, *parameters: Value) -> list[Entry]:
        sql = f"SELECT {ENTRY_COLUMNS} FROM entries WHERE dataset_id = ? AND {where}"  # noqa: S608
        account = located.account
        found = [entry_from_row(account.dataset, row) for row in self._session.rows(sql, (located.id, *parameters))]
        for entry in found:
            # Whatever is read is decided on, or shown: nobody needs to wait for a verification to see that it changed.
            if entry.computed_hash() != entry.hash:
                raise Contradiction(f"entry {entry.sequence} was changed")
            if not 0 < entry.sequence <= account.sequence:
                raise Contradiction("the last entry is not the one that was written")
        return found

    # Writing

    def lock_registry(self) -> str:
        """The head of the chain of registrations, which nobody else adds to until the transaction ends."""
        rows = self._session.rows(
            f"SELECT registry_head FROM ledger WHERE id = 1{self._session.lock_rows}"  # noqa: S608
        )
        if not rows:
            raise Contradiction("the row that starts all chains is missing")
        return str(rows[0][0])

    def register(self, head: str, dataset: str, data_version: str, details: dict[str, Any]) -> Entry:
        """Open an account; registrations are a chain of their own, so that none can vanish unnoticed."""
        ((last,),) = self._session.rows("SELECT COALESCE(MAX(id), 0) FROM datasets")
        entry = Entry(
            dataset, 1, Kind.REGISTERED, _now(), head, _salt(),
            data_version=data_version, details=canonical_json(details),
        )  # fmt: skip
        state = State(Account.opened(entry))
        entry = _chained(entry, state)
        located = Located(whole_number(last) + 1, State(Account.opened(entry)))
        marks = ", ".join("?" * len(account_to_row(located.account)))
        self._session.run(
            f"INSERT INTO datasets (id, {ACCOUNT_COLUMNS}) VALUES (?, {marks})",  # noqa: S608
            (located.id, *account_to_row(located.account)),
        )
        self._insert(located, entry)
        self._session.run("UPDATE ledger SET registry_head = ? WHERE id = 1", (entry.hash,))
        return entry

    def append(
        self, located: Located, kind: Kind, *, reservation: Entry | None = None, facts: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Entry:  # fmt: skip
        """Write the next entry and everything that follows from it."""
        account = located.account
        entry = Entry(
            account.dataset, account.sequence + 1, kind, _now(), account.head, _salt(),
            reservation=None if reservation is None else reservation.sequence,
            details=canonical_json(facts) if facts else None,
            **fields,
        )  # fmt: skip
        after = located.state.after(entry, reservation)
        entry = _chained(entry, after)
        self._insert(located, entry)
        self._update(located.id, replace(after.account, head=entry.hash))
        for name, row in after.analysts.items():
            if row != located.state.analysts.get(name):
                self.write_analyst(located.id, name, after.analyst(name), after.failures(name))
        self._track(located, entry)
        return entry

    def _insert(self, located: Located, entry: Entry) -> None:
        row = entry_to_row(entry)
        marks = ", ".join("?" * len(row))
        self._session.run(
            f"INSERT INTO entries (dataset_id, {ENTRY_COLUMNS}) VALUES (?, {marks})",  # noqa: S608
            (located.id, *row),
        )

    def _update(self, dataset_id: int, account: Account) -> None:
        pairs = ", ".join(f"{column} = ?" for column in ACCOUNT_COLUMNS.split(", "))
        self._session.run(
            f"UPDATE datasets SET {pairs} WHERE id = ?",  # noqa: S608
            (*account_to_row(account), dataset_id),
        )

    def write_analyst(self, dataset_id: int, analyst: str, held: Sum, failures: int = 0) -> None:
        """What is charged to an analyst, and how many questions of theirs failed, is this from now on."""
        self._session.run("DELETE FROM analysts WHERE dataset_id = ? AND analyst = ?", (dataset_id, analyst))
        self._session.run(
            "INSERT INTO analysts (dataset_id, analyst, epsilon, unbounded, rho, delta, failures) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (dataset_id, analyst, *sum_to_row(held), failures),
        )

    def _track(self, located: Located, entry: Entry) -> None:
        if entry.kind is Kind.RESERVED:
            self._session.run(
                "INSERT INTO open_reservations (dataset_id, sequence, owner) VALUES (?, ?, ?)",
                (located.id, entry.sequence, entry.owner),
            )
        elif entry.kind in (Kind.SETTLED, Kind.FORFEITED):
            self._session.run(
                "DELETE FROM open_reservations WHERE dataset_id = ? AND sequence = ?", (located.id, entry.reservation)
            )


def rebuild_analysts(session: Session) -> None:
    """Fill the sums per analyst from the entries, whether or not their hashes are right: verification tells."""
    store = Store(session)
    for number, name in session.rows("SELECT id, name FROM datasets ORDER BY id"):
        rows = session.rows(
            f"SELECT {ENTRY_COLUMNS} FROM entries WHERE dataset_id = ? ORDER BY sequence",  # noqa: S608
            (number,),
        )
        for analyst, held in analyst_sums(entry_from_row(name, row) for row in rows).items():
            store.write_analyst(number, analyst, held)


def _chained(entry: Entry, after: State) -> Entry:
    """The entry with what it commits to, and its hash."""
    committed = replace(entry, state=after.digest())
    return replace(committed, hash=committed.computed_hash())


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat()


def _salt() -> str:
    return system_bits().read(_SALT_BYTES).hex()


def _first(entries: list[Entry]) -> Entry | None:
    return entries[0] if entries else None
