"""Frames in memory: pandas, polars and Arrow columns of every type, and objects that have none."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from podium import top
from podium.errors import InvalidArgument, SourceUnavailable
from podium.query.schema import Kind
from podium.sources import CountQuery, DuckDBSource, open_source

pd = pytest.importorskip("pandas")


def items(source: Any, *columns: str, user: str = "u") -> dict[Any, int]:
    with source.snapshot(CountQuery(columns, user)) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


def kinds(source: Any) -> dict[str, Kind]:
    return {column.name: column.kind for column in source.schema().columns}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_one_shot_form_takes_frames(library: Any) -> None:
    frame = library({"user_id": list(range(3000)), "article": [f"a{n % 3}" for n in range(3000)]})
    release = top(frame, item="article", user="user_id", k=2, epsilon=1, delta="1e-6")
    assert set(release.items) <= {"a0", "a1", "a2"}
    assert len(release.items) == 2


def test_pandas_columns() -> None:
    moments = [pd.Timestamp("2024-01-01T00:00:00.000001"), None]
    frame = pd.DataFrame(
        {
            "u": [1, 2],
            "text": ["a", None],
            "pyarrow": pd.Series(["a", None], dtype="string[pyarrow]"),
            "category": pd.Categorical(["a", None]),
            "nullable": pd.array([2**63 - 1, None], dtype="Int64"),
            "flag": pd.array([True, None], dtype="boolean"),
            "ns": pd.Series(moments, dtype="datetime64[ns]"),
            "zone": pd.Series(moments).dt.tz_localize("Asia/Tokyo"),
            "zone_ns": pd.Series(moments, dtype="datetime64[ns]").dt.tz_localize("Asia/Tokyo"),
            "float": [1.0, None],
            "span": pd.to_timedelta([1, 2], unit="D"),
        }
    )
    source = open_source(frame)
    assert kinds(source) == {
        "u": Kind.INTEGER, "text": Kind.TEXT, "pyarrow": Kind.TEXT, "category": Kind.TEXT, "nullable": Kind.INTEGER,
        "flag": Kind.BOOLEAN, "ns": Kind.TIMESTAMP, "zone": Kind.TIMESTAMP, "zone_ns": Kind.TIMESTAMP,
        "float": Kind.FLOAT, "span": Kind.OTHER,
    }  # fmt: skip
    moment = moments[0].to_pydatetime()
    for column, value in {
        "text": "a", "pyarrow": "a", "category": "a", "nullable": 2**63 - 1, "flag": True, "ns": moment,
        "zone": moment - dt.timedelta(hours=9),
        "zone_ns": moment - dt.timedelta(hours=9),
    }.items():  # fmt: skip
        assert items(source, column) == {value: 1}


def test_objects_are_text_and_no_value_decides_about_others() -> None:
    odd = pd.Series(
        ["a", 1, True, Decimal("1.50"), dt.date(2024, 1, 1), None, 2.5, object(), ["l"], "\ud83d"], dtype=object
    )
    frame = pd.DataFrame({"u": range(10), "o": odd})
    assert items(open_source(frame), "o") == dict.fromkeys(["a", "1", "true", "1.50", "2024-01-01"], 1)
    assert items(open_source(frame, types={"o": "integer"}), "o") == {1: 1}
    assert items(open_source(frame, types={"o": "list(text)"}), "o") == {"l": 1}


def test_integers_that_pandas_made_floats() -> None:
    frame = pd.DataFrame({"u": [1.0, 2.0, None, 2.5, float("inf"), 1e300], "i": ["a"] * 6})
    with pytest.raises(InvalidArgument, match="declare it as an integer"):
        open_source(frame).check(CountQuery(("i",), "u"))
    assert items(open_source(frame, types={"u": "integer"}), "i") == {"a": 2}


def test_polars_columns() -> None:
    frame = pl.DataFrame(
        {
            "u": [1, 2],
            "category": pl.Series(["a", None], dtype=pl.Categorical),
            "enum": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
            "small": pl.Series([1, None], dtype=pl.UInt8),
            "decimal": pl.Series([Decimal("1.50"), None], dtype=pl.Decimal(10, 2)),
            "ms": pl.Series([dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None], dtype=pl.Datetime("ms", "UTC")),
            "list": [["a", "b"], None],
            "time": [dt.time(1), None],
            "object": pl.Series([object(), "a"], dtype=pl.Object),
        }
    )
    source = open_source(frame)
    new_year = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
    assert items(source, "category") == items(source, "enum") == {"a": 1}
    assert items(source, "small") == {1: 1}
    assert items(source, "decimal") == {Decimal("1.5"): 1}
    assert items(source, "ms") == {new_year: 1}
    assert items(source, "list") == {"a": 1, "b": 1}
    assert items(source, "object") == {"a": 1}
    assert kinds(source)["time"] is Kind.OTHER


def test_arrow_columns_that_the_engine_lacks_are_left_out() -> None:
    wide = pa.array([Decimal(1)], pa.decimal256(50, 2))
    table = pa.table({"u": [1], "wide": wide, "i": pa.array(["a"]).dictionary_encode(), "none": pa.nulls(1)})
    source = open_source(table.to_batches()[0])
    assert set(kinds(source)) == {"u", "i", "none"}
    assert items(source, "i") == {"a": 1}
    with pytest.raises(InvalidArgument, match="none"):
        source.check(CountQuery(("none",), "u"))


def test_frames_without_distinct_names_are_refused() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(SourceUnavailable, match="distinct name"):
        DuckDBSource(frame)


def test_a_frame_that_cannot_be_read_is_not_quoted() -> None:
    frame = pd.DataFrame({"u": pd.Categorical(["a-secret-value", 3])})
    with pytest.raises(SourceUnavailable) as caught:
        DuckDBSource(frame)
    assert "a-secret-value" not in str(caught.value)
    assert caught.value.__context__ is None
