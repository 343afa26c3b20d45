"""Several values as one text, the same on every engine, and its salted hash, which chooses what of a user counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.expressions import USER, column

if TYPE_CHECKING:
    from podium.sources.sql.pairs import Pairs

__all__ = ["hash_of", "salted_hash", "text_of"]

_COLON = exp.Literal.string(":")


def salted_hash(pairs: Pairs, table: str) -> exp.Expr:
    """The hash of each pair in a table: of salt, user, group and item."""
    declared = [pairs.user_column, *pairs.columns]
    values = zip((column(place, table) for place in (USER, *pairs.places)), declared, strict=True)
    return hash_of(pairs.query.salt, values, pairs.dialect)


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
