"""The Python Database API 2.0 (PEP 249): ask private questions through the interface that SQL tools speak.

    >>> connection = podium.dbapi.connect(curator)
    >>> pandas.read_sql("SELECT page, COUNT(DISTINCT user_id) AS n FROM views GROUP BY page ORDER BY n DESC LIMIT 10",
    ...                 connection)

A connection is over a ``Curator``, a ``Client``, or the address of a service. A statement is a question: it is charged
to the data set's budget when it is executed, and executing it again is free. There are no transactions, because an
answer cannot be taken back.
"""

from __future__ import annotations

import datetime as dt
import time
from typing import Final

from podium.dbapi.cursor import Cursor
from podium.dbapi.database_connection import Connection, connect
from podium.dbapi.exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 - the name that PEP 249 gives it
)
from podium.dbapi.type_objects import BINARY, DATETIME, NUMBER, ROWID, STRING

__all__ = [
    "BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "Binary", "Connection", "Cursor", "DataError", "DatabaseError",
    "Date", "DateFromTicks", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "ProgrammingError", "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks", "Warning",
    "apilevel", "connect", "paramstyle", "threadsafety",
]  # fmt: skip

apilevel: Final = "2.0"
paramstyle: Final = "qmark"
threadsafety: Final = 2
"""Threads may share a connection, and each takes a cursor of its own."""

Date = dt.date
Time = dt.time
Timestamp = dt.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> dt.date:  # noqa: N802 - PEP 249's name
    """The date of so many seconds since 1970, in local time."""
    return dt.date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> dt.time:  # noqa: N802 - PEP 249's name
    """The time of day of so many seconds since 1970, in local time."""
    return dt.time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> dt.datetime:  # noqa: N802 - PEP 249's name
    """The moment of so many seconds since 1970, in local time."""
    return dt.datetime(*time.localtime(ticks)[:6])  # noqa: DTZ001 - PEP 249 asks for local time without a zone
