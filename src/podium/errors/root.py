"""The root of the error tree, and how messages quote values and losses."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any

__all__ = ["PodiumError", "quote", "round_up"]

_SENTENCE_END = re.compile(r"(?<=[^.][.?]) (?=[A-Z'0-9])")


class PodiumError(Exception):
    """Root of the tree: catch this to catch everything that podium raises on purpose."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The text in at most three lines: what is wrong, what is allowed, what to do."""
        return tuple(_SENTENCE_END.split(str(self), maxsplit=2))

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Rebuilt in another process from its fields: an error keeps every argument under the argument's name."""
        init = type(self).__init__
        if not isinstance(init, FunctionType):
            return super().__reduce__()
        code = init.__code__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        return (partial(type(self), **{name: getattr(self, name) for name in names}), ())


def quote(value: object) -> str:
    """A value as a message shows it: like ``repr``, cut short."""
    try:
        text = _readable(value)
    except Exception:  # noqa: BLE001 - Python writes no number of 5,000 digits, and a foreign ``repr`` may do anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else text[:77] + "..."


def _readable(value: object) -> str:
    """Like ``repr``, but a ratio as people write it."""
    if isinstance(value, Fraction):
        return str(value)
    if type(value) in {tuple, list} and isinstance(value, (tuple, list)):
        parts = ", ".join(_readable(part) for part in value[:20])
        if isinstance(value, list):
            return f"[{parts}]"
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    return repr(value)


def round_up(value: Fraction) -> str:
    """A loss with four digits, rounded up."""
    return f"{Context(prec=4, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator)):g}"
