"""A table from standard input: kept in a private file for as long as it is read, and removed afterwards."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podium.errors import InvalidArgument, SourceUnavailable

__all__ = ["DASH", "named_source"]

DASH = "-"
_HEAD_BYTES = 1 << 16
_BZ2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
"""How such a file begins: with a block, or with its end if it is empty. Three letters may begin a text too."""


@contextmanager
def named_source(source: str) -> Iterator[str]:
    """The path of a source: its own, or where what came on standard input is kept.

    The folder has mode 0700, and is removed afterwards; what a killed process left is removed at the next start.
    """
    if source != DASH:
        yield source
        return
    if sys.stdin.isatty():
        raise InvalidArgument(
            "source", DASH, allowed="a table on standard input", hint="For example: cat views.csv | podium top - ..."
        )
    from podium.sources.private_folder import make_folder

    folder, remove = make_folder(None)
    try:
        head = sys.stdin.buffer.read(_HEAD_BYTES)
        path = Path(folder, f"stdin{_suffix(head)}")
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(path)
    except SourceUnavailable as error:
        raise SourceUnavailable(str(error).replace(str(path), "standard input")) from None
    finally:
        remove()


def _suffix(head: bytes) -> str:
    """The format, by how it begins: Parquet, JSON, or CSV, compressed or not."""
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"\x1f\x8b"):
        return ".csv.gz"
    if _BZ2.match(head):
        return ".csv.bz2"
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"[": ".json", b"{": ".jsonl"}.get(first, ".csv")
