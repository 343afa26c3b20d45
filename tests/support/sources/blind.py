"""SQLite's dialect with mistakes that a self-test must find: texts that differ are taken for one."""

from __future__ import annotations

from sqlglot import exp

from podium.sources.sqlalchemy.sqlite_sql import SQLite

__all__ = ["CaseBlind", "PaddingBlind"]


class CaseBlind(SQLite):
    def binary(self, text: exp.Expr) -> exp.Expr:
        return exp.Collate(this=text, expression=exp.to_identifier("NOCASE"))


class PaddingBlind(SQLite):
    def binary(self, text: exp.Expr) -> exp.Expr:
        return exp.Collate(this=text, expression=exp.to_identifier("RTRIM"))
