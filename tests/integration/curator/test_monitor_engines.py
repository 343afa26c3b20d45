"""The same lists over time from a table in PostgreSQL and in ClickHouse as from a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest
from tests.support.clickhouse import embedded_clickhouse
from tests.support.curator import monitoring
from tests.support.curator.monitoring import DAYS, FIRST, LATER, monitor
from tests.support.postgres import new_database

from podium.sources import Source, open_source


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return monitoring.events(tmp_path_factory.mktemp("events") / "events.parquet")


@contextmanager
def in_postgresql(table: Path) -> Iterator[Source]:
    with new_database() as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE events (user_id bigint, item text, at timestamp, day date)")
            with connection.cursor().copy("COPY events FROM STDIN") as copy:
                for row in zip(*pq.read_table(table).to_pydict().values(), strict=True):
                    copy.write_row(row)
        with closing(open_source(url, table="events")) as source:
            yield source


@contextmanager
def in_clickhouse(table: Path) -> Iterator[Source]:
    with embedded_clickhouse() as session:
        session.query(
            "CREATE TABLE events (user_id Int64, item String, at DateTime64(6, 'UTC'), day Date) ENGINE = Memory"
        )
        session.query(f"INSERT INTO events SELECT user_id, item, at, day FROM file('{table}', Parquet)")
        with closing(open_source(session, table="events")) as source:
            yield source


@pytest.mark.parametrize("engine", [in_postgresql, in_clickhouse])
def test_every_period_has_its_list_on_a_server_too(engine: object, table: Path, tmp_path: Path) -> None:
    assert callable(engine)
    with engine(table) as source, monitor(source, ledger=tmp_path / "ledger.db") as watching:
        lists = list(watching.run())
        assert [release.items for release in lists[:5]] == [FIRST] * 5
        assert lists[-1].items == LATER
        assert len(lists) == DAYS
        assert all(release.paid.events == () for release in watching.run())
