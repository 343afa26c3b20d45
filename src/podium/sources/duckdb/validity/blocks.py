"""Text files in blocks of complete records, in UTF-8; only a few blocks are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from podium.sources.duckdb.compressed import open_bytes

__all__ = ["BOM", "NEWLINE", "Positions", "first_bytes", "in_utf8", "last_line_end", "read_blocks"]

Positions = NDArray[np.int64]
"""Places in a block, counted in bytes."""

NEWLINE = 0x0A
BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""

_BLOCK = 1 << 21
_SURROGATES, _FIRST_SURROGATE = 0xED, 0xA0


def first_bytes(path: str, count: int) -> bytes:
    """The beginning of a file, without a byte order mark."""
    with open_bytes(path) as file:
        return file.read(count).removeprefix(BOM)


def last_line_end(block: bytes) -> int:
    """Where the last whole line of a block ends."""
    return block.rfind(b"\n") + 1


def read_blocks(path: str, end: Callable[[bytes], int], *, max_bytes: int, at_once: int = 1) -> Iterator[bytes]:
    """The file in blocks that end where ``end`` says that a record does; the last one ends where the file does.

    Of a record longer than ``max_bytes``, and therefore bad, only as much is kept as shows that. A block fits into a
    processor's cache; ``at_once`` multiplies its size.
    """
    rest = b""
    with open_bytes(path) as file:
        while chunk := file.read(at_once * _BLOCK):
            whole = rest + chunk
            cut = end(whole)
            if cut:
                yield whole[:cut]
            rest = whole[cut : cut + max_bytes + 2]
    if rest:
        yield rest


def in_utf8(block: bytes, encoding: str) -> tuple[bytes, Positions]:
    """The block in UTF-8, and the positions of bytes that are invalid in the stated encoding."""
    none = np.zeros(0, np.int64)
    if block.isascii():
        return block, none
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError:
        # Invalid bytes become lone surrogates, which valid UTF-8 never has; line ends stay in place.
        marked = block.decode(encoding, "surrogateescape").encode("utf-8", "surrogatepass")
        data = np.frombuffer(marked, np.uint8)
        return marked, np.flatnonzero((data[:-1] == _SURROGATES) & (data[1:] >= _FIRST_SURROGATE))
    return (block if encoding == "utf-8" else text.encode()), none
