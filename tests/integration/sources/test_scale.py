"""Little memory, a domain of 10^12 items, a million rows at once, indices: all on tables that are quick to make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg
import pytest
from bench.measure import peak_extra_bytes
from bench.scale.data import wide
from tests.support.postgres import new_database

import podium
from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.mechanisms import LimitedDomain
from podium.sources import CountQuery, DomainSize, DuckDBSource, open_source

QUERY = CountQuery(("item",), "user_id")
PAIRS = """SELECT (hash(i) % 200000)::BIGINT AS user_id, (hash(i + 7000000) % 300000)::BIGINT AS item
           FROM range(1500000) r(i)"""


def made(path: Path, query: str) -> Path:
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def best(source: DuckDBSource) -> list[tuple[object, int]]:
    with source.snapshot(QUERY) as snapshot:
        top = snapshot.top_rows(20).top(20)
    return list(zip(top.items, top.counts.tolist(), strict=True))


class Watched(DuckDBSource):
    """Says what DuckDB had been allowed."""

    def setting(self, name: str) -> str:
        with self._cursor() as cursor:
            ((value,),) = cursor.execute(f"SELECT current_setting('{name}')").fetchall()
        return str(value)


def test_memory_threads_and_the_folder_can_be_set(tmp_path: Path) -> None:
    path = made(tmp_path / "events.parquet", "SELECT 1 AS user_id, 2 AS item")
    aside = tmp_path / "aside"
    aside.mkdir()
    source = Watched(path, memory_limit="64 MiB", threads=1, temp_directory=aside)
    assert (source.setting("memory_limit"), source.setting("threads")) == ("64.0 MiB", "1")
    (own,) = aside.iterdir()
    assert source.setting("temp_directory") == str(own)
    assert own.stat().st_mode & 0o777 == 0o700
    assert best(source) == [(2, 1)]
    source.close()
    assert list(aside.iterdir()) == []


def test_a_table_larger_than_memory(tmp_path: Path) -> None:
    """The same answer with less memory than the distinct pairs take; without a disk to put them on there is none."""
    path = made(tmp_path / "events.parquet", PAIRS)
    little = DuckDBSource(path, memory_limit="40MB", threads=1, temp_directory=tmp_path)
    assert best(little) == best(DuckDBSource(path))
    too_little = DuckDBSource(path, memory_limit="12MB", threads=1)
    with pytest.raises(SourceFailure) as caught:
        best(too_little)
    assert str(caught.value) == str(SourceFailure())
    # Too little to look at the file: nothing is said against the file.
    with pytest.raises(SourceUnavailable, match="the reason need not lie in the data"):
        DuckDBSource(path, memory_limit="4MB", threads=1)


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"memory_limit": "4"}, "a size with its unit"),
        ({"memory_limit": "-1GB"}, "a size with its unit"),
        ({"memory_limit": "50%"}, "a size with its unit"),
        ({"memory_limit": "1GB'; SELECT 1"}, "a size with its unit"),
        ({"memory_limit": 4}, "a size with its unit"),
        ({"threads": 0}, "an integer"),
        ({"threads": "2"}, "an integer"),
        ({"temp_directory": "no/such/folder"}, "a folder that this process may write to"),
        ({"temp_directory": 3}, "a folder that this process may write to"),
    ],
)
def test_what_the_machine_cannot_give(options: dict[str, object], allowed: str, tmp_path: Path) -> None:
    path = made(tmp_path / "events.parquet", "SELECT 1 AS user_id, 2 AS item")
    ((name, value),) = options.items()
    with pytest.raises(InvalidArgument, match=allowed) as caught:
        DuckDBSource(path, **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{name}={value!r} ")


def test_items_that_nobody_has_are_named_in_any_number(tmp_path: Path) -> None:
    """More of them than one query is asked for, against a list of all."""
    path = made(
        tmp_path / "events.parquet",
        "SELECT u AS user_id, i AS item FROM range(6000) r(i), range(2) s(u) WHERE hash(i) % 3 = 0",
    )
    with DuckDBSource(path).snapshot(QUERY, domain=DomainSize(6_000)) as snapshot:
        counts, sizes = snapshot.counts_of_counts()
        unseen = dict(zip(counts, sizes, strict=True))[0]
        names = snapshot.names([(0, rank) for rank in range(unseen)] + [(2, 0)])
    seen = {item for (item,) in duckdb.execute(f"SELECT DISTINCT item FROM '{path}'").fetchall()}
    assert 3_500 < unseen == 6_000 - len(seen)
    assert names == (*(item for item in range(6_000) if item not in seen), min(seen))


def test_a_domain_of_a_million_millions(tmp_path: Path) -> None:
    """Two hundred items of 10^12, of which nobody has nearly all: Python needs what it needs for a few million."""
    path = made(
        tmp_path / "events.parquet",
        "SELECT u AS user_id, 1000003 * i AS item FROM range(60) r(i), range(3000) s(u) WHERE u < 3000 - 20 * i",
    )
    source = DuckDBSource(path)

    def ask(size: int, k: int) -> Callable[[], podium.Release]:
        return lambda: podium.top(source, item="item", user="user_id", k=k, epsilon=500, delta="1e-8", domain_size=size)

    release = ask(10**12, 200)()
    assert len(set(release.items)) == 200
    assert all(isinstance(item, int) and 0 <= item < 10**12 for item in release.items)
    assert {1000003 * i for i in range(60)} <= set(release.items)
    # Not a byte for each item: what differs is the number of digits in the questions by rank.
    ask(10**8, 50)()
    assert peak_extra_bytes(ask(10**12, 50)) < 1.5 * peak_extra_bytes(ask(10**8, 50))


def test_a_million_rows_at_once(tmp_path: Path) -> None:
    source = DuckDBSource(wide(tmp_path, 1_000_100))
    with source.snapshot(QUERY) as snapshot:
        rows = snapshot.top_rows(10**6)
    assert (len(rows.top(10**6).items), rows.top(10**6).next_count) == (10**6, 1)
    release = LimitedDomain(k=100, k_bar=10**6, epsilon_per_item=1, delta="1e-8").release(rows)
    # The hundred that stand out among a million: the noise of all the others together does not reach them.
    assert len(set(release.items) & set(range(200))) > 90


def test_a_table_with_the_indices_of_a_user() -> None:
    """The answer does not depend on how PostgreSQL comes by the pairs, and is that of another engine."""
    pairs = "SELECT (i * 7919) % 5003 AS user_id, (i * i) % 1009 AS item FROM {} AS r (i)"
    expected = duckdb.execute(
        f"SELECT item, COUNT(DISTINCT user_id) AS n FROM ({pairs.format('range(100000)')}) GROUP BY item "
        "ORDER BY n DESC, item LIMIT 50"
    ).fetchall()
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            series = "generate_series(0::bigint, 99999)"
            connection.execute(f"CREATE TABLE events AS {pairs.format(series)}".encode())
        for index in (None, "(item)", "(user_id)", "(item, user_id)"):
            with psycopg.connect(url, autocommit=True) as connection:
                if index is not None:
                    connection.execute(f"CREATE INDEX ON events {index}".encode())
                connection.execute("VACUUM ANALYZE events")
            source = open_source(url, table="events")
            with source.snapshot(QUERY) as snapshot:
                top = snapshot.top_rows(50).top(50)
            assert list(zip(top.items, top.counts.tolist(), strict=True)) == expected
            source.close()
