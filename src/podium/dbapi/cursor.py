"""Cursors: a statement is asked as a question, and its answer is fetched in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from podium.closed_at_exit import ClosedAtExit
from podium.dbapi.answer_rows import Description, Row, described_rows
from podium.dbapi.exceptions import InterfaceError, NotSupportedError, ProgrammingError, as_database_errors

if TYPE_CHECKING:
    from podium.dbapi.database_connection import Connection
    from podium.release import Release

__all__ = ["Cursor"]


class Cursor(ClosedAtExit):
    """PEP 249's cursor. ``release`` is the answer as podium has it, with its guarantee and receipt."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Connection | None = connection
        self._description: list[Description] | None = None
        self._rows: list[Row] | None = None
        self._next = 0
        self._release: Release | None = None
        self.arraysize = 1

    @property
    def connection(self) -> Connection:
        """The connection that this cursor belongs to; an error once the cursor is closed."""
        if self._connection is None:
            raise InterfaceError("The cursor is closed. An open cursor executes and fetches. Take connection.cursor().")
        return self._connection

    @property
    def description(self) -> list[Description] | None:
        """Name and type of each column of the answer, and five times None; None before a statement is executed."""
        return self._description

    @property
    def rowcount(self) -> int:
        """The number of rows of the answer; -1 before a statement is executed."""
        return -1 if self._rows is None else len(self._rows)

    @property
    def lastrowid(self) -> None:
        """None: nothing is inserted."""

    @property
    def release(self) -> Release | None:
        """The release of the last statement; None before one is executed."""
        return self._release

    def execute(self, operation: str, parameters: Sequence[object] | None = None) -> Cursor:
        """Ask a statement, which is charged to the budget; its question marks stand for ``parameters``."""
        from podium.query import Question  # noqa: PLC0415 - SQL is parsed when there is some
        from podium.query.parse.parameters import fill_in  # noqa: PLC0415
        from podium.query.parse.selected import selected_names  # noqa: PLC0415

        connection = self.connection
        answering = connection.answering
        self._description = self._rows = self._release = None
        if parameters is not None and (isinstance(parameters, str) or not isinstance(parameters, Sequence)):
            raise ProgrammingError(
                f"parameters={type(parameters).__name__} is not a sequence of values. A list or a tuple is allowed. "
                "Write a question mark for each value."
            )
        with as_database_errors():
            text = fill_in(operation, parameters) if parameters else operation
            selected = selected_names(text)
            self._release = release = answering.ask(Question.of(sql=text), epsilon=connection.epsilon)
            answer = described_rows(release, selected, lambda: answering.schemas, intervals=connection.intervals)
        self._description, self._rows = answer
        self._next = 0
        return self

    def executemany(self, operation: str, parameters: Sequence[Sequence[object]]) -> NoReturn:
        """Refuse: each question is charged, so each is asked by itself."""
        raise NotSupportedError(
            f"executemany with {len(parameters)} statements is not supported: each is a question that is charged by "
            "itself. One statement at a time is allowed. Call execute for each."
        )

    def fetchone(self) -> Row | None:
        """The next row, or None."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next ``size`` rows, by default ``arraysize``."""
        _ = self.connection.answering
        size = self.arraysize if size is None else size
        if size < 0:
            raise ProgrammingError(f"size={size} is not a number of rows. Numbers from 0 are allowed. Pass one.")
        if self._rows is None:
            raise ProgrammingError("No statement was executed. Rows come from an answer. Call execute first.")
        start = self._next
        self._next = min(len(self._rows), start + size)
        return self._rows[start : self._next]

    def fetchall(self) -> list[Row]:
        """All rows that were not fetched yet."""
        return self.fetchmany(max(self.rowcount, 0))

    def setinputsizes(self, sizes: object) -> None:
        """Do nothing: values need no sizes."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Do nothing: items are never cut."""

    def close(self) -> None:
        """Close the cursor."""
        self._connection = self._rows = None

    def __iter__(self) -> Iterator[Row]:
        while (row := self.fetchone()) is not None:
            yield row
