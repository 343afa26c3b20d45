"""PEP 249's errors, with podium's texts: what was wrong, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from podium.errors import InvalidArgument, MissingLibrary, PodiumError, QuestionRefused, UnknownColumn

__all__ = [
    "DataError", "DatabaseError", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "ProgrammingError", "Warning", "as_database_errors",
]  # fmt: skip


class Warning(Exception):  # noqa: A001 - the name that PEP 249 gives it
    """PEP 249's warning; podium raises none."""


class Error(Exception):
    """The root of PEP 249's errors. ``__cause__`` is podium's own error, with its fields."""


class InterfaceError(Error):
    """The interface was misused: a cursor or connection that is closed, or a library that is missing."""


class DatabaseError(Error):
    """The question was not answered."""


class DataError(DatabaseError):
    """PEP 249's error for values; podium raises none."""


class OperationalError(DatabaseError):
    """The budget, the ledger, the service or the engine does not allow or support the question now."""


class IntegrityError(DatabaseError):
    """PEP 249's error for broken relations; podium raises none."""


class InternalError(DatabaseError):
    """PEP 249's error for a database out of order; podium raises none."""


class ProgrammingError(DatabaseError):
    """The statement or its parameters are not a question that podium answers. Nothing was charged."""


class NotSupportedError(DatabaseError):
    """The interface has this method, and podium has nothing for it to do."""


@contextmanager
def as_database_errors() -> Iterator[None]:
    """Raise podium's errors as PEP 249's, with the same text."""
    try:
        yield
    except MissingLibrary as error:
        raise InterfaceError(str(error)) from error
    except (QuestionRefused, InvalidArgument, UnknownColumn) as error:
        raise ProgrammingError(str(error)) from error
    except PodiumError as error:
        raise OperationalError(str(error)) from error
