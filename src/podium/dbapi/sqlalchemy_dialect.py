"""A dialect of SQLAlchemy, for tools that want an engine: ``create_engine("podium://", creator=...)``.

``podium://:TOKEN@HOST:PORT/DATASET`` is a service over https; ``?scheme=http`` is for one on this machine. ``epsilon``,
``intervals`` and ``timeout`` may be stated there as for ``podium.dbapi.connect``. A data set is shown as a table with
its columns, which is what tools list.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, types
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import IsolationLevel, ReflectedColumn, ReflectedPrimaryKeyConstraint
from sqlalchemy.exc import ArgumentError, NoSuchTableError

import podium.dbapi
from podium.query import Kind, Schema

__all__ = ["PodiumDialect"]


def _truth(text: str) -> bool:
    found = {"true": True, "false": False}.get(text.lower())
    if found is None:
        raise ArgumentError(f"intervals={text!r} is not allowed. Allowed: true and false.")
    return found


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"timeout={text!r} is not allowed. Allowed: a number of seconds.") from None


_OPTIONS: dict[str, Callable[[str], Any]] = {"epsilon": str, "intervals": _truth, "timeout": _seconds}

_TYPES: dict[Kind, type[types.TypeEngine[Any]]] = {
    Kind.TEXT: types.Text,
    Kind.INTEGER: types.BigInteger,
    Kind.DECIMAL: types.Numeric,
    Kind.BOOLEAN: types.Boolean,
    Kind.DATE: types.Date,
    Kind.TIMESTAMP: types.DateTime,
}


class PodiumDialect(DefaultDialect):
    """Statements are compiled as standard SQL with question marks; podium parses them by its allow-list."""

    name = "podium"
    driver = "dbapi"
    supports_statement_cache = True
    default_paramstyle = "qmark"
    default_isolation_level: IsolationLevel | None = "AUTOCOMMIT"

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module with PEP 249's names."""
        return podium.dbapi

    def create_connect_args(self, url: URL) -> tuple[list[str], dict[str, Any]]:
        """The service's address, and what ``podium.dbapi.connect`` takes beside it.

        An option that is not known is refused: a misspelled epsilon would let statements cost what nobody wanted.
        """
        strange = sorted(set(url.query) - {"scheme", *_OPTIONS})
        if strange:
            raise ArgumentError(f"{strange[0]!r} is no option of podium://. Allowed: scheme, {', '.join(_OPTIONS)}.")
        scheme = url.query.get("scheme", "https")
        if scheme not in ("https", "http"):
            raise ArgumentError(f"scheme={scheme!r} is not allowed. Allowed: https and http.")
        host = url.host or "localhost"
        place = f"{scheme}://[{host}]" if ":" in host else f"{scheme}://{host}"
        address = place if url.port is None else f"{place}:{url.port}"
        options = {name: read(str(url.query[name])) for name, read in _OPTIONS.items() if name in url.query}
        return [address], {"token": url.password, "dataset": url.database, **options}

    def initialize(self, connection: Connection) -> None:
        """Ask the server nothing: each statement is a question, and costs."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the connection is open, without the SELECT 1 that other databases answer: pools ask this."""
        _ = dbapi_connection.answering
        return True

    def get_isolation_level_values(self, dbapi_conn: Any) -> list[IsolationLevel]:
        """One: there are no transactions."""
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: Any) -> IsolationLevel:
        """The only one."""
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: Any, level: IsolationLevel) -> None:
        """Do nothing: tools ask for AUTOCOMMIT, and there is nothing else."""

    def get_schema_names(self, connection: Connection, **_: Any) -> list[str]:
        """None: data sets have no schemas above them."""
        return []

    def get_table_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """The data set, or its tables if it has several."""
        answering = _answering(connection)
        return [] if answering.dataset is None else list(answering.schemas)

    def get_view_names(self, connection: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """None."""
        return []

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Whether it is the name of the data set."""
        return table_name in self.get_table_names(connection)

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[ReflectedColumn]:
        """The columns that questions may name."""
        schemas: dict[str, Schema] = _answering(connection).schemas
        if table_name not in schemas:
            raise NoSuchTableError(table_name)
        found = schemas[table_name]
        return [
            {"name": one.name, "type": _TYPES.get(one.kind, types.Text)(), "nullable": True, "default": None}
            for one in found.columns
        ]

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> ReflectedPrimaryKeyConstraint:
        """None."""
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        """None."""
        return []

    def get_indexes(self, connection: Connection, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        """None."""
        return []


def _answering(connection: Connection) -> Any:
    driver: Any = connection.connection.driver_connection
    return driver.answering
