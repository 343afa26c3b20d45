"""The names of a file's columns without its rows, for a shell that completes them."""

from __future__ import annotations

from podium.sources.duckdb.files import FileFormat, csv_header, find_files
from podium.sources.duckdb.validity import FileRules

__all__ = ["column_names"]


def column_names(location: str, *, encoding: str = "utf-8") -> tuple[str, ...]:
    """The names in the header of a CSV file or the footer of a Parquet file; none for what has neither."""
    files = find_files(location)
    if files.format is FileFormat.CSV:
        names, _ = csv_header(files.paths, encoding=FileRules(encoding=encoding).codec)
        return names
    if files.format is FileFormat.PARQUET:
        return _parquet_names(files.paths[0])
    return ()


def _parquet_names(path: str) -> tuple[str, ...]:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    from pyarrow import parquet  # noqa: PLC0415

    try:
        return tuple(parquet.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return ()
