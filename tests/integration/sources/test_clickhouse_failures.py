"""What a ClickHouse source says when something fails: nothing that the engine said, and nothing of a row."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.clickhouse import PASSWORD, embedded_clickhouse, served_clickhouse
from tests.support.overheard import Overheard, assert_nothing_was_said, failure, overheard
from tests.support.sources.failing import QUERY, check_a_table_that_goes, groups, top

from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.errors.installing import install_command
from podium.sources import DomainTable, Source, open_source

SECRET = "secret-4711"  # noqa: S105 - a value of a row, not a password


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    with embedded_clickhouse(
        "CREATE TABLE events (user_id Int64, item String) ENGINE = Memory",
        f"INSERT INTO events VALUES (1, 'a'), (2, 'a'), (2, '{SECRET}')",
        "CREATE VIEW casts AS SELECT user_id, toString(toInt64(if(item = 'a', '1', item))) AS item FROM events",
        f"CREATE VIEW throws AS SELECT user_id + throwIf(item = '{SECRET}', 'saw it') AS user_id, item FROM events",
    ) as session:
        yield session


@pytest.fixture(params=["embedded", "over HTTP"])
def location(engine: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "embedded":
        yield engine
    else:
        with served_clickhouse() as url:
            yield url


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Overheard:
    return overheard(caplog, capfd, "clickhouse_connect", "urllib3")


@pytest.mark.parametrize("view", ["casts", "throws"])
@pytest.mark.parametrize("read", [top, groups])
def test_an_error_that_quotes_a_row_is_not_passed_on(
    engine: Any, location: Any, view: str, read: Callable[[Source], object], said: Overheard
) -> None:
    with pytest.raises(RuntimeError, match=SECRET):
        engine.query(f"SELECT * FROM {view}")
    source = open_source(location, table=view)
    error = failure(lambda: read(source))
    source.close()
    assert_nothing_was_said(error, said, SECRET, "DB::Exception")


def test_rows_are_not_logged(location: Any, said: Overheard) -> None:
    source = open_source(location, table="events")
    with source.snapshot(QUERY) as snapshot:
        assert snapshot.top_rows(10).top(10).items == ("a", SECRET)
    source.close()
    assert SECRET not in said()


def test_an_engine_that_goes_away_in_the_middle(engine: Any, said: Overheard) -> None:
    with served_clickhouse() as url:
        source = open_source(url, table="events")
        whole = source.snapshot(QUERY)
        snapshot = whole.__enter__()
        snapshot.counts_of_counts()
    error = failure(lambda: snapshot.names([(2, 0)]))
    assert isinstance(error, SourceFailure)
    whole.__exit__(None, None, None)
    assert isinstance(failure(lambda: top(source)), SourceUnavailable)
    source.close()
    assert SECRET not in said(error)


def test_what_changed_since_opening_is_found_before_the_read(engine: Any, location: Any) -> None:
    engine.query("CREATE TABLE passing (user_id Int64, item String) ENGINE = MergeTree ORDER BY user_id")
    source = open_source(location, table="passing")
    check_a_table_that_goes(source, engine.query)
    source.close()


def test_a_server_that_is_not_there(said: Overheard) -> None:
    error = failure(lambda: open_source(f"clickhouse://me:{PASSWORD}@127.0.0.1:1/shop", table="events"))
    assert isinstance(error, SourceUnavailable)
    assert str(error) == (
        "source='clickhouse://127.0.0.1:1/shop' could not be opened. Check host, port, account and password, and that "
        "the server runs."
    )
    assert PASSWORD not in said(error)


@pytest.mark.parametrize("table", ["missing", "nowhere.events", "", "x' OR 1"])
def test_a_table_that_is_not_there(location: Any, table: str) -> None:
    error = failure(lambda: open_source(location, table=table))
    assert isinstance(error, SourceUnavailable)
    assert str(error).startswith(f"table={table!r} cannot be read on source=")
    assert PASSWORD not in str(error)
    source = open_source(location, table="events")
    assert isinstance(failure(lambda: source.check(QUERY, domain=DomainTable("missing"))), SourceUnavailable)
    source.close()


@pytest.mark.parametrize(
    ("location", "table"),
    [
        ("clickhouse://localhost/shop", None),
        ("clickhouse:///shop", "events"),
        ("clickhouse://localhost:99999/shop", "events"),
        ("chdb://somewhere/else", "events"),
    ],
)
def test_locations_that_make_no_sense(location: str, table: str | None) -> None:
    with pytest.raises(InvalidArgument):
        open_source(location, table=table)


IN_A_FOLDER = """
import sys
from chdb.session import Session
from podium.errors import SourceUnavailable
from podium.sources import CountQuery, open_source
folder, other = sys.argv[1:]
with Session(folder) as session:
    session.query("CREATE TABLE events (user_id Int64, item String) ENGINE = MergeTree ORDER BY ()")
    session.query("INSERT INTO events VALUES (1, 'a'), (2, 'a'), (2, 'b')")
source = open_source(f"chdb://{folder}", table="events")
with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
    print(*snapshot.top_rows(5).top(5).items)
try:
    open_source(f"chdb://{other}", table="events")
except SourceUnavailable as error:
    print(error)
source.close()
"""


def test_a_folder_on_disk(tmp_path: Path) -> None:
    """In a process of its own, because a process opens one folder only."""
    folders = (str(tmp_path / "one"), str(tmp_path / "other"))
    ran = subprocess.run([sys.executable, "-c", IN_A_FOLDER, *folders], check=True, capture_output=True, text=True)
    hint = (
        "A process can open one folder, and a folder one process; chdb must be installed. "
        f"Run: {install_command('chdb')}"
    )
    assert ran.stdout.splitlines() == ["a b", f"source='chdb://{folders[1]}' could not be opened. {hint}"]
    assert ran.stderr == ""
