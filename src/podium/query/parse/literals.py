"""Literals: constants of exactly the declared kind of the column.

An engine that converts a constant or a column to compare them may fail on a row and quote it. So the kinds must be
equal before anything is sent.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.parse.relative_dates import is_relative, relative_literal
from podium.query.predicate import Literal
from podium.query.schema import Column, Kind

__all__ = ["literal_for", "literal_text"]

T = TypeVar("T")

_INTEGERS = range(-(2**63), 2**63)
_MAX_TEXT_LENGTH = 1_000
_DIGITS = 38
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIMESTAMP = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d{1,6})?")
_EXAMPLES = {
    Kind.TEXT: "a text in single quotes, like 'DE'",
    Kind.INTEGER: "an integer from -2^63 to 2^63-1",
    Kind.DECIMAL: "a number without exponent",
    Kind.BOOLEAN: "TRUE or FALSE",
    Kind.DATE: "a date like DATE '2026-01-31' or CURRENT_DATE - 7",
    Kind.TIMESTAMP: "a time like TIMESTAMP '2026-01-31 23:59:59' or NOW() - INTERVAL '1' DAY, in UTC",
}


def literal_for(column: Column, node: exp.Expr, now: dt.datetime | None) -> Literal:
    """The constant in a syntax tree; raises unless it has the kind of the column. ``now`` fixes a relative date."""
    if column.kind not in _EXAMPLES:
        raise QuestionRefused(
            column.name,
            f"a {column.kind} column cannot be used in a condition",
            hint="Use a column of text, integers, decimals, booleans, dates or times.",
        )
    if is_relative(node):
        return relative_literal(column, node, now)
    value = _value(column, node)
    if value is None:
        raise QuestionRefused(
            _as_written(node),
            f"column {column.name!r} is {column.kind}, so it is compared with {_EXAMPLES[column.kind]}",
            hint=_hint(column, node),
        )
    return value


def _as_written(node: exp.Expr) -> str:
    """A constant as people write it: the parser reads DATE '2026-01-31' as a cast."""
    if type(node) is exp.Cast and type(node.this) is exp.Literal and node.this.is_string:
        return f"{node.to.sql()} {node.this.sql()}"
    return node.sql()


def _hint(column: Column, node: exp.Expr) -> str:
    """A hint for the two most common mistakes, and the rule otherwise."""
    if type(node) is exp.Column:
        return "Single quotes make a text, double quotes name a column; two columns are not compared."
    if column.kind is Kind.TEXT and (type_ := _type_of(node)):
        return f"A column of a CSV or JSON file is text unless its type is declared: --types {column.name}={type_}."
    return "A constant must have exactly the kind of the column: no casts, functions, columns or parameters."


def _type_of(node: exp.Expr) -> str:
    """The type that a column must have to be compared with a constant; empty for text and what is no constant."""
    if type(node) is exp.Neg:
        return _type_of(node.this)
    if type(node) is exp.Literal and not node.is_string:
        digits = str(node.this).partition(".")[2]
        return f"decimal({len(digits)})" if digits.isdigit() else "integer"
    if type(node) is exp.Boolean:
        return "boolean"
    if type(node) is exp.Cast and node.to.this is exp.DType.DATE:
        return "date"
    return "timestamp" if type(node) is exp.Cast and node.to.this is exp.DType.TIMESTAMP else ""


def literal_text(node: exp.Expr) -> str | None:
    """The text of a plain string constant, or None."""
    return str(node.this) if type(node) is exp.Literal and node.is_string else None


def _value(column: Column, node: exp.Expr) -> Literal | None:
    if column.kind is Kind.TEXT:
        text = literal_text(node)
        return text if text is not None and len(text) <= _MAX_TEXT_LENGTH else None
    if column.kind is Kind.BOOLEAN:
        return bool(node.this) if type(node) is exp.Boolean else None
    if column.kind is Kind.DATE:
        return _time(_typed_text(node, exp.DType.DATE), _DATE, dt.date.fromisoformat)
    if column.kind is Kind.TIMESTAMP:
        return _time(_typed_text(node, exp.DType.TIMESTAMP), _TIMESTAMP, dt.datetime.fromisoformat)
    return _number(column, node)


def _number(column: Column, node: exp.Expr) -> int | Decimal | None:
    sign = ""
    if type(node) is exp.Neg:
        sign, node = "-", node.this
    if type(node) is not exp.Literal or node.is_string or len(node.this) > _DIGITS + 1:
        return None
    text = str(node.this)
    if column.kind is Kind.INTEGER:
        value = int(sign + text) if re.fullmatch(r"[0-9]+", text) else None
        return value if value is not None and value in _INTEGERS else None
    if not re.fullmatch(r"[0-9]*\.?[0-9]*", text) or not any(c.isdigit() for c in text):
        return None
    # Built from text: arithmetic on decimals rounds to 28 digits.
    decimal = Decimal(sign + text)
    exponent = decimal.as_tuple().exponent
    # With a constant of more digits than the column, the engine would rescale the column.
    return decimal if isinstance(exponent, int) and -exponent <= column.scale else None


def _typed_text(node: exp.Expr, kind: exp.DType) -> str:
    if type(node) is exp.Cast and node.to.this is kind and not node.args.get("format"):
        return literal_text(node.this) or ""
    return ""


def _time(text: str, form: re.Pattern[str], read: Callable[[str], T]) -> T | None:
    if not form.fullmatch(text):
        return None
    try:
        return read(text)
    except ValueError:
        return None
