"""Relative dates: ``CURRENT_DATE - 7`` becomes a constant, once, before anything is planned.

They are computed here and not in the engine, so that the plan, the key and the stored question show which days were
asked for, and so that no engine's clock or time zone decides. All times are UTC.
"""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.schema import Column, Kind

__all__ = ["is_relative", "relative_literal"]

_TODAY = exp.CurrentDate()
_NOW = (exp.CurrentTimestamp(), exp.Anonymous(this="NOW"))
_DAY = dt.timedelta(days=1)
_UNITS = {"WEEK": 7 * _DAY, "DAY": _DAY, "HOUR": dt.timedelta(hours=1), "MINUTE": dt.timedelta(minutes=1)}
_DIGITS = 18
_FORMS = {
    Kind.DATE: "Write CURRENT_DATE, CURRENT_DATE - 7, or CURRENT_DATE - INTERVAL '1' WEEK; days are those of UTC.",
    Kind.TIMESTAMP: "Write CURRENT_DATE - 7, or CURRENT_TIMESTAMP - INTERVAL '24' HOUR; units are WEEK, DAY, HOUR and "
    "MINUTE, and times those of UTC.",
}


def is_relative(node: exp.Expr) -> bool:
    """Whether a constant depends on when the question is asked."""
    clocks = (exp.CurrentDate, exp.CurrentTimestamp)
    return any(isinstance(part, clocks) or _is_now_call(part) for part in node.walk())


def relative_literal(column: Column, node: exp.Expr, now: dt.datetime | None) -> dt.date | dt.datetime:
    """The date or time that a relative one means at ``now``, which has a time zone; with None all are refused."""
    if column.kind not in _FORMS:
        raise QuestionRefused(
            node.sql(), f"column {column.name!r} is {column.kind}, and relative dates are compared with dates or times",
            hint=f"Columns of CSV and JSON files are text until a type is declared, as in --types {column.name}=date.",
        )  # fmt: skip
    if now is None:
        raise QuestionRefused(
            node.sql(), "a schedule asks the same question in every period",
            hint="Its periods choose the days. Write a constant, like DATE '2026-01-31'.",
        )  # fmt: skip
    bare = node.unnest()
    shifted = type(bare) in {exp.Add, exp.Sub}
    clock = bare.this if shifted else bare
    dated = column.kind is Kind.DATE
    try:
        shift = _shift(bare, days=clock == _TODAY) if shifted else dt.timedelta()
        if shift is None or (clock != _TODAY and (dated or clock not in _NOW)) or (dated and shift % _DAY):
            raise QuestionRefused(
                node.sql(), f"it is not a relative {column.kind} that podium understands", hint=_FORMS[column.kind]
            )
        moment = _start(now, midnight=clock == _TODAY) + shift
    except OverflowError:
        raise QuestionRefused(node.sql(), "it lies outside the years 1 to 9999", hint=_FORMS[column.kind]) from None
    return moment.date() if dated else moment


def _is_now_call(node: exp.Expr) -> bool:
    return type(node) is exp.Anonymous and node.name.upper() == "NOW"


def _start(now: dt.datetime, *, midnight: bool) -> dt.datetime:
    """Whole minutes: the same question, asked again in the same minute, is the same question."""
    start = now.astimezone(dt.UTC).replace(second=0, microsecond=0, tzinfo=None)
    return start.replace(hour=0, minute=0) if midnight else start


def _shift(node: exp.Expr, *, days: bool) -> dt.timedelta | None:
    """How far a sum or difference moves its clock; None if it is not understood."""
    offset = node.expression.unnest()
    if type(offset) is exp.Interval:
        # INTERVAL 7 DAY and INTERVAL '7' DAY are one tree; a span of two units, or none, has an empty name.
        amount, unit = offset.this, _UNITS.get(offset.text("unit").upper().removesuffix("S"))
    else:
        amount, unit = offset, _DAY if days and not offset.is_string else None
    text = amount.name if type(amount) is exp.Literal else ""
    if unit is None or not re.fullmatch(r"[0-9]+", text):
        return None
    if len(text) > _DIGITS:
        raise OverflowError
    shift = int(text) * unit
    return -shift if type(node) is exp.Sub else shift
