"""Domains that the caller lists: checked against the item columns, or read from a local file.

A domain is public, so its values may appear in messages.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from podium.errors import InvalidArgument, SourceUnavailable
from podium.histogram import Item
from podium.query.schema import Column, Kind
from podium.sources.item_text import decode
from podium.sources.protocol import CountQuery, DomainFile, DomainItems
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.conditions import value_fits
from podium.sources.sql.dialect import MAX_SCALE, Dialect
from podium.sources.sql.relation import ItemTable, Relation

if TYPE_CHECKING:
    from podium.sources.duckdb.source import DuckDBSource

__all__ = ["check_listed", "item_rows", "listed_rows", "match_columns"]

_SIGNED, _UNSIGNED = range(-(2**63), 2**63), range(2**64)
# The limits of PostgreSQL's numeric, the widest of all engines: digits before and after the point.
_MAX_DIGITS, _MAX_PLACES = 131_072, 16_383


def check_listed(
    domain: DomainItems | DomainFile, columns: tuple[Column, ...], dialect: Dialect, role: str = "domain"
) -> None:
    """Raise unless the items, or the columns of the file, are of the kinds of the item columns."""
    if isinstance(domain, DomainItems):
        listed_rows(domain, columns, dialect, role)
    else:
        _open_file(domain, columns, role).close()


def listed_rows(
    domain: DomainItems | DomainFile, columns: tuple[Column, ...], dialect: Dialect | None = None, role: str = "domain"
) -> list[tuple[Item, ...]]:
    """The items as rows whose values have exactly the kinds of the item columns."""
    if isinstance(domain, DomainFile):
        return _file_rows(domain, columns, role)
    return item_rows(domain.items, columns, role, dialect)


def item_rows(
    items: Iterable[Item], columns: tuple[Column, ...], role: str, dialect: Dialect | None = None
) -> list[tuple[Item, ...]]:
    """Items as rows whose values have exactly the kinds of the item columns; ``role`` names the argument in errors.

    Every value that the dialect's engine can hold in such columns is accepted, because later rounds send back the items
    that earlier ones found. Without a dialect, every value that some engine can hold.
    """
    rows = (item if isinstance(item, tuple) and len(columns) > 1 else (item,) for item in items)
    return [_exact_row(row, columns, role, dialect) for row in rows]


def _exact_row(
    row: tuple[Item, ...], columns: tuple[Column, ...], role: str, dialect: Dialect | None
) -> tuple[Item, ...]:
    if len(row) != len(columns):
        raise InvalidArgument(role, row, allowed=f"tuples of {len(columns)} values, one for each item column")
    return tuple(_exact_value(value, column, role, dialect) for value, column in zip(row, columns, strict=True))


def _exact_value(value: Item, column: Column, role: str, dialect: Dialect | None) -> Item:
    exact = _python_integer(value) if column.kind in (Kind.INTEGER, Kind.DECIMAL) else value
    # Moments are compared to the microsecond.
    if not value_fits(exact, column.kind) or getattr(exact, "nanosecond", False):
        allowed = f"values of kind {column.kind.value}, as column {column.name!r} is"
        raise InvalidArgument(role, value, allowed=allowed)
    if isinstance(exact, str) and "\0" in exact and dialect is not None and not dialect.holds_nul:
        raise InvalidArgument(role, value, allowed="text without NUL, which this engine does not have in text")
    if column.kind is Kind.INTEGER and exact not in (_UNSIGNED if column.unsigned else _SIGNED):
        raise InvalidArgument(role, value, allowed="integers of at most 64 bits, as the column's are")
    if column.kind is Kind.DECIMAL:
        _check_decimal(Decimal(exact), column, role, dialect)  # type: ignore[arg-type]
    return _plain(exact)


def _plain(value: Item) -> Item:
    """The value without its subclass: NumPy's text or a member of an enumeration is the text that an engine has."""
    match value:
        case str():
            return str.__str__(value)
        case dt.datetime():
            return dt.datetime.combine(value.date(), value.time())
        case dt.date():
            return dt.date(value.year, value.month, value.day)
        case Decimal():
            return Decimal(value)
    return value


def _check_decimal(value: Decimal, column: Column, role: str, dialect: Dialect | None) -> None:
    digits = _MAX_DIGITS if dialect is None or dialect.decimal_digits is None else dialect.decimal_digits
    # An unlimited numeric is described with the largest scale.
    places = _MAX_PLACES if digits == _MAX_DIGITS and column.scale >= MAX_SCALE else column.scale
    if not _has_scale(value, places):
        raise InvalidArgument(role, value, allowed=f"decimals with at most {places} digits after the point")
    whole = digits - column.scale if digits != _MAX_DIGITS else digits
    if value and value.adjusted() >= whole:
        raise InvalidArgument(role, value, allowed=f"decimals with at most {whole} digits before the point")


def _has_scale(value: Decimal, scale: int) -> bool:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent >= -scale:
        return True
    # Further digits are allowed if they are zeros.
    return not any(digits[exponent + scale :])


def _python_integer(value: Item) -> Item:
    """NumPy's integers as Python's; anything else unchanged."""
    try:
        return value if isinstance(value, bool | Decimal) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return value


def match_columns(
    relation: Relation, names: tuple[str, ...] | None, columns: tuple[Column, ...], role: str = "domain"
) -> ItemTable:
    """A table as a domain: its columns in the order of the item columns, and of their kinds."""
    chosen = names or tuple(column.name for column in columns)
    if len(chosen) != len(columns):
        raise InvalidArgument(role, chosen, allowed=f"{len(columns)} columns, one for each item column")
    for name, column in zip(chosen, columns, strict=True):
        declared = relation.schema.column(name, role=role)
        if declared.kind is not column.kind:
            raise InvalidArgument(
                role,
                name,
                allowed=f"a column of kind {column.kind.value}, as {column.name!r} is",
                hint=f"Column {name!r} there is of kind {declared.kind.value}.",
            )
    return ItemTable(relation, chosen)


def _open_file(domain: DomainFile, columns: tuple[Column, ...], role: str) -> DuckDBSource:
    """The file, opened by DuckDB whichever engine has the data; text is read as the items' kinds."""
    from podium.sources.duckdb.source import DuckDBSource  # noqa: PLC0415 - the engine itself reads domains

    try:
        source = DuckDBSource(domain.path)
    except SourceUnavailable as error:
        raise SourceUnavailable(str(error).replace("source=", f"{role}=", 1)) from None
    names = domain.columns or tuple(column.name for column in columns)
    found = [source.schema().column(name, role=role) for name in names]
    types = {name: _type_of(column) for name, column in zip(names, columns, strict=False)}
    if source.untyped and any(there.kind is not column.kind for there, column in zip(found, columns, strict=False)):
        source.close()
        source = DuckDBSource(domain.path, types=types)
    match_columns(source.relation(), domain.columns, columns, role)
    return source


def _type_of(column: Column) -> str:
    return f"decimal({column.scale})" if column.kind is Kind.DECIMAL else column.kind.value


def _file_rows(domain: DomainFile, columns: tuple[Column, ...], role: str) -> list[tuple[Item, ...]]:
    source = _open_file(domain, columns, role)
    try:
        names = domain.columns or tuple(column.name for column in columns)
        query = CountQuery(names, names[0])
        select = SqlBuilder(source.relation_for(query), query).listed_items()
        with source.session() as session:
            rows = session.fetch(source.sql_dialect.sql(select))
        return [tuple(decode(column.kind, text) for column, text in zip(columns, row, strict=True)) for row in rows]
    finally:
        source.close()
