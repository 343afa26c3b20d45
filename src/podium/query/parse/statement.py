"""The one statement that podium answers: items by distinct users, rows or a sum, in descending order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from sqlglot import exp

from podium.errors import PodiumError, QuestionRefused
from podium.exact import positive_integer
from podium.query.canonical import all_of
from podium.query.join import Join
from podium.query.parse.advice import with_advice
from podium.query.parse.aggregates import is_aggregate, least_of, measure_of, names_measure, ranking_aggregate
from podium.query.parse.join_clauses import JOIN_SHAPE, check_joins
from podium.query.parse.per_group import Lists, group_shape, integer_of, lists_per_group, mentions_groups
from podium.query.parse.sql_options import Options
from podium.query.parse.syntax import parse_statement
from podium.query.parse.where import find_column, has_only, predicate_of
from podium.query.predicate import Predicate
from podium.query.ranked_by import USERS
from podium.query.schema import Schema
from podium.user_columns import UserColumns, each_user_column, user_text

__all__ = ["Parsed", "parse_sql", "table_named"]

_NO_OPTIONS = Options()
_PARTS = {"expressions", "from_", "where", "group", "order", "limit", "qualify", "having", "joins"}
_NAMES = {
    "distinct": "SELECT DISTINCT",
    "offset": "OFFSET",
    "with_": "WITH",
    "windows": "WINDOW",
    "laterals": "LATERAL",
    "sample": "TABLESAMPLE",
    "into": "INTO",
    "locks": "FOR UPDATE",
    "hint": "a hint",
}


class Parsed(NamedTuple):
    """What a statement asks: item columns, k, condition and measure, and the columns of groups with a list each.

    ``at_least`` holds the number of HAVING, if there is one, and whether the measure must be above it. ``values``: the
    measure is selected, so it is asked for; ``value_name`` is its alias. ``list_only`` is the same statement without
    it.
    """

    items: tuple[str, ...]
    k: int
    where: Predicate | None
    by: str
    values: bool = False
    value_name: str | None = None
    list_only: str | None = None
    per: tuple[str, ...] = ()
    at_least: tuple[tuple[Fraction, bool], ...] = ()


def parse_sql(
    text: str,
    *,
    schema: Schema,
    table: str,
    user: UserColumns,
    now: dt.datetime | None = None,
    options: Options = _NO_OPTIONS,
    joins: Sequence[Join] = (),
) -> Parsed:
    """The question that a SELECT over the table of that name asks, with users in column ``user``.

    Relative dates are fixed by ``now``, and refused without it. ``options`` may say what the statement leaves out.
    ``joins`` are the tables that are joined.
    """
    parse: Callable[[str], Parsed] = partial(
        _parse, schema=schema, table=table, user=user, now=now, options=options, joins=joins
    )
    try:
        return parse(text)
    except QuestionRefused as refused:
        shapes = (_shape(table, user), group_shape(table, user), JOIN_SHAPE)
        raise with_advice(
            refused, text, partial(_works, parse), shapes=shapes, schema=schema, table=table, user=user, joins=joins,
            now=now,
        ) from None  # fmt: skip


def _works(parse: Callable[[str], Parsed], text: str) -> bool:
    """Whether a statement is answered."""
    try:
        parse(text)
    except PodiumError:
        return False
    return True


def _parse(
    text: str,
    *,
    schema: Schema,
    table: str,
    user: UserColumns,
    now: dt.datetime | None,
    options: Options,
    joins: Sequence[Join],
) -> Parsed:
    statement = parse_statement(text)
    shape = (group_shape if mentions_groups(statement) else _shape)(table, user)
    if type(statement) is not exp.Select:
        raise QuestionRefused(statement.sql(), "only a SELECT can be answered", hint=shape)
    for name, value in statement.args.items():
        if value and name not in _PARTS:
            raise QuestionRefused(_NAMES.get(name, name), "it is not part of a top-k question", hint=shape)
    _check_table(statement, table, shape)
    joined = check_joins(statement, joins)
    _drop_qualifiers(statement, (table, *joined), schema)
    columns, selected = _select_list(statement, schema, user, shape)
    _check_group(statement, columns, schema, shape)
    lists = lists_per_group(statement, schema, selected, shape)
    per = options.groups(() if lists is None else lists.per)
    ranked = _ranked_by(statement, selected, shape, options) if lists is None else lists.ranked
    by = options.measure(None if ranked is None else measure_of(ranked, schema, user, shape))
    _check_selected(selected, by, schema, user, shape)
    where, having = statement.args.get("where"), statement.args.get("having")
    conditions = [] if where is None else [predicate_of(where.this, schema, now)]
    conditions += [] if options.where is None else [options.where]
    return Parsed(
        _items(columns, per, shape, selects_groups=lists is not None),
        _length(statement, lists, options, shape),
        all_of(conditions) if conditions else None,
        by or USERS,
        values=selected is not None,
        value_name=(selected.alias or None) if type(selected) is exp.Alias else None,
        list_only=None if selected is None or ranked is None else _without(statement, selected, ranked),
        per=per,
        at_least=() if having is None else (least_of(having, selected, by or USERS, schema, user, shape),),
    )


def _check_selected(selected: exp.Expr | None, by: str | None, schema: Schema, user: UserColumns, shape: str) -> None:
    """Raise unless the selected aggregate is what ranks, where an option says what ranks."""
    inner = selected.this if type(selected) is exp.Alias else selected
    if inner is not None and measure_of(inner, schema, user, shape) != by:
        raise QuestionRefused(inner.sql(), f"it is not what ranks, which is {by}", hint=shape)


def _length(statement: exp.Select, lists: Lists | None, options: Options, shape: str) -> int:
    """How many items a list has."""
    if lists is not None:
        return options.length(positive_integer(lists.k, "k")) or 0
    if options.per and (limit := statement.args.get("limit")) is not None:
        k = integer_of(limit.args.get("expression")) or 10
        raise QuestionRefused(
            limit.sql().strip(), "it would cut all lists together",
            hint=f"Leave it out, and state k={k} (-k) beside the statement, as per is.",
        )  # fmt: skip
    if options.k is not None and statement.args.get("limit") is None:
        return options.k
    return options.length(_limit(statement, shape)) or 0


def _shape(table: str, user: UserColumns) -> str:
    counted = f"COUNT(DISTINCT {user_text(user)}) AS n FROM {table}"
    other = "COUNT(*) ranks by rows, SUM(column) by amounts"
    return f"Write: SELECT item, {counted} [WHERE ...] GROUP BY item ORDER BY n DESC LIMIT 10; {other}."


def _check_table(statement: exp.Select, table: str, shape: str) -> None:
    source = statement.args.get("from_")
    node = None if source is None else source.this
    plain = type(node) is exp.Table and has_only(node, {"this"})
    if not _names_table(node.this if node is not None and plain else None, table):
        raise QuestionRefused("FROM" if node is None else node.sql(), f"the one table here is {table!r}", hint=shape)


def table_named(text: str, tables: Iterable[str]) -> str | None:
    """The table that FROM names, of those that there are."""
    source = parse_statement(text).args.get("from_")
    name = None if source is None or type(source.this) is not exp.Table else source.this.this
    return next((table for table in tables if _names_table(name, table)), None)


def _names_table(name: object, table: str) -> bool:
    """Whether an identifier is the table's name: exact, or case-insensitive if it is not quoted."""
    if type(name) is not exp.Identifier:
        return False
    return bool(name.this == table or (not name.quoted and name.this.casefold() == table.casefold()))


