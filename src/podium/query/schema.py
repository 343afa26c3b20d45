"""The schema that the owner declares: columns and their kinds, all public."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from podium.errors import UnknownColumn

__all__ = ["Column", "Kind", "Schema"]


class Kind(StrEnum):
    """The kinds of values that podium understands, the same on every engine."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    FLOAT = "float"
    LIST = "list"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``element`` is the kind of a list's elements, ``scale`` the digits after a decimal's point.

    ``unsigned`` integers reach up to 2^64 - 1.
    """

    name: str
    kind: Kind
    element: Kind | None = None
    scale: int = 0
    unsigned: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, in order."""

    columns: tuple[Column, ...]

    def is_of(self, name: str, table: str, *, main: str) -> bool:
        """Whether a column may be qualified by a table; ``main`` is the table of events, which has all columns here."""
        return table == main

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{column.name}: {column.kind.value}' for column in self.columns)})"

    @property
    def is_open(self) -> bool:
        """Whether any name is a column, as in JSON."""
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str, *, role: str = "column") -> Column:
        """The column of that name; ``role`` names the argument in the error."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownColumn(role, name, self.names)
