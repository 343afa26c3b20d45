"""Tables of any schema, in files and in frames: every question is answered or refused, and no row is ever quoted."""

from __future__ import annotations

import atexit
import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.errors import PodiumError
from podium.release import Release

PRIVATE = "hidden"
"""A text that is in every table, and must not be in any error."""

NAMES = (
    "user", "USER", "item", "Item", "select", "a b", 'quo"te', "it's", "semi;colon", "--", "\u00e9", "e\u0301",
    "\U0001f600", "new\nline", "tab\t", "%", "{x}", "$1", "?", ":p", "a.b", "x" * 300, " ", "\u202e", "rowid",
    "filename", "frame", "nul\0",
)  # fmt: skip
leaves = st.sampled_from([
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.int8(), pa.int64(), pa.uint64(), pa.bool_(),
    pa.null(), pa.float16(), pa.float64(), pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal128(5, 2),
    pa.decimal256(60, 10),
    pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ns"),
    pa.timestamp("us", "UTC"), pa.timestamp("us", "Pacific/Chatham"), pa.duration("us"), pa.month_day_nano_interval(),
    pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.int64()), pa.binary(3), pa.binary_view(),
])  # fmt: skip
types: st.SearchStrategy[pa.DataType] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(lambda part: pa.list_(part, 2)),
        inner.map(lambda part: pa.struct([("a", part), ("A", part)])),
        inner.map(lambda part: pa.map_(pa.string(), part)),
    ),
    max_leaves=2,
)
schemas = st.lists(st.tuples(st.sampled_from(NAMES), types), max_size=4)


@functools.cache
def folder() -> Path:
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


def table_of(columns: list[tuple[str, pa.DataType]]) -> pa.Table:
    """Three rows: missing, and the secret wherever a text fits."""
    arrays = [_column(type_) for _, type_ in columns]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in columns])


def _column(type_: pa.DataType) -> pa.Array:
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return pa.array([PRIVATE, None, PRIVATE], type_)
    if pa.types.is_dictionary(type_) and pa.types.is_string(type_.value_type):
        return pa.array([PRIVATE, None, PRIVATE]).dictionary_encode()
    return pa.nulls(3, type_)


def answered_or_refused(ask: Callable[[], object]) -> None:
    """Anything but podium's own errors fails the test; those must not quote a row."""
    try:
        ask()
    except PodiumError as error:
        told = str(error)
    else:
        told = ""
    assert PRIVATE not in told


def ask_all(source: Any, names: list[str]) -> None:
    users = [*names, "user"][:2]
    for user in users:
        for item in [*names, "absent"][:3]:
            answered_or_refused(lambda user=user, item=item: _top(source, user, item, None))  # type: ignore[misc]
        answered_or_refused(lambda user=user: _top(source, user, "item", '"item" = \'a\' OR "a b" IS NULL'))  # type: ignore[misc]


def _top(source: Any, user: str, item: str, where: str | None) -> Release | podium.Plan:
    return podium.top(source, item=item, user=user, k=1, epsilon=1, delta="1e-6", where=where)


@settings(max_examples=15)
@given(schemas)
def test_parquet_files(columns: list[tuple[str, pa.DataType]]) -> None:
    path = folder() / "table.parquet"
    try:
        pq.write_table(table_of(columns), path)
    except (pa.ArrowException, NotImplementedError, ValueError):
        return  # Parquet has no such type
    ask_all(path, [name for name, _ in columns])


@settings(max_examples=15)
@given(schemas)
def test_frames(columns: list[tuple[str, pa.DataType]]) -> None:
    ask_all(table_of(columns), [name for name, _ in columns])


SIGNS = (",", ";", "\t", '"', "\n", "\r\n", "{", "}", "[", ":", '{"item": "', '"}', "1", "null")
SUFFIXES = (".csv", ".tsv", ".json", ".ndjson", ".csv.gz", ".parquet", ".duckdb")
texts = st.lists(st.sampled_from([*NAMES, PRIVATE, *SIGNS]), max_size=20).map("".join)
cells = st.sampled_from([PRIVATE, 1, None, [PRIVATE], {"a": 1}, 1e400])
declarations = st.sampled_from(["text", "integer", "list of text", "decimal(2)", "timestamp", "x", ""])


@settings(max_examples=15)
@given(st.sampled_from(SUFFIXES), texts | st.binary(max_size=40))
def test_any_file(suffix: str, content: str | bytes) -> None:
    path = folder() / f"any{suffix}"
    # The first line of a CSV file names the columns, and is public.
    path.write_bytes(content if isinstance(content, bytes) else f"user,item\n{content}".encode())
    ask_all(path, ["item"])


@settings(max_examples=15)
@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), cells, max_size=3)),
    st.dictionaries(st.sampled_from(NAMES), declarations),
)
def test_json_with_declared_types(rows: list[dict[str, Any]], declared: dict[str, str]) -> None:
    path = folder() / "rows.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for user, item in (("user", "item"), ("a b", "it's")):
        answered_or_refused(
            lambda user=user, item=item: podium.top(  # type: ignore[misc]
                path, item=item, user=user, k=1, epsilon=1, delta="1e-6", types=declared
            )
        )
