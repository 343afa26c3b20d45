"""What the ledger needs from a database, and the connections that it keeps.

Two databases, one program: statements are written once, with ``?`` for parameters, in the SQL that both understand.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

__all__ = ["Backend", "BrokenRule", "Pool", "Row", "Session", "Value"]

Value: TypeAlias = str | int | None
Row: TypeAlias = tuple[Any, ...]

_C = TypeVar("_C")


class BrokenRule(Exception):
    """The database refused a change that would break one of its rules, such as closing a reservation twice."""


class Session(Protocol):
    """One transaction."""

    @property
    def lock_rows(self) -> str:
        """What a SELECT ends with to keep the rows it read from changing; empty where the file is locked anyway."""
        ...

    @property
    def dialect(self) -> str:
        """ "sqlite" or "postgresql": which form of the schema applies."""
        ...

    def run(self, sql: str, parameters: Sequence[Value] = ()) -> None:
        """Execute a statement."""
        ...

    def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Execute a query and return all rows."""
        ...


class Backend(Protocol):
    """A database that ledgers live in."""

    @property
    def name(self) -> str:
        """Where it is, without passwords: for messages."""
        ...

    def transaction(self, *, write: bool) -> AbstractContextManager[Session]:
        """One transaction: committed durably at the end of the block, or rolled back if the block raises.

        Writers of one data set take turns. Trouble becomes ``LedgerLocked``, ``LedgerUnavailable`` or ``BrokenRule``;
        what the database said is withheld.
        """
        ...

    def migration(self) -> AbstractContextManager[Session]:
        """A transaction that nobody else is migrating in."""
        ...

    def close(self) -> None:
        """Close the connections that are idle."""
        ...


class Pool(Generic[_C]):
    """Idle connections, each for one thread at a time and for the process that opened it only.

    A deque is safe between threads without a lock, so a fork cannot copy a lock that somebody holds. Connections that a
    fork carried along are neither used nor closed: their other end belongs to the parent.
    """

    def __init__(self, connect: Callable[[], _C], close: Callable[[_C], None]) -> None:
        self._connect = connect
        self._close = close
        self._idle: deque[tuple[int, _C]] = deque()
        self._foreign: list[_C] = []
        # Also when the ledger is simply forgotten.
        weakref.finalize(self, _close_all, self._idle, close)

    def take(self, *, fresh: bool = False) -> _C:
        """An idle connection, or a new one; always a new one if ``fresh``."""
        while self._idle and not fresh:
            try:
                pid, connection = self._idle.pop()
            except IndexError:
                break
            if pid == os.getpid():
                return connection
            self._foreign.append(connection)
        return self._connect()

    def give_back(self, connection: _C) -> None:
        """The connection is idle again."""
        self._idle.append((os.getpid(), connection))

    def drop(self, connection: _C) -> None:
        """The connection is of no use any more."""
        self._close(connection)

    def close(self) -> None:
        """Close what is idle."""
        _close_all(self._idle, self._close)


def _close_all(idle: deque[tuple[int, _C]], close: Callable[[_C], None]) -> None:
    while idle:
        try:
            pid, connection = idle.pop()
        except IndexError:
            return
        if pid == os.getpid():
            close(connection)
