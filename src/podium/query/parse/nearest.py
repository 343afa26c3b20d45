"""The nearest question that works, for whoever asked one that does not: a statement ready to paste.

It is made of the refused statement and the schema, both public, and is offered only if it is itself answered.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from podium.errors import PodiumError
from podium.query.join import Join
from podium.query.parse.nearest_conditions import counted_if, nearest_conditions
from podium.query.parse.per_group import integer_of
from podium.query.parse.syntax import tokens_of
from podium.query.parse.where import find_column
from podium.query.ranked_by import NUMERIC
from podium.query.schema import Column, Kind, Schema
from podium.user_columns import UserColumns, each_user_column, is_user_column

__all__ = ["Offered", "nearest_statement"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMES = ("n", "total", "ranking")
_UNRANKED = (Kind.FLOAT, Kind.OTHER)
_WORDS = ("group", "order", "partition")
_AT_LEAST: dict[type[exp.Expr], str] = {exp.GTE: ">=", exp.GT: ">"}
_K = 10


class Offered(NamedTuple):
    """A statement that is answered, and whether it has all conditions of the refused one."""

    text: str
    whole: bool


class _Asked(NamedTuple):
    """The refused statement: the SELECT that groups, within the one that was written."""

    whole: exp.Expr
    select: exp.Select
    schema: Schema
    user: UserColumns
    joins: Sequence[Join]

    def named(self, node: exp.Expr) -> Column | None:
        """The column that a node names, with or without its table; None if there is none."""
        if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
            return None
        try:
            return find_column(exp.Column(this=node.this.copy()), self.schema)
        except PodiumError:
            return None


def nearest_statement(
    statement: exp.Expr,
    works: Callable[[str], bool],
    *,
    schema: Schema,
    table: str,
    user: UserColumns,
    joins: Sequence[Join] = (),
    now: dt.datetime | None = None,
) -> Offered | None:
    """A statement near the refused one that ``works``; None if none was found."""
    select = _grouping_select(statement)
    if select is None:
        return None
    asked = _Asked(statement, select, schema, user, joins)
    conditions, joined, whole = nearest_conditions(select, schema, joins, now)
    for text in _candidates(asked, table, conditions, joined):
        if works(text):
            return Offered(text, whole)
    return None


def _candidates(asked: _Asked, table: str, conditions: list[str], joined: list[Join]) -> Iterator[str]:
    """Statements to try: with the groups and without them, with and without what may be stated beside."""
    items, per = _items(asked), _groups(asked)
    ranked, name, selects = _measure(asked)
    source = [_written(table), *(f"JOIN {join.name} USING ({_listed(join.using)})" for join in joined)]
    parts = [f"FROM {' '.join(source)}"] + ([f"WHERE {' AND '.join(conditions)}"] if conditions else [])
    least = _least(asked)
    by = name if selects else ranked
    for groups in (per, []) if per else ([],):
        columns = list(dict.fromkeys([*groups, *items]))
        if len(columns) == len(groups):
            continue
        selected = [*map(_written, columns), *([f"{ranked} AS {name}"] if selects else [])]
        grouped = [f"GROUP BY {_listed(columns)}"] + ([f"HAVING {by} {least}"] if least else [])
        lines = [f"SELECT {', '.join(selected)}", *parts, *grouped]
        if groups:
            over = f"PARTITION BY {_listed(groups)} ORDER BY {by} DESC"
            yield " ".join([*lines, f"QUALIFY ROW_NUMBER() OVER ({over}) <= {_length(asked)}"])
        else:
            yield " ".join([*lines, f"ORDER BY {by} DESC LIMIT {_length(asked)}"])
            yield " ".join([*lines, f"ORDER BY {by} DESC"])
            yield " ".join([f"SELECT {_listed(columns)}", *parts, grouped[0]])


def _grouping_select(statement: exp.Expr) -> exp.Select | None:
    """The SELECT that groups, which others may wrap."""
    selects = list(statement.find_all(exp.Select))
    grouped = [select for select in selects if select.args.get("group") is not None]
    return next(iter(grouped or selects), None)


def _items(asked: _Asked) -> list[str]:
    """The columns that are selected, as they are or within an expression; or else those of GROUP BY, or the first."""
    found: list[str] = []
    for node in asked.select.expressions:
        aliased = type(node) is exp.Alias and asked.named(exp.column(node.args["alias"].copy()))
        if node.find(exp.AggFunc, exp.Window) is not None:
            continue
        found += [aliased.name] if aliased else _ranked_columns(asked, node)
    group = asked.select.args.get("group")
    for node in [] if found or group is None else group.expressions:
        found += _ranked_columns(asked, node)
    for node in [] if found else asked.select.find_all(exp.Unnest):
        found += _ranked_columns(asked, node)
    every = [column.name for column in asked.schema.columns if column.kind not in _UNRANKED]
    # Whoever selects everything sees what a question looks like.
    return list(dict.fromkeys(found)) or [name for name in every if not is_user_column(name, asked.user)][:1]


def _ranked_columns(asked: _Asked, node: exp.Expr) -> list[str]:
    known = [asked.named(column) for column in node.find_all(exp.Column)]
    allowed = [column for column in known if column is not None and column.kind not in _UNRANKED]
    return [column.name for column in allowed if not is_user_column(column.name, asked.user)]


def _groups(asked: _Asked) -> list[str]:
    """The columns with a list for each of their values: of a window, of LIMIT BY, or first in ORDER BY."""
    nodes: list[exp.Expr] = []
    for window in asked.whole.find_all(exp.Window):
        nodes += window.args.get("partition_by") or []
    limit, order = asked.select.args.get("limit"), asked.select.args.get("order")
    nodes += limit.args.get("expressions") or [] if limit is not None else []
    if order is not None and not nodes:
        nodes += [node.this for node in order.expressions[:-1] if not node.args.get("desc")]
    named = [asked.named(node) for node in nodes]
    found = [column.name for column in named if column is not None and column.kind not in (*_UNRANKED, Kind.LIST)]
    return [name for name in dict.fromkeys(found) if not is_user_column(name, asked.user)]


def _measure(asked: _Asked) -> tuple[str, str, bool]:
    """The aggregate that is nearest, its alias, and whether the statement selects one."""
    selected = [node for node in asked.select.expressions if node.find(exp.AggFunc) is not None]
    order = asked.select.args.get("order")
    ordered = [] if order is None else [node for node in order.expressions if node.find(exp.AggFunc) is not None]
    ranked = next((found for node in (*selected, *ordered) if (found := _aggregate(asked, node))), None)
    taken = {name.casefold() for name in asked.schema.names}
    # The name of something computed from a count would not fit the count.
    plain = [node for node in selected if type(node) is exp.Alias and isinstance(node.this, exp.AggFunc)]
    said = [node.alias for node in plain if _PLAIN.fullmatch(node.alias)]
    name = next((name for name in (*said, *_NAMES) if name.casefold() not in taken), "ranked_by")
    return ranked or _users(asked), name, bool(selected) or not ordered


def _aggregate(asked: _Asked, node: exp.Expr) -> str | None:
    """The measure within an expression: users, rows, or a sum for a sum or an average."""
    counts = list(node.find_all(exp.Count))
    if counts:
        return _users(asked) if counts[0].find(exp.Distinct) is not None else "COUNT(*)"
    for summed in node.find_all(exp.Sum, exp.Avg):
        found = counted_if(summed)
        value = summed if found is None else found[1]
        if value.sql() == "1":
            # Ones are added up: rows are counted.
            return "COUNT(*)"
        known = [asked.named(column) for column in value.find_all(exp.Column)]
        column = next((column for column in known if column is not None and column.kind in NUMERIC), None)
        if column is not None and not is_user_column(column.name, asked.user):
            return f"SUM({_written(column.name)})"
    return None


def _users(asked: _Asked) -> str:
    names = each_user_column(asked.user)
    return f"COUNT(DISTINCT {_written(names[0]) if len(names) == 1 else f'({_listed(names)})'})"


def _least(asked: _Asked) -> str:
    """The comparison of HAVING, if it has a number."""
    having = asked.select.args.get("having")
    whole = None if having is None else having.this.unnest()
    for node in [] if whole is None else whole.flatten() if type(whole) is exp.And else [whole]:
        operator = _AT_LEAST.get(type(node))
        number = None if operator is None else integer_of(node.expression)
        if number:
            return f"{operator} {number}"
    return ""


def _length(asked: _Asked) -> int:
    """How many items: of LIMIT or FETCH with what OFFSET skips, or what a place is compared with."""
    for part in (asked.select.args.get("limit"), asked.whole.args.get("limit")):
        k = None if part is None else integer_of(part.args.get("expression") or part.args.get("count"))
        if k:
            offset = asked.select.args.get("offset")
            return k + (0 if offset is None else integer_of(offset.expression) or 0)
    for part in (asked.whole.args.get("qualify"), asked.whole.args.get("where")):
        for node in [] if part is None else part.find_all(exp.LTE, exp.LT):
            k = integer_of(node.expression)
            if k and k > (type(node) is exp.LT) and (asked.named(node.this) is None):
                return k - (type(node) is exp.LT)
    return _K


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_written, names))


def _written(name: str) -> str:
    """A name as SQL has it, quoted where it must be."""
    plain = _PLAIN.fullmatch(name) and name.casefold() not in _WORDS
    plain = plain and [token.token_type for token in tokens_of(name)] == [TokenType.VAR]
    return str(exp.to_identifier(name, quoted=not plain).sql())
