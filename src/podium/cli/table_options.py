"""The tables of a data set on the command line: one source, or several tables by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from podium.errors import InvalidArgument

__all__ = ["TablesOption", "parse_places"]

TablesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME[=SOURCE]",
        help="Table of the database. Or, repeated, several tables of the same users, by the names that questions use: "
        "orders=orders.parquet, or orders=shop.orders with --source. After the source, '#' separates the table of a "
        "database, and ',user=COL' names its user column if that is another one.",
    ),
]

_USER = ",user="


def parse_places(source: str | None, tables: Sequence[str] | None, reading: Mapping[str, Any]) -> dict[str, Any]:
    """What ``Curator`` takes as the source and its options; ``reading`` is how all tables are read."""
    from podium.curator.open_tables import Table

    stated = list(tables or ())
    if not any("=" in one for one in stated):
        if source is None or len(stated) > 1:
            raise InvalidArgument(
                "table", ", ".join(stated) or None, allowed="--source SOURCE, or --table NAME=SOURCE for each table",
                hint="For example: --table orders=orders.parquet --table visits=visits.parquet",
            )  # fmt: skip
        return {"source": source, "table": stated[0] if stated else None, **reading}
    named: dict[str, Table] = {}
    for one in stated:
        name, _, place = one.partition("=")
        place, _, user = place.partition(_USER)
        if not name or not place or name in named:
            raise InvalidArgument("table", one, allowed="NAME=SOURCE, each name once")
        where, table = _split(place) if source is None else (source, place)
        named[name] = Table(source=where, user=user or None, table=table, **reading)
    return {"source": named}


def _split(place: str) -> tuple[str, str | None]:
    """A source, and the table of a database after the last '#'; a file may have a '#' in its name."""
    where, mark, table = place.rpartition("#")
    return (where, table) if mark and where and not Path(place).exists() else (place, None)
