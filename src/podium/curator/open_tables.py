"""The tables of a data set: one, or several of the same users, which share one budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from podium.curator.held_source import HeldSource
from podium.curator.joined import joined_schema, joins_of
from podium.errors import InvalidArgument, QuestionRefused
from podium.query import Question, RankingQuestion, Schema
from podium.query.join import Join, declared_joins, stored_join
from podium.sources import Source, SourceOptions
from podium.sources.declared_types import Types
from podium.sources.open import source_options
from podium.sources.sql.sql_source import SqlSource
from podium.user_columns import UserColumns, user_columns

__all__ = ["OpenTable", "Table", "Tables"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One of several tables of the same users: where it is, its user column, and how it is read.

    ``user`` is needed where the columns are not those that are named for all tables; the other options are those of
    ``Curator`` for a single table.
    """

    source: object
    user: str | Iterable[str] | None = None
    table: str | None = None
    types: Types | None = None
    bad_lines: str = "refuse"
    encoding: str = "utf-8"
    header: bool = True
    joins: Iterable[Join | str] | Join | str | None = None

    @property
    def options(self) -> SourceOptions:
        """How the source is read."""
        return source_options(self)


@dataclass(slots=True)
class OpenTable:
    """A table while its curator is open; ``name`` is None where the data set has one table, which needs none."""

    name: str | None
    user: UserColumns
    held: HeldSource
    given: object
    table: str | None = None

    @property
    def source(self) -> Source:
        """Its source as it was last opened."""
        return self.held.source

    @property
    def schema(self) -> Schema:
        """Its columns."""
        return self.source.schema()

    @property
    def joins(self) -> tuple[Join, ...]:
        """The tables that questions about it may join."""
        return tuple(self.source.declared_joins.values()) if isinstance(self.source, SqlSource) else ()

    @property
    def described_joins(self) -> list[dict[str, Any]]:
        """The same as plain data."""
        return [join.describe() for join in self.joins]

    def joined_columns(self) -> dict[Join, Schema]:
        """The columns of each of them."""
        if not isinstance(self.source, SqlSource):
            return {}
        return {join: self.source.schema_beside(join) for join in self.joins}

    def adopt_joins(self, stored: Sequence[Mapping[str, Any]], dataset: str) -> None:
        """Join what the ledger says, if it says anything: what its owner declared is what questions mean."""
        declared = {join["name"]: join for join in stored}
        for join in self.joins if declared else ():
            if declared.get(join.name) != join.describe():
                listed = "; ".join(stored_join(known).sentence() for known in stored)
                raise InvalidArgument(
                    "joins", join.sentence(), allowed=f"what {dataset!r} was registered with: {listed}",
                    hint="Leave it out, to use the tables as they were declared.",
                )  # fmt: skip
        if declared and not self.joins:
            self.held.declare([stored_join(join) for join in stored])

    def joined_by(self, question: Question) -> tuple[Join, ...]:
        """The declared tables that a question names, in its JOIN clauses where it is SQL that has some."""
        return joins_of(question, self.joins, table=self.name or "the data set")

    def schema_of(self, question: Question | RankingQuestion) -> Schema:
        """Its columns, and those of the tables that the question joins."""
        if isinstance(question, RankingQuestion):
            return self.schema
        return joined_schema(self.source, self.joined_by(question))


class Tables:
    """What the caller passed as the source: one, or a mapping from names to sources or ``Table``."""

    def __init__(self, given: object, user: object, options: SourceOptions, opened: ExitStack) -> None:
        if not isinstance(given, Mapping):
            self.all: list[OpenTable] = [_open(None, given, user_columns(user), options, opened)]
            return
        if not given or options:
            raise InvalidArgument(
                "source", sorted(given) or {}, allowed="one table or more by name, and no option beside them",
                hint="Say how a table is read with podium.Table(source=..., types=...).",
            )  # fmt: skip
        self.all = []
        for name, told in given.items():
            table = told if isinstance(told, Table) else Table(source=told)
            stated = table.user or (user.get(name) if isinstance(user, Mapping) else user)
            if not isinstance(name, str):
                raise InvalidArgument("table", name, allowed="the name of a table")
            self.all.append(_open(name, table.source, user_columns(stated), table.options, opened))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables; none where there is one that needs no name."""
        return tuple(table.name for table in self.all if table.name is not None)

    def find(self, name: str | None, dataset: str) -> OpenTable:
        """The table of that name; the only one if none is named."""
        for table in self.all:
            if name == table.name or (name is None and len(self.all) == 1):
                return table
        names = " or ".join(map(repr, self.names))
        raise InvalidArgument(
            "table", name,
            allowed=f"{names}, the tables of {dataset!r}" if names else f"None: {dataset!r} has one table",
            hint=f"Say which one: table={self.names[0]!r}, or FROM {self.names[0]} in SQL." if names else "",
        )  # fmt: skip

    def of(self, question: Question | RankingQuestion, dataset: str) -> OpenTable:
        """The table that a question is about: the one that it names, in its FROM where it is SQL."""
        sql = question.sql if isinstance(question, Question) else None
        if sql is None or not self.names:
            return self.find(question.table, dataset)
        from podium.query.parse.statement import table_named  # noqa: PLC0415 - other questions are not parsed

        named = table_named(sql, self.names)
        if named is None:
            names = " or ".join(self.names)
            raise QuestionRefused("FROM", f"the tables of {dataset!r} are {names}", hint=f"Write: FROM {self.names[0]}")
        if question.table not in (None, named):
            raise InvalidArgument("table", question.table, allowed=f"{named!r}, which the statement reads, or nothing")
        return self.find(named, dataset)


def _open(name: str | None, given: object, user: UserColumns, options: SourceOptions, opened: ExitStack) -> OpenTable:
    for join in declared_joins(options.get("joins")).values():
        join.require_unit(user)
    held = HeldSource(given, options)
    opened.callback(held.close)
    return OpenTable(name, user, held, given, options.get("table"))
