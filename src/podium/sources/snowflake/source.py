"""Snowflake, through its official client. An emulator has run this module; the real service has not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import snowflake.connector
from sqlglot import exp

from podium.errors import InvalidArgument, SourceUnavailable
from podium.histogram import Item
from podium.query.schema import Column, Schema
from podium.sources.idle_connections import IdleConnections
from podium.sources.isolation import BATCH, Process, attempt, run_guarded, run_in_batches
from podium.sources.protocol import CountQuery, Domain
from podium.sources.quiet import silence_package
from podium.sources.snowflake.dialect import Snowflake, convert, kind_of, type_of
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import Relation
from podium.sources.sql.table_source import OneProcessSource

__all__ = ["SnowflakeSource"]

T = TypeVar("T")

_DIALECT = Snowflake()
# Whatever the account, the user or the schema has set: these decide what is equal, how it is
# written, and how many rows come back.
_SESSION = {
    "TIMEZONE": "UTC",
    "DATE_OUTPUT_FORMAT": "YYYY-MM-DD",
    "TIMESTAMP_TYPE_MAPPING": "TIMESTAMP_NTZ",
    "QUOTED_IDENTIFIERS_IGNORE_CASE": False,
    "DEFAULT_DDL_COLLATION": "",
    "ROWS_PER_RESULTSET": 0,
    "AUTOCOMMIT": True,
}
_OPTIONS = (
    "warehouse", "role", "host", "port", "protocol", "authenticator", "token", "private_key_file",
    "private_key_file_pwd", "login_timeout", "network_timeout",
)  # fmt: skip
_NUMBERS = ("port", "login_timeout", "network_timeout")
_STORED = ("TABLE", "TRANSIENT", "TEMPORARY")
_ROWS = 5_000
"""Rows of one INSERT; the engine takes at most 16,384."""


class SnowflakeSource(OneProcessSource):
    """A table or view of a Snowflake account.

    ``location`` is ``snowflake://user:password@account/database/schema?warehouse=...&role=...``; ``table`` is a name,
    schema.name or database.schema.name, in capitals unless it was created in quotes. What a question keeps is a
    temporary table of the session. Opening asks for the columns; nothing is read from rows.
    """

    sql_dialect: Dialect = _DIALECT
    sums = False
    """Whether it is known that no row makes a sum fail: an emulator cannot show it."""

    def __init__(self, location: object, *, table: str | None = None) -> None:
        self._arguments, self._address = _arguments(location)
        if table is None:
            raise InvalidArgument("table", table, allowed="the name of a table, schema.name or database.schema.name")
        self._connections = IdleConnections(self._connect, SnowflakeSession)
        self._describing = Lock()
        self._wanted = table
        self._process = Process()
        self._relation = self._describe(table)

    @property
    def name(self) -> str:
        """Account and complete name of the table, by which a ledger knows it; no user and no password."""
        table = self._relation.table
        return f"{self._address}#{'.'.join((table.text('catalog'), table.text('db'), table.text('this')))}"

    def _check_query(self, query: CountQuery, domain: Domain | None) -> None:
        """As on every engine, without amounts."""
        super()._check_query(query, domain)
        if query.value is not None and query.value.column is not None and not self.sums:
            raise SourceUnavailable(
                f"source={self._address!r} is not known to sum without an error that depends on a row, so "
                "by='sum(...)' is refused. Allowed: by='users' and by='events'. To rank by a sum, copy the table to "
                "Parquet."
            )

    def _describe(self, table: str) -> Relation:
        target = _table(table)
        with self._describing, self.session() as session:
            found = attempt(lambda: session.catalogue_of(target))
        if found is None:
            raise SourceUnavailable(
                f"table={table!r} cannot be read on source={self._address!r}. Allowed: a table or view, as name, "
                "schema.name or database.schema.name, in capitals unless it was created in quotes. Check the name, "
                "and that the role may read it."
            )
        described, tables = found
        columns = tuple(kind_of(row["name"], row["type"]) for row in described)
        # What is not surely stored as it is read: all of a view, columns with an expression or a masking policy.
        stored = [row for row in tables if row["name"] == target.name and row["kind"] in _STORED]
        plain = len(stored) == 1 and stored[0].get("is_external", "N") == "N"
        computed = {row["name"] for row in described if not plain or row["kind"] != "COLUMN" or _is_masked(row)}
        return Relation(target, Schema(columns), _DIALECT, convert, frozenset(computed))

    def _connect(self) -> Any:
        connection = _quietly(lambda: attempt(lambda: snowflake.connector.connect(**self._arguments)))
        if connection is None:
            raise SourceUnavailable(
                f"source={self._address!r} could not be reached, or refused the account. Allowed: an account of "
                "Snowflake that this machine and this user may connect to. Check account, user, password, role and "
                "warehouse; what the server said is withheld."
            )
        return connection

    @contextmanager
    def session(self) -> Iterator[SnowflakeSession]:
        """A connection for one question."""
        self._process.require(self._address)
        with self._connections.session() as session:
            yield session

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()


class SnowflakeSession:
    """A connection for one question, with temporary tables of its own."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._tables: list[str] = []

    def catalogue_of(self, target: exp.Table) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The columns of a table, whose name is completed, and the tables of its schema that are called like it."""
        if not target.catalog:
            ((database, schema),) = self.fetch("SELECT CURRENT_DATABASE(), CURRENT_SCHEMA()")
            target.set("catalog", exp.to_identifier(database, quoted=True))
            target.set("db", target.args.get("db") or exp.to_identifier(schema, quoted=True))
        within = _DIALECT.sql(exp.table_(target.db, db=target.catalog, quoted=True))
        tables = self._described(f"SHOW TABLES LIKE {_pattern(target.name)} IN SCHEMA {within}")
        return self._described(f"DESCRIBE TABLE {_DIALECT.sql(target.copy())}"), tables

    def _described(self, statement: str) -> list[dict[str, Any]]:
        """The rows of a statement about the catalogue, by the names of their columns."""
        cursor = _quietly(lambda: self._connection.cursor().execute(statement))
        names = [column[0].lower() for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return _run(lambda: [tuple(row) for row in self._connection.cursor().execute(query).fetchall()])

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in batches."""
        cursor = _run(lambda: self._connection.cursor().execute(query))
        yield from run_in_batches(lambda: _quietly(lambda: [tuple(row) for row in cursor.fetchmany(BATCH)]))

    def explain(self, query: str) -> None:
        """Plan a query."""
        _run(lambda: self._connection.cursor().execute(f"EXPLAIN USING TEXT {query}"))

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """Keep the rows of a query in a temporary table."""
        self._create(table, _DIALECT.sql(_DIALECT.keep(table, query)))

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A table of the caller's items."""
        declared = ", ".join(f'"{column.name}" {type_of(column)}' for column in columns)
        self._create(table, f'CREATE TEMPORARY TABLE "{table}" ({declared})')
        for start in range(0, len(rows), _ROWS):
            values = [
                exp.Tuple(expressions=[_constant(value, column) for value, column in zip(row, columns, strict=True)])
                for row in rows[start : start + _ROWS]
            ]
            statement = _DIALECT.sql(exp.insert(exp.Values(expressions=values), table))
            _run(lambda statement=statement: self._connection.cursor().execute(statement))  # type: ignore[misc]

    def _create(self, table: str, statement: str) -> None:
        _run(lambda: self._connection.cursor().execute(statement))
        # Only what was made here is dropped: a table of that name may be somebody's own. After a failure the
        # connection is closed, which drops what the engine may have made all the same.
        self._tables.append(table)

    def empty(self) -> bool:
        """Drop the temporary tables; whether all of them are gone."""
        return bool(_quietly(lambda: attempt(self._drop)))

    def close(self) -> None:
        """Disconnect, which ends the session and its temporary tables."""
        _quietly(lambda: attempt(self._connection.close))

    def _drop(self) -> bool:
        for table in self._tables:
            self._connection.cursor().execute(f'DROP TABLE IF EXISTS "{table}"')
        return True


