"""Embedded DuckDB: local files and frames in memory, without a server."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb
from sqlglot import exp

from podium.errors import InvalidArgument, SourceUnavailable
from podium.query.join import Join
from podium.sources.declared_types import Types, declared_columns
from podium.sources.duckdb.catalog import FRAME, attached_table, describe, json_relation
from podium.sources.duckdb.connection import (
    ATTACHED,
    DIALECT,
    DuckDBSession,
    engine_failed,
    open_locked_database,
    open_or_refuse,
    values_are_readable,
)
from podium.sources.duckdb.files import DataFiles, FileFormat, csv_header, find_files, identify_files, reader
from podium.sources.duckdb.frames import is_frame, speaks_arrow
from podium.sources.duckdb.identity import file_identities, fingerprint
from podium.sources.duckdb.resources import Resources
from podium.sources.duckdb.validity import BadLines, FileRules, check_text
from podium.sources.isolation import Process
from podium.sources.lookups import is_file_or_frame, open_beside
from podium.sources.private_folder import make_folder
from podium.sources.protocol import CountQuery, Domain
from podium.sources.sql.conditions import columns_of
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import Relation
from podium.sources.sql.sql_source import SqlSource
from podium.user_columns import each_user_column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DuckDBSource"]

T = TypeVar("T")


class DuckDBSource(SqlSource):
    """Parquet, CSV, JSON or DuckDB files, or a frame, read by a connection that can read nothing else.

    ``location`` is a path, a pattern, a folder of Parquet files (``name=value`` folders in it are columns of text), or
    a pandas, polars or Arrow frame, or any object with ``__arrow_c_stream__``, whose stream is read once; ``table``
    names one of several tables in a DuckDB file; ``types`` declares columns, and a value that does not fit its declared
    type counts as missing.

    Opening checks the files completely, so that no row can decide later whether a question fails. A CSV record that
    breaks the quoting, a line that is not one JSON object, or bytes that are not text are refused with their line
    number, or dropped with ``bad_lines="drop"``. ``encoding`` is that of CSV and JSON files. With
    ``header=False`` the first line of a CSV file is a row, and the columns are called column1, column2 and so on.
    Files that change afterwards are refused until they are opened again.

    ``memory_limit`` (such as ``"4GB"``), ``threads`` and ``temp_directory`` say what DuckDB may use of this machine.
    What does not fit into memory spills to a private folder below ``temp_directory``, by default the system's, which
    ``close`` removes; a question that exceeds both fails like any other failure of the engine.
    """

    sql_dialect: Dialect = DIALECT

    def __init__(
        self,
        location: object,
        *,
        table: str | None = None,
        types: Types | None = None,
        bad_lines: str = BadLines.REFUSE,
        encoding: str = "utf-8",
        header: bool = True,
        memory_limit: str | None = None,
        threads: int | None = None,
        temp_directory: str | Path | None = None,
    ) -> None:
        resources, rules = Resources(memory_limit, threads, temp_directory), FileRules(bad_lines, encoding, header)
        self._declared = declared_columns(types)
        self._frame: pa.Table | None = None
        self._files: DataFiles | None = None
        self._wanted = table
        frame = None
        if isinstance(location, str | Path):
            self._name = str(location)
            self._files = find_files(location)
        elif is_frame(location) or speaks_arrow(location):
            from podium.sources.duckdb.arrow import arrow_table  # noqa: PLC0415 - slow to import

            self._name = "a frame"
            frame = arrow_table(location, self._declared)
        else:
            raise InvalidArgument("source", location, allowed="a path, or a pandas, polars or Arrow frame")
        self._require(table, rules)
        spill, remove = make_folder(temp_directory)
        self._process = Process()
        self._clean_up = weakref.finalize(self, self._process.run, remove)
        self._original = self._files.paths if self._files else ()
        self._given = () if self._attached else self._original
        self._seen = fingerprint(self._given)
        if self._files is not None and self._files.text:
            self._files = check_text(self._files, rules, Path(spill, "copies"), frozenset(self._declared))
        self._spill, self._settings = spill, resources.settings()
        self._beside: dict[str, DuckDBSource] = {}
        self._database = self._start()
        if frame is not None:
            from podium.sources.duckdb.arrow import readable_part  # noqa: PLC0415

            with self._cursor() as cursor:
                readable = readable_part(cursor, frame)
            self._frame = readable
        self._relation = self._open(table)
        self._check_parquet()
        # The file may have changed while it was being checked.
        self._require_unchanged()

    def _start(self) -> duckdb.DuckDBPyConnection:
        """A database that can read the files of this source, and of the tables beside it."""
        own = self._files.paths if self._files else ()
        others = [path for source in self._beside.values() for path in source.paths]
        return self._try_starting(
            lambda: open_locked_database(
                own, others, attach=self._attached, spill=self._spill, resources=self._settings
            ),
            reads=self._attached,
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are read: for text, their checked copies where there are any."""
        return self._files.paths if self._files else ()

    def declare_joins(self, joins: Mapping[str, Join]) -> None:
        """Open the files and frames beside this one; tables of the same DuckDB file are there already."""
        for source in self._beside.values():
            source.close()
        own = [join for join in joins.values() if not join.public and is_file_or_frame(join)]
        self._beside = {join.name: open_beside(join, self.schema()) for join in own}
        if self._beside:
            self._database.close()
            self._database = self._start()
        super().declare_joins(joins)

    def table_beside(self, join: Join) -> Relation:
        """A table about users: a file or frame that was opened beside this one, or a table of the same DuckDB file."""
        source = self._beside.get(join.name)
        if source is None:
            return self.domain_relation(str(join.table))
        if source._attached:
            raise InvalidArgument(
                "join", join.name, allowed="a Parquet, CSV or JSON file, a frame, or a table of the same DuckDB file",
                hint="Write the table to a Parquet file, or both into one DuckDB file.",
            )  # fmt: skip
        relation = source.relation()
        return relation if source._frame is None else replace(relation, table=exp.to_table(_frame_name(join.name)))

    def _require(self, table: str | None, rules: FileRules) -> None:
        """Raise for options that this kind of source does not have."""
        if table is not None and not self._attached:
            raise InvalidArgument("table", table, allowed="None, unless the source is a DuckDB file or a server")
        if not (self._files and self._files.text):
            rules.refuse()

    def _check_parquet(self) -> None:
        """Raise if some value of a Parquet file cannot be read: each column is read once, as questions read it.

        Otherwise whether a question fails would depend on the row groups that its condition selects.
        """
        if self._files is None or self._files.format is not FileFormat.PARQUET:
            return
        names = self._relation.schema.names
        if names and not self._reads(names):
            broken = next((name for name in names if not self._reads((name,))), names[0])
            raise SourceUnavailable(
                f"source={self._name!r} holds values in column {broken!r} that cannot be read. Text must be UTF-8, and "
                "times must have a microsecond. Write the file anew, or without that column."
            )

    def _reads(self, names: Sequence[str]) -> bool:
        """Whether every value of these columns can be read; a hash reads the values, a count would not."""
        hashes = [exp.func("BIT_XOR", exp.func("HASH", exp.column(name, quoted=True))) for name in names]
        query = DIALECT.sql(exp.select(*hashes).from_(self._relation.table.copy()))
        with self._cursor() as cursor:
            read = values_are_readable(cursor, query)
        if read is None:
            raise engine_failed(self._name)
        return read

    def _require_unchanged(self) -> None:
        """Raise if a file is not the one that was checked."""
        if self.changed:
            # Which joined table it is, and where, is for its owner to know.
            joined = "" if self._own_changed else " or a table that is joined with it"
            raise SourceUnavailable(
                f"source={Path(self._name).name!r}{joined} changed or went away after it was opened and checked. "
                "It is not read until its owner opens it again; under a ledger, after declaring a version with: podium "
                "budget data-version"
            )

    @property
    def changed(self) -> bool:
        """Whether a file was changed or removed since it was opened."""
        return self._own_changed or any(source.changed for source in self._beside.values())

    @property
    def _own_changed(self) -> bool:
        return self._seen is None or fingerprint(self._given) != self._seen

    @property
    def name(self) -> str:
        """The path, or "a frame"."""
        return self._name

    @property
    def untyped(self) -> bool:
        """Whether the format has no types, so that every column is text unless declared."""
        return self._files is not None and self._files.text

    @property
    def _json(self) -> bool:
        return self._files is not None and self._files.format is FileFormat.JSON

    @property
    def _attached(self) -> bool:
        return self._files is not None and self._files.format is FileFormat.DUCKDB

    def _unavailable(self) -> SourceUnavailable:
        if self._files is None:
            return SourceUnavailable("source=a frame could not be read. Every column needs a name and a type.")
        hint = "Check that the file is complete."
        if self._attached:
            hint = "Check that the file is complete, and that no other process is writing to it."
        if len(self._files.paths) > 1:
            hint = "Check that all files are complete, and lie under 'name=value' folders of the same names if any do."
        return SourceUnavailable(f"source={self._name!r} could not be opened as {self._files.format.value}. {hint}")

    def _open(self, table: str | None) -> Relation:
        if self._files is not None and self._json:
            return json_relation(self._files, (), self._declared)
        with self._cursor() as cursor:
            return self._try_reading(lambda: describe(cursor, self._table(cursor, table), self._declared))

    def _try_reading(self, action: Callable[[], T]) -> T:
        """Run an action that reads the source; SourceUnavailable if it fails."""
        return open_or_refuse(action, self._unavailable, self._name)

    def _try_starting(self, action: Callable[[], T], *, reads: bool) -> T:
        """Run an action before the source is read, or one that ``reads`` it already."""
        return open_or_refuse(action, self._unavailable if reads else lambda: engine_failed(self._name), self._name)

    def _table(self, cursor: duckdb.DuckDBPyConnection, table: str | None) -> exp.Expr:
        if self._files is None:
            return exp.to_table(FRAME)
        if self._attached:
            return attached_table(cursor, table, self._name)
        if self._files.format is FileFormat.CSV:
            names, delimiter = csv_header(self._files.paths, declared=self._declared)
            return reader(self._files, dict.fromkeys(names, "VARCHAR"), delimiter=delimiter)
        return reader(self._files, {})

    def relation(self) -> Relation:
        """The table of events."""
        return self._relation

    def relation_for(self, query: CountQuery) -> Relation:
        """The table of events; JSON files are read with the columns that the question uses."""
        if self._files is None or not self._json:
            return self._relation
        measured = () if query.value is None or query.value.column is None else (query.value.column,)
        keys = (key for join in query.joins for key in join.using)
        used = dict.fromkeys((*each_user_column(query.user), *query.keys, *measured, *columns_of(query.where), *keys))
        return json_relation(self._files, tuple(used), self._declared)

    def domain_relation(self, table: str) -> Relation:
        """Another table of the same DuckDB file."""
        if not self._attached:
            raise SourceUnavailable(
                f"table={table!r} cannot be read as a domain: source={self._name!r} holds one table. "
                "Give the domain as a file or a list."
            )
        with self._cursor() as cursor:
            return self._try_reading(lambda: describe(cursor, attached_table(cursor, table, self._name), {}))

    def _check_plannable(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise unless DuckDB can read the columns, and plan the queries."""
        if self._json:
            self._check_names(query)
        super()._check_plannable(query, domain)

    def _refresh(self) -> None:
        """Describe the table again; a file must be unchanged."""
        self._process.require(self._name)
        self._require_unchanged()
        if self._attached:
            self._relation = self._open(self._wanted)

    def _check_names(self, query: CountQuery) -> None:
        """Raise unless DuckDB can read JSON with these columns, which the files themselves do not declare."""
        table = self.relation_for(query).table
        refused = SourceUnavailable(
            f"source={self._name!r} could not be read as JSON with the columns that the question names. Allowed: names "
            "that are not empty and differ in more than capital letters. Check the names."
        )
        with self._cursor() as cursor:
            open_or_refuse(lambda: describe(cursor, table, {}), lambda: refused, self._name)

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        self._process.require(self._name)
        cursor = self._try_starting(self._new_cursor, reads=self._frame is not None)
        try:
            yield cursor
        finally:
            cursor.close()

    def _new_cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = self._database.cursor()
        if self._attached:
            # Views name their tables without the catalog.
            cursor.execute(f"USE {ATTACHED}")
        if self._frame is not None:
            cursor.register(FRAME, self._frame)
        for name, source in self._beside.items():
            if source._frame is not None:
                cursor.register(_frame_name(name), source._frame)
        return cursor

    @contextmanager
    def session(self) -> Iterator[DuckDBSession]:
        """A cursor for one question; the files must be those that were checked."""
        self._require_unchanged()
        with self._cursor() as cursor:
            yield DuckDBSession(cursor)

    def is_at(self, location: str) -> bool:
        """Whether a path or pattern, and the table behind it, are these files and this table."""
        files, table = self._resolve(location)
        return bool(files) and files == self._identity() and self._is_table(table)

    def shares_rows_with(self, location: str) -> bool:
        """Whether some file behind a path or pattern is one of these, and holds this table."""
        files, table = self._resolve(location)
        return bool(files & self._identity()) and self._is_table(table)

    def _identity(self) -> frozenset[tuple[int, int]]:
        return file_identities(self._original)

    def _resolve(self, location: str) -> tuple[frozenset[tuple[int, int]], str | None]:
        """The files and the table that a ledger's location names; a file name may itself contain a ``#``."""
        path, _, table = location.rpartition("#")
        files = identify_files(location)
        return (files, None) if files or not path else (identify_files(path), table)

    def _is_table(self, table: str | None) -> bool:
        """Whether a name, or None, means this source's table."""
        if not self._attached:
            return True
        with self._cursor() as cursor, suppress(SourceUnavailable):
            tables = [attached_table(cursor, name, self._name) for name in (table, self._wanted)]
            return tables[0] == tables[1]
        return False

    def close(self) -> None:
        """Close the connection and remove its temporary files; in a fork there is nothing to close."""
        if self._process.here:
            self._database.close()
        for source in self._beside.values():
            source.close()
        self._clean_up()


def _frame_name(name: str) -> str:
    return f"{FRAME}_{name}"