def _drop_qualifiers(statement: exp.Select, tables: Sequence[str], schema: Schema) -> None:
    """Read ``views.page`` as ``page``: programs that write SQL qualify every column with the table in FROM.

    An alias of the SELECT is no column of the table, so ``views.n`` stays as it is, and is refused.
    """
    aliases = {node.alias.casefold() for node in statement.expressions if type(node) is exp.Alias}
    columns = {name.casefold() for name in schema.names} - aliases
    for node in statement.find_all(exp.Column):
        named = next((table for table in tables if _names_table(node.args.get("table"), table)), None)
        if named is None or not has_only(node, {"this", "table"}) or node.name.casefold() not in columns:
            continue
        if schema.is_of(node.name, named, main=tables[0]):
            node.set("table", None)


def _select_list(
    statement: exp.Select, schema: Schema, user: UserColumns, shape: str
) -> tuple[list[str], exp.Expr | None]:
    """The item columns of the SELECT, and its aggregate, if there is one."""
    items: list[str] = []
    selected: exp.Expr | None = None
    for node in statement.expressions:
        inner = node.this if type(node) is exp.Alias else node
        if is_aggregate(inner):
            measure_of(inner, schema, user, shape)
            if selected is not None:
                raise QuestionRefused(node.sql(), "the count is selected once", hint=shape)
            selected = node
        elif type(node) is exp.Column:
            items.append(find_column(node, schema, role="item").name)
        else:
            raise QuestionRefused(node.sql(), "only item columns and the count can be selected", hint=shape)
    if not items or len(set(items)) != len(items) or not set(items).isdisjoint(each_user_column(user)):
        raise QuestionRefused(
            ", ".join(items) or "SELECT", "one or more different item columns, not the user, are selected", hint=shape
        )
    return items, selected


