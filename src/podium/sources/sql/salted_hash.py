"""The salted hash that chooses which groups and items of a user count: the same on every engine."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from podium.query.schema import Column, Kind
from podium.sources.sql.dialect import Dialect

__all__ = ["hash_of"]

_COLON = exp.Literal.string(":")


def hash_of(salt: str | None, values: Iterable[tuple[exp.Expr, Column]], dialect: Dialect) -> exp.Expr:
    """Of salt:user:item, unambiguous: text is preceded by its length, and nothing else contains a colon."""
    parts: list[exp.Expr] = [exp.Literal.string(str(salt))]
    for value, kind in values:
        if kind.kind is Kind.TEXT:
            parts += [_COLON.copy(), dialect.text(dialect.length(value.copy()))]
        parts += [_COLON.copy(), dialect.encode(value, kind)]
    return dialect.md5(dialect.concat(parts))
