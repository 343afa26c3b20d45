"""Values at the edge of DuckDB's types: each is answered or missing, or its column is refused when it is opened."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium.errors import InvalidArgument
from podium.histogram import Item
from podium.sources import CountQuery, DuckDBSource

FAR = 9_300_000_000_000_000
"""Milliseconds whose microseconds have no place in 64 bits."""


def counts(source: DuckDBSource, item: str) -> dict[Item, int]:
    with closing(source), source.snapshot(CountQuery((item,), "u")) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


@pytest.mark.parametrize("digits", [(2, 2), (4, 4), (18, 18), (38, 38), (5, 2)])
@pytest.mark.parametrize("form", ["parquet", "native", "list", "declared"])
def test_decimals_without_a_digit_before_the_point(tmp_path: Path, digits: tuple[int, int], form: str) -> None:
    """The engine writes 0 as .00 there."""
    numbers = [Decimal(0), Decimal("0.25"), Decimal("-0.5"), Decimal(0)]
    values: Any = pa.array(numbers, pa.decimal128(*digits))
    types = None
    if form == "list":
        values = pa.ListArray.from_arrays(range(len(numbers) + 1), values)
    elif form == "declared":
        values, types = pa.array([0.0, 0.25, -0.5, 0.0]), {"c": f"decimal({digits[1]})"}
    made = pa.table({"u": range(len(numbers)), "c": values, "g": ["x"] * len(numbers)})
    path = tmp_path / "c.parquet"
    pq.write_table(made, path)
    if form == "native":
        path = tmp_path / "c.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE c AS SELECT * FROM made")
    found = counts(DuckDBSource(path, types=types), "c")
    # The engine's own conversion of a double to 38 digits is not exact.
    assert {round(Decimal(str(item)), 2): count for item, count in found.items()} == {
        0: 2,
        Decimal("0.25"): 1,
        Decimal("-0.5"): 1,
    }
    if form != "list":
        asked: dict[str, Any] = {"per": "c", "k": 1, "epsilon": 1000, "delta": "1e-6", "types": types}
        assert set(podium.top(path, item="g", user="u", **asked).lists) <= set(found)


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
@pytest.mark.parametrize("container", ["list", "large list", "list of three", "struct", "list of structs"])
def test_timestamps_with_a_zone_inside_lists(unit: str, container: str) -> None:
    """The scan would convert them to microseconds, and raise for those that it cannot."""
    far = {"s": FAR, "ms": FAR, "ns": 2**63 - 1}[unit]
    moments = pa.array([0, 0, far], pa.timestamp(unit, "UTC"))
    made: dict[str, Any] = {
        "list": pa.ListArray.from_arrays([0, 3], moments),
        "large list": pa.LargeListArray.from_arrays([0, 3], moments),
        "list of three": pa.FixedSizeListArray.from_arrays(moments, 3),
        "struct": pa.StructArray.from_arrays([moments.slice(2)], ["at"]),
        "list of structs": pa.ListArray.from_arrays([0, 3], pa.StructArray.from_arrays([moments], ["at"])),
    }
    table = pa.table({"u": [1], "c": made[container], "i": ["a"]})
    assert counts(DuckDBSource(table), "i") == {"a": 1}
    if container in ("list", "large list", "list of three"):
        # The last one is in no year that podium has, or stands for infinity.
        assert counts(DuckDBSource(table), "c") == {dt.datetime(1970, 1, 1): 1}  # noqa: DTZ001 - without zone


@pytest.mark.parametrize("inner", ["TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMPTZ", "TIME", "INTERVAL", "BIGNUM"])
@pytest.mark.parametrize("outer", ["STRUCT(a {})", "MAP(VARCHAR, {})", "STRUCT(a {})[]", "{}[][]", "{}[2][]"])
def test_no_text_is_made_of_what_has_none(tmp_path: Path, inner: str, outer: str) -> None:
    with duckdb.connect(tmp_path / "n.duckdb") as connection:
        connection.execute(f"CREATE TABLE n (u BIGINT, c {outer.format(inner)}, i VARCHAR)")
        connection.execute("INSERT INTO n VALUES (1, NULL, 'a')")
    kind = "list(text)" if outer.endswith("]") else "text"
    with pytest.raises(InvalidArgument, match="inside"):
        DuckDBSource(tmp_path / "n.duckdb", types={"c": kind})
    # Undeclared, the column cannot be asked about, and others can.
    assert counts(DuckDBSource(tmp_path / "n.duckdb"), "i") == {"a": 1}


@pytest.mark.parametrize("numbers", [(5, 2**70), (5, -(2**80)), (5,)])
def test_integers_of_any_size(tmp_path: Path, numbers: Sequence[int]) -> None:
    with duckdb.connect(tmp_path / "b.duckdb") as connection:
        connection.execute("CREATE TABLE b (u BIGINT, c BIGNUM)")
        for user, number in enumerate(numbers):
            connection.execute(f"INSERT INTO b VALUES ({user}, '{number}'::BIGNUM)")
    assert counts(DuckDBSource(tmp_path / "b.duckdb", types={"c": "integer"}), "c") == {5: 1}
