"""Files: nothing is guessed from rows, and no row can make an error."""

from __future__ import annotations

import datetime as dt
import gzip
import math
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.errors import InvalidArgument, SourceUnavailable, UnknownColumn
from podium.query.predicate import Compare, Missing, Operator
from podium.query.schema import Kind
from podium.sources import CountQuery, DuckDBSource, PairValue, open_source


def items(source: DuckDBSource, *columns: str, **query: Any) -> dict[Any, int]:
    with source.snapshot(CountQuery(columns, **{"user": "u", **query})) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


def csv(tmp_path: Path, text: str | bytes, name: str = "e.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_csv_is_text_unless_declared(tmp_path: Path) -> None:
    path = csv(tmp_path, "u,n,d\n1,1,2024-01-01\n2,01,2024-01-01\n3,1.0,x\n")
    source = DuckDBSource(path)
    assert {column.kind for column in source.schema().columns} == {Kind.TEXT}
    assert items(source, "n") == {"1": 1, "01": 1, "1.0": 1}
    declared = DuckDBSource(path, types={"n": "integer", "d": "date"})
    assert items(declared, "n") == {1: 2}
    assert items(declared, "d") == {dt.date(2024, 1, 1): 2}


MIDNIGHT = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        ("integer", {"7": 7, "+8": 8, "-7": -7, "9223372036854775807": 2**63 - 1}, ["1.6", "9223372036854775808", "x"]),
        ("decimal(2)", {"1.50": Decimal("1.5"), "-0.01": Decimal("-0.01")}, ["1,5", "1e40", "nan", "inf"]),
        ("boolean", {"true": True, "false": False}, ["maybe", "2024"]),
        ("date", {"2024-02-29": dt.date(2024, 2, 29)}, ["2023-02-29", "infinity", "0044-03-15 (BC)", "10000-01-01"]),
        (
            "timestamp",
            {"2024-01-01 00:00:00.000001": MIDNIGHT.replace(microsecond=1), "2024-01-01T01:00:00+01:00": MIDNIGHT},
            ["infinity", "-infinity", "yesterday", "290000-01-01"],
        ),
        ("list(integer)", {"[7]": 7, "[8, x]": 8}, ["[x]", "7", "[]", "[1.5]"]),
    ],
)
def test_what_does_not_parse_is_missing(tmp_path: Path, type_: str, good: dict[str, Any], bad: list[str]) -> None:
    lines = [f'{place},"{text}"' for place, text in enumerate([*good, *bad])]
    source = DuckDBSource(csv(tmp_path, "\n".join(["u,v", *lines])), types={"v": type_})
    expected = dict.fromkeys(good.values(), 1)
    assert items(source, "v") == expected
    assert items(source, "v", max_items_per_user=1, salt="0" * 32) == expected


def test_lines_that_are_not_records_refuse_the_file_or_are_dropped(tmp_path: Path) -> None:
    path = csv(tmp_path, b'u,i\n1,a\n2,"q ""x"", y"\n3,\xff\xfe\n4\n5,"",\n6,\n7,""\n\n8,"open\n')
    with pytest.raises(SourceUnavailable, match="line 4 has bytes that are not utf-8"):
        DuckDBSource(path)
    assert items(DuckDBSource(path, bad_lines="drop"), "i") == {"a": 1, 'q "x", y': 1, "": 1}


@pytest.mark.parametrize(
    ("header", "line"), [("u;i", "1;a,b"), ("u\ti", "1\ta,b"), ("u|i", "1|a,b"), ("\ufeffu,i", '1,"a,b"')]
)
def test_the_header_says_the_delimiter(tmp_path: Path, header: str, line: str) -> None:
    assert items(DuckDBSource(csv(tmp_path, f"{header}\n{line}\n")), "i") == {"a,b": 1}


def test_csv_files_must_share_a_good_header(tmp_path: Path) -> None:
    csv(tmp_path, "u,i\n1,a\n", "a.csv")
    csv(tmp_path, "u,i\n2,a\n", "b.csv")
    assert items(DuckDBSource(tmp_path / "*.csv"), "i") == {"a": 2}
    csv(tmp_path, "u,j\n2,a\n", "c.csv")
    with pytest.raises(SourceUnavailable, match="different headers"):
        DuckDBSource(tmp_path / "*.csv")
    for header in ("u,u", "u,", "", "u,U"):
        with pytest.raises(SourceUnavailable, match="does not name every column once"):
            DuckDBSource(csv(tmp_path, f"{header}\n1,2\n", "d.csv"))


