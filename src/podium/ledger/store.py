"""Rows and back: the statements that read and write a ledger's tables, the same on both databases."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from podium.errors import LedgerTampered
from podium.ledger.account import Account, Contradiction, Sum, analyst_sums, change, charged_analyst
from podium.ledger.backend import Row, Session, Value
from podium.ledger.entries import Entry, Kind, canonical_json
from podium.ledger.rows import (
    ACCOUNT_COLUMNS,
    ENTRY_COLUMNS,
    account_from_row,
    account_to_row,
    entry_from_row,
    entry_to_row,
    sum_from_row,
    sum_to_row,
    whole_number,
)
from podium.randomness import system_bits

__all__ = ["Holder", "Located", "RawDataset", "Registration", "Store", "rebuild_analysts"]

_SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Located:
    """An account and the number of its rows."""

    id: int
    account: Account


class Registration(NamedTuple):
    """One link in the chain of registrations; the hashes are None where the entry is missing."""

    id: int
    dataset: str
    previous: str | None
    hash: str | None


class Holder(NamedTuple):
    """An open reservation: its data set and number, the process that made it, and the hash of its entry."""

    dataset: str
    number: int
    owner: str
    hash: str


@dataclass(frozen=True, slots=True)
class RawDataset:
    """The rows of a data set, not yet believed."""

    dataset: str
    account: Row
    entries: list[Row]
    opened: list[Row]
    analysts: list[Row]


class Store:
    """The tables, inside one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # Accounts

    def names(self) -> list[str]:
        """All data sets in the order of their registration."""
        return [name for (name,) in self._session.rows("SELECT name FROM datasets ORDER BY id")]

    def accounts(self) -> list[Located]:
        """All accounts in the order of their registration."""
        rows = self._session.rows(f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets ORDER BY id")  # noqa: S608
        return [Located(row[0], account_from_row(row[1:])) for row in rows]

    def account(self, dataset: str, *, lock: bool) -> Located | None:
        """The account of a data set; locked, nobody else changes it until the transaction ends.

        A locked one is about to be decided on, so it must at least agree with the last entry.
        """
        suffix = self._session.lock_rows if lock else ""
        rows = self._session.rows(
            f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets WHERE name = ?{suffix}",  # noqa: S608
            (dataset,),
        )
        if not rows:
            return None
        located = Located(rows[0][0], account_from_row(rows[0][1:]))
        if lock and self._last(located.id) != (located.account.sequence, located.account.head):
            raise LedgerTampered(dataset, "the last entry is not the one that was written")
        return located

    def named_source(self, source: str) -> str | None:
        """The data set that was registered first for this source."""
        rows = self._session.rows("SELECT name FROM datasets WHERE source = ? ORDER BY id LIMIT 1", (source,))
        return rows[0][0] if rows else None

    def _last(self, dataset_id: int) -> tuple[int, str] | None:
        rows = self._session.rows(
            "SELECT sequence, hash FROM entries WHERE dataset_id = ? ORDER BY sequence DESC LIMIT 1", (dataset_id,)
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def analyst(self, located: Located, analyst: str) -> Sum:
        """What is charged to one analyst."""
        rows = self._session.rows(
            "SELECT epsilon, unbounded, rho, delta FROM analysts WHERE dataset_id = ? AND analyst = ?",
            (located.id, analyst),
        )
        return sum_from_row(rows[0]) if rows else Sum()

    def analysts(self, located: Located) -> dict[str, Sum]:
        """What is charged to every analyst."""
        rows = self._session.rows(
            "SELECT analyst, epsilon, unbounded, rho, delta FROM analysts WHERE dataset_id = ? ORDER BY analyst",
            (located.id,),
        )
        return {row[0]: sum_from_row(row[1:]) for row in rows}

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

    def reservations_for(self, located: Located, question_key: str, data_version: str) -> list[Entry]:
        """Reservations of the same question on the same data, oldest first."""
        where = "question_key = ? AND data_version = ? AND kind = 'reserved' ORDER BY sequence"
        return self._entries(located, where, question_key, data_version)

    def open_reservations(self, located: Located) -> list[Entry]:
        """What is reserved and not yet settled or forfeited."""
        where = "sequence IN (SELECT o.sequence FROM open_reservations o WHERE o.dataset_id = ?) ORDER BY sequence"
        return self._entries(located, where, located.id)

    def is_open(self, located: Located, reservation: int) -> bool:
        """Whether a reservation is open."""
        sql = "SELECT COUNT(*) FROM open_reservations WHERE dataset_id = ? AND sequence = ?"
        return bool(self._session.rows(sql, (located.id, reservation))[0][0])

    def open_for(self, located: Located, question_key: str, data_version: str) -> list[Entry]:
        """Those of the same question on the same data, oldest first."""
        opened = self.open_reservations(located)
        return [one for one in opened if (one.question_key, one.data_version) == (question_key, data_version)]

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
        name = located.account.dataset
        return [entry_from_row(name, row) for row in self._session.rows(sql, (located.id, *parameters))]

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
        entry = _chained(
            Entry(
                dataset, 1, Kind.REGISTERED, _now(), head, _salt(),
                data_version=data_version, details=canonical_json(details),
            )
        )  # fmt: skip
        located = Located(whole_number(last) + 1, Account.opened(entry))
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
        entry = _chained(
            Entry(
                account.dataset, account.sequence + 1, kind, _now(), account.head, _salt(),
                reservation=None if reservation is None else reservation.sequence,
                details=canonical_json(facts) if facts else None,
                **fields,
            )
        )  # fmt: skip
        after = account.after(entry, reservation)
        self._insert(located, entry)
        self._update(located.id, after)
        analyst = charged_analyst(entry, reservation)
        if analyst is not None:
            self.write_analyst(located.id, analyst, self.analyst(located, analyst) + change(entry, reservation))
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

    def write_analyst(self, dataset_id: int, analyst: str, held: Sum) -> None:
        """What is charged to an analyst is this, from now on."""
        self._session.run("DELETE FROM analysts WHERE dataset_id = ? AND analyst = ?", (dataset_id, analyst))
        self._session.run(
            "INSERT INTO analysts (dataset_id, analyst, epsilon, unbounded, rho, delta) VALUES (?, ?, ?, ?, ?, ?)",
            (dataset_id, analyst, *sum_to_row(held)),
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

    # What verification compares

    def registry(self) -> tuple[str, str] | None:
        """The first hash of the chain of registrations, and its head."""
        rows = self._session.rows("SELECT genesis, registry_head FROM ledger WHERE id = 1")
        return (rows[0][0], rows[0][1]) if rows else None

    def registrations(self) -> list[Registration]:
        """Every registration in its order."""
        sql = (
            "SELECT d.id, d.name, e.previous, e.hash FROM datasets d LEFT JOIN entries e ON e.dataset_id = d.id "
            "AND e.sequence = 1 ORDER BY d.id"
        )
        return [Registration(*row) for row in self._session.rows(sql)]

    def raw_datasets(self, dataset: str | None) -> list[RawDataset]:
        """Rows as they are, of one data set or of all."""
        where, parameters = ("", ()) if dataset is None else (" WHERE name = ?", (dataset,))
        rows = self._session.rows(f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets{where} ORDER BY id", parameters)  # noqa: S608
        return [
            RawDataset(
                dataset=row[1] if isinstance(row[1], str) else repr(row[1]),
                account=row[1:],
                entries=self._raw("entries", ENTRY_COLUMNS, row[0]),
                opened=self._raw("open_reservations", "sequence, owner", row[0]),
                analysts=self._raw("analysts", "analyst, epsilon, unbounded, rho, delta", row[0]),
            )
            for row in rows
        ]

    def _raw(self, table: str, columns: str, dataset_id: int) -> list[Row]:
        return self._session.rows(
            f"SELECT {columns} FROM {table} WHERE dataset_id = ? ORDER BY 1",  # noqa: S608
            (dataset_id,),
        )

    def orphans(self) -> int:
        """How many rows belong to no data set."""
        return sum(
            self._session.rows(
                f"SELECT COUNT(*) FROM {table} WHERE dataset_id NOT IN (SELECT id FROM datasets)"  # noqa: S608
            )[0][0]
            for table in ("entries", "open_reservations", "analysts")
        )


def rebuild_analysts(session: Session) -> None:
    """Fill the sums per analyst from the entries."""
    store = Store(session)
    for located in store.accounts():
        for analyst, held in analyst_sums(store.entries(located)).items():
            store.write_analyst(located.id, analyst, held)


def _chained(entry: Entry) -> Entry:
    return replace(entry, hash=entry.computed_hash())


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat()


def _salt() -> str:
    return system_bits().read(_SALT_BYTES).hex()


def _first(entries: list[Entry]) -> Entry | None:
    return entries[0] if entries else None
