"""One hostile row in a file: refused when the file is opened, for all alike, or nobody but its own user is touched."""

from __future__ import annotations

import csv
import io
import itertools
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.hostile_files import HOSTILE_FILE_ROWS, SECRET, HostileRow, invalid_text, write_parquet, write_rows

import podium
from podium.errors import InvalidArgument, PodiumError, SourceUnavailable
from podium.query.predicate import Compare, Operator
from podium.sources import CountQuery, DuckDBSource
from podium.sources.duckdb.validity import blocks
from podium.sources.duckdb.validity.csv_lines import CsvShape, records_of

GOOD = [(str(user), "ab"[user % 2]) for user in range(40)]
OTHERS = {"a": 20, "b": 20}
PLACES = (0, 17, 40)
CASES = [(row, row.format) for row in HOSTILE_FILE_ROWS] + [
    (row, "json") for row in HOSTILE_FILE_ROWS if row.format == "jsonl"
]


def counted(source: DuckDBSource, where: str | None = None) -> dict[Any, int]:
    condition = None if where is None else Compare("u", Operator.EQUAL, where)
    with source.snapshot(CountQuery(("i",), "u", condition)) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


def others(found: dict[Any, int]) -> dict[Any, int]:
    return {item: count for item, count in found.items() if item in OTHERS}


@pytest.mark.parametrize(("row", "format_"), CASES, ids=[f"{format_}: {row.name}" for row, format_ in CASES])
def test_a_hostile_row_is_refused_with_its_line_or_changes_nobody_else(
    tmp_path: Path, row: HostileRow, format_: str
) -> None:
    place = PLACES[len(row.name) % 3]
    path = write_rows(tmp_path / f"e.{format_}", format_, GOOD, row, place)
    if not row.fits or (format_ == "json" and row.row == b""):
        with pytest.raises(SourceUnavailable) as caught:
            DuckDBSource(path)
        assert re.search(rf"\b(line|record) {place + (2 if format_ == 'csv' else 1)} ", str(caught.value))
        assert len(caught.value.lines) == 3
        assert SECRET not in str(caught.value)
        if format_ == "json":
            with pytest.raises(InvalidArgument, match="bad_lines='drop'"):
                DuckDBSource(path, bad_lines="drop")
            return
    source = DuckDBSource(path, bad_lines="refuse" if row.fits else "drop")
    for where in (None, "0", "1", "h"):
        expected = OTHERS if where is None else {"ab"[int(where)]: 1} if where.isdigit() else {}
        assert others(counted(source, where)) == expected


