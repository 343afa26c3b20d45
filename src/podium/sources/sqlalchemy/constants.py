"""A database behind SQLAlchemy without a table: its sessions answer queries about constants."""

from __future__ import annotations

from sqlglot import exp

from podium.query.schema import Kind, Schema
from podium.sources.sql.relation import Relation
from podium.sources.sqlalchemy.dialect import Flavour
from podium.sources.sqlalchemy.source import SQLAlchemySource

__all__ = ["SQLAlchemyConstants"]


class SQLAlchemyConstants(SQLAlchemySource):
    """Opened although the engine may fail the test that a source must pass: to say what it fails."""

    @property
    def flavour(self) -> Flavour:
        """How this engine differs from others."""
        return self._flavour

    @property
    def engine_name(self) -> str:
        """SQLAlchemy's name of the engine; one driver reaches MySQL and MariaDB."""
        return "mariadb" if getattr(self._engine.dialect, "is_mariadb", False) else self._engine.dialect.name

    def version(self) -> str:
        """What the driver found when it connected; empty if it does not say."""
        found = getattr(self._engine.dialect, "server_version_info", None) or ()
        return ".".join(str(part) for part in found if isinstance(part, int))

    def _describe(self, table: str) -> Relation:
        return Relation(exp.to_table(table), Schema(()), self._flavour.dialect)

    def _require_exact(self, kind: Kind) -> None:
        """Nothing: whoever checks an engine asks this itself."""
