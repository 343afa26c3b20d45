"""From what a caller has to a source, or to an error that says what to do."""

from __future__ import annotations

import io
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
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


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("a.zip", "Unpack it"),
        ("a.csv.xz", "compress it as .gz or .bz2"),
        ("a.ods", "pandas.read_excel"),
        ("a.arrow", "pyarrow.feather.read_table"),
        ("a.avro", "Write it as Parquet"),
        ("a.orc", "pandas.read_orc"),
        ("a.SAV", "pandas.read_spss"),
    ],
)
def test_a_file_that_is_not_read_is_called_what_it_is(tmp_path: Path, name: str, leads: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(SourceUnavailable, match=leads) as caught:
        open_source(path)
    assert "has no known format" not in str(caught.value)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("u,i\n1,a\n".encode("utf-16"), "is UTF-16, not utf-8"),
        ("u,i\n1,a\n".encode("utf-16-be").join([b"\xfe\xff", b""]), "is UTF-16, not utf-8"),
        (b"\x1f\x8b\x08\xff\n", "let its name end in .gz"),
        (b"PK\x03\x04\xff\n", "a zip archive or a workbook"),
        (b"u,i\n1,caf\xe9\n", "line 2 has bytes that are not utf-8"),
        (b"caf\xe9,i\n1,a\n", "line 1 has bytes that are not utf-8"),
    ],
)
def test_text_that_is_none_is_called_what_it_is(tmp_path: Path, head: bytes, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(head)
    with pytest.raises(SourceUnavailable, match=re.escape(said)):
        open_source(path)


def test_a_sqlite_file_with_one_table_needs_no_name(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    for create, expected in (("CREATE TABLE a (u TEXT, i TEXT)", "a"), ("CREATE VIEW b AS SELECT u FROM a", "a, b")):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(create)
        if expected == "a":
            with closing(open_source(path)) as opened:
                assert opened.name.endswith("#a")
            continue
        with pytest.raises(SourceUnavailable, match=f"source='shop.db'. The tables are: {expected}. Name one"):
            open_source(path)