def test_compressed_csv(tmp_path: Path) -> None:
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(b"u,i\n1,a\n"))
    assert items(DuckDBSource(path), "i") == {"a": 1}
    path.write_bytes(b"not gzip")
    with pytest.raises(SourceUnavailable, match="could not be opened as CSV"):
        DuckDBSource(path)


JSON = (
    '{"u": 1, "i": "a", "t": ["x", 2, null]}\n{"u": "2", "i": null}\nnot json\n[1]\n{"u": 3, "i": {"k": 1}, "u": 4}\n'
)


def test_json_columns_are_text_whatever_the_rows_say(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(JSON, encoding="utf-8")
    with pytest.raises(SourceUnavailable, match="line 3 is not one JSON object"):
        DuckDBSource(path)
    source = DuckDBSource(path, bad_lines="drop")
    assert source.schema().column("anything").kind is Kind.TEXT
    assert items(source, "i") == {"a": 1, '{"k":1}': 1}
    assert items(source, "i", where=Missing("t")) == {'{"k":1}': 1}
    assert items(source, "t") == {'["x",2,null]': 1}
    assert items(source, "nothing of the kind") == {}


def test_declared_json_columns_leave_the_others_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(JSON, encoding="utf-8")
    source = DuckDBSource(path, types={"t": "list(text)"}, bad_lines="drop")
    assert items(source, "t") == {"x": 1, "2": 1}
    assert items(source, "i", where=Missing("t")) == {'{"k":1}': 1}
    assert items(source, "i", "t") == {("a", "x"): 1, ("a", "2"): 1}
    source.check(CountQuery(("i",), "u"))


def test_a_json_array(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text('[{"u": 1, "i": "a"}, {"u": 2, "i": "a"}, {"i": "b"}]', encoding="utf-8")
    assert items(DuckDBSource(path), "i") == {"a": 2}


@pytest.fixture
def partitioned(tmp_path: Path) -> Path:
    for day, users in (("01", [1, 2]), ("2", [2, 3]), ("__HIVE_DEFAULT_PARTITION__", [9])):
        folder = tmp_path / "views" / f"day={day}" / "country=DE"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"u": users, "i": ["a"] * len(users)}), folder / "part-0.parquet")
    return tmp_path / "views"


def test_partition_folders_are_columns_of_text(partitioned: Path) -> None:
    for location in (partitioned, partitioned / "**" / "*.parquet", f"{partitioned}/*/*/*.parquet"):
        source = open_source(location)
        assert isinstance(source, DuckDBSource)
        assert source.schema().column("day").kind is Kind.TEXT
        assert items(source, "day") == {"01": 2, "2": 2}
        assert items(source, "i", where=Compare("day", Operator.EQUAL, "01")) == {"a": 2}
    declared = DuckDBSource(partitioned, types={"day": "integer"})
    assert items(declared, "day", where=Compare("country", Operator.EQUAL, "DE")) == {1: 2, 2: 2}


def test_files_added_later_are_not_read(partitioned: Path) -> None:
    """What was checked is what is read."""
    source = DuckDBSource(partitioned)
    before = items(source, "i")
    pq.write_table(pa.table({"u": [77], "i": ["new"]}), partitioned / "day=2" / "country=DE" / "part-1.parquet")
    assert items(source, "i") == before
    assert "new" in items(DuckDBSource(partitioned), "i")


