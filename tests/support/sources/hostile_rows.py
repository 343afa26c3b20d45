"""Rows that might make a question fail, the files and frames that hold them, and the questions that are asked.

Rows of values are in ``ROWS`` and go into every engine and format. Rows that only a file can hold, such as a line that
breaks its own quoting, are in ``tests.support.hostile_files``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pandas as pd
import polars as pl

from podium.errors import SourceFailure
from podium.query.predicate import And, Compare, Like, Missing, Not, OneOf, Operator, Or, Predicate, Wildcard
from podium.sources import CountQuery, Domain, DomainItems, DomainSize, DomainTable, Snapshot, Source, open_source

__all__ = [
    "BAD_USER", "COLUMNS", "FILES", "GOOD", "INSIDE", "OUTSIDE", "ROWS", "Question", "Row", "conditions",
    "fails", "parquet", "questions", "written",
]  # fmt: skip

Row: TypeAlias = Mapping[str, str | None]

COLUMNS = {
    "user_id": "BIGINT", "label": "VARCHAR", "number": "BIGINT", "weight": "DOUBLE", "day": "DATE",
    "moment": "TIMESTAMP", "kind": "VARCHAR", "raw": "VARCHAR",
}  # fmt: skip
"""The table's columns, and their types in DuckDB."""

BAD_USER = 9999
_DECLARED = {"user_id": "integer", "label": "text", "number": "integer", "day": "date", "moment": "timestamp"}

GOOD: tuple[Row, ...] = tuple(
    {
        "user_id": str(user),
        "label": "abcde"[user % 5],
        "number": str(user % 4),
        "weight": "0.5",
        "day": f"2024-01-0{1 + user % 3}",
        "moment": f"2024-01-0{1 + user % 3} 12:00:00",
        "kind": " Num",
        "raw": str(user % 4),
    }
    for user in range(1, 41)
)


def _row(**values: str | None) -> Row:
    return {**GOOD[0], "user_id": str(BAD_USER), **values}


OUTSIDE, INSIDE = _row(kind="note", raw="HIV positive"), _row(raw="HIV positive")
"""A row whose ``raw`` is no number, outside a view of those that are, and inside it."""

ROWS: dict[str, Row] = {
    "a very long text": _row(label="x" * 300_000),
    "an empty text": _row(label=""),
    "a NUL": _row(label="a\0b"),
    "control characters": _row(label="a\x01\x1b[31m\x7f\u0085\u2028b"),
    "quotes and escapes": _row(label="'\"\\%_!;--/*$1{x}"),
    "text beyond the first plane": _row(label="\U0010ffff\u202e\ufeff\ue000"),
    "the largest number": _row(number=str(2**63 - 1)),
    "the smallest number": _row(number=str(-(2**63))),
    "the largest user": _row(user_id=str(2**63 - 1)),
    "not a number": _row(weight="NaN"),
    "infinite": _row(weight="Infinity"),
    "the first day": _row(day="0001-01-01", moment="0001-01-01 00:00:00"),
    "the last day": _row(day="9999-12-31", moment="9999-12-31 23:59:59.999999"),
    "a day beyond": _row(day="12345-06-07", moment="12345-06-07 00:00:00"),
    "an infinite day": _row(day="infinity", moment="-infinity"),
    "nothing": dict.fromkeys(COLUMNS),
    "outside a view": OUTSIDE,
}


@dataclass(frozen=True)
class Question:
    """What is asked: a query, its domain, and the methods of a snapshot that read it."""

    query: CountQuery
    ask: Callable[[Snapshot], object]
    domain: Domain | None = None


def _top(snapshot: Snapshot) -> None:
    snapshot.top_rows(3)


def _kept(snapshot: Snapshot) -> None:
    counts, _ = snapshot.counts_of_counts()
    snapshot.names([(count, 0) for count in counts[:1]])


def _sizes(snapshot: Snapshot) -> None:
    snapshot.sizes((1, 2))


