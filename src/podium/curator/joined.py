"""The tables that a question joins: found among the declared ones, read where they are public, and told afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podium.errors import InvalidArgument
from podium.query import CheckedQuestion, Question, Schema
from podium.query.join import Join, declared_joins, join_named
from podium.sources import Source
from podium.sources.joined_table import JoinedTable
from podium.sources.sql.conditions import columns_of
from podium.sources.sql.sql_source import SqlSource
from podium.user_columns import UserColumns, each_user_column

__all__ = ["declared_beside", "described_joins", "joined_schema", "joined_tables", "joins_of", "joins_sentence"]


def joins_of(question: Question, declared: Sequence[Join], *, table: str) -> tuple[Join, ...]:
    """The declared tables that a question names."""
    names, using = question.join, dict[str, tuple[str, ...]]()
    if question.sql is not None:
        from podium.query.parse.join_clauses import joined_in, using_in  # noqa: PLC0415 - others are not parsed

        written = joined_in(question.sql)
        if written and names and {name.casefold() for name in written} != {name.casefold() for name in names}:
            raise InvalidArgument(
                "join", names, allowed=f"{', '.join(written)}, which the statement joins, or nothing",
                hint="Name the tables in the statement or beside it.",
            )  # fmt: skip
        names = written or names
        using = {name: using_in(question.sql, name) for name in names}
    found = tuple(join_named(name, declared, table=table, using=using.get(name, ())) for name in names)
    if len({join.name for join in found}) != len(found):
        raise InvalidArgument("join", names, allowed="each table once")
    return found


def declared_beside(joins: object, sql: str | None) -> tuple[tuple[Join, ...], tuple[str, ...]]:
    """What whoever asks once declares, and what the question then joins; a statement that has JOIN says so itself."""
    declared = declared_joins(joins)
    if sql is None:
        return tuple(declared.values()), tuple(declared)
    from podium.query.parse.join_clauses import joined_in  # noqa: PLC0415 - other questions are not parsed

    return tuple(declared.values()), () if joined_in(sql) else tuple(declared)


def joined_schema(source: Source, joins: Sequence[Join]) -> Schema:
    """The columns that a question with these joins may name."""
    if not joins or not isinstance(source, SqlSource):
        return source.schema()
    return source.joined_schema([join.name for join in joins])


def joined_tables(
    source: Source, joins: Sequence[Join], question: CheckedQuestion, user: UserColumns
) -> tuple[JoinedTable, ...]:
    """What a query says of the joins. Public tables are read here, once for the question; no row about a user is."""
    if not joins or not isinstance(source, SqlSource):
        return ()
    measured = () if question.measure is None or question.measure.column is None else (question.measure.column,)
    used = (*each_user_column(user), *question.items, *question.per, *measured, *columns_of(question.where))
    return source.joined_tables([join.name for join in joins], used)


def described_joins(joins: Sequence[JoinedTable]) -> tuple[Mapping[str, Any], ...]:
    """The joins as a question's key has them: the keys, and what tells a table from others of the same name."""
    return tuple(
        {"name": join.name, "using": list(join.using)}
        | ({"place": join.place} if join.lookup is None else {"public": join.lookup.digest})
        for join in joins
    )


def joins_sentence(joins: Sequence[JoinedTable]) -> str:
    """What was joined, for people: the names and keys."""
    return ", ".join(
        f"{join.name} USING ({', '.join(join.using)}){'' if join.lookup is None else ', public'}" for join in joins
    )
