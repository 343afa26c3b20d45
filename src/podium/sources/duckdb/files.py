"""Local files: how to find them, their format, and the table function that reads them.

Nothing is inferred from rows. Parquet has types; a CSV file has names in its header, and every column is text; a JSON
file declares nothing, so every name is a text column. The owner may declare other types.
"""

from __future__ import annotations

import csv
import glob
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlglot import exp

from podium.errors import SourceUnavailable
from podium.sources.duckdb.compressed import must_be_unpacked, open_bytes, unpacked_name
from podium.sources.duckdb.identity import file_identities
from podium.sources.duckdb.other_formats import other_format, unreadable_text

__all__ = [
    "DataFiles",
    "FileFormat",
    "csv_header",
    "find_files",
    "identify_files",
    "is_sqlite",
    "numbered_header",
    "reader",
]


class FileFormat(StrEnum):
    """The formats that the embedded engine reads."""

    PARQUET = "Parquet"
    CSV = "CSV"
    JSON = "JSON"
    DUCKDB = "DuckDB"


_SUFFIXES = {
    ".parquet": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
    ".csv": FileFormat.CSV,
    ".tsv": FileFormat.CSV,
    ".json": FileFormat.JSON,
    ".jsonl": FileFormat.JSON,
    ".ndjson": FileFormat.JSON,
    ".duckdb": FileFormat.DUCKDB,
    ".ddb": FileFormat.DUCKDB,
}
_DUCKDB_MARK, _MARK_AT = b"DUCK", 8
_SQLITE_MARK = b"SQLite format 3\0"
_DELIMITERS = (",", "\t", ";", "|")
_MAX_HEADER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Files of one format that are one table; ``hive`` if ``name=value`` folders above them are columns.

    ``array`` says that JSON is one array and not an object in every line, ``spans_lines`` that a record of a CSV file
    has several lines.
    """

    format: FileFormat
    paths: tuple[str, ...]
    hive: bool = False
    array: bool = False
    spans_lines: bool = False

    @property
    def text(self) -> bool:
        """Whether the files are text, which has no types and must be checked."""
        return self.format in (FileFormat.CSV, FileFormat.JSON)


def find_files(location: str | Path) -> DataFiles:
    """The files behind a path, a glob pattern, or a folder of Parquet files."""
    text = str(location)
    if Path(text).is_file():
        return DataFiles(_format(text), (text,))
    if Path(text).is_dir():
        paths = sorted(str(path) for path in Path(text).rglob("*.parquet") if path.is_file())
        if not paths:
            raise SourceUnavailable(
                f"source={text!r} is a folder without Parquet files. A folder is read as one table of its *.parquet "
                "files; for another format give a pattern such as 'folder/*.csv'."
            )
    else:
        paths = sorted(path for path in glob.glob(text, recursive=True) if Path(path).is_file())  # noqa: PTH207
        if not paths:
            raise SourceUnavailable(
                f"source={text!r} is not a file. Give the path of a file, a folder of Parquet files, a pattern that "
                "matches files, or the URL of a database."
            )
    formats = {_format(path) for path in paths}
    if len(formats) != 1 or FileFormat.DUCKDB in formats:
        raise SourceUnavailable(
            f"source={text!r} matches files that are not one table. Give a pattern that matches files of one format: "
            "Parquet, CSV or JSON."
        )
    return DataFiles(
        formats.pop(), tuple(paths), any("=" in part for path in paths for part in Path(path).parent.parts)
    )


def identify_files(location: str) -> frozenset[tuple[int, int]]:
    """The identities of the files behind a path, a pattern or a folder; empty if there are none."""
    try:
        return file_identities(find_files(location).paths)
    except SourceUnavailable:
        return frozenset()


def _format(path: str) -> FileFormat:
    ending = Path(unpacked_name(path)).suffix.lower()
    form = _SUFFIXES.get(ending)
    if form in (FileFormat.PARQUET, FileFormat.DUCKDB) and must_be_unpacked(path):
        form = None
    if form is None and _is_database(path):
        return FileFormat.DUCKDB
    if form is None and (known := other_format(ending)):
        raise SourceUnavailable(f"source={path!r} is {known}")
    if form is None:
        raise SourceUnavailable(
            f"source={path!r} has no known format. Known are Parquet (.parquet, .pq), CSV (.csv, .tsv), JSON (.json, "
            ".jsonl, .ndjson), these two also as .gz or .bz2, DuckDB (.duckdb, .ddb) and SQLite (.sqlite, .db). Rename "
            "the file to what it is."
        )
    return form


def _is_database(path: str) -> bool:
    return _beginning(path, _MARK_AT + len(_DUCKDB_MARK))[_MARK_AT:] == _DUCKDB_MARK


def is_sqlite(path: str | Path) -> bool:
    """Whether this is a database of SQLite, which its first bytes say."""
    return _beginning(path, len(_SQLITE_MARK)) == _SQLITE_MARK


def _beginning(path: str | Path, count: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(count)
    except (OSError, ValueError):
        return b""


def csv_header(
    paths: Sequence[str], *, encoding: str = "utf-8", declared: Collection[str] = ()
) -> tuple[tuple[str, ...], str]:
    """The names in the header, which all files must share, and the delimiter, chosen by the header alone.

    A first line that may be a row is not accepted as a header: every name must have a letter, unless the owner declares
    a column of that name. Errors do not quote the line, because it may be a row.
    """
    headers = {_first_line(path, encoding) for path in paths}
    if headers == {""} and not any(Path(path).stat().st_size for path in paths):
        raise _empty(paths[0])
    if len(headers) != 1:
        raise SourceUnavailable(
            f"The CSV files beside {paths[0]!r} have different headers. Files of one table must share their first line."
        )
    line = headers.pop()
    delimiter = max(_DELIMITERS, key=line.count)
    try:
        names = tuple(next(csv.reader([line], delimiter=delimiter, strict=True), []))
    except csv.Error:
        names = ()
    if not names or not all(names) or len({name.lower() for name in names}) != len(names):
        raise SourceUnavailable(
            f"The header of {paths[0]!r} does not name every column once. The first line must hold distinct names; if "
            "it is a row already, say --no-header (in Python: header=False)."
        )
    if not all(name in declared or any(map(str.isalpha, name)) for name in names):
        raise SourceUnavailable(
            f"source={paths[0]!r} seems to have no header: its first line may be a row, with names without a letter. "
            "Say --no-header (in Python: header=False) to call the columns column1, column2 and so on. Or add a line "
            "of names, or declare the types of columns that are called so (types=, --types)."
        )
    return names, delimiter


def numbered_header(paths: Sequence[str], *, encoding: str = "utf-8") -> tuple[tuple[str, ...], str]:
    """Names for the columns of files without a header, as many as the first line has fields, and the delimiter."""
    line = _first_line(paths[0], encoding)
    delimiter = max(_DELIMITERS, key=line.count)
    try:
        count = len(next(csv.reader([line], delimiter=delimiter, strict=True), []))
    except csv.Error:
        count = 0
    if not count:
        raise _empty(paths[0])
    return tuple(f"column{place}" for place in range(1, count + 1)), delimiter


def _empty(path: str) -> SourceUnavailable:
    return SourceUnavailable(
        f"source={path!r} is empty: it has no first line. A CSV file needs a line with the names of its columns, "
        "also if it has no rows. Check what wrote the file."
    )


def _first_line(path: str, encoding: str) -> str:
    try:
        with open_bytes(path) as file:
            line = file.readline(_MAX_HEADER_BYTES)
            return line.decode("utf-8-sig" if encoding == "utf-8" else encoding).rstrip("\r\n")
    except (OSError, EOFError):
        raise SourceUnavailable(f"source={path!r} could not be opened as CSV. Check the file.") from None
    except UnicodeDecodeError:
        if known := unreadable_text(line, encoding):
            raise SourceUnavailable(f"source={path!r} is {known}") from None
        raise SourceUnavailable(
            f"source={path!r} cannot be read as it is: line 1 has bytes that are not {encoding}. Allowed: text in "
            "the stated encoding, for example --encoding windows-1252 (in Python: encoding='windows-1252')."
        ) from None


def reader(files: DataFiles, columns: Mapping[str, str], *, delimiter: str = ",") -> exp.Expr:
    """The table function that reads the files; for CSV and JSON the columns are given, so nothing is sniffed.

    The files were checked before. If DuckDB refuses a line all the same, it is skipped, because an error would reveal
    that it exists.
    """
    paths: exp.Expr = exp.Literal.string(files.paths[0])
    if len(files.paths) > 1:
        paths = exp.Array(expressions=[exp.Literal.string(path) for path in files.paths])
    options: dict[str, exp.Expr] = {}
    if files.format is FileFormat.CSV:
        quote = exp.Literal.string('"')
        options = {"auto_detect": exp.false(), "header": exp.true(), "delim": exp.Literal.string(delimiter)}
        options |= {"quote": quote, "escape": quote.copy(), "allow_quoted_nulls": exp.false()}
        # If records span lines, a thread that starts in the middle must guess whether it is inside quotes.
        options |= {"strict_mode": exp.false()} | ({"parallel": exp.false()} if files.spans_lines else {})
    if files.format is FileFormat.JSON:
        form = "array" if files.array else "newline_delimited"
        options = {"format": exp.Literal.string(form), "records": exp.true()}
    if files.format is not FileFormat.PARQUET:
        fields = [
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string(type_))
            for name, type_ in columns.items()
        ]
        options |= {"columns": exp.Struct(expressions=fields), "ignore_errors": exp.true()}
    elif len(files.paths) > 1:
        options = {"union_by_name": exp.true()}
    if files.hive:
        options |= {"hive_partitioning": exp.true(), "hive_types_autocast": exp.false()}
    named = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
    return exp.Table(this=exp.Anonymous(this=f"READ_{files.format.upper()}", expressions=[paths, *named]))
