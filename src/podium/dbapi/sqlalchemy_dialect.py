"""A dialect of SQLAlchemy, for tools that want an engine: ``create_engine("podium://", creator=...)``.

``podium://:TOKEN@HOST:PORT/DATASET`` is a service over https; ``?scheme=http`` is for one on this machine. A data set
is shown as a table with its columns, which is what tools list.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sqlalchemy import Connection, types
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedPrimaryKeyConstraint
from sqlalchemy.exc import NoSuchTableError

import podium.dbapi
from podium.query import Kind, Schema

__all__ = ["PodiumDialect"]

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

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module with PEP 249's names."""
        return podium.dbapi

    def create_connect_args(self, url: URL) -> tuple[list[str], dict[str, Any]]:
        """The service's address, and what ``podium.dbapi.connect`` takes beside it."""
        scheme = str(url.query.get("scheme", "https"))
        host = url.host or "localhost"
        place = f"{scheme}://[{host}]" if ":" in host else f"{scheme}://{host}"
        address = place if url.port is None else f"{place}:{url.port}"
        return [address], {"token": url.password, "dataset": url.database}

    def initialize(self, connection: Connection) -> None:
        """Ask the server nothing: each statement is a question, and costs."""

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
