"""CSV as RFC 4180 has it, checked in blocks: where records end, and which of them are none.

A quote opens a field at its very beginning and closes it at its very end, two of them inside are one, and every record
has as many fields as the header. All of it is seen from the places of quotes, delimiters and line ends, so nothing is
parsed byte by byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.sources.duckdb.validity.blocks import NEWLINE, Positions

__all__ = ["LONGEST_RECORD", "CsvShape", "Records", "last_record_end", "records_of"]

LONGEST_RECORD = 1_000_000
"""In bytes; DuckDB gives up on lines of two million."""

_QUOTE, _RETURN = 0x22, 0x0D


@dataclass(frozen=True, slots=True)
class CsvShape:
    """What the header says; with ``lines`` a newline ends a record even inside quotes."""

    delimiter: int
    columns: int
    lines: bool


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a block: where they begin and end (their newline), and what is wrong with them, if anything."""

    starts: Positions
    ends: Positions
    quoting: NDArray[np.bool_]
    fields: NDArray[np.bool_]
    length: NDArray[np.bool_]

    @property
    def bad(self) -> NDArray[np.bool_]:
        """Which are not records."""
        return self.quoting | self.fields | self.length


def last_record_end(block: bytes) -> int:
    """Where the last whole record of a block that begins with one ends: behind the last newline outside quotes."""
    end = block.rfind(b"\n")
    quotes = block.count(b'"', 0, max(end, 0))
    while end >= 0 and quotes % 2:
        before = block.rfind(b"\n", 0, end)
        quotes -= block.count(b'"', max(before, 0), end)
        end = before
    return end + 1


def records_of(block: bytes, shape: CsvShape) -> Records:
    """The records of a block that begins with a record and ends with a newline."""
    data = np.frombuffer(block, np.uint8)
    marked = (data == _QUOTE) | (data == NEWLINE) | (data == _RETURN) | (data == shape.delimiter)
    places = np.flatnonzero(marked)
    kinds = data[places]
    quote = kinds == _QUOTE
    before = np.cumsum(quote, dtype=np.int32) - quote
    last = kinds == NEWLINE
    if not shape.lines:
        last &= before & 1 == 0
        # A quotation that nothing closes: all that is left is its record.
        last[-1] = True
    record = np.cumsum(last, dtype=np.int32) - last
    ends = places[last]
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    # Counted from each record's own beginning, so that one record's quotes are nothing to the next.
    rank = before - np.concatenate([np.zeros(1, np.int32), before[last][:-1]])[record]
    marks = _Marks(data, places, kinds, last, record, starts, rank)
    lengths = ends - starts
    blank = (lengths == 0) | ((lengths == 1) & (data[starts] == _RETURN))
    fields = (
        np.diff(np.cumsum((kinds == shape.delimiter) & (rank & 1 == 0), dtype=np.int32)[last], prepend=0)
        != shape.columns - 1
    )
    return Records(starts, ends, marks.broken(shape.delimiter), fields & ~blank, lengths > LONGEST_RECORD)


@dataclass(frozen=True, slots=True)
class _Marks:
    """Quotes, delimiters and line ends of a block: which end a record, whose each is, how many quotes it has before."""

    data: NDArray[np.uint8]
    places: Positions
    kinds: NDArray[np.uint8]
    last: NDArray[np.bool_]
    record: NDArray[np.int32]
    starts: Positions
    rank: NDArray[np.int32]

    def broken(self, delimiter: int) -> NDArray[np.bool_]:
        """Which records have a quote, or a carriage return, where none may be."""
        found = np.zeros(self.starts.size, np.bool_)
        inside = self.rank & 1 == 1
        alone = np.flatnonzero((self.kinds == _RETURN) & ~inside)
        alone = alone[self.data[self.places[alone] + 1] != NEWLINE]
        quotes = np.flatnonzero(self.kinds == _QUOTE)
        places, closing = self.places[quotes], inside[quotes]
        previous, following = self.data[places - 1], self.data[places + 1]
        opens = (places == self.starts[self.record[quotes]]) | (previous == delimiter)
        # After a quote: two of them inside a quotation are one of its text.
        opens |= (previous == _QUOTE) & (self.rank[quotes] > 0)
        closes = (following == delimiter) | (following == _QUOTE) | (following == NEWLINE) | (following == _RETURN)
        wrong = quotes[~np.where(closing, closes, opens)]
        for marks in (alone, wrong, np.flatnonzero(self.last & inside)):
            found[self.record[marks]] = True
        return found
