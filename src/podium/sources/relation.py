"""Tables as queries see them: the events, a domain, the items that are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources.dialects import Dialect
from podium.sources.expressions import row_column

__all__ = ["Listed", "Relation"]


def _same(value: exp.Expr, _column: Column) -> exp.Expr:
    return value


@dataclass(frozen=True, slots=True)
class Relation:
    """A table in an engine: what to write after FROM, its columns, and how to bring a raw value to its kind.

    ``clean(value, column)`` is for types that an engine has beside the kinds of podium: a declared CSV column, an
    enumeration, a timestamp with time zone. It must not raise on any value.
    """

    table: exp.Expr
    schema: Schema
    dialect: Dialect
    clean: Callable[[exp.Expr, Column], exp.Expr] = _same

    def value(self, raw: exp.Expr, column: Column) -> exp.Expr:
        """A value of the column's kind; text compares by its bytes."""
        clean = self.clean(raw, column)
        return self.dialect.binary(clean) if column.kind is Kind.TEXT else clean

    def column(self, name: str) -> tuple[exp.Expr, Column]:
        """A column of a row of this table."""
        column = self.schema.column(name)
        return self.value(row_column(name), column), column


@dataclass(frozen=True, slots=True)
class Listed:
    """Items that the engine can read as a table: a relation, and its columns in the order of the item columns."""

    relation: Relation
    columns: tuple[str, ...]
