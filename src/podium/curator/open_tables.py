"""The tables of a data set: one, or several of the same users, which share one budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from podium.curator.held_source import HeldSource
from podium.errors import InvalidArgument, QuestionRefused
from podium.query import Question, RankingQuestion, Schema
from podium.sources import Source, SourceOptions
from podium.sources.declared_types import Types
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

    @property
    def options(self) -> SourceOptions:
        """How the source is read."""
        return {
            "table": self.table, "types": self.types, "bad_lines": self.bad_lines, "encoding": self.encoding,
            "header": self.header,
        }  # fmt: skip


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


class Tables:
    """What the caller passed as the source: one, or a mapping from names to sources or ``Table``."""

    def __init__(self, given: object, user: object, options: SourceOptions, opened: ExitStack) -> None:
        if not isinstance(given, Mapping):
            self.all = [_open(None, given, user_columns(user), options, opened)]
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
    held = HeldSource(given, options)
    opened.callback(held.close)
    return OpenTable(name, user, held, given, options.get("table"))
