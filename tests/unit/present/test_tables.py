"""Tables for other programs: types survive, names are free, the receipt travels along."""

from __future__ import annotations

import csv
import datetime as dt
import io
import pickle
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.pictures import HOSTILE, made

from podium import Histogram, Release
from podium.errors import InvalidArgument, MissingLibrary
from podium.errors.installing import install_command
from podium.estimates import selected_items
from podium.mechanisms import CanonicalTopK, NoisyTopK, SparseVector
from podium.present.tables import release_in
from podium.present.text.timeline import lists_csv

NOON = dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001

KINDS: dict[str, tuple[tuple[Any, ...], pa.DataType]] = {
    "text": (("a", "Ünïcode, 日本語", "مقال", ""), pa.string()),
    "whole numbers": ((3, -1, 2**62), pa.int64()),
    "large numbers": ((2**63, 1), pa.uint64()),
    "numpy": ((np.int64(3), np.int64(4)), pa.int64()),
    "decimals": ((Decimal("1.50"), Decimal("-22.3")), pa.decimal128(4, 2)),
    "dates": ((dt.date(2024, 2, 29), dt.date(1, 1, 1)), pa.date32()),
    "moments": ((dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(1999, 1, 1)), pa.timestamp("us")),  # noqa: DTZ001
    "moments in UTC": ((dt.datetime(2024, 2, 29, tzinfo=dt.UTC),), pa.timestamp("us", "UTC")),
    "times": ((dt.time(1, 2, 3), dt.time(0)), pa.time64("us")),
    "booleans": ((True, False), pa.bool_()),
    "bytes": ((b"\x00\xff", b""), pa.binary()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_items_keep_their_type(kind: str) -> None:
    items, arrow_type = KINDS[kind]
    release = made(items)
    table = release.to_arrow()
    assert table.column_names == ["rank", "item"]
    assert table["item"].type == arrow_type
    assert table["item"].to_pylist() == list(items)
    assert table["rank"].to_pylist() == list(range(1, len(items) + 1))
    assert release.to_polars()["item"].to_list() == list(items)
    frame = release.to_pandas()
    assert list(frame.columns) == ["rank", "item"]
    assert all(a == b for a, b in zip(frame["item"], items, strict=True))


@pytest.mark.parametrize(
    ("items", "texts"),
    [
        ((1, "a"), ["1", "a"]),
        ((1, True), ["1", "True"]),
        ((2**70, 1), [str(2**70), "1"]),
        ((Decimal("1E+90"),), ["1E+90"]),
        ((dt.time(1, tzinfo=dt.UTC),), ["01:00:00+00:00"]),
        ((NOON, NOON.replace(tzinfo=dt.UTC)), ["2020-01-01 12:00:00", "2020-01-01 12:00:00+00:00"]),
        (("half \ud800",), ["half \\ud800"]),
        ((("a",), ("b", "c")), ["a", "b, c"]),
    ],
)  # fmt: skip
def test_what_arrow_does_not_have_becomes_text(items: tuple[Any, ...], texts: list[str]) -> None:
    assert made(items).to_arrow()["item"].to_pylist() == texts


def test_several_item_columns() -> None:
    release = made((("DE", 1, dt.date(2020, 1, 1)), ("FR", 2, dt.date(2021, 1, 1))))
    assert release.to_arrow().column_names == ["rank", "item_1", "item_2", "item_3"]
    frame = release.to_polars(item=("country", "page", "day"))
    assert frame.columns == ["rank", "country", "page", "day"]
    assert frame.dtypes == [pl.Int64, pl.String, pl.Int64, pl.Date]
    assert frame.row(1) == (2, "FR", 2, dt.date(2021, 1, 1))


def test_counts_come_with_their_intervals() -> None:
    table = made(("a", "b"), counts=True).to_arrow(item="article")
    assert table.column_names == ["rank", "article", "count", "count_low", "count_high"]
    assert table.to_pylist() == [
        {"rank": 1, "article": "a", "count": 1000, "count_low": 960, "count_high": 1040},
        {"rank": 2, "article": "b", "count": 990, "count_low": 950, "count_high": 1030},
    ]
    assert table.schema.metadata[b"podium.confidence"] == b"0.95"
    unknown = made(("a",), values=(Fraction(5, 2),), value_kind="counts").to_arrow()
    assert unknown.to_pylist() == [{"rank": 1, "item": "a", "count": 2.5}]


def test_gaps_sets_and_thresholds() -> None:
    counts = Histogram({"a": 900, "b": 600, "c": 300})
    gaps = NoisyTopK(2, 5).release(counts).to_arrow()
    assert gaps.column_names == ["rank", "item", "gap"]
    assert gaps["gap"].type == pa.float64()
    assert made(("a", "b"), values=(Fraction(1),), value_kind="gaps").to_arrow()["gap"].to_pylist() == [1, None]
    assert CanonicalTopK(2, 9).release(counts).to_pandas().columns.tolist() == ["item"]
    found = SparseVector(400, 2, 20).release(counts)
    assert found.to_arrow()["item"].to_pylist() == list(selected_items(found))


def test_no_item_at_all_is_a_table_without_rows() -> None:
    release = made((), k=3, values=(), value_kind="counts")
    table = release.to_arrow(item=("country", "page"))
    assert (table.num_rows, table.column_names) == (0, ["rank", "country", "page", "count"])
    assert release.to_pandas().empty
    assert release.to_polars().shape == (0, 3)
    assert release.to_csv() == '"rank","item","count"\n'


@pytest.mark.parametrize(
    ("items", "item", "message"),
    [
        (("a",), ("x", "y"), "item=('x', 'y') is not valid. Allowed: 1 distinct name, one per item column."),
        ((("a", "b"),), "x", "item='x' is not valid. Allowed: 2 distinct names, one per item column."),
        ((("a", "b"),), ("x", "x"), "item=('x', 'x') is not valid. Allowed: 2 distinct names, one per item column."),
    ],
)
def test_names_of_columns_are_checked(items: tuple[Any, ...], item: Any, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        made(items, counts=True).to_arrow(item=item)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("item", "columns"),
    [
        ("rank", ["rank", "item_rank", "count"]),
        ("count", ["rank", "item_count", "count"]),
        (("rank", "item_rank"), ["rank", "item_item_rank", "item_rank", "count"]),
        (("count_low", "gap"), ["rank", "count_low", "gap", "count"]),
    ],
)
def test_an_item_called_like_a_column_of_the_release_gets_another_name(item: Any, columns: list[str]) -> None:
    """The answer is paid for by then: a table that is refused because of a name would be lost."""
    items = (("a", "b"),) if isinstance(item, tuple) else ("a",)
    table = made(items, values=(1,), value_kind="counts").to_arrow(item=item)
    assert table.column_names == columns
    assert table.to_pylist()[0]["rank"] == 1


@given(st.lists(st.text(st.characters(codec="utf-8")), unique=True, max_size=5))
def test_text_survives_csv(names: list[str]) -> None:
    written = made(tuple(names), k=5).to_csv(spreadsheet_safe=False)
    assert written is not None
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert rows[0] == ["rank", "item"]
    assert [row[1] for row in rows[1:]] == names


FORMULAS = {
    "=cmd|'/C calc'!A0": "'=cmd|'/C calc'!A0",
    "@SUM(A1:A9)": "'@SUM(A1:A9)",
    "+1": "'+1",
    "-1": "'-1",
    "\uff1d1+1": "'\uff1d1+1",
    "'=1": "''=1",
    "\t=1": "'\\t=1'",
    "\r=1": "'\\r=1'",
    "\x1b[2J": "'\\x1b[2J'",
    "\u202eevil": "'\\u202eevil'",
    "'n Sync": "'n Sync",
    "a=b-c": "a=b-c",
    "é 👩\u200d👧": "é 👩\u200d👧",
}
"""Items, and what a CSV for people says."""


def test_no_cell_of_a_csv_is_a_formula_or_moves_the_cursor(tmp_path: Path) -> None:
    release = made(tuple(FORMULAS), k=20)
    written = release.to_csv(item="=item")
    assert written is not None
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert rows[0] == ["rank", "'=item"]
    assert [row[1] for row in rows[1:]] == list(FORMULAS.values())
    assert len(set(FORMULAS.values())) == len(FORMULAS)
    release.to_csv(tmp_path / "a.csv", item="=item")
    assert (tmp_path / "a.csv").read_bytes().decode("utf-8") == written
    raw = release.to_csv(item="=item", spreadsheet_safe=False)
    assert raw is not None
    assert [row[1] for row in csv.reader(io.StringIO(raw, newline=""))] == ["=item", *FORMULAS]


def test_numbers_in_a_csv_keep_their_sign() -> None:
    assert made((-5, 7), values=(-3, 2), value_kind="counts").to_csv() == '"rank","item","count"\n1,-5,-3\n2,7,2\n'
    assert made((Decimal("-1.50"),)).to_csv() == '"rank","item"\n1,"-1.50"\n'
    texts = made(("=a",))
    assert lists_csv({"2026-01-01": texts}) == "period,rank,item\n2026-01-01,1,'=a\n"


def test_csv_and_parquet_files(tmp_path: Path) -> None:
    release = made(HOSTILE, k=20, counts=True)
    assert release.to_csv(tmp_path / "a.csv", item="article", spreadsheet_safe=False) is None
    assert (tmp_path / "a.csv").read_bytes().decode("utf-8") == release.to_csv(item="article", spreadsheet_safe=False)
    assert pd.read_csv(tmp_path / "a.csv", keep_default_na=False)["article"].tolist() == list(HOSTILE)
    release.to_parquet(tmp_path / "a.parquet", item="article")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.equals(release.to_arrow(item="article"))
    assert release_in(table) == release
    assert pl.read_parquet(tmp_path / "a.parquet")["count_low"].to_list()[0] == 960
    dated = made((dt.date(2024, 1, 2), dt.date(2024, 1, 3))).to_csv()
    assert dated == '"rank","item"\n1,"2024-01-02"\n2,"2024-01-03"\n'


def test_a_table_of_somebody_else_carries_no_release() -> None:
    for table in (pa.table({"a": [1]}), pd.DataFrame({"a": [1]})):
        with pytest.raises(InvalidArgument, match=r"an Arrow table that Release\.to_arrow made"):
            release_in(table)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_says_what_to_install(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    release: Release = made(("a",))
    with pytest.raises(MissingLibrary) as caught:
        getattr(release, f"to_{library}")()
    assert str(caught.value) == (
        f"library='{library}' is not installed. Release.to_{library}() needs it. Run: {install_command(library)}"
    )
    assert isinstance(caught.value, ImportError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301
