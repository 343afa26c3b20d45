"""From what a caller has to a source, or to an error that says what to do."""

from __future__ import annotations

import io
import sqlite3
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest

from podium.errors import InvalidArgument, SourceUnavailable
from podium.errors.installing import install_command
from podium.sources import DuckDBSource, Source, open_source


def test_a_source_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("u,i\n1,a\n", encoding="utf-8")
    opened = open_source(path)
    assert isinstance(opened, DuckDBSource)
    assert isinstance(opened, Source)
    assert open_source(opened) is opened
    with pytest.raises(InvalidArgument, match="table"):
        open_source(opened, table="t")
    opened.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.parquet", "is not a file"),
        ("*.csv", "is not a file"),
        ("folder", "is a folder without Parquet files"),
        ("notes.txt", "has no known format"),
        ("noextension", "has no known format"),
        ("mixed/*", "matches files that are not one table"),
    ],
)
def test_what_is_not_there(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "mixed").mkdir()
    for file in ("notes.txt", "noextension", "folder/a.csv", "mixed/a.csv", "mixed/b.json"):
        (tmp_path / file).write_text("x\n", encoding="utf-8")
    with pytest.raises(SourceUnavailable, match=message):
        open_source(str(tmp_path / name))


@pytest.mark.parametrize("scheme", ["s3", "https", "GS"])
def test_remote_files_are_refused_without_their_secrets(scheme: str) -> None:
    with pytest.raises(SourceUnavailable, match="is not on this machine") as caught:
        open_source(f"{scheme}://user:hunter2@bucket/a.parquet?signature=hunter2")
    assert "hunter2" not in str(caught.value)


def test_other_objects_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="source='int'"):
        open_source(3)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ([{"a": 1}], "table first"),
        (pyarrow.dataset.dataset(pa.table({"a": [1]})), "to_table"),
        (io.StringIO("a"), "the path of a file"),
        (sqlite3.connect(":memory:"), "the path of the SQLite file"),
    ],
)
def test_what_is_nearly_a_table_leads_on(source: object, hint: str) -> None:
    with pytest.raises(InvalidArgument, match=hint):
        open_source(source)


def test_types_are_for_files() -> None:
    with pytest.raises(InvalidArgument, match="types"):
        open_source("postgresql://localhost/db", table="t", types={"a": "text"})


@pytest.mark.parametrize(("url", "library", "extra"), [("postgresql://localhost/db", "psycopg", "postgresql")])
def test_a_missing_library_names_the_extra(url: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("podium.sources.postgresql.source")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SourceUnavailable) as caught:
        open_source(url, table="t")
    assert str(caught.value) == (
        f"This source needs {library!r}, which is not installed. Run: {install_command(extra)}"
    )


def test_only_the_engine_that_is_needed_is_imported() -> None:
    listing = "import sys, podium.sources; print([m for m in sys.modules if m.partition('.')[0] in sys.argv[1:]])"
    others = ["pandas", "polars", "psycopg", "pyspark", "clickhouse_connect", "chdb", "sqlalchemy"]
    ran = subprocess.run([sys.executable, "-c", listing, *others], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
