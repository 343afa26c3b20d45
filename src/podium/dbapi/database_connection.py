"""Connections: a curator, a client or a service, behind PEP 249's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import podium.dbapi.exceptions as errors
from podium.closed_at_exit import ClosedAtExit
from podium.dbapi.cursor import Cursor
from podium.dbapi.exceptions import as_database_errors
from podium.errors import InvalidArgument
from podium.exact import Number

if TYPE_CHECKING:
    from podium.query import Question, Schema
    from podium.release import Release

__all__ = ["Connection", "connect"]


class Answering(Protocol):
    """What a connection asks: a ``Curator`` or a ``Client``."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The columns of each table."""

    @property
    def dataset(self) -> str | None:
        """The name of the data set, which a statement's FROM names."""

    def ask(self, question: Question, *, epsilon: Number | None = None) -> Release:
        """The answer to a question."""


def connect(
    target: Answering | str,
    *,
    token: str | None = None,
    dataset: str | None = None,
    epsilon: Number | None = None,
    intervals: bool = False,
    timeout: float = 600.0,
) -> Connection:
    """A connection over a ``podium.Curator``, over what ``podium.connect`` returns, or to a service at an address.

    A service takes a ``token``.

    A statement's FROM names the data set. ``epsilon`` is for each statement; by default the owner's plan sets it.
    ``intervals`` adds the columns ``n_low`` and ``n_high`` wherever ``n`` is selected: of 100 such intervals about 95
    contain the true value. The release itself, with its receipt and guarantee, is ``cursor.release``.

    Example:
        >>> connection = podium.dbapi.connect("https://podium.example", token=token)
        >>> pandas.read_sql(statement, connection)
    """
    with as_database_errors():
        if not isinstance(target, str):
            if token is not None or dataset is not None:
                given = "token" if token is not None else "dataset"
                raise InvalidArgument(given, "(given)", allowed="only beside the address of a service")
            return Connection(target, epsilon=epsilon, intervals=intervals)
        from podium.client import connect as connect_client  # noqa: PLC0415 - a curator needs no client

        if token is None:
            raise InvalidArgument("token", None, allowed="the token that 'podium token create' printed")
        client = connect_client(target, token=token, dataset=dataset, timeout=timeout)
        return Connection(client, epsilon=epsilon, intervals=intervals)


class Connection(ClosedAtExit):
    """PEP 249's connection. Closing it leaves the curator or client as it is."""

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, answering: Answering, *, epsilon: Number | None = None, intervals: bool = False) -> None:
        self._answering: Answering | None = answering
        self._epsilon, self._intervals = epsilon, intervals

    @property
    def answering(self) -> Answering:
        """The curator or client that answers; an error once the connection is closed."""
        if self._answering is None:
            raise errors.InterfaceError("The connection is closed. An open connection answers. Connect again.")
        return self._answering

    @property
    def epsilon(self) -> Number | None:
        """The privacy loss of each statement; None: as the owner's plan sets it."""
        return self._epsilon

    @property
    def intervals(self) -> bool:
        """Whether rows have both ends of the interval of each value."""
        return self._intervals

    def cursor(self) -> Cursor:
        """A cursor, to execute statements with."""
        _ = self.answering
        return Cursor(self)

    def execute(self, operation: str, parameters: Any = ()) -> Cursor:
        """A new cursor that has executed this statement."""
        return self.cursor().execute(operation, parameters)

    def commit(self) -> None:
        """Do nothing: an answer is charged when it is given."""
        _ = self.answering

    def rollback(self) -> None:
        """Do nothing: an answer cannot be taken back. Pools of connections call this."""
        _ = self.answering

    def close(self) -> None:
        """Close the connection; its cursors answer no more."""
        self._answering = None