@pytest.mark.parametrize("place", PLACES)
def test_every_place_of_a_file_is_looked_at(tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where blocks are so short that records begin in one and end in another."""
    monkeypatch.setattr(blocks, "_BLOCK", 5)
    for row in (HOSTILE_FILE_ROWS[0], HOSTILE_FILE_ROWS[8], next(row for row in HOSTILE_FILE_ROWS if row.fits)):
        path = write_rows(tmp_path / "e.csv", "csv", GOOD, row, place)
        if row.fits:
            assert others(counted(DuckDBSource(path))) == OTHERS
        else:
            with pytest.raises(SourceUnavailable, match=f"line {place + 2} "):
                DuckDBSource(path)
        assert others(counted(DuckDBSource(path, bad_lines="drop"))) == OTHERS
    path = write_rows(tmp_path / "e.json", "json", GOOD, None, 0)
    assert counted(DuckDBSource(path)) == OTHERS


def test_one_line_does_not_erase_those_below_it(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text('u,i\n9999,"5" pipe"\n' + "".join(f"{user},a\n" for user in range(3_000)), encoding="utf-8")
    asked: dict[str, Any] = {"item": "i", "user": "u", "k": 1, "epsilon": 5, "delta": "1e-6"}
    with pytest.raises(SourceUnavailable, match=r"line 2 breaks CSV's quoting\. .* bad_lines='drop'") as caught:
        podium.top(path, **asked)
    assert "pipe" not in str(caught.value)
    assert podium.top(path, **asked, bad_lines="drop").items == ("a",)


def test_what_is_accepted_is_read_as_it_stands(tmp_path: Path) -> None:
    """Every text of up to five signs: what CSV's rules accept, podium accepts, and DuckDB reads the same."""
    accepted: list[str] = []
    for length in range(1, 6):
        for signs in itertools.product('a",\n', repeat=length):
            text = "".join(signs)
            valid = is_valid(text)
            assert (not records_of(text.encode() + b"\n", CsvShape(ord(","), 2, lines=False)).bad.any()) == valid, text
            if valid:
                accepted.append(text)
    assert len(accepted) > 20
    path = tmp_path / "e.csv"
    path.write_bytes(("u,i\n" + "\n".join(accepted) + "\n").encode())
    source = DuckDBSource(path)
    with source.session() as session:
        query = f"SELECT u, i FROM {source.relation().table.sql('duckdb')}"
        rows = session.fetch(query)
    expected = [row for row in csv.reader(io.StringIO("\n".join(accepted) + "\n"), strict=True) if row]
    assert [tuple(cell or "" for cell in row) for row in rows] == [tuple(row) for row in expected]


def is_valid(text: str) -> bool:
    """Whether a text is CSV of two columns: Python's reader, with what it forgives refused."""
    bare = re.compile(r'(?:"(?:[^"]|"")*"|[^",\n]*)(?:[,\n](?:"(?:[^"]|"")*"|[^",\n]*))*')
    if bare.fullmatch(text) is None:
        return False
    return all(len(row) == 2 for row in csv.reader(io.StringIO(text), strict=True) if row)


def test_dropping_looks_at_each_line_alone(tmp_path: Path) -> None:
    lines = ["".join(signs) for length in range(7) for signs in itertools.product('a",', repeat=length)]
    random.Random(1).shuffle(lines)  # noqa: S311 - an order, not a secret
    path = tmp_path / "e.csv"
    path.write_text("u,i\n" + "\n".join(lines), encoding="utf-8")
    source = DuckDBSource(path, bad_lines="drop")
    with source.session() as session:
        rows = session.fetch(f"SELECT u, i FROM {source.relation().table.sql('duckdb')}")
    kept = [next(csv.reader([line], strict=True)) for line in lines if line and is_valid(line)]
    assert [tuple(cell or "" for cell in row) for row in rows] == [tuple(row) for row in kept]


def test_a_damaged_array_is_refused_or_read(tmp_path: Path) -> None:
    """Whatever happens to an array, no question about what was accepted fails."""
    path = write_rows(tmp_path / "e.json", "json", GOOD[:4], None, 0)
    whole, draw = path.read_bytes(), random.Random(7)  # noqa: S311 - damage, not a secret
    for _ in range(25):
        place = draw.randrange(len(whole))
        sign = draw.choice([b"", b",", b'"', b"\\", b"[", b"]", b"{", b"}", b"\n", b"\xff", b"x"])
        path.write_bytes(whole[:place] + sign + whole[place + draw.randrange(2) :])
        try:
            source = DuckDBSource(path)
        except PodiumError:
            continue
        counted(source)
        source.close()


@pytest.mark.parametrize("end", [b"", b",", b" , ", b", {"])
def test_an_array_that_does_not_close_is_refused(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "e.json"
    path.write_bytes(b'[{"u": "1", "i": "a"}' + end)
    with pytest.raises(SourceUnavailable, match="record 2 of its array is not one JSON object"):
        DuckDBSource(path)


@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_with_text_that_is_none_is_refused_when_opened(tmp_path: Path, dictionary: bool) -> None:
    """Not by the questions whose condition lets DuckDB read that row group, and by no others."""
    values = [b"a"] * 50 + [b"s3cret\xff"] + [b"a"] * 50
    path = write_parquet(tmp_path / "e.parquet", values, dictionary=dictionary)
    with pytest.raises(SourceUnavailable, match="column 'i' that cannot be read") as caught:
        DuckDBSource(path)
    assert SECRET not in str(caught.value)
    assert counted(DuckDBSource(write_parquet(path, [b"a"] * 101, dictionary=dictionary))) == {"a": 101}


def test_parquet_with_times_that_cannot_be_read_is_refused_when_opened(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"u": [1, 2], "at": pa.array([0, 2**62], pa.timestamp("ms"))}), path)
    with pytest.raises(SourceUnavailable, match="column 'at' that cannot be read"):
        DuckDBSource(path)


def test_frames_with_text_that_is_none_are_refused_when_opened() -> None:
    texts = invalid_text([b"a", b"s3cret\xff", b"a"])
    frames = (
        pa.table({"u": [1, 2, 3], "i": texts}),
        pa.table({"u": [1, 2, 3], "i": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), texts)}),
        pa.table({"u": [1, 2, 3], "i": pa.ListArray.from_arrays([0, 1, 2, 3], texts)}),
    )
    for frame in frames:
        with pytest.raises(SourceUnavailable, match="Text must be UTF-8") as caught:
            DuckDBSource(frame)
        assert SECRET not in str(caught.value)


def test_json_is_an_array_by_its_first_sign_and_not_by_its_rows(tmp_path: Path) -> None:
    lines, array = b'{"u": 1, "i": "a"}\n{"u": 2, "i": "a"}\n', b' \n[{"u": 1, "i": "a"},\n {"u": 2, "i": "a"}]\n'
    path = tmp_path / "e.json"
    for content in (lines, array, b"\xef\xbb\xbf" + array):
        path.write_bytes(content)
        assert counted(DuckDBSource(path)) == {"a": 2}
    path.write_bytes(array)
    (tmp_path / "f.json").write_bytes(lines)
    with pytest.raises(SourceUnavailable, match="not of one kind"):
        DuckDBSource(tmp_path / "*.json")
    (tmp_path / "g.jsonl").write_bytes(array)
    with pytest.raises(SourceUnavailable, match="line 2 is not one JSON object"):
        DuckDBSource(tmp_path / "g.jsonl")


@pytest.mark.parametrize("first", ["4711,bread", "2026-01-01,a", "+49 30 1,x", '"12","a"'])
def test_a_first_line_that_may_be_a_row_is_no_header_and_not_quoted(tmp_path: Path, first: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"{first}\n1,2\n", encoding="utf-8")
    with pytest.raises(SourceUnavailable, match="may be a row, with names without a letter") as caught:
        DuckDBSource(path)
    assert not any(part in str(caught.value) for part in ("4711", "bread", "2026", "+49", "12"))


def test_columns_may_be_called_by_numbers_if_the_owner_says_so(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("u,i,2026\n1,a,7\n", encoding="utf-8")
    source = DuckDBSource(path, types={"2026": "integer"})
    assert source.schema().names == ("u", "i", "2026")
