"""Frames in memory: pandas, polars, Arrow, and whatever speaks Arrow's PyCapsule interface, as one Arrow table.

pandas columns of Python objects have no type. They are read as text, like a CSV file's, so that no value decides
anything about the others; the owner may declare a type. An Arrow stream may be read only once, so it is read whole when
the source is opened.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from podium.errors import SourceUnavailable
from podium.query.schema import Column, Kind

__all__ = ["arrow_table", "is_frame", "speaks_arrow"]


def is_frame(data: object) -> bool:
    """Whether this is a frame of pandas, polars or pyarrow; its library is not imported to find out."""
    return _library(data) is not None


def speaks_arrow(data: object) -> bool:
    """Whether this object hands its columns over as an Arrow stream or array.

    Its class is asked, not the object: looking up an attribute may compute something, as it does on lazy frames.
    """
    return any(hasattr(type(data), name) for name in ("__arrow_c_stream__", "__arrow_c_array__"))


def _library(data: object) -> str | None:
    for cls in type(data).__mro__:
        root = cls.__module__.partition(".")[0]
        if (root, cls.__name__) in (
            ("pandas", "DataFrame"),
            ("polars", "DataFrame"),
            ("pyarrow", "Table"),
            ("pyarrow", "RecordBatch"),
        ):
            return root
    return None


def arrow_table(frame: Any, declared: Mapping[str, Column]) -> pa.Table:
    """The frame as an Arrow table; nothing is copied where the library keeps Arrow columns already."""
    table = _try_convert(frame, declared)
    if table is None:
        raise SourceUnavailable(
            "source=a frame could not be read as columns. Every column needs a distinct name and one type."
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
        if pa.types.is_timestamp(field.type) and field.type.tz is not None and field.type.unit != "us":
            plain = table.column(place).cast(pa.timestamp(field.type.unit))
            table = table.set_column(place, field.name, plain)
    return table


def _try_convert(frame: Any, declared: Mapping[str, Column]) -> pa.Table | None:
    if not is_frame(frame):
        return _try_import(frame)
    try:
        names = [str(name) for name in (frame.column_names if _library(frame) == "pyarrow" else frame.columns)]
        if not _are_distinct(names):
            return None
        if _library(frame) == "pyarrow":
            return frame if isinstance(frame, pa.Table) else pa.Table.from_batches([frame])
        columns = [
            _array(frame.iloc[:, place] if _library(frame) == "pandas" else frame[name], declared.get(name))
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
