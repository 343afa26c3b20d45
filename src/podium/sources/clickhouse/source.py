"""ClickHouse: a server, or the engine embedded in this process (chDB); the same driver and the same SQL for both."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from sqlglot import exp

from podium.errors import InvalidArgument, SourceUnavailable
from podium.errors.installing import install_command
from podium.histogram import Item
from podium.query.schema import Column, Kind, Schema
from podium.sources.clickhouse.dialect import ClickHouse
from podium.sources.clickhouse.types import column_of, convert, type_of
from podium.sources.idle_connections import IdleConnections
from podium.sources.isolation import Process, attempt, run_guarded
from podium.sources.quiet import silence_package
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import Relation
from podium.sources.sql.table_source import OneProcessSource

__all__ = ["ClickHouseSource"]

_DIALECT = ClickHouse()
_OVERFLOWS = ("distinct", "group_by", "join", "read", "result", "set", "sort", "timeout", "transfer")
# A profile may let a query that exceeds a limit return a partial result, or cut it to some rows.
_SETTINGS = {
    **{f"{limited}_overflow_mode": "throw" for limited in _OVERFLOWS},
    **{f"{limited}_overflow_mode_leaf": "throw" for limited in ("read", "timeout")},
    "limit": 0,
    "offset": 0,
    "distributed_group_by_no_merge": 0,
    "empty_result_for_aggregation_by_empty_set": 0,
    "output_format_decimal_trailing_zeros": 0,
    "skip_unavailable_shards": 0,
    "session_timeout": 900,
    "transform_null_in": 0,
}
_STORED = re.compile(r"\w*MergeTree|Memory|TinyLog|StripeLog|Log|MaterializedView")
_QUERY_SECONDS = 24 * 60 * 60
_SERVER = ("clickhouse", "clickhouses")
_EMBEDDED = "chdb"

T = TypeVar("T")


class ClickHouseSource(OneProcessSource):
    """A table of a ClickHouse server or of an embedded chDB.

    ``location`` is ``clickhouse://user:password@host:port/database`` (``clickhouses://`` for TLS; the port is that of
    the HTTP interface), ``chdb:///folder``, or a chDB session; ``table`` is a name or ``database.name``. What a
    question keeps is a temporary table, so the account must be allowed to make those and to change settings
    (``readonly`` 0 or 2). Opening asks for the columns; nothing is read from rows.
    """

    sql_dialect: Dialect = _DIALECT

    def __init__(self, location: object, *, table: str | None = None) -> None:
        self._arguments, self._address = _arguments(location)
        if table is None:
            raise InvalidArgument("table", table, allowed="the name of a table, or database.name")
        self._client, self._describing = self._connect(), Lock()
        # Connecting reads all settings of the server.
        self._connections = IdleConnections(self._connect, ClickHouseSession)
        self._process = Process()
        self._open(table)

    def implied_schemas(self) -> tuple[str, ...]:
        """The database in which names without one are found."""
        with self._describing:
            found = _quietly(lambda: attempt(lambda: self._client.command("SELECT currentDatabase()")))
        return (found,) if isinstance(found, str) else ()

    def _connect(self) -> Client:
        arguments = {**self._arguments, "settings": dict(_SETTINGS)}
        client = _quietly(lambda: attempt(lambda: clickhouse_connect.get_client(**arguments)))
        if client is None:
            hint = "Check host, port, account and password, and that the server runs."
            if "path" in self._arguments:
                hint = "A process can open one folder, and a folder one process; chdb must be installed. "
                hint += f"Run: {install_command('chdb')}"
            raise SourceUnavailable(f"source={self._address!r} could not be opened. {hint}")
        return client

    def _describe(self, table: str) -> Relation:
        target = _table(table)
        query = _DIALECT.sql(exp.Describe(this=target.copy(), kind="TABLE"))
        # The driver refuses two queries of one session at a time.
        with self._describing:
            rows = _quietly(lambda: attempt(lambda: self._client.query(query).result_rows))
        if rows is None:
            raise SourceUnavailable(
                f"table={table!r} cannot be read on source={self._address!r}. Allowed: a table or view of the "
                "database, or database.name. Check the name, and that the account may read it."
            )
        types = {str(row[0]): str(row[1]) for row in rows}
        columns = tuple(column_of(name, type_) for name, type_ in types.items())
        # A default of a column that was added later is computed for the rows that were there before.
        computed = types if not self._stores_rows(target) else (str(row[0]) for row in rows if row[2])
        return Relation(target, Schema(columns), _DIALECT, _Cleaner(types), frozenset(computed))

    def _stores_rows(self, target: exp.Table) -> bool:
        """Whether the table stores its rows on this server, so that its columns are not computed on read."""
        query = (
            "SELECT engine FROM system.tables WHERE name = {name:String} "
            "AND database = if({database:String} = '', currentDatabase(), {database:String})"
        )
        parameters = {"name": target.name, "database": target.db}
        with self._describing:
            found = _quietly(lambda: attempt(lambda: self._client.query(query, parameters).result_rows))
        return found is not None and [row for row in found if _STORED.fullmatch(str(row[0]))] != []

    @contextmanager
    def session(self) -> Iterator[ClickHouseSession]:
        """A connection for one question."""
        self._process.require(self._address)
        with self._connections.session() as session:
            yield session

    def close(self) -> None:
        """Close the connections."""
        ClickHouseSession(self._client).close()
        self._connections.close()


class ClickHouseSession:
    """A connection for one question, with temporary tables of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tables: list[str] = []

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        return _run(lambda: [tuple(row) for row in self._client.query(query).result_rows])

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in the engine's blocks, of which some may be empty."""
        with ExitStack() as open_stream:
            blocks = _run(lambda: iter(open_stream.enter_context(self._client.query_row_block_stream(query))))
            while (block := _run(lambda: next(blocks, None))) is not None:
                yield [tuple(row) for row in block]

    def explain(self, query: str) -> None:
        """Plan a query."""
        _run(lambda: self._client.query(f"EXPLAIN {query}"))

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """Keep the rows of a query in a temporary table."""
        self._create(table, _DIALECT.sql(_DIALECT.keep(table, query)))

    def load(self, table: str, columns: tuple[Column, ...], rows: Sequence[tuple[Item, ...]]) -> None:
        """A table of the caller's items."""
        names = [column.name for column in columns]
        missing = [any(row[place] is None for row in rows) for place in range(len(columns))]
        types = [
            f"Nullable({type_of(column)})" if null else type_of(column)
            for column, null in zip(columns, missing, strict=True)
        ]
        declared = ", ".join(f"{name} {type_}" for name, type_ in zip(names, types, strict=True))
        self._create(table, f"CREATE TEMPORARY TABLE {table} ({declared})")
        if not rows:
            return
        values = [[_writable(row[place], column) for row in rows] for place, column in enumerate(columns)]
        _run(
            lambda: self._client.insert(
                table, values, column_names=names, column_type_names=types, column_oriented=True
            )
        )

    def _create(self, table: str, statement: str) -> None:
        self._tables.append(table)
        _run(lambda: self._client.command(statement))

    def empty(self) -> bool:
        """Drop the temporary tables, because a server keeps a session for a while; whether all of them are gone."""
        return bool(_quietly(lambda: attempt(self._drop)))

    def close(self) -> None:
        """Disconnect."""
        _quietly(lambda: attempt(self._client.close))

    def _drop(self) -> bool:
        for table in self._tables:
            self._client.command(f"DROP TEMPORARY TABLE IF EXISTS {table}")
        return True


