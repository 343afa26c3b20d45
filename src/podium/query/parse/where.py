"""Conditions: from a syntax tree to a predicate, by an allow-list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.canonical import all_of, any_of, negate, one_of
from podium.query.parse.literals import literal_for, literal_text
from podium.query.parse.syntax import parse_condition
from podium.query.predicate import Between, Compare, Like, Missing, Operator, Predicate, Wildcard
from podium.query.schema import Column, Kind, Schema

__all__ = ["find_column", "has_only", "parse_conditions", "parse_where", "predicate_of"]

_OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.EQ: Operator.EQUAL,
    exp.NEQ: Operator.UNEQUAL,
    exp.LT: Operator.LESS,
    exp.LTE: Operator.AT_MOST,
    exp.GT: Operator.MORE,
    exp.GTE: Operator.AT_LEAST,
}
_FLIPPED = {
    Operator.LESS: Operator.MORE,
    Operator.MORE: Operator.LESS,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.AT_MOST,
}
_ALLOWED = (
    "Allowed: comparisons of a column with a constant, IN, BETWEEN, LIKE, IS NULL, and AND, OR, NOT of these. "
    "Compute anything else into a column of the table first."
)
_MAX_VALUES = 1_000
_MAX_CONDITIONS = 20


def parse_where(text: str, *, schema: Schema, now: dt.datetime | None = None) -> Predicate:
    """The predicate that a WHERE text means; relative dates are fixed by ``now``, and refused without it."""
    return predicate_of(parse_condition(text), schema, now)


def parse_conditions(
    where: str | Iterable[str] | None, *, schema: Schema, now: dt.datetime | None = None
) -> Predicate | None:
    """The predicate of one WHERE text, or of several that must all hold; None for none.

    Each text is parsed by itself, so one cannot close what another opens.
    """
    if where is None:
        return None
    if isinstance(where, str) or not isinstance(where, Iterable):
        return parse_where(where, schema=schema, now=now)
    texts = list(where)
    if len(texts) > _MAX_CONDITIONS:
        raise QuestionRefused(
            f"{len(texts)} conditions", f"there are at most {_MAX_CONDITIONS}", hint="Join them with AND in one text."
        )
    return all_of([parse_where(text, schema=schema, now=now) for text in texts]) if texts else None


def predicate_of(node: exp.Expr, schema: Schema, now: dt.datetime | None) -> Predicate:
    """The predicate that a syntax tree means, in canonical form."""
    if type(node) is exp.Paren:
        return predicate_of(node.this, schema, now)
    if type(node) is exp.And:
        return all_of([predicate_of(part, schema, now) for part in _operands(node, exp.And)])
    if type(node) is exp.Or:
        return any_of([predicate_of(part, schema, now) for part in _operands(node, exp.Or)])
    if type(node) is exp.Not:
        return negate(predicate_of(node.this, schema, now))
    return _simple(node, schema, now)


def _operands(node: exp.Expr, kind: type[exp.Connector]) -> list[exp.Expr]:
    """The operands of a chain, without recursion, because a long chain is a deep tree."""
    parts: list[exp.Expr] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if type(current) is kind:
            stack += [current.expression, current.this]
        else:
            parts.append(current)
    return parts


def _simple(node: exp.Expr, schema: Schema, now: dt.datetime | None) -> Predicate:
    if type(node) in _OPERATORS:
        return _comparison(node, schema, now)
    if type(node) is exp.In and has_only(node, {"this", "expressions"}):
        column = _column(node.this, schema)
        values = [literal_for(column, value, now) for value in node.expressions]
        if not 0 < len(values) <= _MAX_VALUES:
            raise QuestionRefused(node.sql(), f"a list has 1 to {_MAX_VALUES} constants", hint=_ALLOWED)
        return one_of(column.name, values)
    if type(node) is exp.Between and has_only(node, {"this", "low", "high"}):
        column = _column(node.this, schema)
        _refuse_boolean_order(column, node)
        low, high = (literal_for(column, node.args[end], now) for end in ("low", "high"))
        return Between(column.name, low, high)
    if type(node) is exp.Column and (column := _column(node, schema)).kind is Kind.BOOLEAN:
        return Compare(column.name, Operator.EQUAL, True)
    if type(node) is exp.Is and type(node.expression) is exp.Null and has_only(node, {"this", "expression"}):
        return Missing(_column(node.this, schema).name)
    if type(node) in {exp.Like, exp.Escape}:
        return _like(node, schema)
    raise QuestionRefused(node.sql(), "this is not a condition that podium allows", hint=_ALLOWED)


def has_only(node: exp.Expr, names: set[str]) -> bool:
    """Whether only these parts of a syntax node are set."""
    return not any(value for name, value in node.args.items() if name not in names)


def _comparison(node: exp.Expr, schema: Schema, now: dt.datetime | None) -> Predicate:
    operator = _OPERATORS[type(node)]
    left, right = node.this, node.expression
    if type(left) is not exp.Column and type(right) is exp.Column:
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
    column = _column(left, schema)
    if operator not in {Operator.EQUAL, Operator.UNEQUAL}:
        _refuse_boolean_order(column, node)
    return Compare(column.name, operator, literal_for(column, right, now))


def _refuse_boolean_order(column: Column, node: exp.Expr) -> None:
    if column.kind is Kind.BOOLEAN:
        raise QuestionRefused(node.sql(), "booleans have no order", hint="Write = TRUE or = FALSE.")


def _like(node: exp.Expr, schema: Schema) -> Predicate:
    escape = None
    if type(node) is exp.Escape:
        escape = literal_text(node.expression)
        if escape is None or len(escape) != 1 or escape in "%_":
            raise QuestionRefused(node.sql(), "ESCAPE takes one character other than % and _", hint="Write ESCAPE '!'.")
        node = node.this
    pattern = literal_text(node.expression) if type(node) is exp.Like else None
    if pattern is None or not has_only(node, {"this", "expression", "negate"}):
        raise QuestionRefused(node.sql(), "LIKE compares a text column with a constant pattern", hint=_ALLOWED)
    column = _column(node.this, schema)
    if column.kind is not Kind.TEXT:
        raise QuestionRefused(node.sql(), f"column {column.name!r} is {column.kind}, not text", hint=_ALLOWED)
    literal_for(column, node.expression, None)
    like = Like(column.name, _pattern_parts(pattern, escape, node))
    return negate(like) if node.args.get("negate") else like


def _pattern_parts(pattern: str, escape: str | None, node: exp.Expr) -> tuple[str | Wildcard, ...]:
    parts: list[str | Wildcard] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, "")
            if following not in {"%", "_", escape}:
                raise QuestionRefused(node.sql(), "the escape must stand before %, _ or itself", hint=_ALLOWED)
            character = following  # noqa: PLW2901
        elif character in "%_":
            if character == "_" or not parts or parts[-1] is not Wildcard.MANY:
                parts.append(Wildcard(character))
            continue
        if parts and not isinstance(parts[-1], Wildcard):
            parts[-1] += character
        else:
            parts.append(character)
    return tuple(parts)


def _column(node: exp.Expr, schema: Schema) -> Column:
    if type(node) is not exp.Column:
        raise QuestionRefused(node.sql(), "a column must stand here", hint=_ALLOWED)
    return find_column(node, schema)


def find_column(node: exp.Column, schema: Schema, *, role: str = "column") -> Column:
    """The column of that name: exact, or case-insensitive if the name is not quoted and one column matches."""
    if not has_only(node, {"this"}) or type(node.this) is not exp.Identifier:
        raise QuestionRefused(
            node.sql(), "columns are named without their table", hint="Write the column's name alone."
        )
    name = node.name
    if not node.this.quoted and name not in schema.names:
        same = [known for known in schema.names if known.casefold() == name.casefold()]
        name = same[0] if len(same) == 1 else name
    return schema.column(name, role=role)
