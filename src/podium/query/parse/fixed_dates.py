"""Questions that are planned now and asked later: their relative dates become constants when they are planned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.parse.relative_dates import is_relative, relative_literal
from podium.query.parse.syntax import parse_condition, parse_statement
from podium.query.question import Question
from podium.query.schema import Column, Kind

__all__ = ["fix_dates"]

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between)
_HINT = "Write the days and times as constants, like DATE '2026-01-31'."


def fix_dates(question: Question, kinds: Mapping[str, Kind], now: dt.datetime) -> Question:
    """The question with constants for its relative dates; the same object if it has none.

    ``kinds`` are those of the columns that hold dates or times. Whether the question can be asked is for others to say.
    """
    known = {name.casefold(): kind for name, kind in kinds.items()}
    fixed = tuple(_fixed(text, parse_condition(text), known, now) for text in question.where)
    statement = question.sql and _fixed(question.sql, parse_statement(question.sql), known, now)
    if fixed == question.where and statement == question.sql:
        return question
    return replace(question, where=fixed, sql=statement)


def _fixed(text: str, tree: exp.Expr, kinds: Mapping[str, Kind], now: dt.datetime) -> str:
    if not is_relative(tree):
        return text
    for node in list(tree.find_all(*_COMPARED)):
        columns = [part for part in node.iter_expressions() if type(part) is exp.Column]
        for part in list(node.iter_expressions()):
            if len(columns) == 1 and part is not columns[0] and is_relative(part):
                part.replace(_constant(columns[0].name, part, kinds, now))
    # A statement that would be written in another way than it was read is not changed behind anybody's back.
    written: str = tree.sql()
    again = parse_condition(written) if not isinstance(tree, exp.Select) else parse_statement(written)
    if is_relative(tree) or again != tree:
        raise QuestionRefused(text, "its relative dates cannot be fixed when it is planned", hint=_HINT)
    return written


def _constant(name: str, node: exp.Expr, kinds: Mapping[str, Kind], now: dt.datetime) -> exp.Expr:
    kind = kinds.get(name.casefold(), Kind.OTHER)
    value = relative_literal(Column(name, kind), node, now)
    shown = value.isoformat(sep=" ") if isinstance(value, dt.datetime) else value.isoformat()
    return exp.cast(exp.Literal.string(shown), "TIMESTAMP" if kind is Kind.TIMESTAMP else "DATE")
