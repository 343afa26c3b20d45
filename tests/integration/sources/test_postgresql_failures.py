"""What a PostgreSQL source says when something fails: nothing that it was told by the server, and nothing of a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from tests.support.overheard import Overheard, assert_nothing_was_said, failure, overheard
from tests.support.postgres import new_database
from tests.support.sources.failing import check_a_table_that_goes

from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.sources import CountQuery, DomainItems, Source, open_source
from podium.sources.postgresql.source import PostgreSQLSource
from podium.sources.sqlalchemy.source import SQLAlchemySource

SECRET = "secret-4711"  # noqa: S105 - a value of a row, not a password
QUERY = CountQuery(("item",), "user_id")
UNREACHABLE = (
    "source={!r} could not be reached, or refused the account. Allowed: a running server that this machine and this "
    "account may connect to. Check the address, the user, the password and the server's log; what the server said is "
    "withheld."
)
SHOUTS = """
CREATE FUNCTION shouts(value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE 'row: %', value; RAISE WARNING 'row: %', value; RETURN value; END $$
"""
TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
WRITES = """
CREATE FUNCTION writes(value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN INSERT INTO written VALUES (value); RETURN value; END $$
"""

Open = Callable[..., Source]


def through_sqlalchemy(url: str, *, table: str) -> Source:
    return SQLAlchemySource(url.replace("postgresql:", "postgresql+psycopg:"), table=table)


both_ways = pytest.mark.parametrize("opens", [open_source, through_sqlalchemy], ids=["native", "sqlalchemy"])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in (
                "CREATE TABLE events (user_id bigint, item text)",
                f"INSERT INTO events VALUES (1, 'a'), (2, 'a'), (2, '{SECRET}')",
                "CREATE VIEW casts AS SELECT user_id, (item::bigint)::text AS item FROM events WHERE item <> 'a'",
                "CREATE VIEW sleeps AS SELECT user_id, item || pg_sleep(100)::text AS item FROM events",
                SHOUTS,
                "CREATE VIEW noisy AS SELECT user_id, shouts(item) AS item FROM events",
                "CREATE TABLE written (item text)",
                WRITES,
                "CREATE VIEW writing AS SELECT user_id, writes(item) AS item FROM events",
            ):
                connection.execute(statement.encode())
        yield url


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Overheard:
    return overheard(caplog, capfd, "psycopg", "sqlalchemy")


def top(source: Source, query: CountQuery = QUERY) -> list[tuple[object, int]]:
    with source.snapshot(query) as snapshot:
        rows = snapshot.top_rows(10).top(10)
    return list(zip(rows.items, rows.counts.tolist(), strict=True))


def groups(source: Source) -> None:
    with source.snapshot(QUERY) as snapshot:
        snapshot.counts_of_counts()


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


@both_ways
@pytest.mark.parametrize("read", [top, groups])
def test_an_error_that_quotes_a_row_is_not_passed_on(
    url: str, opens: Open, read: Callable[[Source], object], said: Overheard
) -> None:
    with psycopg.connect(url) as connection, pytest.raises(psycopg.DataError, match=SECRET):
        connection.execute("SELECT * FROM casts")
    source = opens(url, table="casts")
    error = failure(lambda: read(source))
    assert_nothing_was_said(error, said, SECRET, "invalid input syntax")


@both_ways
def test_notices_that_quote_rows_are_not_logged(url: str, opens: Open, said: Overheard) -> None:
    source = opens(url, table="noisy")
    assert top(source) == [("a", 2), (SECRET, 1)]
    assert SECRET not in said()


@both_ways
def test_statements_and_rows_are_not_logged(url: str, opens: Open, said: Overheard) -> None:
    source = opens(url, table="events")
    assert top(source) == [("a", 2), (SECRET, 1)]
    with source.snapshot(QUERY, domain=DomainItems(("a", "public-item"))) as snapshot:
        assert snapshot.counts_of_counts() == ((2, 0), (1, 1))
        assert snapshot.names([(0, 0)]) == ("public-item",)
    text = said()
    assert SECRET not in text
    assert "SELECT DISTINCT" not in text
    assert "public-item" not in text


@both_ways
def test_a_connection_that_breaks_in_the_middle(url: str, opens: Open, said: Overheard) -> None:
    source = opens(url, table="events")

    def breaks() -> None:
        with source.snapshot(QUERY) as snapshot:
            snapshot.counts_of_counts()
            rows(url, TERMINATE)
            snapshot.names([(2, 0)])

    error = failure(breaks)
    assert isinstance(error, SourceFailure)
    assert error.__context__ is None
    assert "terminat" not in said(error).replace("pg_terminate_backend", "")


def test_a_statement_that_takes_too_long(url: str) -> None:
    source = PostgreSQLSource(url, table="sleeps", statement_timeout=0.2)
    started = time.monotonic()
    assert isinstance(failure(lambda: top(source)), SourceFailure)
    # By far sooner than the view needs, also on a machine that has other things to do.
    assert time.monotonic() - started < 60
    for timeout in (0, -1, "soon"):
        with pytest.raises(InvalidArgument, match="statement_timeout"):
            PostgreSQLSource(url, table="sleeps", statement_timeout=timeout)  # type: ignore[arg-type]


def test_a_server_that_is_not_there(said: Overheard) -> None:
    word = "hunter2"
    url = f"postgresql://anna:{word}@127.0.0.1:1/shop?connect_timeout=2"
    error = failure(lambda: open_source(url, table="events"))
    assert isinstance(error, SourceUnavailable)
    assert str(error) == UNREACHABLE.format("postgresql://127.0.0.1:1/shop")
    assert error.__context__ is None
    text = said(error)
    assert word not in text
    assert "refused\n" not in text


@pytest.fixture
def locked_account(url: str) -> Iterator[str]:
    """The URL of an account that needs a password."""
    ((hba,),) = rows(url, "SHOW hba_file")
    file = Path(str(hba))
    before = file.read_text()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE anna LOGIN PASSWORD 'correct-horse'")
        file.write_text("local all anna scram-sha-256\n" + before)
        connection.execute("SELECT pg_reload_conf()")
        parts = urlsplit(url)
        yield parts._replace(netloc=parts.netloc.replace("postgres:", "anna:hunter2", 1)).geturl()
        file.write_text(before)
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("DROP OWNED BY anna")
        connection.execute("DROP ROLE anna")


@both_ways
def test_a_wrong_password(locked_account: str, opens: Open, said: Overheard) -> None:
    error = failure(lambda: opens(locked_account, table="events"))
    assert isinstance(error, SourceUnavailable)
    assert "could not be reached, or refused the account" in str(error)
    assert error.__context__ is None
    text = said(error)
    assert "hunter2" not in text
    assert "anna" not in text
    assert "authentication" not in text


def test_an_account_without_rights(url: str, locked_account: str) -> None:
    allowed = locked_account.replace("hunter2", "correct-horse")
    error = failure(lambda: open_source(allowed, table="events"))
    assert "has no column that the account may read" in str(error)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("GRANT SELECT (user_id) ON events TO anna")
        assert open_source(allowed, table="events").schema().names == ("user_id",)
        connection.execute("GRANT SELECT ON events TO anna")
        connection.execute(b"REVOKE TEMPORARY ON DATABASE " + urlsplit(url).path[1:].encode() + b" FROM PUBLIC")
        source = open_source(allowed, table="events")
        assert top(source) == [("a", 2), (SECRET, 1)]
        error = failure(lambda: source.check(QUERY, domain=DomainItems(("a",))))
        assert "GRANT TEMPORARY" in str(error)
        error = failure(lambda: source.check(replace(QUERY, without=("a",))))
        assert "which a question with items left out needs" in str(error)
        weighted = replace(QUERY, max_items_per_user=2, salt="ab" * 16, weights=((2, 1),))
        assert "which a question with rounds of finding needs" in str(failure(lambda: source.check(weighted)))
        connection.execute("CREATE SCHEMA hidden CREATE TABLE things (user_id int, item text)")
        connection.execute("GRANT SELECT ON hidden.things TO anna")
        assert "can find" in str(failure(lambda: open_source(allowed, table="hidden.things")))


@both_ways
@pytest.mark.parametrize("table", ["event", "Events", "public.event", 'events"; DROP TABLE events; --', ""])
def test_a_table_that_is_not_there(url: str, opens: Open, table: str) -> None:
    error = failure(lambda: opens(url, table=table))
    assert isinstance(error, SourceUnavailable)
    assert str(error).startswith(f"table={table!r} is not a table or view that the account can find in source=")
    assert error.__context__ is None


@both_ways
def test_no_table_is_named(url: str, opens: Open) -> None:
    error = failure(lambda: opens(url, table=None))
    assert "table=None does not say which table to read" in str(error)


@pytest.mark.parametrize("given", ["postgresql://anna:hunter2@[bad/", "postgresql://h/d?hunter2=1"])
def test_a_url_that_is_none(given: str, said: Overheard) -> None:
    with pytest.raises(InvalidArgument, match="a URL like postgresql://") as caught:
        open_source(given, table="events")
    assert "hunter2" not in said(caught.value).replace(given, "")


@both_ways
def test_what_changed_since_opening_is_found_before_the_read(url: str, opens: Open) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE passing (user_id bigint, item text)")
        check_a_table_that_goes(opens(url, table="passing"), lambda statement: connection.execute(statement.encode()))


def test_nothing_is_written(url: str) -> None:
    """A single query cannot write, whatever a view calls; one that keeps counts is rolled back."""
    source = PostgreSQLSource(url, table="writing")
    assert isinstance(failure(lambda: top(source)), SourceFailure)
    groups(source)
    assert rows(url, "SELECT * FROM written") == []


def test_what_the_server_sees(url: str) -> None:
    source = PostgreSQLSource(url, table="events")
    activity = "SELECT state FROM pg_stat_activity WHERE application_name = 'podium'"
    with source.snapshot(QUERY) as snapshot:
        before = snapshot.counts_of_counts()
        assert rows(url, activity) == [("idle in transaction",)]
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO events VALUES (3, 'a')")
        assert snapshot.counts_of_counts() == before
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM events WHERE user_id = 3")
    deadline = time.monotonic() + 60
    while rows(url, activity) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert rows(url, activity) == []
    source.close()


def test_a_connection_is_a_place_to_connect_to(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TEMPORARY TABLE mine (user_id bigint, item text)")
        assert top(open_source(connection, table="events")) == [("a", 2), (SECRET, 1)]
        assert isinstance(failure(lambda: open_source(connection, table="mine")), SourceUnavailable)
