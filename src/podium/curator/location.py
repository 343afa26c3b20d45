"""Where the data of a budget is: a table is recognised however its name is written."""

from __future__ import annotations

from pathlib import Path

from podium.curator.open_tables import OpenTable, Tables
from podium.errors import DatasetExists, InvalidArgument
from podium.ledger import Budget, Ledger, Status
from podium.ledger.status import require_user
from podium.sources import DuckDBSource, Source
from podium.sources.sql.sql_source import SqlSource
from podium.user_columns import UserColumns

__all__ = ["join_ledger", "location_of"]


def join_ledger(
    ledger: Ledger, dataset: str, tables: Tables, *, budget: Budget | None, force: bool, schedule: str | None
) -> None:
    """Register a data set, or check that it was registered for the same user columns and tables.

    A data set that is registered for a ``schedule`` answers no other questions. One source may be a table of a data
    set that has several: it gets its name.
    """
    known = ledger.status(dataset) if budget is None or dataset in ledger.datasets() else None
    if known is None or not known.tables:
        if tables.names:
            _join_named(ledger, dataset, tables, known, budget=budget, force=force)
            return
        (table,) = tables.all
        location = location_of(table.given, table.source.name, table.table)
        _join_single(ledger, dataset, table, location, budget=budget, force=force, schedule=schedule)
        table.user = ledger.status(dataset).user or table.user
        return
    for table in tables.all:
        location = location_of(table.given, table.source.name, table.table)
        same = [name for name, other in known.tables.items() if _is_same(table.source, location, other.source)]
        name = table.name = same[0] if table.name is None and same else table.name
        if name is None or (name not in same and not (force and name in known.tables)):
            listed = ", ".join(f"{name}={other.source}" for name, other in known.tables.items())
            raise InvalidArgument(
                "source" if table.name is None else "table", table.name or location,
                allowed=f"one of the tables that dataset={dataset!r} was registered for: {listed}",
                hint="Register another data set for another table, or say force=True and the name of the table if this "
                "is a copy of it.",
            )  # fmt: skip
        require_user(dataset, known.tables[name].user, table.user)
        # The registered order of several columns: the same question then has the same text.
        table.user = known.tables[name].user
    if budget is not None:
        stated = {name: (other.source, other.user) for name, other in known.tables.items() if name in tables.names}
        ledger.register(
            dataset, budget, source=known.source, user=known.user, force=force, schedule=schedule, tables=stated
        )


def _join_named(
    ledger: Ledger, dataset: str, tables: Tables, known: Status | None, *, budget: Budget | None, force: bool
) -> None:
    """Register several tables of the same users."""
    if budget is None or known is not None:
        raise InvalidArgument(
            "source", ", ".join(tables.names),
            allowed=f"one table without a name, for which {dataset!r} was registered",
            hint="Register the tables of the same users together, under a name of their own.",
        )  # fmt: skip
    stated: dict[str, tuple[str, UserColumns]] = {}
    for table in tables.all:
        location = location_of(table.given, table.source.name, table.table)
        if not force:
            _require_unregistered(ledger, dataset, table.source, location)
        stated[str(table.name)] = (location, table.user)
    # Whom the budget protects has one name; the status shows the column of each table.
    user = tables.all[0].user
    source = ", ".join(f"{name}={location}" for name, (location, _) in stated.items())
    joins = {str(table.name): table.described_joins for table in tables.all}
    ledger.register(dataset, budget, source=source, user=user, force=force, tables=stated, joins=joins)


def _join_single(
    ledger: Ledger, dataset: str, table: OpenTable, location: str, *,
    budget: Budget | None, force: bool, schedule: str | None,
) -> None:  # fmt: skip
    """Register one table, or check that it was registered for the same user column."""
    source, user = table.source, table.user
    known = ledger.status(dataset).source if budget is None or dataset in ledger.datasets() else None
    same = known is not None and _is_same(source, location, known)
    if budget is not None:
        if known is None and not force:
            _require_unregistered(ledger, dataset, source, location)
        # A table that is registered already keeps the name of its registration.
        place = known if known and same else location
        ledger.register(
            dataset, budget, source=place, user=user, force=force, schedule=schedule,
            joins={"": table.described_joins},
        )  # fmt: skip
        return
    require_user(dataset, ledger.status(dataset).user, user)
    if not force and not same:
        raise InvalidArgument(
            "source",
            location,
            allowed=f"{known!r}, for whose users dataset={dataset!r} was registered",
            hint="Register another data set for another table, or say --copy (in Python: "
            "force=True) if this is a copy of that one.",
        )


def _require_unregistered(ledger: Ledger, dataset: str, source: Source, location: str) -> None:
    """Raise if rows of this table have a budget already: two budgets add up to a weaker guarantee."""
    for other in ledger.datasets():
        status = ledger.status(other)
        for known in [table.source for table in status.tables.values()] or [status.source]:
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
