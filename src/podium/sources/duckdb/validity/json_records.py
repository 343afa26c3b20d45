"""JSON, checked record by record with the parser that will read it: lines of objects, or one array of objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
from numpy.typing import NDArray

from podium.sources.duckdb.connection import hide_progress
from podium.sources.duckdb.validity.blocks import BOM, NEWLINE, Positions, in_utf8, last_line_end, read_blocks

__all__ = ["LONGEST_OBJECT", "SPACE", "Part", "RecordParser", "array_blocks", "line_blocks"]

LONGEST_OBJECT = 8_000_000
"""In bytes; DuckDB gives up on objects of sixteen million."""

_AT_ONCE = 4
_QUOTE, _BACKSLASH, _COMMA = 0x22, 0x5C, 0x2C
SPACE = b" \t\r\n"
"""What JSON allows between values."""

_NOT_OBJECTS = (
    "SELECT place FROM records "
    "WHERE NOT (json_valid(record) AND starts_with(ltrim(record, $1), '{')) AND NOT ($2 AND trim(record, $1) = '')"
)

_BRACKETS = {0x5B: 1, 0x7B: 1, 0x5D: -1, 0x7D: -1}
_DEPTH = np.zeros(256, np.int64)
_DEPTH[list(_BRACKETS)] = list(_BRACKETS.values())


@dataclass(frozen=True, slots=True)
class Part:
    """A block with the edges of its records, and where it has bytes that are no text."""

    block: bytes
    starts: Positions
    ends: Positions
    unreadable: Positions

    def records(self, places: Positions) -> Positions:
        """In which records these places are."""
        return np.minimum(np.searchsorted(self.ends, places), max(self.ends.size - 1, 0))


class RecordParser:
    """DuckDB's own parser of JSON, in a database of its own that holds nothing."""

    def __init__(self) -> None:
        settings = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        self._connection = duckdb.connect(":memory:", config={**settings, "enable_external_access": "false"})
        hide_progress(self._connection)

    def bad(self, part: Part, *, blank_lines: bool) -> NDArray[np.bool_]:
        """Which records of a block are not an object; ``blank_lines`` are no records, and not bad."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import, and only JSON needs it here

        found = np.zeros(part.starts.size, np.bool_)
        found[part.records(part.unreadable)] = True
        found |= part.ends - part.starts > LONGEST_OBJECT
        places = np.flatnonzero(~found)
        edges = np.empty(2 * part.starts.size + 1, np.int64)
        edges[0:-1:2], edges[1::2], edges[-1] = part.starts, part.ends, len(part.block)
        # Every other piece is what lies between records.
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(part.block)]
        pieces = pa.Array.from_buffers(pa.large_string(), 2 * part.starts.size, buffers)
        self._connection.register("records", pa.table({"place": places, "record": pieces.take(pa.array(2 * places))}))
        rows = self._connection.execute(_NOT_OBJECTS, [SPACE.decode(), blank_lines]).fetchnumpy()
        self._connection.unregister("records")
        found[rows["place"]] = True
        return found

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()


def line_blocks(path: str, encoding: str, *, marked: bool) -> Iterator[Part]:
    """The lines of a file in blocks; of a file that is ``marked``, without the mark."""
    for place, whole in enumerate(read_blocks(path, last_line_end, longest=LONGEST_OBJECT, at_once=_AT_ONCE)):
        raw = whole.removeprefix(BOM) if marked and place == 0 else whole
        block, unreadable = in_utf8(raw if raw.endswith(b"\n") else raw + b"\n", encoding)
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == NEWLINE)
        yield Part(block, np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]), ends, unreadable)


def array_blocks(path: str, encoding: str) -> Iterator[Part]:
    """The elements of an array in blocks; at the end one that is none if the array does not close.

    Whatever is cut where, an array of which all parts are objects is an array of objects.
    """
    begun = closed = False

    def end(whole: bytes) -> int:
        skipped = 0 if begun else _opening(whole)
        commas, _ = _top_level(whole[skipped:])
        return skipped + int(commas[-1]) + 1 if commas.size else 0

    for raw in read_blocks(path, end, longest=LONGEST_OBJECT + 64, at_once=_AT_ONCE):
        block, unreadable = in_utf8(raw if begun else raw[_opening(raw) :], encoding)
        first, begun = not begun, True
        commas, closing = (np.zeros(0, np.int64), None) if closed else _top_level(block)
        ends = commas if closing is None else np.append(commas, closing)
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]) if ends.size else ends
        if first and ends.size == 1 and closing is not None and not block[:closing].strip(SPACE):
            starts, ends = starts[:0], ends[:0]
        done = closing + 1 if closing is not None else int(ends[-1]) + 1 if ends.size else 0
        closed = closed or closing is not None
        if block[done:].strip(SPACE):
            starts, ends = np.append(starts, done), np.append(ends, len(block))
        yield Part(block, starts, ends, unreadable)
    if not closed:
        yield Part(b" ", np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(0, np.int64))


def _opening(whole: bytes) -> int:
    """Behind the bracket with which an array begins."""
    return len(whole) - len(whole.removeprefix(BOM).lstrip(SPACE)) + 1


def _top_level(block: bytes) -> tuple[Positions, int | None]:
    """The commas between elements, and where the array closes, in a block that begins with an element."""
    data = np.frombuffer(block, np.uint8)
    quotes = _unescaped(data, np.flatnonzero(data == _QUOTE))
    marked = data == _COMMA
    for sign in _BRACKETS:
        marked |= data == sign
    marked[quotes] = True
    marks = np.flatnonzero(marked)
    kinds = data[marks]
    outside = np.cumsum(kinds == _QUOTE, dtype=np.int32) & 1 == 0
    marks, kinds = marks[outside], kinds[outside]
    depth = np.cumsum(_DEPTH[kinds])
    closing = np.flatnonzero(depth < 0)
    last = int(marks[closing[0]]) if closing.size else None
    commas = marks[(kinds == _COMMA) & (depth == 0)]
    return (commas if last is None else commas[commas < last]), last


def _unescaped(data: NDArray[np.uint8], quotes: Positions) -> Positions:
    """The quotes before which there is an even number of backslashes."""
    slashes = np.flatnonzero(data == _BACKSLASH)
    if not slashes.size or not quotes.size:
        return quotes
    begins = np.maximum.accumulate(np.where(np.diff(slashes, prepend=-2) != 1, slashes, 0))
    place = np.minimum(np.searchsorted(slashes, quotes - 1), slashes.size - 1)
    escaped: NDArray[np.bool_] = (slashes[place] == quotes - 1) & ((quotes - begins[place]) % 2 == 1)
    return quotes[~escaped]
