"""CSV and JSON files, checked completely under the owner's rules, and copied where the engine needs other bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from podium.errors import InvalidArgument, SourceUnavailable
from podium.sources.duckdb.compressed import must_be_unpacked, unpacked_name
from podium.sources.duckdb.files import DataFiles, FileFormat, csv_header, numbered_header
from podium.sources.duckdb.validity.blocks import BOM, Positions, first_bytes, in_utf8, last_line_end, read_blocks
from podium.sources.duckdb.validity.csv_lines import MAX_RECORD_BYTES, CsvShape, Records, last_record_end, records_of
from podium.sources.duckdb.validity.json_records import SPACE, Part, RecordParser, array_blocks, line_blocks
from podium.sources.duckdb.validity.rules import FileRules

__all__ = ["check_text"]

_PROBE_BYTES = 1 << 16
_NEWLINE = b"\n"
_REMEDY = "Correct the file, or leave such lines out with --bad-lines drop (in Python: bad_lines='drop')."


def check_text(files: DataFiles, rules: FileRules, folder: Path, declared: frozenset[str]) -> DataFiles:
    """Check the files; returns those to read: the same, or copies in ``folder``. SourceUnavailable names the bad line.

    Messages give the position of an error and never its text, because the text is private.
    """
    if files.format is FileFormat.JSON:
        if not rules.header:
            raise InvalidArgument("header", rules.header, allowed="True for JSON, whose records name their columns")
        return _check_json(files, rules, folder)
    if rules.header:
        names, delimiter = csv_header(files.paths, encoding=rules.codec, declared=declared)
    else:
        names, delimiter = numbered_header(files.paths, encoding=rules.codec)
    added = b"" if rules.header else f"{delimiter.join(names)}\n".encode()
    shape = CsvShape(ord(delimiter), len(names), rules.drop)
    paths: list[str] = []
    spans = False
    for path in files.paths:
        with _copy(path, rules, folder, len(paths)) as copy:
            _write(copy, added)
            spans |= _check_csv(path, shape, rules, copy)
        paths.append(path if copy is None else copy.name)
    return replace(files, paths=tuple(paths), spans_lines=spans)


@contextmanager
def _copy(path: str, rules: FileRules, folder: Path, place: int) -> Iterator[IO[bytes] | None]:
    """A file for the copy; None if the engine reads the original. ``name=value`` folders are kept above it."""
    with ExitStack() as opened:
        copy = None
        if rules.needs_copy or must_be_unpacked(path):
            columns = [part for part in Path(path).parent.parts if "=" in part]
            above = folder.joinpath(str(place), *columns)
            above.mkdir(parents=True)
            copy = opened.enter_context((above / unpacked_name(Path(path).name)).open("wb"))
        try:
            yield copy
        except (OSError, EOFError):
            raise SourceUnavailable(f"source={path!r} could not be read to its end. Check the file.") from None


def _check_csv(path: str, shape: CsvShape, rules: FileRules, copy: IO[bytes] | None) -> bool:
    """Check a file, and copy what is kept; returns whether some record spans lines."""
    line, begun, spans = 1, False, False
    end = last_line_end if shape.lines else last_record_end
    for raw in read_blocks(path, end, max_bytes=MAX_RECORD_BYTES):
        block, unreadable = in_utf8(raw if raw.endswith(_NEWLINE) else raw + _NEWLINE, rules.codec)
        if not begun:
            # Without a header only the mark is taken away: line 1 is a row.
            begin = block.find(_NEWLINE) + 1 if rules.header else len(BOM) * block.startswith(BOM)
            _write(copy, block[:begin].removeprefix(BOM))
            block, unreadable, line, begun = block[begin:], unreadable - begin, 1 + rules.header, True
        if not block:
            continue
        records = records_of(block, shape)
        text = np.zeros(records.ends.size, np.bool_)
        text[np.searchsorted(records.ends, unreadable)] = True
        bad = records.bad | text
        if bad.any() and not rules.drop:
            first = int(np.argmax(bad))
            where = f"line {line + block.count(_NEWLINE, 0, int(records.starts[first]))}"
            raise _refusal(path, where, _reason(records, text, first, shape, rules))
        _write(copy, _without_bad(block, records.starts, records.ends, bad))
        lines = block.count(_NEWLINE)
        spans |= records.ends.size < lines
        line += lines
    return spans


def _reason(records: Records, text: NDArray[np.bool_], place: int, shape: CsvShape, rules: FileRules) -> str:
    # Quotes first: an unclosed record contains every error further down.
    if records.quoting[place]:
        return "breaks CSV's quoting. Allowed: quotes around whole fields, and doubled inside them."
    if text[place]:
        return _not_text(rules)
    if records.length[place]:
        return f"is too long. Allowed: at most {MAX_RECORD_BYTES} bytes in a line."
    return f"has another number of fields than the header. Allowed: {shape.columns} fields in every line."


def _not_text(rules: FileRules) -> str:
    return (
        f"has bytes that are not {rules.encoding}. Allowed: text in the stated encoding, for example --encoding "
        "windows-1252 (in Python: encoding='windows-1252')."
    )


def _refusal(path: str, where: str, reason: str, remedy: str = _REMEDY) -> SourceUnavailable:
    return SourceUnavailable(f"source={path!r} cannot be read as it is: {where} {reason} {remedy}")


def _without_bad(block: bytes, starts: Positions, ends: Positions, bad: NDArray[np.bool_]) -> bytes:
    if not bad.any():
        return block
    return np.frombuffer(block, np.uint8)[np.repeat(~bad, ends - starts + 1)].tobytes()


def _write(copy: IO[bytes] | None, content: bytes) -> None:
    if copy is not None:
        copy.write(content)


def _check_json(files: DataFiles, rules: FileRules, folder: Path) -> DataFiles:
    """Files called .json hold one array if they begin with a bracket; all others hold one object in every line."""
    arrays = {_is_array(path) for path in files.paths}
    if len(arrays) != 1:
        raise SourceUnavailable(
            f"The JSON files beside {files.paths[0]!r} are not of one kind. Allowed: files that all hold an array, or "
            "all an object in every line. Give a pattern that matches one kind."
        )
    (array,) = arrays
    if array and rules.drop:
        raise InvalidArgument(
            "bad_lines",
            rules.bad_lines,
            allowed="'refuse' for a file that holds one JSON array",
            hint="One record can break the others of an array; write an object in every line (.jsonl) instead.",
        )
    parser = RecordParser()
    try:
        paths: list[str] = []
        for path in files.paths:
            with _copy(path, rules, folder, len(paths)) as copy:
                if array:
                    _check_array(path, rules, copy, parser)
                else:
                    _check_lines(path, rules, copy, parser)
            paths.append(path if copy is None else copy.name)
    finally:
        parser.close()
    return replace(files, paths=tuple(paths), array=array)


def _is_array(path: str) -> bool:
    if not unpacked_name(path).lower().endswith(".json"):
        return False
    try:
        return first_bytes(path, _PROBE_BYTES).lstrip(SPACE)[:1] == b"["
    except (OSError, EOFError):
        raise SourceUnavailable(f"source={path!r} could not be opened as JSON. Check the file.") from None


def _check_lines(path: str, rules: FileRules, copy: IO[bytes] | None, parser: RecordParser) -> None:
    line = 1
    for part in line_blocks(path, rules.codec, marked=rules.has_mark):
        bad = parser.bad(part, blank_lines=True)
        if bad.any() and not rules.drop:
            raise _refusal(path, f"line {line + int(np.argmax(bad))}", _json_reason(part, bad, rules))
        _write(copy, _without_bad(part.block, part.starts, part.ends, bad))
        line += part.ends.size


def _check_array(path: str, rules: FileRules, copy: IO[bytes] | None, parser: RecordParser) -> None:
    record, separator = 1, b"["
    for part in array_blocks(path, rules.codec):
        bad = parser.bad(part, blank_lines=False)
        if bad.any():
            where = f"record {record + int(np.argmax(bad))} of its array"
            raise _refusal(path, where, _json_reason(part, bad, rules), "Correct the file, or write it anew.")
        if part.ends.size:
            _write(copy, separator + part.block[: int(part.ends[-1])])
            separator = b","
        record += part.ends.size
    _write(copy, b"]" if separator == b"," else b"[]")


def _json_reason(part: Part, bad: NDArray[np.bool_], rules: FileRules) -> str:
    first = int(np.argmax(bad))
    if first in part.records(part.unreadable):
        return _not_text(rules)
    if part.block.startswith(BOM) and first == 0:
        return "begins with a byte order mark. Allowed: none, unless it is stated with --encoding utf-8-sig."
    return "is not one JSON object. Allowed: one object in every line, or a .json file with one array of objects."
