"""What a question keeps on PostgreSQL is in memory of its transaction, unless others fixed it on that connection."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlglot import exp
from tests.support.postgres import new_database

from podium.sources.postgresql.connection import PostgreSQLSession, Server

_MEMORY = "SELECT current_setting('temp_buffers')"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with new_database() as url:
        yield Server(url, statement_timeout=None)


def _kept(session: PostgreSQLSession) -> tuple[object, object]:
    """A number that was kept, and the memory that there was for it."""
    session.keep("kept", exp.select("7 AS n"), pairs=True)
    ((number,),), ((memory,),) = session.fetch("SELECT n FROM kept"), session.fetch(_MEMORY)
    return number, memory


def test_a_transaction_that_keeps_tables_has_memory_for_them(server: Server) -> None:
    with server.session(AssertionError()) as session:
        assert _kept(session) == (7, "128MB")
        session._connection.execute(b"ROLLBACK")
        assert session._connection.execute(_MEMORY.encode()).fetchall() == [("8MB",)]


def test_a_connection_whose_memory_is_fixed_answers_too(server: Server) -> None:
    with server.session(AssertionError()) as session:
        session._connection.execute(b"CREATE TEMPORARY TABLE somebodys AS SELECT 1 AS one")
        assert _kept(session) == (7, "8MB")


def test_more_memory_than_that_is_kept(server: Server) -> None:
    with server.session(AssertionError()) as session:
        session._connection.execute(b"SET temp_buffers = '256MB'")
        assert _kept(session) == (7, "256MB")


def test_one_query_changes_nothing(server: Server) -> None:
    with server.session(AssertionError()) as session:
        assert session.fetch(_MEMORY) == [("8MB",)]
