"""The contract's tables as Parquet files: what engines that read them are loaded from."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.sources.data import Table

from podium.query.schema import Column, Kind

__all__ = ["arrow_table", "write_table"]

_TYPES = {
    Kind.TEXT: pa.string(),
    Kind.INTEGER: pa.int64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.FLOAT: pa.float64(),
}


def _type(column: Column) -> pa.DataType:
    if column.element is not None:
        return pa.list_(_TYPES[column.element])
    return pa.decimal128(20, column.scale) if column.kind is Kind.DECIMAL else _TYPES[column.kind]


def arrow_table(table: Table) -> pa.Table:
    return pa.table({column.name: pa.array(table.column(column.name), _type(column)) for column in table.columns})


def write_table(table: Table, folder: Path) -> Path:
    """A file of that table, in several row groups."""
    path = folder / f"{table.name}.parquet"
    pq.write_table(arrow_table(table), path, row_group_size=100)
    return path
