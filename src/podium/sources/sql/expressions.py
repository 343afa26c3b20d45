"""Expressions that several queries share, and the names of tables and columns in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

__all__ = [
    "BUCKET",
    "COUNT",
    "MEMBERS",
    "PAIRS",
    "ROWS",
    "SIZE",
    "USER",
    "VALUE",
    "WEIGHT",
    "any_of",
    "ascending",
    "column",
    "descending",
    "number_among",
    "row_column",
    "row_number",
    "rows",
]  # fmt: skip

ROWS, PAIRS = "rows_", "pairs"
USER, COUNT, SIZE, MEMBERS, WEIGHT, VALUE, BUCKET = "u", "n", "t", "m", "w", "v", "j"


def column(name: str, table: str | None = None) -> exp.Column:
    """A column of podium's own tables."""
    return exp.column(name, table=table)


def row_column(name: str) -> exp.Column:
    """A column of the owner's table, quoted."""
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(ROWS))


def rows() -> exp.Expr:
    """How many rows there are."""
    return exp.Count(this=exp.Star())


def ascending(name: str, table: str | None = None) -> exp.Expr:
    """The smallest first."""
    return exp.Ordered(this=column(name, table), desc=False)


def descending(name: str, table: str | None = None) -> exp.Expr:
    """The largest first."""
    return exp.Ordered(this=column(name, table), desc=True)


def row_number(groups: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """The position of each row in its group, from 1; the smallest first, unless a key says otherwise."""
    keys = [key if isinstance(key, exp.Ordered) else exp.Ordered(this=key, desc=False) for key in order]
    by = exp.Order(expressions=keys)
    return exp.Window(this=exp.RowNumber(), partition_by=list(groups), order=by)


def any_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Whether one of them holds, as a balanced tree, because engines limit the depth of expressions."""
    if len(conditions) <= 2:
        return exp.or_(*conditions)
    half = len(conditions) // 2
    return exp.or_(*(exp.paren(any_of(part), copy=False) for part in (conditions[:half], conditions[half:])))


def number_among(value: exp.Expr, numbers: Iterable[int]) -> exp.Expr:
    """Whether the value is one of these numbers."""
    return exp.In(this=value, expressions=[exp.Literal.number(number) for number in numbers])
