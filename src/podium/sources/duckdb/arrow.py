"""What DuckDB is handed from memory: frames, whatever speaks Arrow's PyCapsule interface, and lists of items.

pandas columns of Python objects have no type. They are read as text, like a CSV file's, so that no value decides
anything about the others; the owner may declare a type. An Arrow stream may be read only once, so it is read whole when
the source is opened. Arrow takes long to load, and files are read without it: this module is imported where there is
something to hand over.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa

from podium.errors import SourceUnavailable
from podium.histogram import Item
from podium.query.schema import Column, Kind
from podium.sources.duckdb.catalog import FRAME
from podium.sources.duckdb.frames import is_frame, library_of

__all__ = ["arrow_table", "item_table", "readable_part"]

_ARROW = {
    Kind.TEXT: pa.string(),
    Kind.INTEGER: pa.int64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


def arrow_table(frame: Any, declared: Mapping[str, Column]) -> pa.Table:
    """The frame as an Arrow table; nothing is copied where the library keeps Arrow columns already."""
    table = _try_convert(frame, declared)
    if table is None:
        raise SourceUnavailable(
            "source=a frame could not be read as columns. Every column needs a distinct name and one type, and a query "
            "must run without an error."
        )
    if not _is_valid(table):
        raise SourceUnavailable(
            "source=a frame holds values that its types do not have. Text must be UTF-8. Make the frame anew from text "
            "that is."
        )
    return _in_utc(table)


def _is_valid(table: pa.Table) -> bool:
    """Whether every value is valid for its column's type: Arrow does not check text, and the engine only as it reads.

    An invalid value would fail only the questions whose condition selects it.
    """
    try:
        table.validate(full=True)
    except pa.ArrowException:
        return False
    return True


def _in_utc(table: pa.Table) -> pa.Table:
    """The table without time zones: DuckDB converts such columns to microseconds in the scan, and may raise."""
    for place, field in enumerate(table.schema):
        if (plain := _without_zones(field.type)) != field.type:
            table = table.set_column(place, field.name, table.column(place).cast(plain))
    return table


def _without_zones(type_: pa.DataType) -> pa.DataType:
    """The type with plain timestamps where they have a zone and a unit that the engine would convert, lists' too."""
    if pa.types.is_timestamp(type_) and type_.tz is not None and type_.unit != "us":
        return pa.timestamp(type_.unit)
    if pa.types.is_struct(type_):
        plain = [_without_zones(field.type) for field in type_]
        if all(inner == field.type for inner, field in zip(plain, type_, strict=True)):
            return type_
        return pa.struct([field.with_type(inner) for field, inner in zip(type_, plain, strict=True)])
    if not (pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_)):
        return type_
    inner = _without_zones(type_.value_type)
    if inner == type_.value_type:
        # As it is: another type that differs in the name of its field alone would copy the column.
        return type_
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(inner, type_.list_size)
    return pa.large_list(inner) if pa.types.is_large_list(type_) else pa.list_(inner)


def _try_convert(frame: Any, declared: Mapping[str, Column]) -> pa.Table | None:
    if not is_frame(frame):
        return _try_import(frame)
    try:
        names = [str(name) for name in (frame.column_names if library_of(frame) == "pyarrow" else frame.columns)]
        if not _are_distinct(names):
            return None
        if library_of(frame) == "pyarrow":
            return frame if isinstance(frame, pa.Table) else pa.Table.from_batches([frame])
        columns = [
            _array(frame.iloc[:, place] if library_of(frame) == "pandas" else frame[name], declared.get(name))
            for place, name in enumerate(names)
        ]
        return pa.table(columns, names=names)
    except (pa.ArrowException, ValueError, TypeError, NotImplementedError, OverflowError):
        # The reason may quote a value.
        return None


def _try_import(frame: Any) -> pa.Table | None:
    """One table from the only reading of an Arrow stream or array."""
    try:
        table = pa.table(frame)
        return table if _are_distinct(table.column_names) else None
    except Exception:  # noqa: BLE001 - the frame is somebody else's code, and whatever it raises may quote a value
        return None


def _are_distinct(names: Sequence[str]) -> bool:
    return len({name.lower() for name in names}) == len(names)


def _array(series: Any, column: Column | None) -> pa.Array | pa.ChunkedArray:
    if str(series.dtype) in ("object", "Object"):
        values = series.to_list()
        if column is not None and column.kind is Kind.LIST:
            lists = [[_text(part) for part in value] if isinstance(value, list | tuple) else None for value in values]
            return pa.array(lists, pa.list_(pa.string()))
        return pa.array([_text(value) for value in values], pa.string())
    if hasattr(series, "to_arrow"):
        return series.to_arrow()
    return pa.Array.from_pandas(series)


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value if value.isascii() or value.encode("utf-8", "ignore").decode() == value else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal | dt.date):
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    return None


def readable_part(cursor: duckdb.DuckDBPyConnection, table: pa.Table) -> pa.Table:
    """The columns whose types DuckDB knows; tried on empty columns, so no row is read."""
    readable = []
    for field in table.schema:
        try:
            cursor.register(FRAME, pa.schema([field]).empty_table())
            readable.append(field.name)
        except (duckdb.Error, pa.ArrowException, NotImplementedError):
            continue
    return table.select(readable)


def item_table(columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> pa.Table:
    """The caller's items as a table."""
    return pa.table({column.name: _items([row[place] for row in rows], column) for place, column in enumerate(columns)})


def _items(values: list[Any], column: Column) -> pa.Array:
    if column.kind is Kind.DECIMAL:
        return pa.array(
            [None if value is None else Decimal(value) for value in values], pa.decimal128(38, column.scale)
        )
    return pa.array(values, pa.uint64() if column.unsigned else _ARROW[column.kind])
