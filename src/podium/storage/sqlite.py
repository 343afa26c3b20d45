"""Ledgers in a SQLite file: the default, for the processes of one machine.

It uses a rollback journal, not write-ahead logging: after a commit everything is in one file, so a copy of that file
never lacks what was spent. The journal is truncated and synced at commit (synchronous=FULL); deleting it instead would
need a sync of the folder to survive a power cut. Every write transaction is BEGIN IMMEDIATE, so nobody decides on
sums that somebody else is changing.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from podium.errors import LedgerLocked, LedgerUnavailable
from podium.storage.backend import BrokenRule, Pool, Row, Session, Value
from podium.storage.mounts import refuse_network_file

__all__ = ["APPLICATION_ID", "SQLiteBackend"]

APPLICATION_ID = 0x504F4449
"""Written into the file's header, so that another SQLite file is not mistaken for a ledger."""

_SETTINGS = ("journal_mode=TRUNCATE", "synchronous=FULL", "fullfsync=ON", "foreign_keys=ON", "trusted_schema=OFF")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_MIN_FILE_BYTES = 512
"""The smallest page. SQLite treats a shorter file as an empty database, and would overwrite it."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class SQLiteSession:
    """One transaction on one connection."""

    connection: sqlite3.Connection
    lock_rows: str = ""
    dialect: str = "sqlite"

    def run(self, sql: str, parameters: Sequence[Value] = ()) -> None:
        """Execute a statement."""
        self.connection.execute(sql, parameters)

    def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Execute a query and return all rows."""
        return self.connection.execute(sql, parameters).fetchall()


class SQLiteBackend:
    """One file, readable and writable by its owner alone."""

    def __init__(self, path: Path, *, timeout: float, create: bool) -> None:
        self._path = path
        self._timeout = timeout
        _prepare(path, create=create)
        self._pool: Pool[sqlite3.Connection] = Pool(self._connect, sqlite3.Connection.close)
        with self.transaction(write=False) as session:
            self._check_ours(session)

    @property
    def name(self) -> str:
        """The path."""
        return str(self._path)

    def transaction(self, *, write: bool) -> AbstractContextManager[Session]:
        """One transaction; a writer holds the file until it ends."""
        return self._transaction("BEGIN IMMEDIATE" if write else "BEGIN")

    def migration(self) -> AbstractContextManager[Session]:
        """Like any write transaction."""
        return self._transaction("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Session]:
        with self._translate_errors():
            connection = self._pool.take()
            try:
                connection.execute(begin)
                yield SQLiteSession(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                self._pool.drop(connection)
                raise
            self._pool.give_back(connection)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise BrokenRule from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # SQLite quotes a damaged schema in its own message, which need not be text.
            # The low byte is the primary error code; the rest is more detail than needed.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY:
                raise LedgerLocked(self.name, self._timeout) from None
            raise LedgerUnavailable(
                f"ledger={self.name!r} could not be read or written; nothing was changed. A ledger is a SQLite file "
                "made by podium on a local disk. Check the file, its folder and the free space."
            ) from None

    def _connect(self) -> sqlite3.Connection:
        # A URI with mode=rw, because a missing file must not be recreated while a ledger is in use.
        uri = f"{self._path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            uri, uri=True, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_ours(self, session: Session) -> None:
        ((application,),) = session.rows("PRAGMA application_id")
        ((tables,),) = session.rows("SELECT COUNT(*) FROM sqlite_master")
        if application != APPLICATION_ID and (application or tables):
            raise _not_ours(self._path)


def _prepare(path: Path, *, create: bool) -> None:
    """Create the file if it is missing, for its owner alone, and refuse one that others may read or write.

    Once the file exists, only SQLite opens it: closing it here would drop the locks that other connections of this
    process hold.
    """
    refuse_network_file(path)
    try:
        if create:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        found = path.stat()
        if found.st_size == 0 and create:
            path.chmod(0o600)
            found = path.stat()
    except OSError:
        raise LedgerUnavailable(
            f"ledger={str(path)!r} cannot be opened. A ledger is a file in a folder that exists and may be written. "
            "Check the path."
        ) from None
    if not stat.S_ISREG(found.st_mode) or 0 < found.st_size < _MIN_FILE_BYTES:
        raise _not_ours(path)
    if os.name == "posix" and found.st_mode & _OTHERS:
        raise LedgerUnavailable(
            f"ledger={str(path)!r} has mode={stat.S_IMODE(found.st_mode):o}. Only its owner may read or write a "
            "ledger. Run chmod 600 on it."
        )


def _not_ours(path: Path) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"ledger={str(path)!r} is not a ledger of podium. A ledger is a file that podium made itself. "
        "Name another file, or one that does not exist yet."
    )
