"""The one statement that podium answers: items by distinct users, rows or a sum, in descending order."""

from __future__ import annotations

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.exact import positive_integer
from podium.query.parse.syntax import parse_statement
from podium.query.parse.where import find_column, has_only, predicate_of
from podium.query.predicate import Predicate
from podium.query.ranked_by import EVENTS, USERS, sum_of
from podium.query.schema import Schema

__all__ = ["parse_sql"]

_PARTS = {"expressions", "from_", "where", "group", "order", "limit"}
_NAMES = {
    "joins": "JOIN",
    "having": "HAVING",
    "distinct": "SELECT DISTINCT",
    "offset": "OFFSET",
    "with_": "WITH",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "laterals": "LATERAL",
    "sample": "TABLESAMPLE",
    "into": "INTO",
    "locks": "FOR UPDATE",
    "hint": "a hint",
}


def parse_sql(
    text: str, *, schema: Schema, table: str, user: str
) -> tuple[tuple[str, ...], int, Predicate | None, str]:
    """Item columns, k, condition and measure of a SELECT over the table of that name, with users in column ``user``."""
    statement = parse_statement(text)
    shape = _shape(table, user)
    if type(statement) is not exp.Select:
        raise QuestionRefused(statement.sql(), "only a SELECT can be answered", hint=shape)
    for name, value in statement.args.items():
        if value and name not in _PARTS:
            raise QuestionRefused(_NAMES.get(name, name), "it is not part of a top-k question", hint=shape)
    _check_table(statement, table, shape)
    items, count, by = _select_list(statement, schema, user, shape)
    _check_group(statement, items, schema, shape)
    _check_order(statement, count, shape)
    where = statement.args.get("where")
    return tuple(items), _limit(statement, shape), None if where is None else predicate_of(where.this, schema), by


def _shape(table: str, user: str) -> str:
    counted = f"COUNT(DISTINCT {user}) AS n FROM {table}"
    other = "COUNT(*) ranks by rows, SUM(column) by amounts"
    return f"Write: SELECT item, {counted} [WHERE ...] GROUP BY item ORDER BY n DESC LIMIT 10; {other}."


def _check_table(statement: exp.Select, table: str, shape: str) -> None:
    source = statement.args.get("from_")
    node = None if source is None else source.this
    plain = type(node) is exp.Table and has_only(node, {"this"})
    name = node.this if node is not None and plain else None
    if type(name) is exp.Identifier and (
        name.this == table or (not name.quoted and name.this.casefold() == table.casefold())
    ):
        return
    raise QuestionRefused("FROM" if node is None else node.sql(), f"the one table here is {table!r}", hint=shape)


def _select_list(
    statement: exp.Select, schema: Schema, user: str, shape: str
) -> tuple[list[str], exp.Expr | None, str]:
    """The item columns of the SELECT, its count, if any, and what that measures."""
    items: list[str] = []
    count: exp.Expr | None = None
    by = USERS
    for node in statement.expressions:
        inner = node.this if type(node) is exp.Alias else node
        if type(inner) in (exp.Count, exp.Sum):
            by = _measure_of(inner, schema, user, shape)
            if count is not None:
                raise QuestionRefused(node.sql(), "the count is selected once", hint=shape)
            count = node
        elif type(node) is exp.Column:
            items.append(find_column(node, schema, role="item").name)
        else:
            raise QuestionRefused(node.sql(), "only item columns and the count can be selected", hint=shape)
    if not items or len(set(items)) != len(items) or user in items:
        raise QuestionRefused(
            ", ".join(items) or "SELECT", "one or more different item columns, not the user, are selected", hint=shape
        )
    return items, count, by


def _measure_of(node: exp.Expr, schema: Schema, user: str, shape: str) -> str:
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
            f"it counts rows that have a value. Write COUNT(*) for rows, or COUNT(DISTINCT {user}) for users",
            hint=shape,
        )
    columns = inner.expressions
    if len(columns) != 1 or type(columns[0]) is not exp.Column or inner.args.get("on"):
        raise QuestionRefused(node.sql(), f"what is counted is the user column {user!r}", hint=shape)
    if find_column(columns[0], schema, role="user").name != user:
        raise QuestionRefused(node.sql(), f"what is counted is the user column {user!r}", hint=shape)
    return USERS


def _check_group(statement: exp.Select, items: list[str], schema: Schema, shape: str) -> None:
    group = statement.args.get("group")
    nodes = [] if group is None else group.expressions
    extra = group is not None and not has_only(group, {"expressions"})
    columns = [find_column(node, schema, role="item").name for node in nodes if type(node) is exp.Column]
    if extra or len(columns) != len(nodes) or sorted(columns) != sorted(items):
        part = "GROUP BY" if group is None else group.sql().strip()
        raise QuestionRefused(part, f"GROUP BY must name {', '.join(items)}", hint=shape)


def _check_order(statement: exp.Select, count: exp.Expr | None, shape: str) -> None:
    order = statement.args.get("order")
    nodes = [] if order is None else order.expressions
    if len(nodes) != 1 or not nodes[0].args.get("desc"):
        part = "ORDER BY" if order is None else order.sql().strip()
        raise QuestionRefused(part, "the answer is ordered by the count alone, descending", hint=shape)
    node = nodes[0].this
    alias = count.alias if type(count) is exp.Alias else None
    by_alias = type(node) is exp.Column and alias is not None and node.name.casefold() == alias.casefold()
    by_count = type(node) in (exp.Count, exp.Sum) and count is not None and node == (count.this if alias else count)
    if not (by_alias or by_count):
        raise QuestionRefused(nodes[0].sql(), "the answer is ordered by the count alone, descending", hint=shape)


def _limit(statement: exp.Select, shape: str) -> int:
    limit = statement.args.get("limit")
    # PERCENT, WITH TIES and BY would ask for another number of items.
    node = limit.expression if type(limit) is exp.Limit and has_only(limit, {"expression"}) else None
    if type(node) is not exp.Literal or node.is_string or not str(node.this).isdecimal() or len(node.this) > 9:
        part = "LIMIT" if limit is None else limit.sql().strip()
        raise QuestionRefused(part, "LIMIT takes one integer", hint=shape)
    return positive_integer(int(node.this), "k")
