"""Where the data of a budget is: a table is recognised however its name is written."""

from __future__ import annotations

from pathlib import Path

from podium.errors import DatasetExists, InvalidArgument
from podium.ledger import Budget, Ledger
from podium.ledger.status import require_user
from podium.sources import DuckDBSource, Source
from podium.sources.sql.sql_source import SqlSource
from podium.user_columns import UserColumns

__all__ = ["join_ledger", "location_of"]


def join_ledger(
    ledger: Ledger, dataset: str, source: Source, location: str, *,
    user: UserColumns, budget: Budget | None, force: bool, schedule: str | None,
) -> None:  # fmt: skip
    """Register a data set, or check that it was registered for the same user column and table.

    A data set that is registered for a ``schedule`` answers no other questions.
    """
    known = ledger.status(dataset).source if budget is None or dataset in ledger.datasets() else None
    same = known is not None and _is_same(source, location, known)
    if budget is not None:
        if known is None and not force:
            _require_unregistered(ledger, dataset, source, location)
        # A table that is registered already keeps the name of its registration.
        place = known if known and same else location
        ledger.register(dataset, budget, source=place, user=user, force=force, schedule=schedule)
        return
    require_user(dataset, ledger.status(dataset).user, user)
    if not force and not same:
        raise InvalidArgument(
            "source",
            location,
            allowed=f"{known!r}, for whose users dataset={dataset!r} was registered",
            hint="Register another data set for another table, or say force=True if this is a copy of that one.",
        )


def _require_unregistered(ledger: Ledger, dataset: str, source: Source, location: str) -> None:
    """Raise if rows of this table have a budget already: two budgets add up to a weaker guarantee."""
    for other in ledger.datasets():
        known = ledger.status(other).source
        shares = isinstance(source, DuckDBSource) and source.shares_rows_with(known)
        if shares or _is_same(source, location, known):
            raise DatasetExists(dataset, other)


def location_of(source: object, name: str, table: str | None) -> str:
    """The absolute path or URL of the data, with the table where there are several."""
    path = isinstance(source, (str, Path)) and "://" not in str(source)
    where = str(Path(name).resolve()) if path or Path(name).exists() else name
    named = where.rpartition("#")[2] if "#" in where else ""
    return where if table is None or f".{named}".endswith(f".{table}") else f"{where}#{table}"


def _is_same(source: Source, location: str, known: str) -> bool:
    """Whether a location from the ledger is that of this source."""
    if location in (known, location_of(known, known, None)):
        return True
    if isinstance(source, DuckDBSource):
        return source.is_at(known)
    implied = source.implied_schemas() if isinstance(source, SqlSource) else ()
    return _normalize(location, implied) == _normalize(known, implied)


def _normalize(location: str, implied: tuple[str, ...]) -> tuple[object, str]:
    """The database, files by device and inode, and the table without quotes and implied schemas."""
    database, _, rest = location.partition("#")
    table = rest.partition("#")[0].translate(str.maketrans("", "", '"`'))
    for schema in implied:
        table = table.removeprefix(f"{schema}.")
    file = Path(database.partition(":///")[2])
    if database.startswith("sqlite") and file.is_file():
        found = file.stat()
        return (found.st_dev, found.st_ino), table
    return database, table
