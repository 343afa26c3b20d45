"""A copy of a ledger's rows as they are, for verification, which believes none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from podium.ledger.tables.rows import ACCOUNT_COLUMNS, ENTRY_COLUMNS
from podium.storage.backend import Row, Session

__all__ = ["Copy", "RawDataset", "Registration", "raw_datasets", "read_copy"]


class Registration(NamedTuple):
    """One link in the chain of registrations; the hashes are None where the entry is missing."""

    id: int
    dataset: str
    previous: str | None
    hash: str | None


@dataclass(frozen=True, slots=True)
class RawDataset:
    """The unchecked rows of a data set."""

    dataset: str
    account: Row
    entries: list[Row]
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


def read_copy(session: Session, dataset: str | None) -> Copy:
    """Read one data set, or all."""
    ends = session.rows("SELECT genesis, registry_head FROM ledger WHERE id = 1")
    genesis, head = ends[0] if ends else (None, None)
    return Copy(raw_datasets(session, dataset), _registrations(session), genesis, head, _orphans(session))


def raw_datasets(session: Session, dataset: str | None) -> list[RawDataset]:
    """The unchecked rows of one data set, or of all."""
    where, parameters = ("", ()) if dataset is None else (" WHERE name = ?", (dataset,))
    rows = session.rows(f"SELECT id, {ACCOUNT_COLUMNS} FROM datasets{where} ORDER BY id", parameters)  # noqa: S608
    return [
        RawDataset(
            dataset=row[1] if isinstance(row[1], str) else repr(row[1]),
            account=row[1:],
            entries=_raw(session, "entries", ENTRY_COLUMNS, row[0]),
            opened=_raw(session, "open_reservations", "sequence, owner", row[0]),
            analysts=_raw(session, "analysts", "analyst, epsilon, unbounded, rho, delta, failures, mu_squared", row[0]),
        )
        for row in rows
    ]


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
