"""A ledger's rows as they are, for verification, which believes none of them.

The small tables are copied as of one moment. Entries are read a few thousand at a time, each time in a transaction of
its own: nobody has to wait while a long ledger is verified, and its memory does not grow with the ledger. Entries that
are written meanwhile are not read. Those that there were at that moment never change; if somebody changes them all the
same, the chain breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from podium.ledger.tables.rows import ACCOUNT_COLUMNS, ENTRY_COLUMNS
from podium.storage.backend import Row, Session

__all__ = ["Copy", "RawDataset", "RawEntries", "Reader", "Registration", "raw_datasets", "read_copy"]

_BATCH = 2048

Reader: TypeAlias = Callable[[], AbstractContextManager[Session]]
"""Opens a transaction that reads."""


class Registration(NamedTuple):
    """One link in the chain of registrations; the hashes are None where the entry is missing."""

    id: int
    dataset: str
    previous: str | None
    hash: str | None


@dataclass(frozen=True, slots=True)
class RawEntries:
    """The unchecked entries of a data set that there were at one moment: so many, the last with this number."""

    reader: Reader
    dataset_id: int
    count: int
    last: int

    def __iter__(self) -> Iterator[Row]:
        """All of them in their order."""
        where = "sequence <= ?"
        after: tuple[int, ...] = ()
        for _ in range(-(-self.count // _BATCH)):
            rows = self._rows(where, after, _BATCH)
            if not rows:
                return
            yield from rows
            where, after = "sequence <= ? AND sequence > ?", (rows[-1][0],)

    def settled(self, reservation: int) -> list[Row]:
        """A reservation and its settlement, once more: two rows, where both are there."""
        # Two queries: each finds its row by an index, and one with OR would read all entries before them.
        return [
            *self._rows("sequence <= ? AND sequence = ?", (reservation,), 1),
            *self._rows("sequence <= ? AND reservation = ? AND kind IN ('settled', 'forfeited')", (reservation,), 1),
        ]

    def _rows(self, where: str, numbers: tuple[int, ...], limit: int) -> list[Row]:
        parameters = (self.dataset_id, self.last, *numbers)
        with self.reader() as session:
            return session.rows(
                f"SELECT {ENTRY_COLUMNS} FROM entries WHERE dataset_id = ? AND {where} "  # noqa: S608
                f"ORDER BY sequence LIMIT {limit}",
                parameters,
            )


@dataclass(frozen=True, slots=True)
class RawDataset:
    """The unchecked rows of a data set."""

    dataset: str
    account: Row
    entries: RawEntries
    opened: list[Row]
    analysts: list[Row]


@dataclass(frozen=True, slots=True)
class Copy:
    """What verification reads, as of one moment."""

    datasets: list[RawDataset]
    registrations: list[Registration]
    genesis: str | None
    registry_head: str | None
    orphans: int


def read_copy(session: Session, dataset: str | None, reader: Reader) -> Copy:
    """Read one data set, or all; their entries later, through ``reader``."""
    ends = session.rows("SELECT genesis, registry_head FROM ledger WHERE id = 1")
    genesis, head = ends[0] if ends else (None, None)
    return Copy(raw_datasets(session, dataset, reader), _registrations(session), genesis, head, _orphans(session))


def raw_datasets(session: Session, dataset: str | None, reader: Reader | None = None) -> list[RawDataset]:
    """The unchecked rows of one data set, or of all; without a ``reader`` entries are read in the same transaction."""
    where, parameters = ("", ()) if dataset is None else (" WHERE name = ?", (dataset,))
    rows = session.rows(f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets{where} ORDER BY id", parameters)  # noqa: S608
    return [
        RawDataset(
            dataset=row[1] if isinstance(row[1], str) else repr(row[1]),
            account=row[1:],
            entries=_entries(session, row[0], reader or (lambda: nullcontext(session))),
            opened=_raw(session, "open_reservations", "sequence, owner", row[0]),
            analysts=_raw(session, "analysts", "analyst, epsilon, unbounded, rho, delta, failures, mu_squared", row[0]),
        )
        for row in rows
    ]


def _entries(session: Session, dataset_id: int, reader: Reader) -> RawEntries:
    ((count, last),) = session.rows(
        "SELECT COUNT(*), COALESCE(MAX(sequence), 0) FROM entries WHERE dataset_id = ?", (dataset_id,)
    )
    return RawEntries(reader, dataset_id, count, last)


def _raw(session: Session, table: str, columns: str, dataset_id: int) -> list[Row]:
    return session.rows(
        f"SELECT {columns} FROM {table} WHERE dataset_id = ? ORDER BY 1",  # noqa: S608
        (dataset_id,),
    )


def _registrations(session: Session) -> list[Registration]:
    """Every registration in its order."""
    sql = (
        "SELECT d.id, d.name, e.previous, e.hash FROM datasets d LEFT JOIN entries e ON e.dataset_id = d.id "
        "AND e.sequence = 1 ORDER BY d.id"
    )
    return [Registration(*row) for row in session.rows(sql)]


def _orphans(session: Session) -> int:
    """How many rows belong to no data set."""
    return sum(
        session.rows(
            f"SELECT COUNT(*) FROM {table} WHERE dataset_id NOT IN (SELECT id FROM datasets)"  # noqa: S608
        )[0][0]
        for table in ("entries", "open_reservations", "analysts")
    )