def questions(where: Predicate | None = None, *, listed: str | None = None) -> Iterator[Question]:
    """Every shape that a question has: a list, bounds, rounds, sizes, domains, two columns as a ranking reads them.

    ``listed`` is a table or view that has a column ``number``.
    """
    user, item, salt = "user_id", "number", "ab" * 16
    plain = CountQuery((item,), user, where)
    yield Question(plain, _top)
    yield Question(CountQuery((item,), user, where, 1, salt), _top)
    yield Question(CountQuery(("label", item), user, where), _top)
    yield Question(plain, _kept, DomainSize(4))
    yield Question(plain, _kept, DomainItems((0, 77)))
    yield Question(plain, _sizes, DomainItems((0, 1)))
    yield Question(CountQuery((item,), user, where, 5, salt, weights=((1, 8), (5, 1)), without=(1,)), _kept)
    if listed is not None:
        yield Question(plain, _kept, DomainTable(listed))


def columns(where: Predicate | None = None) -> Iterator[Question]:
    """The other columns, as items and in a condition."""
    for item in ("label", "day", "moment"):
        yield Question(CountQuery((item,), "user_id", where), _top)
        yield Question(CountQuery((item,), "user_id", where, 1, "ab" * 16), _kept)
    yield Question(CountQuery(("number",), "label", Like("label", ("a", Wildcard.MANY))), _top)


def conditions() -> Iterator[Predicate | None]:
    """Conditions that name somebody: who is there, who is not, who cannot be."""
    users = [Compare("user_id", Operator.EQUAL, user) for user in (1, BAD_USER, 10**6, -5)]
    yield from (None, *users)
    # All that is counted is then a constant.
    yield And((users[0], Compare("number", Operator.EQUAL, 1), Compare("label", Operator.EQUAL, "b")))
    yield Compare("user_id", Operator.UNEQUAL, BAD_USER)
    yield Compare("user_id", Operator.LESS, 0)
    yield Missing("user_id")
    yield And((Not(Missing("number")), Or((OneOf("user_id", (1, 2)), Compare("number", Operator.MORE, 10**9)))))


def fails(source: Source, question: Question) -> bool:
    """Whether it fails; an error that says more than that is raised."""
    try:
        with source.snapshot(question.query, domain=question.domain) as snapshot:
            question.ask(snapshot)
    except SourceFailure:
        return True
    return False


def _arrow(rows: Sequence[Row]) -> Any:
    """The rows as DuckDB has them: also values that no other library can make."""
    typed = ", ".join(f"CAST({column} AS {type_}) AS {column}" for column, type_ in COLUMNS.items())
    with duckdb.connect() as connection:
        connection.register("texts", pd.DataFrame(rows, columns=list(COLUMNS), dtype="string"))
        return connection.sql(f"SELECT {typed} FROM texts").to_arrow_table()


def parquet(rows: Sequence[Row], path: Path) -> Path:
    """The rows in a Parquet file."""
    with duckdb.connect() as connection:
        connection.register("typed", _arrow(rows))
        connection.execute(f"COPY typed TO '{path}' (FORMAT parquet)")
    return path


def _csv(rows: Sequence[Row], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *([row[column] for column in COLUMNS] for row in rows)])
    return path


def _json(rows: Sequence[Row], path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _objects(rows: Sequence[Row], _path: Path) -> Any:
    return pd.DataFrame({column: pd.Series([row[column] for row in rows], dtype=object) for column in COLUMNS})


FILES: dict[str, tuple[str, Callable[[Sequence[Row], Path], Any], bool]] = {
    "CSV": ("csv", _csv, True),
    "JSON": ("jsonl", _json, True),
    "Parquet": ("parquet", parquet, False),
    "Arrow": ("", lambda rows, _: _arrow(rows), False),
    "pandas": ("", _objects, True),
    "polars": ("", lambda rows, _: pl.DataFrame(_arrow(rows)), False),
}
"""Files and frames: their suffix, what makes one of rows, and whether its columns are declared."""


def written(form: str, rows: Sequence[Row], folder: Path) -> AbstractContextManager[Source]:
    """A source for a file or a frame of these rows."""
    suffix, make, declares = FILES[form]
    path = folder / f"rows.{suffix}"
    data = make(rows, path)
    return closing(open_source(data, types=_DECLARED if declares else None))
