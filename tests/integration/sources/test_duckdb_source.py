"""The embedded engine: what it counts, what it refuses, and what it never says."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium import top
from podium.errors import SourceFailure, SourceUnavailable, UnknownColumn
from podium.sources import CountQuery, DomainSize, DomainTable, DuckDBSource


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def counted(source: DuckDBSource, item: str, user: str, limit: int = 100) -> tuple[list[tuple[Any, int]], int]:
    with source.snapshot(CountQuery((item,), user)) as snapshot:
        rows = snapshot.top_rows(limit).top(limit)
    return list(zip(rows.items, rows.counts.tolist(), strict=True)), rows.next_count


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return write(
        tmp_path / "it's events.parquet",
        user_id=[1, 1, 1, 2, 2, 3, 3, 4, None, 5],
        item=["b", "b", "a", "b", "a", "c", None, "é", "c", "Z"],
    )


def test_counts_distinct_users_and_breaks_ties_by_the_item(events: Path) -> None:
    assert counted(DuckDBSource(events), "item", "user_id", 3) == ([("a", 2), ("b", 2), ("Z", 1)], 1)


def test_all_rows_when_there_are_few(events: Path) -> None:
    rows, next_count = counted(DuckDBSource(events), "item", "user_id")
    assert rows == [("a", 2), ("b", 2), ("Z", 1), ("c", 1), ("é", 1)]
    assert next_count == 0


def test_the_query_is_the_one_we_mean(tmp_path: Path) -> None:
    path = write(tmp_path / "e.parquet", u=[1], i=["a"])
    (query,) = DuckDBSource(path).queries(CountQuery(("i",), "u"), limit=10)
    assert query.replace(str(path), "FILE") == (
        "SELECT best.item0 AS name0, best.n AS n FROM (SELECT item0, COUNT(*) AS n FROM "
        '(SELECT DISTINCT rows_."i" COLLATE "C" AS item0, rows_."u" AS u FROM READ_PARQUET(\'FILE\') AS rows_ '
        'WHERE NOT rows_."u" IS NULL AND NOT (rows_."i" COLLATE "C") IS NULL) AS pairs '
        "GROUP BY item0 ORDER BY n DESC, item0 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC"
    )


def test_an_empty_table_is_an_ordinary_paid_release(tmp_path: Path) -> None:
    path = write(tmp_path / "e.parquet", u=pa.array([], pa.int64()), i=pa.array([], pa.string()))
    release = top(path, item="i", user="u", k=3, epsilon=1, delta="1e-6")
    assert release.items == ()
    assert not release.complete
    assert release.paid.rho > 0


def test_each_user_is_bounded_in_the_one_shot_form(tmp_path: Path) -> None:
    users = [user for user in range(2000) for _ in range(20)]
    path = write(tmp_path / "e.parquet", u=users, i=[place % 20 for place in range(len(users))])
    release = top(path, item="i", user="u", k=3, epsilon=1, delta="1e-6", max_items_per_user=1)
    assert release.paid.rho > 0
    with DuckDBSource(path).snapshot(CountQuery(("i",), "u", max_items_per_user=1, salt="0" * 32)) as snapshot:
        counts, sizes = snapshot.counts_of_counts()
    assert sum(count * size for count, size in zip(counts, sizes, strict=True)) == 2000


def test_missing_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="is not a file"):
        DuckDBSource(tmp_path / "none.parquet")
    for suffix, form in ((".parquet", "Parquet"), (".duckdb", "DuckDB")):
        broken = tmp_path / f"secret-row-4711{suffix}"
        broken.write_bytes(b"PAR1 secret row 4711 PAR1")
        with pytest.raises(SourceUnavailable) as caught:
            DuckDBSource(broken)
        assert f"could not be opened as {form}. Check that the file is complete" in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_an_unknown_column_is_refused_with_a_suggestion(events: Path) -> None:
    with pytest.raises(UnknownColumn) as caught:
        top(events, item="items", user="user_id", epsilon=1, delta="1e-6")
    assert str(caught.value) == "item='items' is not a column. The columns are: user_id, item. Did you mean 'item'?"


SECRET = "a-secret-value-of-one-row"  # noqa: S105 - not a password


@pytest.mark.parametrize(
    "read",
    [
        lambda snapshot: snapshot.top_rows(3),
        lambda snapshot: snapshot.counts_of_counts(),
        lambda snapshot: snapshot.names([(1, 0)]),
    ],
)
def test_a_failing_engine_says_nothing_about_rows(
    read: Callable[[Any], object],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "failing.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT 1 AS u, '{SECRET}' AS i")
        connection.execute("CREATE VIEW v AS SELECT u, CAST(i AS INTEGER) AS i FROM t")
    source = DuckDBSource(path, table="v")
    with caplog.at_level(logging.DEBUG), pytest.raises(SourceFailure) as caught:  # noqa: SIM117
        with source.snapshot(CountQuery(("i",), "u")) as snapshot:
            read(snapshot)
    said = "".join([*traceback.format_exception(caught.value), caplog.text, *capfd.readouterr()])
    assert str(caught.value) == str(SourceFailure())
    assert caught.value.__context__ is None
    assert SECRET not in said


def test_logs_at_debug_carry_nothing_from_rows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path / "e.parquet", u=[1, 2], i=[SECRET, SECRET])
    with caplog.at_level(logging.DEBUG):
        source = DuckDBSource(path)
        assert counted(source, "i", "u") == ([(SECRET, 2)], 0)
        with source.snapshot(CountQuery(("i",), "u")) as snapshot:
            assert snapshot.names([(2, 0)]) == (SECRET,)
    assert SECRET not in caplog.text


def test_the_connection_reads_its_files_and_cannot_be_reconfigured(events: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.parquet", u=[1])
    with DuckDBSource(events)._cursor() as cursor:
        for query in (
            f"SELECT * FROM read_parquet('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'new.duckdb'}'",
            "SET enable_external_access = true",
            "SET TimeZone = 'Europe/Berlin'",
            "SET enable_progress_bar = true",
            "INSTALL httpfs",
            "SELECT * FROM other",
        ):
            with pytest.raises(duckdb.Error):
                cursor.execute(query)
        settings = "SELECT current_setting('TimeZone'), current_setting('enable_progress_bar')"
        assert cursor.execute(settings).fetchall() == [("UTC", False)]


def test_a_database_file_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "d.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS u, 'a' AS i")
    with DuckDBSource(path)._cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute("DELETE FROM data.t")


def test_tables_of_a_database_file(tmp_path: Path) -> None:
    path = tmp_path / "no suffix"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1 AS u, 'a' AS i; CREATE SCHEMA s; CREATE VIEW s.v AS SELECT * FROM t"
        )
    with pytest.raises(SourceUnavailable, match=r"table=None does not say .* The tables are: s\.v, t\."):
        DuckDBSource(path)
    with pytest.raises(SourceUnavailable, match="table='nope' is not a table"):
        DuckDBSource(path, table="nope")
    assert counted(DuckDBSource(path, table="s.v"), "i", "u") == ([("a", 1)], 0)
    with pytest.raises(SourceUnavailable, match="table='nope'"):
        DuckDBSource(path, table="t").check(CountQuery(("i",), "u"), domain=DomainTable("nope"))


def test_a_file_has_no_other_tables(events: Path) -> None:
    with pytest.raises(SourceUnavailable, match="holds one table"):
        DuckDBSource(events).check(CountQuery(("item",), "user_id"), domain=DomainTable("labels"))


def test_questions_in_threads_do_not_meet(events: Path) -> None:
    source = DuckDBSource(events)
    start = threading.Barrier(4)

    def ask(size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        start.wait(timeout=30)
        with source.snapshot(CountQuery(("user_id",), "item"), domain=DomainSize(size)) as snapshot:
            return snapshot.counts_of_counts()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, (2, 5, 7, 1000)))
    assert [sum(sizes) for _, sizes in answers] == [2, 5, 7, 1000]


def test_closing_leaves_nothing_behind(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    source = DuckDBSource(events)
    assert len(list(spill.iterdir())) == 1
    assert next(spill.iterdir()).stat().st_mode & 0o077 == 0
    source.close()
    assert list(spill.iterdir()) == []
    with pytest.raises(SourceUnavailable, match="DuckDB failed before it could answer"):  # noqa: SIM117
        with source.snapshot(CountQuery(("item",), "user_id")):
            pass
