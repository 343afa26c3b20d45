"""The interface of a database backend, and a pool of its connections.

Statements are written once, with ``?`` for parameters, in the SQL that both databases understand.
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
        """The suffix of a SELECT that locks the rows it reads; empty where the whole file is locked."""
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

        Writers of one data set take turns. Errors become ``LedgerLocked``, ``LedgerUnavailable`` or ``BrokenRule``; the
        database's own message is withheld.
        """
        ...

    def migration(self) -> AbstractContextManager[Session]:
        """A transaction that excludes other migrations."""
        ...

    def close(self) -> None:
        """Close the connections that are idle."""
        ...


class Pool(Generic[_C]):
    """Idle connections, each for one thread at a time and for the process that opened it only.

    A deque is thread-safe without a lock, so a fork cannot copy a lock while it is held. Connections that a fork
    inherited are neither used nor closed: they belong to the parent.
    """

    def __init__(self, connect: Callable[[], _C], close: Callable[[_C], None]) -> None:
        self._connect = connect
        self._close = close
        self._idle: deque[tuple[int, _C]] = deque()
        self._foreign: list[_C] = []
        # Also when nobody closes the ledger.
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
        """Return a connection to the pool."""
        self._idle.append((os.getpid(), connection))

    def drop(self, connection: _C) -> None:
        """Close a connection instead of returning it."""
        self._close(connection)

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle, self._close)


def _close_all(idle: deque[tuple[int, _C]], close: Callable[[_C], None]) -> None:
    while idle:
        try:
            pid, connection = idle.pop()
        except IndexError:
            return
        if pid == os.getpid():
            close(connection)
