"""Parameters of a statement: each question mark outside quotes becomes the literal of a value.

The statement is then one text, so that a question with parameters is the same question, in the ledger too, as the one
with its values written out.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

from sqlglot.tokenizer_core import TokenType

from podium.errors import InvalidArgument
from podium.query.parse.syntax import tokens_of

__all__ = ["fill_in"]

_ALLOWED = "texts, integers, decimals, booleans, dates and times"
_APART = frozenset("=<>(, \t\n")
_MAX_EXPONENT = 400
"""Of a decimal, which is written out: floats go up to 308."""


def fill_in(text: str, values: Sequence[object]) -> str:
    """The statement with its question marks replaced by ``values``, in order."""
    marks = [token for token in tokens_of(text) if token.token_type is TokenType.PLACEHOLDER]
    if len(marks) != len(values):
        raise InvalidArgument(
            "parameters", f"{len(values)} values", allowed=f"one for each of the {len(marks)} question marks"
        )
    parts, end = [], 0
    for mark, value in zip(marks, values, strict=True):
        before = text[end : mark.start]
        # A literal is apart from what precedes it: "-?" with -5 is no comment, and "e?" no escaped text.
        parts += [before, "" if before[-1:] in _APART else " ", _literal(value)]
        end = mark.end + 1
    return "".join([*parts, text[end:]])


def _literal(value: object) -> str:
    """The value as SQL text."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return f"TIMESTAMP '{moment.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value):
        # As everywhere in podium, a float means the decimal that it prints.
        return f"{Decimal(repr(float(value))):f}"
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) <= _MAX_EXPONENT:
        return f"{value:f}"
    hint = "Write IS NULL." if value is None else "Write the value into the statement."
    raise InvalidArgument("parameters", type(value).__name__, allowed=_ALLOWED, hint=hint)