def _items(columns: list[str], per: tuple[str, ...], shape: str, *, selects_groups: bool) -> tuple[str, ...]:
    """The selected columns that are ranked: all but those of the groups, which the answer names too."""
    for name in per:
        if selects_groups and name not in columns:
            raise QuestionRefused(name, "a group column is selected, because the answer names the groups", hint=shape)
    items = tuple(name for name in columns if name not in per)
    if not items:
        raise QuestionRefused(", ".join(columns), "an item column is selected besides the groups", hint=shape)
    return items


def _check_group(statement: exp.Select, items: list[str], schema: Schema, shape: str) -> None:
    group = statement.args.get("group")
    nodes = [] if group is None else group.expressions
    extra = group is not None and not has_only(group, {"expressions"})
    columns = [find_column(node, schema, role="item").name for node in nodes if type(node) is exp.Column]
    if extra or len(columns) != len(nodes) or sorted(columns) != sorted(items):
        part = "GROUP BY" if group is None else group.sql().strip()
        raise QuestionRefused(part, f"GROUP BY must name {', '.join(items)}", hint=shape)


def _ranked_by(statement: exp.Select, selected: exp.Expr | None, shape: str, options: Options) -> exp.Expr | None:
    """The aggregate that ORDER BY names: itself, or by the alias that it is selected under.

    None if the statement leaves it out, and an option says what ranks.
    """
    order = statement.args.get("order")
    if order is None and options.by is not None:
        return None
    nodes = [] if order is None else order.expressions
    if len(nodes) != 1 or not nodes[0].args.get("desc"):
        part = "ORDER BY" if order is None else order.sql().strip()
        raise QuestionRefused(part, "the answer is ordered by the count alone, descending", hint=shape)
    found = ranking_aggregate(nodes[0], selected)
    if found is None:
        raise QuestionRefused(nodes[0].sql(), "the answer is ordered by the count alone, descending", hint=shape)
    return found


def _without(statement: exp.Select, selected: exp.Expr, ranked: exp.Expr) -> str:
    """The same statement as text, which ranks by the measure and does not select it."""
    parts = statement.copy()
    parts.set("expressions", [node.copy() for node in statement.expressions if node is not selected])
    order = exp.Order(expressions=[exp.Ordered(this=ranked.copy(), desc=True)])
    window = parts.find(exp.Window)
    if window is not None:
        window.set("order", order)
    parts.set("order", None if window is not None else order)
    for node in [] if (having := parts.args.get("having")) is None else list(having.find_all(exp.Column)):
        if names_measure(node, selected) is not None:
            node.replace(ranked.copy())
    return str(parts.sql())


def _limit(statement: exp.Select, shape: str) -> int:
    limit = statement.args.get("limit")
    # PERCENT, WITH TIES and BY would ask for another number of items.
    node = limit.expression if type(limit) is exp.Limit and has_only(limit, {"expression"}) else None
    k = integer_of(node)
    if k is None:
        part = "LIMIT" if limit is None else limit.sql().strip()
        raise QuestionRefused(part, "LIMIT takes one integer", hint=shape)
    return positive_integer(k, "k")