def _table(name: str) -> exp.Table:
    rest, _, table = name.rpartition(".")
    database, _, schema = rest.rpartition(".")
    return exp.table_(table, db=schema or None, catalog=database or None, quoted=True)


def _constant(value: Item, column: Column) -> exp.Expr:
    return exp.null() if value is None else _DIALECT.literal(value, column)  # type: ignore[arg-type]


def _pattern(name: str) -> str:
    """A pattern of SHOW that the name matches; whoever asks leaves out the others that match."""
    return str(_DIALECT.sql(exp.Literal.string(name.replace("\\", "\\\\"))))


def _is_masked(row: Mapping[str, Any]) -> bool:
    """Whether a column is computed, or changed by a policy, when it is read."""
    return bool(row.get("expression") or row.get("policy name"))


def _quietly(action: Callable[[], T]) -> T:
    """Run with the client's loggers silenced: they log statements, and errors, which quote rows."""
    with silence_package("snowflake"):
        return action()


def _run(action: Callable[[], T]) -> T:
    return _quietly(lambda: run_guarded(action))


def _arguments(location: object) -> tuple[dict[str, Any], str]:
    """The client's arguments, and the name of the source in messages."""
    url = urlsplit(location) if isinstance(location, str) else None
    if url is None or not url.hostname or url.username is None:
        raise InvalidArgument(
            "source", "another object" if url is None else "another URL",
            allowed="snowflake://user:password@account/database/schema?warehouse=...&role=...",
        )  # fmt: skip
    options = dict(parse_qsl(url.query))
    strange = sorted(set(options) - set(_OPTIONS))
    if strange:
        raise InvalidArgument("source", f"a URL with {strange[0]}", allowed=f"the options {', '.join(_OPTIONS)}")
    account = url.netloc.rpartition("@")[2].lower()
    places = [unquote(part) for part in url.path.split("/") if part]
    arguments: dict[str, Any] = {
        "account": account,
        "user": unquote(url.username),
        **({"password": unquote(url.password)} if url.password else {}),
        **dict(zip(("database", "schema"), places, strict=False)),
        **options,
        "session_parameters": _SESSION,
    }
    for name in _NUMBERS:
        if name in options and not options[name].isdecimal():
            raise InvalidArgument("source", f"a URL with another {name}", allowed=f"an integer as {name}")
        arguments |= {name: int(options[name])} if name in options else {}
    return arguments, f"snowflake://{account}"
