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
    fits: bool = False


HOSTILE_FILE_ROWS = (
    HostileRow("csv", "closed in the middle", b'9999,"5" s3cret pipe"'),
    HostileRow("csv", "never closed", b'h,"s3cret'),
    HostileRow("csv", "opened in the middle", b'h,5" s3cret'),
    HostileRow("csv", "behind a space", b'h, "s3cret"'),
    HostileRow("csv", "odd quotes", b'h,"""s3cret""'),
    HostileRow("csv", "a return alone", b"h,s3cret\rh,b"),
    HostileRow("csv", "too few fields", b"s3cret"),
    HostileRow("csv", "too many fields", b"h,s3cret,b,c"),
    HostileRow("csv", "no UTF-8", b"h,s3cret\xff"),
    HostileRow("csv", "cut UTF-8", b"h,s3cret\xe2\x82"),
    HostileRow("csv", "a return in a field", b"h,s3cret\rx"),
    HostileRow("csv", "a very long line", b"h,s3cret" + b"x" * 1_100_000),
    HostileRow("csv", "several lines", b'h,"s3cret\nh,""\n,x"', fits=True),
    HostileRow("csv", "quotes and delimiters", b'"h","s3cret"",\r\n"', fits=True),
    HostileRow("csv", "a byte of zero", b"h,s3cret\x00", fits=True),
    HostileRow("csv", "an escape sign", b"h,s3cret\\", fits=True),
    HostileRow("csv", "a comment", b"#h,s3cret", fits=True),
    HostileRow("csv", "nothing", b"", fits=True),
    HostileRow("jsonl", "a lone surrogate", b'{"u": "h", "i": "s3cret\\ud800"}'),
    HostileRow("jsonl", "a control character", b'{"u": "h", "i": "s3cret\x01"}'),
    HostileRow("jsonl", "no UTF-8", b'{"u": "h", "i": "s3cret\xff"}'),
    HostileRow("jsonl", "not closed", b'{"u": "h", "i": "s3cret'),
    HostileRow("jsonl", "two in a line", b'{"u": "h", "i": "s3cret"} {"u": 1}'),
    HostileRow("jsonl", "a list", b'["s3cret"]'),
    HostileRow("jsonl", "null", b"null"),
    HostileRow("jsonl", "deep", b'{"u": "h", "i": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", fits=True),
    HostileRow("jsonl", "large numbers", b'{"u": "h", "i": 1e999, "x": -1e-999, "y": NaN}', fits=True),
    HostileRow("jsonl", "the same key twice", b'{"u": "h", "i": "s3cret", "i": {"k": "s3cret\\u0000"}}', fits=True),
    HostileRow("jsonl", "a large record", b'{"u": "h", "i": "s3cret' + b"x" * 1_100_000 + b'"}', fits=True),
)  # fmt: skip
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
