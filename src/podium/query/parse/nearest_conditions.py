"""What a refused statement demands of its rows, as far as it can be asked, and the tables that it joins for that."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlglot import exp

from podium.errors import PodiumError
from podium.query.join import Join
from podium.query.parse.rewritten import rewritten
from podium.query.parse.syntax import parse_condition
from podium.query.parse.where import predicate_of
from podium.query.schema import Schema

__all__ = ["counted_if", "nearest_condition", "nearest_conditions"]


def nearest_conditions(
    select: exp.Select, schema: Schema, joins: Sequence[Join], now: dt.datetime | None
) -> tuple[list[str], list[Join], bool]:
    """The conditions that can be asked, the tables to join, and whether no condition is left out."""
    joined = [join for node in select.args.get("joins") or [] if (join := _declared(node.this, joins)) is not None]
    where, found = select.args.get("where"), []
    counted, whole = _within_aggregates(select)
    stated = [*([] if where is None else [where.this]), *counted]
    for part in [part for one in stated for part in (one.flatten() if type(one) is exp.And else [one])]:
        text, join = _asked(_unqualified(part), schema, joins, now)
        found += [text] if text else []
        joined += [join] if join is not None and join not in joined else []
        whole = whole and bool(text or join)
    return found, joined, whole


def counted_if(aggregate: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The condition and the value of an aggregate of ``CASE WHEN condition THEN value END``; None of any other."""
    case = aggregate.find(exp.Case)
    if case is None or case.this is not None or len(case.args["ifs"]) != 1:
        return None
    default = case.args.get("default")
    if default is not None and type(default) is not exp.Null and default.sql() != "0":
        return None
    (only,) = case.args["ifs"]
    return only.this, only.args["true"]


def _within_aggregates(select: exp.Select) -> tuple[list[exp.Expr], bool]:
    """Conditions on the rows that the only aggregate counts, which are those of the statement; whether that is all."""
    aggregates = [node for node in select.expressions if node.find(exp.AggFunc) is not None]
    conditional = any(node.find(exp.Filter, exp.Case) is not None for node in aggregates)
    if len(aggregates) != 1:
        return [], not conditional
    (node,) = aggregates
    filtered, case = [part.expression.this for part in node.find_all(exp.Filter)], counted_if(node)
    found = filtered if case is None else [*filtered, case[0].unnest()]
    return found, bool(found) or not conditional


def nearest_condition(text: str, schema: Schema, now: dt.datetime | None) -> str:
    """A condition near a refused one that can be asked; empty if none was found."""
    try:
        node = parse_condition(text)
    except PodiumError:
        return ""
    parts = list(node.flatten()) if type(node) is exp.And else [node]
    found = [_asked(_unqualified(part), schema, (), now)[0] for part in parts]
    return " AND ".join(found) if all(found) else ""


def _asked(part: exp.Expr, schema: Schema, joins: Sequence[Join], now: dt.datetime | None) -> tuple[str, Join | None]:
    """One condition as it can be asked; or the join that has the same meaning; or nothing."""
    if _works(part, schema, now):
        text = str(part.sql())
        return f"({text})" if type(part) is exp.Or else text, None
    negated = type(part) is exp.Not
    inner = part.this.unnest() if negated else part.unnest()
    if type(inner) is exp.In and inner.args.get("query") is not None:
        return _listed_elsewhere(inner, negated, schema, joins, now)
    for other in rewritten(part, schema):
        if _works(other, schema, now):
            return str(other.sql()), None
    return "", None


def _works(part: exp.Expr, schema: Schema, now: dt.datetime | None) -> bool:
    try:
        predicate_of(part, schema, now)
    except PodiumError:
        return False
    return True


def _listed_elsewhere(
    node: exp.In, negated: bool, schema: Schema, joins: Sequence[Join], now: dt.datetime | None
) -> tuple[str, Join | None]:
    """``key [NOT] IN (SELECT key FROM declared [WHERE ...])`` by a join with the declared table."""
    query = node.args["query"].unnest()
    source = query.args.get("from_") if type(query) is exp.Select else None
    join = None if source is None else _declared(source.this, joins)
    key = node.this.name.casefold() if type(node.this) is exp.Column else ""
    if join is None or [name.casefold() for name in join.using] != [key]:
        return "", None
    where = query.args.get("where")
    if where is None:
        return "", None if negated else join
    inner = _unqualified(where.this)
    if not _works(inner, schema, now):
        return "", None
    return f"NOT ({inner.sql()})" if negated else f"({inner.sql()})", join


def _declared(table: object, joins: Sequence[Join]) -> Join | None:
    name = table.name.casefold() if type(table) is exp.Table else ""
    return next((join for join in joins if join.name.casefold() == name), None)


def _unqualified(part: exp.Expr) -> exp.Expr:
    """The condition with bare names of columns: whether they mean one is then for the schema to say."""
    copied = part.copy()
    for node in copied.find_all(exp.Column):
        if type(node.this) is exp.Identifier and node.find_ancestor(exp.Select) is None:
            node.set("table", None)
    return copied
