"""Public tables that questions join: described when they are declared, and read once for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable, UnknownColumn
from podium.query.join import Join
from podium.query.schema import Column, Schema
from podium.sources.declared_types import Types
from podium.sources.duckdb.frames import is_frame, speaks_arrow
from podium.sources.item_text import COUNTABLE, decode
from podium.sources.joined_table import Lookup
from podium.sources.sql.expressions import row_column
from podium.sources.sql.relation import Relation

if TYPE_CHECKING:
    from podium.sources.duckdb.source import DuckDBSource

__all__ = ["is_file_or_frame", "key_types", "open_beside", "read_lookup", "told_by_name"]

_MAX_ROWS = 1_000_000


def is_file_or_frame(join: Join) -> bool:
    """Whether the table is a local file, or a frame in memory, and not a table of a database."""
    if isinstance(join.table, str):
        return Path(join.table).exists() or any(sign in join.table for sign in "*?[")
    return isinstance(join.table, Path) or is_frame(join.table) or speaks_arrow(join.table)


def key_types(join: Join, main: Schema) -> Types:
    """The types of a text file's columns: those of the keys are those of the table of events, unless stated."""
    known = {column.name: column for column in main.columns}
    keys = {name: _type_text(known[name]) for name in join.using if name in known and known[name].kind in COUNTABLE}
    return {**keys, **(join.types or {})}


def _type_text(column: Column) -> str:
    return f"decimal({column.scale})" if column.scale else column.kind.value


def open_beside(join: Join, main: Schema) -> DuckDBSource:
    """The file or frame of a join, opened and checked like any source."""
    from podium.sources.duckdb.files import find_files  # noqa: PLC0415 - the engine itself opens what is beside it
    from podium.sources.duckdb.source import DuckDBSource  # noqa: PLC0415

    types: Mapping[str, Any] | None = join.types
    if isinstance(join.table, (str, Path)) and find_files(join.table).text:
        types = key_types(join, main)
    try:
        return DuckDBSource(join.table, types=types)
    except UnknownColumn as error:
        raise UnknownColumn("using" if error.column in join.using else "types", error.column, error.columns) from None
    except SourceUnavailable as error:
        raise SourceUnavailable(str(error).replace("source=", "join=", 1)) from None


@contextmanager
def told_by_name(join: Join) -> Iterator[None]:
    """Errors about a declared table without its place: that is its owner's business, and not that of who asks."""
    try:
        yield
    except (SourceUnavailable, UnknownColumn):
        raise SourceUnavailable(
            f"join={join.name!r} cannot be read as it was declared: the table, its columns or its rows have changed. "
            "Ask without it, or let its owner open it again, which says what is wrong."
        ) from None


def read_lookup(
    relation: Relation, names: Iterable[str], fetch: Callable[[str], Sequence[tuple[Any, ...]]], join: Join
) -> Lookup:
    """Some columns of all rows of a public table, with the digest that belongs to a question's key."""
    columns = tuple(relation.schema.column(name, role="join") for name in dict.fromkeys(names))
    for column in columns:
        if column.kind not in COUNTABLE:
            raise InvalidArgument(
                "join", column.name, allowed="columns of kind " + ", ".join(kind.value for kind in COUNTABLE),
                hint=f"In {join.name} it is of kind {column.kind.value}: cast it there, or declare its type.",
            )  # fmt: skip
    select = exp.select(*(_text(relation, column).as_(f"c{place}") for place, column in enumerate(columns)))
    select = select.from_(relation.rows(tuple(column.name for column in columns))).limit(_MAX_ROWS + 1)
    try:
        texts = [tuple(row) for row in fetch(relation.dialect.sql(select))]
    except SourceFailure:
        texts = None
    if texts is None or len(texts) > _MAX_ROWS:
        why = "could not be read" if texts is None else f"has more than {_MAX_ROWS:,} rows"
        raise SourceUnavailable(
            f"join={join.name!r} {why}. A public table is read whole for each question, and travels with it. Allowed: "
            f"at most {_MAX_ROWS:,} rows, all of which can be read. Join fewer rows, or put the column into the table."
        )
    kinds = [column.kind for column in columns]
    rows = (
        tuple(None if text is None else decode(kind, text) for kind, text in zip(kinds, row, strict=True))
        for row in texts
    )
    return Lookup.of(columns, tuple(rows), texts)


def _text(relation: Relation, column: Column) -> exp.Expr:
    """The value as text, NULL where it is missing or cannot be compared."""
    value = relation.value(row_column(column.name), column)
    usable = exp.and_(*relation.dialect.usable(value.copy(), column))
    return exp.Case(ifs=[exp.If(this=usable, true=relation.dialect.encode(value, column))])