def written(path: Path) -> Path:
    """A file with the columns u and i, in the format that its name says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"u": [1], "i": ["a"]}), path)
    else:
        path.write_text("u,i\n1,a\n" if path.suffix == ".csv" else '{"u": 1, "i": "a"}\n', encoding="utf-8")
    return path


def test_a_change_of_the_same_size_is_refused_too(tmp_path: Path) -> None:
    path = written(tmp_path / "e.csv")
    source = DuckDBSource(path)
    path.write_text("u,i\n1,b\n", encoding="utf-8")
    # As if a second had passed, on file systems with coarse times.
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))
    with pytest.raises(SourceUnavailable, match="changed or went away after it was opened and checked"):
        source.check(CountQuery(("i",), "u"))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json", "jsonl"])
def test_what_went_away_since_opening_is_found_before_the_read(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"e.{suffix}")
    source = DuckDBSource(path)
    source.check(CountQuery(("i",), "u"))
    path.rename(path.with_name("elsewhere"))
    with pytest.raises(SourceUnavailable):
        source.check(CountQuery(("i",), "u"))
    path.with_name("elsewhere").rename(path)
    assert items(source, "i") == {"a": 1}


def test_what_changed_since_opening_is_refused_before_the_read(tmp_path: Path) -> None:
    for path in (written(tmp_path / "e.parquet"), written(tmp_path / "e.csv"), written(tmp_path / "e.jsonl")):
        source = DuckDBSource(path)
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        with pytest.raises(SourceUnavailable, match="changed or went away after it was opened and checked"):
            source.check(CountQuery(("i",), "u"))
        with pytest.raises(SourceUnavailable, match="changed"), source.snapshot(CountQuery(("i",), "u")):
            pass
        # The same bytes in another file: what was checked is gone.
        path.unlink()
        path.with_name("new").write_bytes(content)
        path.with_name("new").rename(path)
        with pytest.raises(SourceUnavailable, match="changed"):
            source.check(CountQuery(("i",), "u"))
        assert items(DuckDBSource(path), "i") == {"a": 1}


@pytest.mark.parametrize("columns", [("",), ("i", "I"), ("U",)])
def test_names_that_json_columns_cannot_have_are_refused_before_the_read(
    tmp_path: Path, columns: tuple[str, ...]
) -> None:
    source = DuckDBSource(written(tmp_path / "e.jsonl"))
    with pytest.raises(SourceUnavailable, match="names that are not empty and differ in more than capital") as caught:
        source.check(CountQuery(columns, "u"))
    assert caught.value.__context__ is None


def test_columns_that_some_files_lack_are_missing_there(tmp_path: Path) -> None:
    pq.write_table(pa.table({"u": [1], "i": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"i": ["a", "b"], "u": [2, 3], "j": ["x", "y"]}), tmp_path / "2.parquet")
    source = DuckDBSource(tmp_path)
    assert items(source, "i") == {"a": 2, "b": 1}
    assert items(source, "j") == {"x": 1, "y": 1}


def test_folders_of_different_names_are_refused(partitioned: Path) -> None:
    pq.write_table(pa.table({"u": [1], "i": ["a"]}), partitioned / "stray.parquet")
    with pytest.raises(SourceUnavailable, match="folders of the same names"):
        DuckDBSource(partitioned)


@pytest.mark.parametrize("name", ["it[1]*?.parquet", "q'uote\".parquet", "back\\slash.parquet", "ü ñ.parquet"])
def test_names_of_files_are_names(tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({"u": [1], "i": ["a"]}), tmp_path / name)
    assert items(DuckDBSource(tmp_path / name), "i") == {"a": 1}


def test_declarations_must_fit_the_table(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"u": [1], "t": [["a"]], "n": [1]}), path)
    with pytest.raises(UnknownColumn, match="types='v'"):
        DuckDBSource(path, types={"v": "text"})
    for types in ({"t": "text"}, {"n": "list(integer)"}):
        with pytest.raises(InvalidArgument, match="types"):
            DuckDBSource(path, types=types)
    with pytest.raises(InvalidArgument, match="table"):
        DuckDBSource(path, table="t")


def test_types_beside_the_kinds(tmp_path: Path) -> None:
    """Enumerations, identifiers, time zones, other precisions and fixed lists; infinity and BC count as missing."""
    path = tmp_path / "d.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        connection.execute(
            "CREATE TABLE t AS SELECT u, CAST('a' AS ENUM('a', 'b')) AS e, "
            "CAST('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' AS UUID) AS id, "
            "TIMESTAMPTZ '2024-01-01 00:00:00+02' AS z, TIMESTAMP_NS '2024-01-01 00:00:00.000001' AS ns, "
            "TIMESTAMP_S '2024-01-01' AS s, [1, 2]::INTEGER[2] AS fixed, 18446744073709551615::UBIGINT AS big, "
            "[TIMESTAMPTZ '2024-01-01 00:00:00+02'] AS zs, 1::HUGEINT AS huge, 'x'::BLOB AS blob, "
            "CASE u WHEN 1 THEN DATE 'infinity' WHEN 2 THEN DATE '0044-03-15 (BC)' ELSE DATE '2024-01-01' END AS d, "
            "CASE u WHEN 1 THEN TIMESTAMP '-infinity' ELSE TIMESTAMP '2024-01-01' END AS ts FROM range(3) AS r(u)"
        )
    source = DuckDBSource(path)
    new_year = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
    assert items(source, "e") == {"a": 3}
    assert items(source, "id") == {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11": 3}
    assert items(source, "z") == items(source, "zs") == {new_year - dt.timedelta(hours=2): 3}
    assert items(source, "ns") == {new_year + dt.timedelta(microseconds=1): 3}
    assert items(source, "s") == {new_year: 3}
    assert items(source, "fixed") == {1: 3, 2: 3}
    assert items(source, "big") == {2**64 - 1: 3}
    assert items(source, "big", where=Compare("big", Operator.EQUAL, 2**64 - 1)) == {2**64 - 1: 3}
    for bound in ({}, {"max_items_per_user": 1, "salt": "0" * 32}):
        assert items(source, "d", **bound) == {dt.date(2024, 1, 1): 1}
        assert items(source, "ts", **bound) == {new_year: 2}
        assert items(source, "e", user="d", **bound) == {"a": 1}
    assert items(source, "u", where=Compare("z", Operator.LESS, new_year)) == {0: 1, 1: 1, 2: 1}
    for column in ("huge", "blob"):
        with pytest.raises(InvalidArgument, match=column):
            source.check(CountQuery((column,), "u"))


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("declared", [None, "timestamp", "date", "text"])
def test_timestamps_that_cannot_be_converted_are_missing(unit: str, declared: str | None) -> None:
    """DuckDB raises where it converts them, and an error would tell that there is such a row."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6}[unit]
    last = 253_402_300_800 * per_second - 1
    ticks = [0, last, last + 1, -62_135_596_800 * per_second - 1, 2**63 - 1, -(2**63) + 2, None]
    moments = pa.array(ticks, pa.timestamp(unit))
    lists = pa.ListArray.from_arrays(range(len(ticks) + 1), moments)
    zoned = moments.cast(pa.timestamp(unit, "Asia/Tokyo"))
    frame = pa.table({"u": range(len(ticks)), "at": moments, "ats": lists, "zoned": zoned})
    types = None if declared is None else {"at": declared, "ats": f"list({declared})", "zoned": declared}
    source = DuckDBSource(frame, types=types)
    for column in ("at", "ats", "zoned"):
        for bound in ({}, {"max_items_per_user": 1, "salt": "0" * 32}):
            found = items(source, column, **bound)
            assert list(found.values()) == [1, 1]
            assert {str(item)[:10] for item in found} == {"1970-01-01", "9999-12-31"}


