"""Writing a table to Parquet, for the demo."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["write_parquet"]


def write_parquet(columns: Mapping[str, Any], path: Path) -> None:
    """Write columns of equal length to a compressed Parquet file."""
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    pq.write_table(table, path, compression="zstd")
