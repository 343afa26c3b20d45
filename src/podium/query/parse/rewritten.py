"""Conditions that podium does not have, written as the nearest that it has: for hints, never for answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from podium.errors import PodiumError
from podium.query.parse.relative_dates import is_relative
from podium.query.parse.where import find_column
from podium.query.schema import Kind, Schema

__all__ = ["rewritten"]

_COMPARED: tuple[type[exp.Expr], ...] = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between,
)  # fmt: skip
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?")
_TRUTHS = {"1": True, "true": True, "t": True, "yes": True, "0": False, "false": False, "f": False, "no": False}


def rewritten(part: exp.Expr, schema: Schema) -> Iterator[exp.Expr]:
    """Conditions that may be meant, the likeliest first; whether they can be asked is for others to say."""
    for found in (_days_ago(part), _without_case(part), _is_true(part), _typed(part, schema)):
        if found is not None:
            yield found


def _days_ago(part: exp.Expr) -> exp.Expr | None:
    """A comparison with a day some days ago, however an engine writes it, by CURRENT_DATE - 7."""
    right = part.args.get("expression")
    if not isinstance(right, exp.Expr) or not is_relative(right):
        return None
    numbers = [node.name for node in right.find_all(exp.Literal) if node.name.isdecimal()]
    if len(numbers) != 1 or "DAY" not in right.sql().upper():
        return None
    copied = part.copy()
    copied.set("expression", exp.Sub(this=exp.CurrentDate(), expression=exp.Literal.number(numbers[0])))
    return copied


def _without_case(part: exp.Expr) -> exp.Expr | None:
    """ILIKE by LIKE, which minds capitals."""
    if type(part) is not exp.ILike:
        return None
    return exp.Like(this=part.this.copy(), expression=part.expression.copy())


def _is_true(part: exp.Expr) -> exp.Expr | None:
    """``x IS TRUE`` by ``x = TRUE``, which keeps the same rows."""
    if type(part) is not exp.Is or type(part.expression) is not exp.Boolean:
        return None
    return exp.EQ(this=part.this.copy(), expression=part.expression.copy())


def _typed(part: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Constants of the kind of their column, as far as their text says one."""
    copied = part.copy()
    column: exp.Expr = copied.this
    if type(column) is not exp.Column or type(copied) not in _COMPARED:
        return None
    try:
        kind = find_column(column, schema).kind
    except PodiumError:
        return None
    for node in list(copied.iter_expressions())[1:]:
        found = _constant(node, kind)
        if found is not None:
            node.replace(found)
    return copied


def _constant(node: exp.Expr, kind: Kind) -> exp.Expr | None:
    """A constant, or what stands where one should, as one of this kind; None if it is none."""
    node = node.this if type(node) is exp.Cast else node
    text = node.name if type(node) in (exp.Literal, exp.Column, exp.Boolean) else ""
    if kind is Kind.TEXT and text and _is_quoted(node):
        return exp.Literal.string(text)
    if kind is Kind.DATE and _DATE.fullmatch(text[:10]):
        return exp.cast(exp.Literal.string(text[:10]), "DATE")
    if kind is Kind.TIMESTAMP and _DATE.fullmatch(text[:10]):
        return exp.cast(exp.Literal.string(text if _TIME.fullmatch(text) else f"{text[:10]} 00:00:00"), "TIMESTAMP")
    if kind is Kind.BOOLEAN and text.casefold() in _TRUTHS:
        return exp.Boolean(this=_TRUTHS[text.casefold()])
    if kind in (Kind.INTEGER, Kind.DECIMAL) and _NUMBER.fullmatch(text) and (kind is Kind.DECIMAL or "." not in text):
        return exp.Literal.number(text)
    return None


def _is_quoted(node: exp.Expr) -> bool:
    return type(node) is exp.Column and type(node.this) is exp.Identifier and bool(node.this.quoted)
