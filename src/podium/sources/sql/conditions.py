"""Conditions on rows, as SQL that cannot raise on any row."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.query.predicate import (
    And,
    Between,
    Compare,
    Like,
    Literal,
    Missing,
    Not,
    OneOf,
    Operator,
    Or,
    Predicate,
)
from podium.query.schema import Column, Kind
from podium.sources.item_text import COUNTABLE
from podium.sources.sql.dialect import Dialect

__all__ = ["ColumnOf", "check_condition", "columns_of", "condition", "depth_of", "literal_fits", "value_fits"]

ColumnOf: TypeAlias = Callable[[str], tuple[exp.Expr, Column]]
"""From a column's name to its cleaned expression and its declaration."""

_COMPARISONS: dict[Operator, type[exp.Binary]] = {
    Operator.EQUAL: exp.EQ,
    Operator.UNEQUAL: exp.NEQ,
    Operator.LESS: exp.LT,
    Operator.AT_MOST: exp.LTE,
    Operator.MORE: exp.GT,
    Operator.AT_LEAST: exp.GTE,
}
_DOWNWARDS = (Operator.LESS, Operator.AT_MOST)
_MAX_DIGITS = 38
_MAX_LENGTH = 1000


def condition(predicate: Predicate, column_of: ColumnOf, dialect: Dialect) -> exp.Expr:
    """The predicate in SQL, with SQL's three-valued logic.

    Nothing is copied: every node is created here and used once, and each copy would copy the whole tree so far.
    """
    match predicate:
        case Not(part):
            return exp.not_(_enclosed(part, column_of, dialect), copy=False)
        case And(parts):
            return exp.and_(*(_enclosed(part, column_of, dialect) for part in parts), copy=False)
        case Or(parts):
            either = exp.or_(*(_enclosed(part, column_of, dialect) for part in parts), copy=False)
            return exp.paren(either, copy=False)
        case Missing(name):
            return column_of(name)[0].is_(exp.null())
        case Like(name, parts):
            return dialect.like(column_of(name)[0], parts)
        case Between(name, low, high):
            bounds = And((Compare(name, Operator.AT_LEAST, low), Compare(name, Operator.AT_MOST, high)))
            return condition(bounds, column_of, dialect)
        case OneOf(name, values):
            value, column = column_of(name)
            constants = [dialect.literal(exact, column) for exact in values if _reachable(exact, column, dialect)]
            return exp.In(this=value, expressions=constants) if constants else _never(value)
        case Compare(name, operator, constant):
            value, column = column_of(name)
            return _compare(value, column, operator, constant, dialect)


def _enclosed(predicate: Predicate, column_of: ColumnOf, dialect: Dialect) -> exp.Expr:
    return exp.paren(condition(predicate, column_of, dialect), copy=False)


def _compare(value: exp.Expr, column: Column, operator: Operator, constant: Literal, dialect: Dialect) -> exp.Expr:
    """A comparison. A constant that the column's type cannot hold is replaced by an equivalent comparison.

    An engine converts both sides to one type, and on a wide column that could overflow for some rows only.
    """
    if _reachable(constant, column, dialect):
        return _COMPARISONS[operator](this=value, expression=dialect.literal(constant, column))
    if operator is Operator.EQUAL:
        return _never(value)
    if operator is Operator.UNEQUAL:
        return _always(value)
    units = _units(constant, column)
    largest = 10 ** _digits(column, dialect) - 1
    if abs(units) > largest:
        return _always(value) if (operator in _DOWNWARDS) == (units > 0) else _never(value)
    near = math.floor(units) if operator in _DOWNWARDS else math.ceil(units)
    inclusive = Operator.AT_MOST if operator in _DOWNWARDS else Operator.AT_LEAST
    return _COMPARISONS[inclusive](this=value, expression=dialect.literal(Decimal(f"{near}E-{column.scale}"), column))


def _reachable(constant: Literal, column: Column, dialect: Dialect) -> bool:
    """Whether the column's type can hold the constant."""
    if column.kind is Kind.INTEGER or (column.kind is Kind.DECIMAL and dialect.decimal_digits is not None):
        units = _units(constant, column)
        return units.denominator == 1 and abs(units) < 10 ** _digits(column, dialect)
    return True


