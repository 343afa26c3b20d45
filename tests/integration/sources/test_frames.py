"""Frames in memory: pandas, polars and Arrow columns of every type, and objects that have none."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from podium import top
from podium.errors import InvalidArgument, SourceUnavailable
from podium.present.tables import release_in
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


class Once:
    """Somebody else's table: a stream of Arrow columns that can be read only once."""

    def __init__(self, table: pa.Table) -> None:
        self.table: pa.Table | None = table
        self.read = 0

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        self.read += 1
        if self.table is None:
            raise RuntimeError("a-secret-value was read before")
        table, self.table = self.table, None
        return table.__arrow_c_stream__(requested_schema)


class OneBatch:
    """The same as one Arrow array of structs."""

    def __init__(self, table: pa.Table) -> None:
        (self.batch,) = table.to_batches()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        return self.batch.__arrow_c_array__(requested_schema)


class Lazy(Once):
    """A plan, not yet a table: nobody may work it out unasked."""


TABLE = pa.table({"u": [1, 2, 3], "i": ["a", "a", "b"]})


def relation(table: pa.Table) -> Any:
    return duckdb.from_arrow(table)


@pytest.mark.parametrize("speaker", [Once, OneBatch, relation, pa.Table.to_reader])
def test_whoever_speaks_arrow_is_a_frame(speaker: Any) -> None:
    source = open_source(speaker(TABLE))
    assert kinds(source) == {"u": Kind.INTEGER, "i": Kind.TEXT}
    assert items(source, "i") == items(source, "i") == {"a": 2, "b": 1}


@pytest.mark.parametrize("column", [pd.Series, pl.Series])
def test_a_stream_of_one_column_is_no_frame(column: Any) -> None:
    with pytest.raises(SourceUnavailable, match="could not be read as columns"):
        open_source(column([1, 2]))


def test_a_stream_is_read_once_however_much_is_asked() -> None:
    stream = Once(TABLE)
    source = open_source(stream, types={"u": "integer"})
    assert [items(source, "i"), items(source, "u", user="i")] == [{"a": 2, "b": 1}, {1: 1, 2: 1, 3: 1}]
    assert stream.read == 1


def test_a_stream_that_cannot_be_read_is_not_quoted() -> None:
    stream = Once(TABLE)
    open_source(stream)
    with pytest.raises(SourceUnavailable) as caught:
        open_source(stream)
    assert "a-secret-value" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_stream_is_checked_as_other_frames_are() -> None:
    with pytest.raises(SourceUnavailable, match="distinct name"):
        open_source(Once(pa.table([[1], [2]], names=["u", "U"])))
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    with pytest.raises(SourceUnavailable, match="UTF-8"):
        open_source(Once(pa.table({"u": [1], "i": broken})))


def test_a_lazy_frame_is_not_worked_out() -> None:
    lazy = Lazy(TABLE)
    with pytest.raises(InvalidArgument, match="must be collected first"):
        open_source(lazy)
    assert lazy.read == 0


def test_a_lazy_frame_of_polars_is_collected() -> None:
    lazy = pl.LazyFrame(TABLE).filter(pl.col("u") < 3)
    assert items(open_source(lazy), "i") == {"a": 2}
    with pytest.raises(InvalidArgument, match="table='t'"):
        open_source(lazy, table="t")


def test_a_lazy_frame_that_fails_is_not_quoted() -> None:
    lazy = pl.LazyFrame({"u": [1], "i": ["a-secret-value"]}).with_columns(pl.col("i").cast(pl.Int64))
    with pytest.raises(SourceUnavailable, match="could not be worked out") as caught:
        open_source(lazy)
    assert "a-secret-value" not in str(caught.value)
    assert caught.value.__context__ is None


def test_tables_of_a_duckdb_connection() -> None:
    with duckdb.connect() as connection:
        connection.register("seen", TABLE)
        assert items(open_source(connection), "i") == {"a": 2, "b": 1}
        connection.execute('CREATE TABLE "my.orders" AS FROM seen; CREATE SCHEMA s; CREATE VIEW s.v AS FROM seen')
        for name in ("my.orders", "s.v", "seen"):
            assert items(open_source(connection, table=name), "i") == {"a": 2, "b": 1}
        with pytest.raises(SourceUnavailable, match=r"The tables are: my.orders, s.v, seen"):
            open_source(connection)
        with pytest.raises(SourceUnavailable, match="table='orders' is not a table"):
            open_source(connection, table="orders")
        assert connection.sql("FROM seen").fetchall() == [(1, "a"), (2, "a"), (3, "b")]
    with pytest.raises(SourceUnavailable, match="It must be open"):
        open_source(connection)


def test_a_view_that_fails_is_refused_and_not_quoted() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE VIEW v AS SELECT 1 AS u, CAST(t AS INT) AS i FROM (VALUES ('a-secret-value')) x(t)")
        with pytest.raises(SourceUnavailable, match="must run without an error") as caught:
            open_source(connection)
    assert "a-secret-value" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_duckdb_file_that_is_open_in_this_process_says_so(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "shop.duckdb") as connection:
        connection.register("seen", TABLE)
        connection.execute("CREATE TABLE orders AS FROM seen")
        with pytest.raises(SourceUnavailable, match="is open in this process already"):
            open_source(tmp_path / "shop.duckdb")
        assert items(open_source(connection, table="orders"), "i") == {"a": 2, "b": 1}


def test_a_release_is_a_frame_for_others() -> None:
    frame = pl.DataFrame({"u": range(3000), "i": [f"a{n % 3}" for n in range(3000)]})
    release = top(frame, item="i", user="u", k=2, epsilon=1, delta="1e-6", counts=True)
    table = release.to_arrow()
    assert pa.table(release) == table
    assert pl.DataFrame(release).to_dicts() == table.to_pylist()
    assert pd.DataFrame.from_arrow(release).to_dict("records") == table.to_pylist()
    assert duckdb.execute("FROM release").fetchall() == [tuple(row.values()) for row in table.to_pylist()]
    assert release_in(pa.table(release)) == release
