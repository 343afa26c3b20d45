"""A source that is one table or view of a database, described by asking the database for its columns."""

from __future__ import annotations

from abc import abstractmethod

from podium.errors import SourceUnavailable
from podium.sources.isolation import Process
from podium.sources.sql.relation import Relation
from podium.sources.sql.sql_source import SqlSource

__all__ = ["OneProcessSource", "TableSource"]


class TableSource(SqlSource):
    """The table is described when the source is opened, and again before each question."""

    _wanted: str
    """The table's name, as it was given."""
    _relation: Relation

    def _open(self, table: str) -> None:
        """Describe the table for the first time, and close what was opened if it cannot be read."""
        self._wanted = table
        try:
            self._relation = self._describe(table)
        except SourceUnavailable:
            self.close()
            raise

    @abstractmethod
    def _describe(self, table: str) -> Relation:
        """The columns of a table of this database."""

    def relation(self) -> Relation:
        """The table of events."""
        return self._relation

    def domain_relation(self, table: str) -> Relation:
        """Another table of the same database."""
        return self._describe(table)

    def _refresh(self) -> None:
        """Describe the table again."""
        self._relation = self._describe(self._wanted)


class OneProcessSource(TableSource):
    """A table that only the process which opened it can read: what connects to the engine does not survive a fork."""

    _address: str
    _process: Process

    @property
    def name(self) -> str:
        """The address, without account, password and parameters."""
        return self._address

    def _refresh(self) -> None:
        """Describe the table again, in the process that opened it."""
        self._process.require(self._address)
        super()._refresh()
