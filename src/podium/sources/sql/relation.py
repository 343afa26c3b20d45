"""Tables as queries see them: the events, a domain, the excluded items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import ROWS, row_column

__all__ = ["ItemTable", "Relation"]


def _same(value: exp.Expr, _column: Column) -> exp.Expr:
    return value


@dataclass(frozen=True, slots=True)
class Relation:
    """A table in an engine: what to write after FROM, its columns, and how to convert a raw value to its kind.

    ``clean(value, column)`` converts types outside podium's kinds: a declared CSV column, an enumeration, a timestamp
    with time zone. It must not raise on any value.

    ``computed`` are the columns that user-defined expressions compute on every read: all columns of a view, a foreign
    table or a table with row policies, and the virtual columns of a table. Such an expression may raise, so podium's
    conditions must not decide for which rows it is evaluated.
    """

    table: exp.Expr
    schema: Schema
    dialect: Dialect
    clean: Callable[[exp.Expr, Column], exp.Expr] = _same
    computed: frozenset[str] = frozenset()

    def rows(self, names: Iterable[str]) -> exp.Expr:
        """What to write after FROM: the table, or a fence with only these columns if one of them is computed."""
        if not self.computes(names):
            return exp.alias_(self.table.copy(), ROWS, table=True)
        return self.fence(names).subquery(ROWS)

    def computes(self, names: Iterable[str]) -> bool:
        """Whether a user-defined expression computes one of these columns."""
        return not self.computed.isdisjoint(names)

    def fence(self, names: Iterable[str]) -> exp.Select:
        """These columns, computed for every row before any condition applies."""
        return self.dialect.fence(exp.alias_(self.table.copy(), ROWS, table=True), tuple(dict.fromkeys(names)))

    def kept_rows(self, names: Iterable[str], table: str) -> tuple[Relation, dict[str, exp.Select]]:
        """The same rows, kept in that table if one of the columns is computed, and the query to keep there."""
        wanted = tuple(names)
        return (self.kept_as(table), {table: self.fence(wanted)}) if self.computes(wanted) else (self, {})

    def shown_as(self, name: str) -> Relation:
        """The same under another name, for readers who should not see where the data is."""
        return replace(self, table=exp.Table(this=exp.to_identifier(name, quoted=True)))

    def kept_as(self, table: str) -> Relation:
        """The same columns in a temporary table that keeps them."""
        return replace(self, table=exp.to_table(table), computed=frozenset())

    def value(self, raw: exp.Expr, column: Column) -> exp.Expr:
        """A value of the column's kind; text compares by its bytes."""
        clean = self.clean(raw, column)
        return self.dialect.binary(clean) if column.kind is Kind.TEXT else clean

    def column(self, name: str) -> tuple[exp.Expr, Column]:
        """A column of a row of this table."""
        column = self.schema.column(name)
        return self.value(row_column(name), column), column


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Items that the engine can read as a table: a relation, and its columns in the order of the item columns."""

    relation: Relation
    columns: tuple[str, ...]

    @property
    def computes(self) -> bool:
        """Whether a user-defined expression computes one of the columns."""
        return self.relation.computes(self.columns)
