"""Opening a ledger by its address."""

from __future__ import annotations

from pathlib import Path

from podium.errors import InvalidArgument, LedgerUnavailable
from podium.errors.installing import install_command
from podium.exact import float_above, positive_fraction
from podium.ledger.ledger import Ledger
from podium.storage.backend import Backend
from podium.storage.sqlite import SQLiteBackend

__all__ = ["open_ledger"]

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")
_ALLOWED = "a path, sqlite:///path, or postgresql://user@host/database"


def open_ledger(url: str | Path, *, timeout: float = 10.0, create: bool = True) -> Ledger:
    """The ledger at a path or URL, migrated to the current version; created if missing, unless ``create`` is False.

    ``timeout`` is in seconds: how long to wait for another writer, or for a server. Reservations of processes that
    are certainly gone are forfeited.
    """
    seconds = float_above(positive_fraction(timeout, "timeout"))
    backend = _backend(url, seconds, create=create)
    try:
        return Ledger(backend, create=create)
    except BaseException:
        backend.close()
        raise


def _backend(url: str | Path, timeout: float, *, create: bool) -> Backend:
    if isinstance(url, Path):
        return SQLiteBackend(url, timeout=timeout, create=create)
    if url.startswith(_POSTGRESQL):
        return _postgresql(url, timeout)
    path = url.removeprefix(_SQLITE)
    if "://" in path or not path or path == ":memory:":
        # The address may contain a password, so only its kind is quoted.
        raise InvalidArgument(
            "ledger", url.partition("://")[0], allowed=_ALLOWED, hint="A ledger must outlive the process."
        )
    return SQLiteBackend(Path(path), timeout=timeout, create=create)


def _postgresql(url: str, timeout: float) -> Backend:
    try:
        from podium.storage.postgresql import PostgreSQLBackend  # noqa: PLC0415 - the driver is an extra
    except ImportError:
        raise LedgerUnavailable(
            "ledger='postgresql://...' needs the package 'psycopg', which is not installed. Without it a ledger is a "
            f"SQLite file. Run: {install_command('postgresql')}"
        ) from None
    return PostgreSQLBackend(url, timeout=timeout)
