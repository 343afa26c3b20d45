"""The aggregates that rank items: distinct users, rows, or the sum of a column."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.exact import exact_fraction
from podium.query.parse.where import find_column, has_only
from podium.query.ranked_by import EVENTS, USERS, sum_of
from podium.query.schema import Schema
from podium.user_columns import UserColumns, each_user_column, user_text

__all__ = ["is_aggregate", "least_of", "measure_of", "names_measure", "ranking_aggregate"]


_MAX_DIGITS = 40
_FLIPPED: dict[Any, type[exp.Expr]] = {exp.GTE: exp.LTE, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.LT: exp.GT}


def is_aggregate(node: object) -> bool:
    """Whether a node may be a measure."""
    return type(node) in (exp.Count, exp.Sum)


def names_measure(node: exp.Expr, selected: exp.Expr | None) -> exp.Expr | None:
    """The selected aggregate, if the node is the same one or its alias."""
    if selected is None:
        return None
    inner = selected.this if type(selected) is exp.Alias else selected
    alias = selected.alias if type(selected) is exp.Alias else None
    if type(node) is exp.Column and has_only(node, {"this"}) and alias and node.name.casefold() == alias.casefold():
        return inner
    return inner if is_aggregate(node) and node == inner else None


def ranking_aggregate(ordered: exp.Expr, selected: exp.Expr | None) -> exp.Expr | None:
    """The aggregate that one part of an ORDER BY ranks by: itself, or by the alias that it is selected under."""
    if not ordered.args.get("desc"):
        return None
    node = ordered.this
    found = names_measure(node, selected)
    return node if found is None and selected is None and is_aggregate(node) else found


def least_of(
    having: exp.Expr, selected: exp.Expr | None, by: str, schema: Schema, user: UserColumns, shape: str
) -> tuple[Fraction, bool]:
    """The number of HAVING n >= 50, and whether the measure must be above it; n must be what ranks."""
    node = having.this
    while type(node) is exp.Paren:
        node = node.this
    sides = (node.this, node.expression, type(node)) if type(node) in _FLIPPED else (None, None, None)
    left, right, operator = sides
    if type(left) is exp.Literal:
        left, right, operator = right, left, _FLIPPED[operator]
    named = left is not None and (
        names_measure(left, selected) is not None
        or (is_aggregate(left) and measure_of(left, schema, user, shape) == by)
    )
    plain = isinstance(right, exp.Literal) and not right.is_string and len(right.this) <= _MAX_DIGITS
    if right is None or not named or not plain or operator not in (exp.GTE, exp.GT):
        raise QuestionRefused(
            having.sql().strip(),
            "HAVING states the least of what ranks",
            hint="Write: HAVING n >= 50, or > 50, where n is what ORDER BY names. Conditions on rows go into WHERE. "
            f"{shape}",
        )
    least = exact_fraction(str(right.this), "at_least")
    if least < 0 or (least == 0 and operator is exp.GTE):
        raise QuestionRefused(having.sql().strip(), "the least is above 0", hint="Leave HAVING out.")
    return least, operator is exp.GT


def measure_of(node: exp.Expr, schema: Schema, user: UserColumns, shape: str) -> str:
    """The measure that an aggregate stands for, as the ``by`` of a question."""
    inner = node.this
    if not has_only(node, {"this", "big_int"}):
        raise QuestionRefused(node.sql(), "an aggregate takes one column", hint=shape)
    if type(node) is exp.Sum:
        if type(inner) is not exp.Column:
            raise QuestionRefused(node.sql(), "a sum is of one column", hint=shape)
        return sum_of(find_column(inner, schema, role="by").name)
    if type(inner) is exp.Star and has_only(inner, set()):
        return EVENTS
    if type(inner) is not exp.Distinct:
        raise QuestionRefused(
            node.sql(),
            "it counts rows that have a value. "
            f"Write COUNT(*) for rows, or COUNT(DISTINCT {user_text(user)}) for users",
            hint=shape,
        )
    if not _counts_users(inner, schema, each_user_column(user)):
        named = f"column {user!r}" if isinstance(user, str) else f"columns {user_text(user)} together"
        raise QuestionRefused(node.sql(), f"what is counted is the user {named}", hint=shape)
    return USERS


def _counts_users(distinct: exp.Distinct, schema: Schema, user: tuple[str, ...]) -> bool:
    """Whether DISTINCT names the user columns in any order, several as (a, b) or as a, b."""
    columns = distinct.expressions
    if len(columns) == 1 and type(columns[0]) is exp.Tuple and len(user) > 1:
        columns = columns[0].expressions
    if distinct.args.get("on") or not all(type(each) is exp.Column for each in columns):
        return False
    return sorted(find_column(each, schema, role="user").name for each in columns) == sorted(user)
