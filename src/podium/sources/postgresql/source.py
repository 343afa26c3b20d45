"""PostgreSQL: a table or view on a server, counted there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from podium.errors import InvalidArgument, SourceUnavailable
from podium.exact import positive_fraction
from podium.sources.postgresql.catalog import describe
from podium.sources.postgresql.connection import DIALECT, PostgreSQLSession, Server
from podium.sources.protocol import CountQuery, Domain
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import Relation
from podium.sources.sql.sql_source import SqlSource

__all__ = ["PostgreSQLSource"]

_MIN_VERSION = 14
_DRIVER = re.compile(r"^(postgres(?:ql)?)\+[a-zA-Z0-9]+(?=://)")
_FACTS = (
    "SELECT pg_catalog.current_setting('server_version_num')::integer / 10000, "
    "pg_catalog.current_setting('server_encoding'), "
    "NOT pg_catalog.pg_is_in_recovery() "
    "AND pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY')"
)


@dataclass(frozen=True, slots=True)
class _Table:
    """The table, its full name, and whether the account may create temporary tables."""

    relation: Relation
    name: str
    keeps: bool


class PostgreSQLSource(SqlSource):
    """A table, view or foreign table of a PostgreSQL database, version 14 or later, encoded in UTF-8.

    ``location`` is a URL like postgresql://user@host:5432/database, any other connection string of libpq, or a psycopg
    connection, whose parameters are used to connect anew. ``table`` is a name on the search path or schema.name.
    ``statement_timeout`` is in seconds; without it the server's own applies. No connection is held between questions.
    """

    sql_dialect: Dialect = DIALECT

    def __init__(self, location: object, *, table: str | None = None, statement_timeout: float | None = None) -> None:
        if statement_timeout is not None:
            statement_timeout = float(positive_fraction(statement_timeout, "statement_timeout"))
        self._server = _server(location, statement_timeout)
        if table is None:
            raise SourceUnavailable(
                f"table=None does not say which table to read of source={self._server.address!r}. "
                "Allowed: a name, or schema.name. Name one with --table (in Python: table=...)."
            )
        self._wanted = table
        self._table = self._describe(table)

    @property
    def name(self) -> str:
        """Host, database and table."""
        return f"{self._server.address}#{self._table.name}"

    def relation(self) -> Relation:
        """The table of events."""
        return self._table.relation

    def domain_relation(self, table: str) -> Relation:
        """Another table of the same database."""
        return self._describe(table).relation

    def _refresh(self) -> None:
        """Describe the table again."""
        self._table = self._describe(self._wanted)

    def _check_query(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise unless the columns can be counted, and the server allows what this question needs."""
        super()._check_query(query, domain)
        what = _reason_for_tables(query, domain)
        instead = f"without {what}" if query.weights is None else "with mechanism='limited-domain', which reads once"
        if what is not None and not self._table.keeps:
            raise SourceUnavailable(
                f"source={self.name!r} does not let this account make temporary tables, which a question with {what} "
                "needs. Allowed: a primary server and the right TEMPORARY on the database. Grant it: GRANT TEMPORARY "
                f"ON DATABASE ... TO ..., or ask {instead}."
            )
        hashes = query.salt is None or self._server.ask(_md5)
        if not hashes:
            raise SourceUnavailable(
                f"source={self.name!r} has no MD5, which max_items_per_user={query.max_items_per_user} needs. "
                "Allowed: a server that is not restricted to FIPS functions. Ask without max_items_per_user."
            )

    @contextmanager
    def session(self) -> Iterator[PostgreSQLSession]:
        """A connection for one question."""
        with self._server.session(self._unreachable()) as session:
            yield session

    def close(self) -> None:
        """Nothing to do: every connection is closed with its question."""

    def _describe(self, table: str) -> _Table:
        found = self._server.ask(lambda connection: _inspect(connection, table, self._server.address))
        if found is None:
            raise self._unreachable()
        return found

    def _unreachable(self) -> SourceUnavailable:
        return SourceUnavailable(
            f"source={self._server.address!r} could not be reached, or refused the account. Allowed: a running server "
            "that this machine and this account may connect to. Check the address, the user, the password and the "
            "server's log; what the server said is withheld."
        )


def _reason_for_tables(query: CountQuery, domain: Domain | None) -> str | None:
    """Why a query needs temporary tables; None if it does not."""
    if domain is not None:
        return "a domain"
    if query.groups is not None:
        return "groups"
    if query.without:
        return "items left out"
    if query.joins:
        # Rows of public tables, and of views, are kept in tables.
        return "joined tables"
    if query.weights is not None:
        # Weighted queries keep their counts in a table.
        return "rounds of finding"
    # Questions about events or sums keep their pairs.
    return None if query.value is None else "pairs of events or sums"


def _server(location: object, statement_timeout: float | None) -> Server:
    if isinstance(location, psycopg.Connection | psycopg.AsyncConnection):
        info = location.info
        location = make_conninfo(info.dsn, password=info.password or None)
    if isinstance(location, str):
        try:
            return Server(_DRIVER.sub(r"\1", location), statement_timeout=statement_timeout)
        except psycopg.Error:
            pass
    raise InvalidArgument(
        "source",
        "postgresql://...",
        allowed="a URL like postgresql://user@host:5432/database",
        hint="Special characters in a user or password are written as %XX.",
    )


def _inspect(connection: psycopg.Connection[Any], table: str, source: str) -> _Table:
    version, encoding, keeps = connection.execute(_FACTS).fetchall()[0]
    if version < _MIN_VERSION or encoding != "UTF8":
        raise SourceUnavailable(
            f"source={source!r} is PostgreSQL {version} with the encoding {encoding}. Allowed: PostgreSQL "
            f"{_MIN_VERSION} or later with the encoding UTF8, in which text has one order. Copy the table to such a "
            "database."
        )
    relation, name = describe(connection, table, source)
    return _Table(relation, name, keeps)


def _md5(connection: psycopg.Connection[Any]) -> bool:
    return bool(connection.execute("SELECT pg_catalog.md5('') = 'd41d8cd98f00b204e9800998ecf8427e'").fetchall()[0][0])
