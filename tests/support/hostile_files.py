"""One hostile row for files of every format: written among good rows, it may change its own user and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["HOSTILE_FILE_ROWS", "SECRET", "HostileRow", "invalid_text", "write_parquet", "write_rows"]

SECRET = "s3cret"  # noqa: S105
"""A part of every hostile row that has room for it: no message may quote it."""


@dataclass(frozen=True, slots=True)
class HostileRow:
    """A row of the user ``h`` as it stands in a file; ``fits`` says that it is a record like any other."""

    format: str
    name: str
    row: bytes
    fits: bool


_HOSTILE: dict[tuple[str, bool], dict[str, bytes]] = {
    ("csv", False): {
        "closed in the middle": b'9999,"5" s3cret pipe"',
        "never closed": b'h,"s3cret',
        "opened in the middle": b'h,5" s3cret',
        "behind a space": b'h, "s3cret"',
        "odd quotes": b'h,"""s3cret""',
        "a return alone": b"h,s3cret\rh,b",
        "too few fields": b"s3cret",
        "too many fields": b"h,s3cret,b,c",
        "no UTF-8": b"h,s3cret\xff",
        "cut UTF-8": b"h,s3cret\xe2\x82",
        "a return in a field": b"h,s3cret\rx",
        "a very long line": b"h,s3cret" + b"x" * 1_100_000,
    },
    ("csv", True): {
        "several lines": b'h,"s3cret\nh,""\n,x"',
        "quotes and delimiters": b'"h","s3cret"",\r\n"',
        "a byte of zero": b"h,s3cret\x00",
        "an escape sign": b"h,s3cret\\",
        "a comment": b"#h,s3cret",
        "nothing": b"",
    },
    ("jsonl", False): {
        "a lone surrogate": b'{"u": "h", "i": "s3cret\\ud800"}',
        "a control character": b'{"u": "h", "i": "s3cret\x01"}',
        "no UTF-8": b'{"u": "h", "i": "s3cret\xff"}',
        "not closed": b'{"u": "h", "i": "s3cret',
        "two in a line": b'{"u": "h", "i": "s3cret"} {"u": 1}',
        "a list": b'["s3cret"]',
        "null": b"null",
    },
    ("jsonl", True): {
        "deep": b'{"u": "h", "i": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        "large numbers": b'{"u": "h", "i": 1e999, "x": -1e-999, "y": NaN}',
        "the same key twice": b'{"u": "h", "i": "s3cret", "i": {"k": "s3cret\\u0000"}}',
        "a large record": b'{"u": "h", "i": "s3cret' + b"x" * 1_100_000 + b'"}',
    },
}
"""The rows by their names, for each format: those that do not fit, and those that do."""
HOSTILE_FILE_ROWS = tuple(
    HostileRow(format_, name, row, fits) for (format_, fits), rows in _HOSTILE.items() for name, row in rows.items()
)
"""Those of JSON lines are hostile elements of an array as well."""


_FRAMES = {"csv": (b"u,i\n", b"\n", b"\n"), "jsonl": (b"", b"\n", b"\n"), "json": (b"[", b",", b"]")}


def invalid_text(values: Sequence[bytes]) -> pa.Array:
    """A column that Arrow takes for text, whatever its bytes are."""
    return pa.array(values, pa.binary()).view(pa.string())


def write_rows(path: Path, format_: str, good: Sequence[tuple[str, str]], row: HostileRow | None, place: int) -> Path:
    """A file of CSV, of JSON lines or of a JSON array with the columns u and i, and the hostile row at that place."""
    if format_ == "csv":
        rows = [f"{user},{item}".encode() for user, item in good]
    else:
        rows = [f'{{"u": "{user}", "i": "{item}"}}'.encode() for user, item in good]
    if row is not None:
        rows.insert(place, row.row)
    before, between, after = _FRAMES[format_]
    path.write_bytes(before + between.join(rows) + after)
    return path


def write_parquet(path: Path, values: Sequence[bytes], *, dictionary: bool) -> Path:
    """A Parquet file with the columns u, v (a number) and i (these bytes, called text), in small row groups."""
    count = len(values)
    table = pa.table({"u": range(count), "v": range(count), "i": invalid_text(values)})
    pq.write_table(table, path, row_group_size=10, use_dictionary=dictionary)
    return path