@pytest.mark.parametrize("others", [(1.5, 2.5), (100.0, 200.0), (0.25, 0.5), (-3.0, 7.0), (1.0, math.inf), ()])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_what_is_not_a_number_counts_nothing_whatever_other_rows_are(
    tmp_path: Path, kind: pa.DataType, others: tuple[float, ...]
) -> None:
    """The least and the largest value in a Parquet file leave it out, and the engine trusts them."""
    numbers = [*others, math.nan, math.nan]
    columns = {"u": list(range(len(numbers))), "i": ["a"] * len(others) + ["a", "b"], "v": pa.array(numbers, kind)}
    pq.write_table(pa.table(columns), tmp_path / "e.parquet")
    value = PairValue("v", Fraction(1), clip=64)
    added = sum(math.floor(min(64, number)) for number in others if number >= 1)
    assert items(DuckDBSource(tmp_path / "e.parquet"), "i", value=value) == ({"a": added} if added else {})


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("others", [(1.5,), (1e30, math.inf, -math.inf), ()])
def test_floats_that_are_equal_are_one_user_as_text(
    tmp_path: Path, kind: pa.DataType, others: tuple[float, ...]
) -> None:
    """Zero has two signs and NaN many forms, whose texts differ."""
    users = [0.0, -0.0, math.nan, -math.nan, *others]
    pq.write_table(pa.table({"u": pa.array(users, kind), "i": ["a"] * len(users)}), tmp_path / "e.parquet")
    assert items(DuckDBSource(tmp_path / "e.parquet", types={"u": "text"}), "i") == {"a": 1 + len(others)}


def test_wide_decimals_are_compared_without_overflow(tmp_path: Path) -> None:
    """An engine brings both sides to one scale, and 10^36 has no room for six more digits."""
    path = tmp_path / "d.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT u, CAST(u * 10.0::DECIMAL(38, 0) ** 35 AS DECIMAL(38, 2)) AS a FROM range(4) r(u)"
        )
    source = DuckDBSource(path)
    for constant, expected in (("0.000001", {1, 2, 3}), ("1e36", set()), ("-1e60", {0, 1, 2, 3})):
        found = items(source, "u", where=Compare("a", Operator.MORE, Decimal(constant)))
        assert set(found) == expected