def _digits(column: Column, dialect: Dialect) -> int:
    """How many digits a constant to compare the column with may have."""
    return (dialect.decimal_digits if column.kind is Kind.DECIMAL else None) or _MAX_DIGITS


def _units(constant: Literal, column: Column) -> Fraction:
    """The number in units of the column's last digit."""
    return Fraction(constant) * Fraction(10) ** column.scale  # type: ignore[arg-type]


def _never(value: exp.Expr) -> exp.Expr:
    """False, or missing where the value is."""
    return exp.NEQ(this=value, expression=value.copy())


def _always(value: exp.Expr) -> exp.Expr:
    """True, or missing where the value is."""
    return exp.EQ(this=value, expression=value.copy())


def columns_of(predicate: Predicate | None) -> tuple[str, ...]:
    """The columns that a predicate uses."""
    match predicate:
        case None:
            return ()
        case Not(part):
            return columns_of(part)
        case And(parts) | Or(parts):
            return tuple(name for part in parts for name in columns_of(part))
        case _:
            return (predicate.column,)


def depth_of(predicate: Predicate | None) -> int:
    """How deeply AND, OR and NOT are nested."""
    match predicate:
        case Not(part):
            return 1 + depth_of(part)
        case And(parts) | Or(parts):
            return 1 + max(map(depth_of, parts), default=0)
        case _:
            return 0


def check_condition(predicate: Predicate, column: Callable[[str], Column]) -> None:
    """Raise unless every column exists and every literal has exactly its column's kind."""
    match predicate:
        case Not(part):
            check_condition(part, column)
        case And(parts) | Or(parts):
            if not parts:
                raise InvalidArgument("where", "an empty AND or OR", allowed="one or more conditions")
            for part in parts:
                check_condition(part, column)
        case Missing(name):
            column(name)
        case Like(name, parts):
            _check_literals(column(name), tuple(str(part) for part in parts), Kind.TEXT)
        case Between(name, low, high):
            _check_literals(column(name), (low, high))
        case OneOf(name, values):
            _check_literals(column(name), values)
        case Compare(name, _, value):
            _check_literals(column(name), (value,))


def _check_literals(column: Column, values: tuple[Literal, ...], kind: Kind | None = None) -> None:
    if column.kind not in COUNTABLE or kind not in (None, column.kind):
        allowed = [kind.value] if kind else [kind.value for kind in COUNTABLE]
        raise InvalidArgument(
            "where",
            column.name,
            allowed=f"a column of kind {', '.join(allowed)} in this condition",
            hint=f"Column {column.name!r} is of kind {column.kind.value}.",
        )
    for value in values:
        if not literal_fits(value, column.kind):
            raise InvalidArgument(
                "where", value, allowed=f"a constant of kind {column.kind.value}, as column {column.name!r} is"
            )


def literal_fits(value: object, kind: Kind) -> bool:
    """Whether a constant is of exactly that kind, and can be written in SQL, which cannot carry a NUL."""
    if isinstance(value, str) and "\0" in value:
        return False
    return value_fits(value, kind) and not (isinstance(value, Decimal) and not _writable(value))


def value_fits(value: object, kind: Kind) -> bool:
    """Whether a value is of exactly that kind."""
    if kind is Kind.TEXT:
        # Half of a surrogate pair is not text.
        return isinstance(value, str) and (value.isascii() or _is_whole(value))
    if isinstance(value, bool):
        return kind is Kind.BOOLEAN
    if kind is Kind.DECIMAL:
        return isinstance(value, int) or (isinstance(value, Decimal) and value.is_finite())
    if kind is Kind.INTEGER:
        return isinstance(value, int)
    if isinstance(value, dt.datetime):
        return kind is Kind.TIMESTAMP and value.tzinfo is None
    return kind is Kind.DATE and isinstance(value, dt.date)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _writable(value: Decimal) -> bool:
    """Whether a number can be written without thousands of digits, unlike 1e999999."""
    return abs(value.adjusted()) < _MAX_LENGTH and len(value.as_tuple().digits) < _MAX_LENGTH
