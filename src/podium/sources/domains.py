"""Domains that the caller lists: checked against the item columns, or read from a file on this machine.

A domain is public, so its values may appear in messages.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument, SourceUnavailable
from podium.histogram import Item
from podium.query.schema import Column, Kind
from podium.sources.base import DomainFile, DomainItems, Reading
from podium.sources.conditions import literal_fits
from podium.sources.relation import Listed, Relation
from podium.sources.sql import SqlBuilder
from podium.sources.values import decode

if TYPE_CHECKING:
    from podium.sources.duckdb import DuckDBSource

__all__ = ["check_listed", "item_rows", "listed_rows", "matching"]

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def check_listed(domain: DomainItems | DomainFile, columns: tuple[Column, ...]) -> None:
    """Raise unless the items, or the columns of the file, are of the kinds of the item columns."""
    if isinstance(domain, DomainItems):
        listed_rows(domain, columns)
    else:
        _open_file(domain, columns).close()


def listed_rows(domain: DomainItems | DomainFile, columns: tuple[Column, ...]) -> list[tuple[Item, ...]]:
    """The items as rows of exactly the kinds of the item columns."""
    if isinstance(domain, DomainFile):
        return _file_rows(domain, columns)
    return item_rows(domain.items, columns, "domain")


def item_rows(items: Iterable[Item], columns: tuple[Column, ...], role: str) -> list[tuple[Item, ...]]:
    """Items that the caller gave as ``role``, as rows of exactly the kinds of the item columns."""
    rows = (item if isinstance(item, tuple) and len(columns) > 1 else (item,) for item in items)
    return [_checked_row(row, columns, role) for row in rows]


def _checked_row(row: tuple[Item, ...], columns: tuple[Column, ...], role: str) -> tuple[Item, ...]:
    if len(row) != len(columns):
        raise InvalidArgument(role, row, allowed=f"tuples of {len(columns)} values, one for each item column")
    return tuple(_checked(value, column, role) for value, column in zip(row, columns, strict=True))


def _checked(value: Item, column: Column, role: str) -> Item:
    exact = _whole(value) if column.kind in (Kind.INTEGER, Kind.DECIMAL) else value
    if not literal_fits(exact, column.kind):
        allowed = f"values of kind {column.kind.value}, as column {column.name!r} is"
        raise InvalidArgument(role, value, allowed=allowed)
    if isinstance(exact, int) and not _SMALLEST <= exact <= _LARGEST:
        raise InvalidArgument(role, value, allowed="whole numbers of at most 64 bits")
    if isinstance(exact, Decimal) and not _has_scale(exact, column.scale):
        raise InvalidArgument(role, value, allowed=f"decimals with at most {column.scale} digits after the point")
    return exact


def _has_scale(value: Decimal, scale: int) -> bool:
    exponent = value.as_tuple().exponent
    # More digits may all be zeros.
    return (isinstance(exponent, int) and exponent >= -scale) or (Fraction(value) * 10**scale).denominator == 1


def _whole(value: Item) -> Item:
    """NumPy's integers as Python's; anything else as it is."""
    try:
        return value if isinstance(value, bool | Decimal) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return value


def matching(relation: Relation, names: tuple[str, ...] | None, columns: tuple[Column, ...]) -> Listed:
    """A table as a domain: its columns in the order of the item columns, and of their kinds."""
    chosen = names or tuple(column.name for column in columns)
    if len(chosen) != len(columns):
        raise InvalidArgument("domain", chosen, allowed=f"{len(columns)} columns, one for each item column")
    for name, column in zip(chosen, columns, strict=True):
        declared = relation.schema.column(name, role="domain")
        if declared.kind is not column.kind:
            raise InvalidArgument(
                "domain",
                name,
                allowed=f"a column of kind {column.kind.value}, as {column.name!r} is",
                hint=f"Column {name!r} of the domain is of kind {declared.kind.value}.",
            )
    return Listed(relation, chosen)


def _open_file(domain: DomainFile, columns: tuple[Column, ...]) -> DuckDBSource:
    """The file, opened by the embedded engine whatever engine has the data; text is read as the items' kinds."""
    from podium.sources.duckdb import DuckDBSource  # noqa: PLC0415 - the engine itself reads domains

    try:
        source = DuckDBSource(domain.path)
    except SourceUnavailable as error:
        raise SourceUnavailable(str(error).replace("source=", "domain=", 1)) from None
    names = domain.columns or tuple(column.name for column in columns)
    found = [source.schema().column(name, role="domain") for name in names]
    types = {name: _type_of(column) for name, column in zip(names, columns, strict=False)}
    if source.untyped and any(there.kind is not column.kind for there, column in zip(found, columns, strict=False)):
        source.close()
        source = DuckDBSource(domain.path, types=types)
    matching(source.relation(), domain.columns, columns)
    return source


def _type_of(column: Column) -> str:
    return f"decimal({column.scale})" if column.kind is Kind.DECIMAL else column.kind.value


def _file_rows(domain: DomainFile, columns: tuple[Column, ...]) -> list[tuple[Item, ...]]:
    source = _open_file(domain, columns)
    try:
        names = domain.columns or tuple(column.name for column in columns)
        reading = Reading(names, names[0])
        query = SqlBuilder(source.relation_for(reading), reading).listed_items()
        with source.session() as session:
            rows = session.fetch(source.sql_dialect.sql(query))
        return [tuple(decode(column.kind, text) for column, text in zip(columns, row, strict=True)) for row in rows]
    finally:
        source.close()
