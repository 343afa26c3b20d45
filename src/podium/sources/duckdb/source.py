"""DuckDB, embedded: files on this machine and frames in memory, without a server."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb
from sqlglot import exp

from podium.errors import InvalidArgument, SourceUnavailable
from podium.sources.declared_types import Types, declared_columns
from podium.sources.duckdb.catalog import FRAME, attached_table, described, json_relation
from podium.sources.duckdb.connection import (
    ATTACHED,
    DIALECT,
    DuckDBSession,
    engine_failed,
    locked_database,
    opened,
    values_are_readable,
)
from podium.sources.duckdb.files import DataFiles, FileFormat, csv_header, find_files, located_files, reader
from podium.sources.duckdb.frames import is_frame
from podium.sources.duckdb.identity import file_identities, fingerprint
from podium.sources.duckdb.resources import Resources
from podium.sources.duckdb.validity import BadLines, FileRules, checked_text
from podium.sources.isolation import Process
from podium.sources.private_folder import make_folder
from podium.sources.protocol import Domain, Reading
from podium.sources.sql.conditions import columns_of
from podium.sources.sql.relation import Relation
from podium.sources.sql.sql_source import SqlSource

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DuckDBSource"]

T = TypeVar("T")


class DuckDBSource(SqlSource):
    """Parquet, CSV, JSON or DuckDB files, or a frame, read by a connection that can read nothing else.

    ``location`` is a path, a pattern, a folder of Parquet files (``name=value`` folders in it are columns of text), or
    a pandas, polars or Arrow frame; ``table`` names one of several tables in a DuckDB file; ``types`` declares
    columns, and a value that does not fit its declared type counts as missing.

    Opening checks the files whole, so that no row can decide later whether a question fails: a CSV file that breaks its
    own quoting, a line that is not one JSON object, bytes that are not text are refused with the line, or with
    ``bad_lines="drop"`` left out. ``encoding`` is that of CSV and JSON files. Files that change afterwards are refused
    until they are opened again.

    ``memory_limit`` (such as ``"4GB"``), ``threads`` and ``temp_directory`` say what DuckDB may use of this machine.
    What does not fit into memory is written to a folder of its own below ``temp_directory``, by default that of the
    system, and removed on ``close``; a question that fits into neither fails like any other failure of an engine.
    """

    sql_dialect = DIALECT

    def __init__(
        self,
        location: object,
        *,
        table: str | None = None,
        types: Types | None = None,
        bad_lines: str = BadLines.REFUSE,
        encoding: str = "utf-8",
        memory_limit: str | None = None,
        threads: int | None = None,
        temp_directory: str | Path | None = None,
    ) -> None:
        resources, rules = Resources(memory_limit, threads, temp_directory), FileRules(bad_lines, encoding)
        self._declared = declared_columns(types)
        self._frame: pa.Table | None = None
        self._files: DataFiles | None = None
        self._wanted = table
        frame = None
        if isinstance(location, str | Path):
            self._name = str(location)
            self._files = find_files(location)
        elif is_frame(location):
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
            self._files = checked_text(self._files, rules, Path(spill, "copies"), frozenset(self._declared))
        paths = self._files.paths if self._files else ()
        settings = resources.settings()
        self._database = self._started(
            lambda: locked_database(paths, attach=self._attached, spill=spill, resources=settings),
            reads=self._attached,
        )
        if frame is not None:
            from podium.sources.duckdb.arrow import readable_part  # noqa: PLC0415

            with self._cursor() as cursor:
                readable = readable_part(cursor, frame)
            self._frame = readable
        self._relation = self._open(table)
        self._check_parquet()
        # Also while it was being checked.
        self._require_unchanged()

    def _require(self, table: str | None, rules: FileRules) -> None:
        """Raise if something is said that this kind of source does not have."""
        if table is not None and not self._attached:
            raise InvalidArgument("table", table, allowed="None, unless the source is a DuckDB file or a server")
        if rules.copied and not (self._files and self._files.text):
            name, value = ("bad_lines", rules.bad_lines) if rules.drop else ("encoding", rules.encoding)
            raise InvalidArgument(name, value, allowed="only its default, unless the source is a CSV or JSON file")

    def _check_parquet(self) -> None:
        """Raise if some value of a Parquet file cannot be read: each column is read once, with the reader of questions.

        Otherwise a question would fail or not, depending on which row groups its condition lets it read.
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
        """Whether every value of these columns can be read; a hash needs the value itself, which a count does not."""
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
            raise SourceUnavailable(
                f"source={Path(self._name).name!r} changed or went away after it was opened and checked. It is not "
                "read until its owner opens it again; under a ledger, after declaring a version with: podium budget "
                "data-version"
            )

    @property
    def changed(self) -> bool:
        """Whether a file is another one than when it was opened, or has gone."""
        return self._seen is None or fingerprint(self._given) != self._seen

    @property
    def name(self) -> str:
        """The path, or that it is a frame."""
        return self._name

    @property
    def untyped(self) -> bool:
        """Whether the format says nothing about types, so that every column is text unless declared."""
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
            return self._asked(lambda: described(cursor, self._table(cursor, table), self._declared))

    def _asked(self, action: Callable[[], T]) -> T:
        """What DuckDB answers about the source."""
        return opened(action, self._unavailable, self._name)

    def _started(self, action: Callable[[], T], *, reads: bool) -> T:
        """What DuckDB answers before it has looked at the source, unless it ``reads`` that already."""
        return opened(action, self._unavailable if reads else lambda: engine_failed(self._name), self._name)

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

    def relation_for(self, reading: Reading) -> Relation:
        """The table of events; JSON files are read with the columns that the question uses."""
        if self._files is None or not self._json:
            return self._relation
        used = dict.fromkeys((reading.user, *reading.items, *columns_of(reading.where)))
        return json_relation(self._files, tuple(used), self._declared)

    def domain_relation(self, table: str) -> Relation:
        """Another table of the same DuckDB file."""
        if not self._attached:
            raise SourceUnavailable(
                f"table={table!r} cannot be read as a domain: source={self._name!r} holds one table. "
                "Give the domain as a file or a list."
            )
        with self._cursor() as cursor:
            return self._asked(lambda: described(cursor, attached_table(cursor, table, self._name), {}))

    def _accepts(self, reading: Reading, domain: Domain | None) -> None:
        """Raise unless DuckDB can read the columns, and plan the queries."""
        if self._json:
            self._check_names(reading)
        super()._accepts(reading, domain)

    def _look_again(self) -> None:
        """The table as it is now; a file must be as it was."""
        self._process.require(self._name)
        self._require_unchanged()
        if self._attached:
            self._relation = self._open(self._wanted)

    def _check_names(self, reading: Reading) -> None:
        """Raise unless DuckDB can read JSON with these columns, of which the files themselves say nothing."""
        table = self.relation_for(reading).table
        refused = SourceUnavailable(
            f"source={self._name!r} could not be read as JSON with the columns that the question names. Allowed: names "
            "that are not empty and differ in more than capital letters. Check the names."
        )
        with self._cursor() as cursor:
            opened(lambda: described(cursor, table, {}), lambda: refused, self._name)

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        self._process.require(self._name)
        cursor = self._started(self._prepared, reads=self._frame is not None)
        try:
            yield cursor
        finally:
            cursor.close()

    def _prepared(self) -> duckdb.DuckDBPyConnection:
        cursor = self._database.cursor()
        if self._attached:
            # Views name their tables without the catalogue.
            cursor.execute(f"USE {ATTACHED}")
        if self._frame is not None:
            cursor.register(FRAME, self._frame)
        return cursor

    @contextmanager
    def session(self) -> Iterator[DuckDBSession]:
        """A cursor for one question, about files that are still those that were checked."""
        self._require_unchanged()
        with self._cursor() as cursor:
            yield DuckDBSession(cursor)

    def is_at(self, location: str) -> bool:
        """Whether a path or pattern, and the table behind it, are these files and this table."""
        files, table = self._named(location)
        return bool(files) and files == self._identity() and self._is_table(table)

    def shares_rows_with(self, location: str) -> bool:
        """Whether some file behind a path or pattern is one of these, and holds this table."""
        files, table = self._named(location)
        return bool(files & self._identity()) and self._is_table(table)

    def _identity(self) -> frozenset[tuple[int, int]]:
        return file_identities(self._original)

    def _named(self, location: str) -> tuple[frozenset[tuple[int, int]], str | None]:
        """The files, and the table, that a ledger's location names; a name of a file may have a sign of number."""
        path, _, table = location.rpartition("#")
        files = located_files(location)
        return (files, None) if files or not path else (located_files(path), table)

    def _is_table(self, table: str | None) -> bool:
        """Whether a name, or none, is that of this source's table."""
        if not self._attached:
            return True
        with self._cursor() as cursor, suppress(SourceUnavailable):
            tables = [attached_table(cursor, name, self._name) for name in (table, self._wanted)]
            return tables[0] == tables[1]
        return False

    def close(self) -> None:
        """Close the connection and remove what it put aside; in a fork there is nothing to close."""
        if self._process.here:
            self._database.close()
        self._clean_up()