@dataclass(frozen=True, slots=True)
class _Cleaner:
    types: Mapping[str, str]

    def __call__(self, value: exp.Expr, column: Column) -> exp.Expr:
        return convert(value, column, self.types[column.name])


def _quietly(action: Callable[[], T]) -> T:
    """Run with the driver's loggers silenced: they log exceptions, which quote rows."""
    with silence_package(clickhouse_connect.__name__):
        return action()


def _run(action: Callable[[], T]) -> T:
    return _quietly(lambda: run_guarded(action))


def _arguments(location: object) -> tuple[dict[str, Any], str]:
    """The driver's arguments, and the name of the source in messages."""
    if isinstance(location, str):
        url = urlsplit(location)
        scheme = url.scheme.partition("+")[0].lower()
        if scheme == _EMBEDDED and not url.netloc:
            return _embedded(unquote(url.path))
        if scheme in _SERVER and url.hostname:
            return _server(location, secure=scheme.endswith("s"))
    # A session does not say its folder in public; the embedded engine wants it spelled as it was, and no progress bar.
    elif type(location).__module__.partition(".")[0] == _EMBEDDED and isinstance(
        path := getattr(location, "_path", None), str
    ):
        folder = path.partition("?")[0]
        return _embedded(folder if folder.startswith((":memory:", "file:")) else f"file:{folder}")
    raise InvalidArgument(
        "source",
        type(location).__name__ if not isinstance(location, str) else "another URL",
        allowed="clickhouse://user:password@host:port/database, chdb:///folder, or a chDB session",
    )


def _embedded(path: str) -> tuple[dict[str, Any], str]:
    return {"interface": _EMBEDDED, "path": path or ":memory:"}, f"chdb://{path.removeprefix('file:')}"


def _server(location: str, *, secure: bool) -> tuple[dict[str, Any], str]:
    url = urlsplit(location)
    try:
        port = url.port or (8443 if secure else 8123)
    except ValueError:
        raise InvalidArgument("source", "a URL with another port", allowed="a port from 1 to 65535") from None
    database = unquote(url.path.strip("/"))
    arguments = {
        "interface": "https" if secure else "http",
        "host": url.hostname,
        "port": port,
        "username": unquote(url.username) if url.username else None,
        "password": unquote(url.password or ""),
        "database": database or None,
        "compress": False,
        "send_receive_timeout": _QUERY_SECONDS,
    }
    return arguments, f"{url.scheme}://{url.hostname}:{port}/{database}"


def _table(name: str) -> exp.Table:
    database, _, table = name.rpartition(".")
    return exp.table_(table, db=database or None, quoted=True)


def _writable(value: Any, column: Column) -> Any:
    if value is None:
        return None
    if column.kind is Kind.DECIMAL:
        return Decimal(value)
    # The driver treats a time without zone as local time.
    return value.replace(tzinfo=dt.UTC) if column.kind is Kind.TIMESTAMP else value
