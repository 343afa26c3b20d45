"""A list for each group in SQL: QUALIFY ROW_NUMBER() OVER (PARTITION BY ...) <= k, or LIMIT k BY ... ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.parse.aggregates import ranking_aggregate
from podium.query.parse.where import find_column, has_only
from podium.query.schema import Schema
from podium.user_columns import UserColumns, user_text

__all__ = ["Lists", "group_shape", "integer_of", "lists_per_group", "mentions_groups"]

_LONGEST_INTEGER = 9


class Lists(NamedTuple):
    """The group columns, the length of each list, and the aggregate that ranks within a group."""

    per: tuple[str, ...]
    k: int
    ranked: exp.Expr


def group_shape(table: str, user: UserColumns) -> str:
    """What to write for a list for each group."""
    counted = f"COUNT(DISTINCT {user_text(user)}) AS n FROM {table}"
    return (
        f"For a list for each group write: SELECT g, item, {counted} [WHERE ...] "
        "GROUP BY g, item QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC) <= 10."
    )


def mentions_groups(statement: exp.Expr) -> bool:
    """Whether a statement, answered or refused, seems to want a list for each group."""
    if statement.find(exp.Window, exp.Qualify) is not None:
        return True
    limit, order = statement.args.get("limit"), statement.args.get("order")
    by = type(limit) is exp.Limit and bool(limit.args.get("expressions"))
    # ORDER BY country, n DESC.
    return by or (order is not None and len(order.expressions) > 1)


def lists_per_group(statement: exp.Select, schema: Schema, selected: exp.Expr | None, shape: str) -> Lists | None:
    """What QUALIFY or LIMIT BY asks for; None if the statement has neither."""
    qualify, limit = statement.args.get("qualify"), statement.args.get("limit")
    if qualify is not None:
        if limit is not None:
            raise QuestionRefused(limit.sql().strip(), "it would cut all lists together: QUALIFY says k", hint=shape)
        found = _by_qualify(qualify, schema, selected, shape)
    elif type(limit) is exp.Limit and limit.args.get("expressions"):
        found = _by_limit(statement, limit, schema, selected, shape)
    else:
        return None
    _check_order(statement, found, schema, selected, shape)
    return found


def integer_of(node: object) -> int | None:
    """The plain integer that a literal is, or None."""
    if type(node) is not exp.Literal or node.is_string:
        return None
    text = str(node.this)
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_INTEGER else None


def _by_qualify(qualify: exp.Expr, schema: Schema, selected: exp.Expr | None, shape: str) -> Lists:
    part = qualify.sql().strip()
    window, k = _compared(qualify.this)
    if type(window) is not exp.Window or k is None:
        raise QuestionRefused(part, "QUALIFY compares ROW_NUMBER() OVER (...) with one integer", hint=shape)
    if type(window.this) is not exp.RowNumber or not has_only(window.this, set()):
        raise QuestionRefused(part, "places are counted by ROW_NUMBER(), which has no ties", hint=shape)
    order = window.args.get("order")
    if order is None or len(order.expressions) != 1 or not has_only(window, {"this", "partition_by", "order", "over"}):
        raise QuestionRefused(part, "the window has PARTITION BY, ORDER BY the count and nothing else", hint=shape)
    per = _columns(window.args.get("partition_by") or (), schema, part, shape)
    return Lists(per, k, _ranked(order, selected, part, shape))


def _by_limit(statement: exp.Select, limit: exp.Limit, schema: Schema, selected: exp.Expr | None, shape: str) -> Lists:
    part, k = limit.sql().strip(), integer_of(limit.expression)
    if k is None or not has_only(limit, {"expression", "expressions"}):
        raise QuestionRefused(part, "LIMIT k BY takes one integer and columns", hint=shape)
    order = statement.args.get("order")
    if order is None:
        raise QuestionRefused(part, "it needs ORDER BY, which says what ranks", hint=shape)
    return Lists(_columns(limit.expressions, schema, part, shape), k, _ranked(order, selected, part, shape))


def _compared(node: exp.Expr) -> tuple[exp.Expr | None, int | None]:
    """What is compared, and the last place that the comparison keeps."""
    if type(node) is exp.Paren:
        return _compared(node.this)
    if type(node) in (exp.LTE, exp.LT, exp.EQ):
        window, number = node.this, integer_of(node.expression)
    elif type(node) in (exp.GTE, exp.GT):
        window, number = node.expression, integer_of(node.this)
    else:
        return None, None
    if number is None or (type(node) is exp.EQ and number != 1):
        return window, None
    return window, number - (type(node) in (exp.LT, exp.GT))


def _columns(nodes: Sequence[exp.Expr], schema: Schema, part: str, shape: str) -> tuple[str, ...]:
    if not nodes or any(type(node) is not exp.Column for node in nodes):
        raise QuestionRefused(part, "groups are the values of columns", hint=shape)
    return tuple(find_column(node, schema, role="per").name for node in nodes if type(node) is exp.Column)


def _ranked(order: exp.Expr, selected: exp.Expr | None, part: str, shape: str) -> exp.Expr:
    """The aggregate at the end of an ORDER BY."""
    found = ranking_aggregate(order.expressions[-1], selected)
    if found is None:
        raise QuestionRefused(part, "a list is ordered by the count alone, descending", hint=shape)
    return found


def _check_order(statement: exp.Select, lists: Lists, schema: Schema, selected: exp.Expr | None, shape: str) -> None:
    """Lists come in the order of their groups; a statement may say so, and that each is by its count."""
    order = statement.args.get("order")
    if order is None:
        return
    *groups, last = order.expressions
    named = [node.this for node in groups if type(node.this) is exp.Column and not node.args.get("desc")]
    names = tuple(find_column(node, schema, role="per").name for node in named)
    limited = statement.args.get("qualify") is None
    if len(names) != len(groups) or names != lists.per[: len(names)] or not (names or limited):
        raise QuestionRefused(
            order.sql().strip(), "lists come in the order of their groups, each by its own count", hint=shape
        )
    if ranking_aggregate(last, selected) != lists.ranked:
        raise QuestionRefused(order.sql().strip(), "every list is ordered by the count that ranks it", hint=shape)
