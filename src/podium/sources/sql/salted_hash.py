"""Several values as one text, the same on every engine, and its salted hash, which chooses what of a user counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.sql.dialect import Dialect

__all__ = ["hash_of", "text_of"]

_COLON = exp.Literal.string(":")


def hash_of(salt: str | None, values: Iterable[tuple[exp.Expr, Column]], dialect: Dialect) -> exp.Expr:
    """Of salt:user:item."""
    return dialect.text_hash(text_of(values, dialect, [exp.Literal.string(str(salt))]))


def text_of(values: Iterable[tuple[exp.Expr, Column]], dialect: Dialect, first: Sequence[exp.Expr] = ()) -> exp.Expr:
    """The values in one text, from which each can be read again: it differs wherever one of them does.

    Every value follows a colon. Text is preceded by its length, and nothing else contains a colon.
    """
    parts = list(first)
    for value, kind in values:
        if kind.kind is Kind.TEXT:
            parts += [_COLON.copy(), dialect.text(dialect.length(value.copy()))]
        parts += [_COLON.copy(), dialect.encode(value, kind)]
    return dialect.concat(parts)
