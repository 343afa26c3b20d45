"""The tables that an engine reads for a question: that of the events, and those that the question joins."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import MappingProxyType

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.query.join import Join
from podium.query.schema import Schema
from podium.sources.joined_table import JoinedTable, Lookup
from podium.sources.lookups import is_file_or_frame, open_beside, read_lookup, told_by_name
from podium.sources.protocol import CountQuery
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.joined_relation import JoinedPart, joined_rows
from podium.sources.sql.loaded_items import loaded_columns
from podium.sources.sql.relation import Relation
from podium.sources.sql.snapshot import Session
from podium.user_columns import UserColumns, each_user_column

__all__ = ["JoiningSource"]

_LOOKUP = "podium_lookup"
_MAIN = "the table of events"


class JoiningSource(ABC):
    """A source whose rows may be joined with those of further tables, which their owner declared."""

    sql_dialect: Dialect
    """How this engine writes SQL."""

    declared_joins: Mapping[str, Join] = MappingProxyType({})
    """The tables that questions may join, by name."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of this source in messages."""

    @abstractmethod
    def relation(self) -> Relation:
        """The table of events."""

    def relation_for(self, query: CountQuery) -> Relation:
        """The table of events as this question needs it."""
        return self.relation()

    @abstractmethod
    def domain_relation(self, table: str) -> Relation:
        """Another table of the same engine; SourceUnavailable if it does not exist."""

    @abstractmethod
    def session(self) -> AbstractContextManager[Session]:
        """A connection for one question; everything kept in it is removed afterwards."""

    def declare_joins(self, joins: Mapping[str, Join]) -> None:
        """Let questions join these tables; raises unless each exists and has its keys. Called before any question."""
        self.declared_joins = dict(joins)
        self.joined_schema(tuple(joins), alone=True)

    def table_beside(self, join: Join) -> Relation:
        """A table about users: another of the same engine."""
        if is_file_or_frame(join):
            raise InvalidArgument(
                "join", join.name, allowed="a table of the same database, for a table about users",
                hint="Rows about users do not travel between engines. Load the file into the database.",
            )  # fmt: skip
        return self.domain_relation(str(join.table))

    def joined_schema(self, names: Sequence[str], *, alone: bool = False) -> Schema:
        """The columns of the table and of the joined ones; ``alone`` describes each table, and joins none of them."""
        main = self.relation()
        joins = [self.declared_joins[name] for name in names]
        parts = [self._described(join) if alone else self._as_declared(join) for join in joins]
        if alone:
            for part in parts:
                _require_keys(part)
            return main.schema
        return main.schema if not parts else joined_rows(main, tuple(parts), table=_MAIN).schema

    def schema_beside(self, join: Join) -> Schema:
        """The columns of a declared table."""
        return self._as_declared(join).schema

    def _as_declared(self, join: Join) -> JoinedPart:
        with told_by_name(join):
            return self._described(join)

    def _described(self, join: Join) -> JoinedPart:
        if not join.public:
            return _part(join, self.table_beside(join))
        if not is_file_or_frame(join):
            return _part(join, self.domain_relation(str(join.table)))
        source = open_beside(join, self.relation().schema)
        try:
            return _part(join, source.relation())
        finally:
            source.close()

    def joined_tables(self, names: Sequence[str], used: Iterable[str]) -> tuple[JoinedTable, ...]:
        """What a query says of these joins. Public tables are read, once: their keys and the columns that are used."""
        joins = [self.declared_joins[name] for name in names]
        needed = {*used, *(key for join in joins for key in join.using)}
        return tuple(JoinedTable(join.name, join.using, self._lookup(join, needed), _hidden(join)) for join in joins)

    def _lookup(self, join: Join, needed: set[str]) -> Lookup | None:
        if not join.public:
            return None
        if is_file_or_frame(join):
            with told_by_name(join):
                source = open_beside(join, self.relation().schema)
            try:
                with source.session() as session:
                    return _read(join, source.relation(), needed, session)
            finally:
                source.close()
        with told_by_name(join):
            relation = self.domain_relation(str(join.table))
        with self.session() as session:
            return _read(join, relation, needed, session)

    def rows_for(self, query: CountQuery) -> Relation:
        """The rows that a question reads: those of the table, with their matches in all joined tables."""
        main = self.relation_for(query)
        if not query.joins:
            return main
        # Of the table itself: whose row it is must not depend on what it meets.
        own = tuple(main.schema.column(name, role="user") for name in each_user_column(query.user))
        parts = tuple(self._joined_part(place, join, query.user) for place, join in enumerate(query.joins))
        rows = joined_rows(main, parts, table=_MAIN, own=own)
        for column in own:
            rows.schema.column(column.name, role="user")
        return rows

    def _joined_part(self, place: int, join: JoinedTable, user: UserColumns) -> JoinedPart:
        if join.lookup is None:
            declared = self.declared_joins[join.name]
            if declared.public or declared.using != join.using:
                raise InvalidArgument("join", join.name, allowed="a table as it was declared")
            declared.require_unit(user)
            return _part(declared, self.table_beside(declared))
        loaded = loaded_columns(join.lookup.columns)
        relation = Relation(exp.to_table(f"{_LOOKUP}_{place}"), Schema(loaded), self.sql_dialect)
        stored = {column.name: there.name for column, there in zip(join.lookup.columns, loaded, strict=True)}
        return JoinedPart(join.name, join.using, relation, stored)

    def load_lookups(self, session: Session, query: CountQuery, *, rows: bool = True) -> None:
        """Put the rows of public tables into the session, or empty tables where queries are only planned."""
        for place, join in enumerate(query.joins):
            if join.lookup is not None:
                found = join.lookup.rows if rows else ()
                session.load(f"{_LOOKUP}_{place}", loaded_columns(join.lookup.columns), found)


def _part(join: Join, relation: Relation) -> JoinedPart:
    schema = relation.schema
    columns = {name: schema.column(name) for name in (*schema.names, *(join.using if schema.is_open else ()))}
    relation = replace(relation, schema=Schema(tuple(columns.values()))) if schema.is_open else relation
    return JoinedPart(join.name, join.using, relation, {name: name for name in columns})


def _hidden(join: Join) -> str:
    """Where a table is, so that two of one name are told apart, and nobody reads it."""
    return hashlib.sha256(join.place.encode("utf-8", "surrogatepass")).hexdigest()


def _require_keys(part: JoinedPart) -> None:
    for key in part.using:
        part.relation.schema.column(key, role="using")


def _read(join: Join, relation: Relation, needed: set[str], session: Session) -> Lookup:
    names = [column.name for column in relation.schema.columns if column.name in needed]
    return read_lookup(relation, names, session.fetch, join)
