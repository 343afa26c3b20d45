"""One connection that is kept between questions, for engines to which connecting takes longer than most statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

__all__ = ["IdleConnections"]

C = TypeVar("C")


class _Session(Protocol):
    def empty(self) -> bool:
        """Drop what the question kept; whether all of it is gone."""

    def close(self) -> None:
        """Disconnect."""


S = TypeVar("S", bound=_Session)


class IdleConnections(Generic[C, S]):
    """Connections that no question uses now; ``start`` makes the session of a question on one of them."""

    def __init__(self, connect: Callable[[], C], start: Callable[[C], S]) -> None:
        self._connect, self._start = connect, start
        self._idle: list[C] = []

    @contextmanager
    def session(self) -> Iterator[S]:
        """A session for one question; its connection is kept for the next one if nothing is left on it."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        session, idle = self._start(connection), False
        try:
            yield session
            # After an error a statement may still be running.
            idle = not self._idle
        finally:
            if session.empty() and idle:
                self._idle.append(connection)
            else:
                session.close()

    def close(self) -> None:
        """Disconnect."""
        for connection in self._idle:
            self._start(connection).close()
        self._idle.clear()
