"""The rows of several tables as one: inner joins by equality of columns of the same name and kind.

    SELECT needed columns FROM events JOIN users ON users.user_id = events.user_id JOIN ...

The equality is of values as podium compares them: text by its bytes, and NULL with nothing. Columns that somebody's
expressions compute are kept in a temporary table first, because a join may not need all rows of one side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from podium.errors import InvalidArgument
from podium.query.schema import Column, Schema
from podium.sources.item_text import COUNTABLE
from podium.sources.sql.expressions import ROWS
from podium.sources.sql.relation import Relation

__all__ = ["JoinedPart", "JoinedRelation", "JoinedSchema", "joined_rows"]


@dataclass(frozen=True, slots=True)
class JoinedSchema(Schema):
    """The columns of joined tables. A name that two of them have, and by which they are not joined, says nothing."""

    main: Schema = field(default_factory=lambda: Schema(()))
    shared: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    holders: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def is_of(self, name: str, table: str, *, main: str) -> bool:
        """Whether a table has the column: keys belong to every table that they match."""
        held = {known.casefold(): holders for known, holders in self.holders.items()}
        wanted = None if table == main else table.casefold()
        return wanted in held.get(name.casefold(), ())

    def column(self, name: str, *, role: str = "column") -> Column:
        """The column of that name, unless two tables have it."""
        if name in self.shared:
            one, other = self.shared[name]
            raise InvalidArgument(
                role, name, allowed="a column that one of the joined tables has",
                hint=f"Both {one} and {other} have it: rename it in one of them, for example by a view.",
            )  # fmt: skip
        known = next((column for column in self.columns if column.name == name), None)
        if known is None and self.main.is_open:
            return self.main.column(name, role=role)
        return Schema.column(self, name, role=role) if known is None else known


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """A joined table: its relation, and what its columns are called there."""

    name: str
    using: tuple[str, ...]
    relation: Relation
    stored: Mapping[str, str]

    @property
    def schema(self) -> Schema:
        """Its columns under the names that questions use."""
        named = ((name, self.relation.schema.column(stored)) for name, stored in self.stored.items())
        return Schema(tuple(replace(column, name=name) for name, column in named))


@dataclass(frozen=True, slots=True)
class _Clean:
    """Each column is converted as its own table says."""

    main: Relation
    parts: tuple[JoinedPart, ...]
    owners: Mapping[str, int]

    def __call__(self, value: exp.Expr, column: Column) -> exp.Expr:
        place = self.owners.get(column.name)
        if place is None:
            return self.main.clean(value, column)
        part = self.parts[place]
        return part.relation.clean(value, replace(column, name=part.stored[column.name]))


@dataclass(frozen=True, slots=True)
class JoinedRelation(Relation):
    """Joined tables as one relation; what to write after FROM is a query over all of them."""

    main: Relation | None = None
    parts: tuple[JoinedPart, ...] = ()
    owners: Mapping[str, int] = field(default_factory=dict)

    def rows(self, names: Iterable[str]) -> exp.Expr:
        """The joined rows, with only these columns."""
        return self._select(names).subquery(ROWS, copy=False)

    def computes(self, names: Iterable[str]) -> bool:
        """Whether a user-defined expression computes one of these columns, or one by which rows are matched."""
        return any(relation.computes(needed) for relation, needed in self._needed(names))

    def fence(self, names: Iterable[str]) -> exp.Select:
        """The same as the rows: each computed part is kept apart."""
        return self._select(names)

    def kept_rows(self, names: Iterable[str], table: str) -> tuple[Relation, dict[str, exp.Select]]:
        """The same rows, where the computed parts are kept in tables of such names, and the queries to keep there."""
        kept: dict[str, exp.Select] = {}
        relations = []
        for place, (relation, needed) in enumerate(self._needed(names)):
            part, first = relation.kept_rows(needed, f"{table}_{place}")
            kept |= first
            relations.append(part)
        parts = tuple(replace(part, relation=found) for part, found in zip(self.parts, relations[1:], strict=True))
        return replace(self, main=relations[0], parts=parts), kept

    def shown_as(self, name: str) -> Relation:
        """The same with the names of the tables, for readers who should not see where they are."""
        parts = tuple(replace(part, relation=part.relation.shown_as(part.name)) for part in self.parts)
        return replace(self, main=self._main.shown_as(name), parts=parts)

    @property
    def _main(self) -> Relation:
        if self.main is None:
            raise InvalidArgument("main", None, allowed="the relation that others are joined to")
        return self.main

    def _needed(self, names: Iterable[str]) -> list[tuple[Relation, tuple[str, ...]]]:
        """Each table with the columns that are read of it."""
        wanted = dict.fromkeys([*names, *(key for part in self.parts for key in part.using)])
        own = tuple(name for name in wanted if name not in self.owners)
        found = [(self._main, own)]
        for place, part in enumerate(self.parts):
            read = [name for name in wanted if name in part.using or self.owners.get(name) == place]
            found.append((part.relation, tuple(part.stored[name] for name in read)))
        return found

    def _select(self, names: Iterable[str]) -> exp.Select:
        wanted = tuple(dict.fromkeys(names))
        needed = self._needed(wanted)
        select = exp.select(*(exp.alias_(self._raw(name), name, quoted=True) for name in wanted or self._first_key()))
        select = select.from_(_table(self._main, needed[0][1], ROWS), copy=False)
        for place, part in enumerate(self.parts):
            matched = exp.and_(*(self._value(key, place).eq(self._matched(part, key, place)) for key in part.using))
            table = _table(part.relation, needed[place + 1][1], _alias(place))
            select = select.join(table, on=matched, join_type="INNER", copy=False)
        return select

    def _first_key(self) -> tuple[str, ...]:
        return self.parts[0].using[:1]

    def _raw(self, name: str) -> exp.Expr:
        """A column where it comes from, as it is stored."""
        place = self.owners.get(name)
        if place is None:
            return _column(name, ROWS)
        return _column(self.parts[place].stored[name], _alias(place))

    def _value(self, key: str, place: int) -> exp.Expr:
        """A key on the side of what was joined before."""
        before = self.owners.get(key)
        relation = self._main if before is None else self.parts[before].relation
        stored = key if before is None else self.parts[before].stored[key]
        return relation.value(self._raw(key), relation.schema.column(stored))

    def _matched(self, part: JoinedPart, key: str, place: int) -> exp.Expr:
        stored = part.stored[key]
        return part.relation.value(_column(stored, _alias(place)), part.relation.schema.column(stored))


def joined_rows(
    main: Relation, parts: tuple[JoinedPart, ...], *, table: str, own: tuple[Column, ...] = ()
) -> JoinedRelation:
    """The relation of joined tables; raises unless every key is a column of both sides, of exactly the same kind.

    ``own`` are columns that the main relation must have itself, such as those of the user. It may have them without
    listing them: in JSON any name is a column, and a joined table with a column of that name would supply it.
    """
    columns = {column.name: column for column in (*main.schema.columns, *own)}
    owners: dict[str, int] = {}
    holders = dict.fromkeys(columns, table)
    shared: dict[str, tuple[str, str]] = {}
    for place, part in enumerate(parts):
        found = part.schema
        for key in part.using:
            before = columns[key] if key in columns else main.schema.column(key, role="join")
            _require_same(part.name, before, found.column(key, role="join"))
        for column in found.columns:
            if column.name in part.using:
                continue
            if column.name in columns:
                shared[column.name] = (holders[column.name], part.name)
                continue
            columns[column.name], owners[column.name], holders[column.name] = column, place, part.name
    listed = tuple(column for name, column in columns.items() if name not in shared)
    # Names without capitals; the table of events has none.
    every = {key for part in parts for key in part.using}
    keys = {key: tuple(part.name.casefold() for part in parts if key in part.using) for key in every}
    places = {name: (None if name not in owners else holders[name].casefold(), *keys.get(name, ())) for name in columns}
    schema = JoinedSchema(listed, main.schema, shared, places)
    clean: Callable[[exp.Expr, Column], exp.Expr] = _Clean(main, parts, owners)
    return JoinedRelation(main.table, schema, main.dialect, clean, frozenset(), main, parts, owners)


def _require_same(name: str, one: Column, other: Column) -> None:
    """Raise unless both columns are of the same kind, whose values compare exactly."""
    if one.kind not in COUNTABLE or (one.kind, one.scale, one.unsigned) != (other.kind, other.scale, other.unsigned):
        told = [f"{column.kind.value}{f' of scale {column.scale}' if column.scale else ''}" for column in (one, other)]
        raise InvalidArgument(
            "join", name, allowed=f"a column {one.name!r} of exactly the same kind on both sides, that can be compared",
            hint=f"It is {told[0]} here, and {told[1]} in {name}. For a CSV file declare its types; in a database, "
            "cast it in the table.",
        )  # fmt: skip


def _table(relation: Relation, names: tuple[str, ...], alias: str) -> exp.Expr:
    """A table of a join under its alias, behind a fence if a needed column is computed."""
    if relation.computes(names):
        return relation.fence(names).subquery(alias, copy=False)
    return exp.alias_(relation.table.copy(), alias, table=True)


def _alias(place: int) -> str:
    return f"joined{place}"


def _column(name: str, table: str) -> exp.Expr:
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))
