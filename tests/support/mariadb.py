"""A real MariaDB server for the tests, started when the first one needs it and stopped when the process ends.

    with new_database() as url: ...

It listens on a socket in a folder of its own. It logs statements (binlog_format=MIXED, the default), because that is
where a table that is kept could read other rows than the queries around it. Its tables compare without case and
accents, and ignore blanks at the end, unless a test says otherwise: a comparison that forgets to be binary is noticed.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pymysql

__all__ = ["connect", "name_of", "new_account", "new_database", "server"]

# Where Debian puts it is not where every account looks for programs.
_PROGRAM = shutil.which("mariadbd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
_SYSTEM_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_SETTINGS = (
    "--no-defaults",
    "--skip-networking",
    "--skip-name-resolve",
    "--performance-schema=OFF",
    "--innodb-log-file-size=4M",
    "--innodb-buffer-pool-size=64M",
    "--innodb-data-file-path=ibdata1:2M:autoextend",
    "--innodb-temp-data-file-path=ibtmp1:2M:autoextend",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--aria-log-file-size=8M",
)
_TEXTS = ("--character-set-server=latin1", "--collation-server=latin1_swedish_ci")
_LOGS = ("--binlog-format=MIXED", "--sync-binlog=0")
_UNTIL_NOBODY_IS_LEFT = '"$@" & read -r nothing; kill -9 $!; wait $!; rm -rf "$0"'
_START = 60

_numbers = itertools.count(1)


@functools.cache
def server() -> Path:
    """The server's socket; the account root may do everything and needs no password."""
    if _PROGRAM is None:
        raise RuntimeError(
            "The tests of MariaDB need its server. Run tools/system-packages, or install mariadb-server."
        )
    # Sockets have short names, and the account of the server must reach this folder: it is not below pytest's own.
    folder = Path(tempfile.mkdtemp(prefix="podium-mariadb-"))
    folder.chmod(0o755)
    data, own, socket = folder / "data", folder / "temporary", folder / "socket"
    data.mkdir()
    own.mkdir()
    # A server that starts removes what it finds in its temporary folder, also what another is using.
    settings = [*_SETTINGS, *_TEXTS, f"--datadir={data}", f"--tmpdir={own}", *_account(folder)]
    _create(settings)
    started = [*settings, *_LOGS, f"--log-bin={data / 'binary'}", f"--socket={socket}", f"--pid-file={data / 'pid'}"]
    # In a group of its own, because an interrupted test must not end it; and it ends with whoever may ask it, also if
    # that process is killed: then nobody can write to the pipe any more.
    watched = ["sh", "-c", _UNTIL_NOBODY_IS_LEFT, str(folder), str(_PROGRAM), *started]
    running = subprocess.Popen(watched, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    owner = os.getpid()

    def stop() -> None:
        if os.getpid() == owner:
            running.communicate()

    atexit.register(stop)
    _wait(socket, running)
    return socket


def connect(database: str | None = None, **options: Any) -> pymysql.Connection[Any]:
    """A connection as root, in autocommit mode."""
    settings: dict[str, Any] = {
        "user": "root",
        "charset": "utf8mb4",
        "autocommit": True,
        "ssl_disabled": True,
    } | options
    return pymysql.connect(unix_socket=str(server()), database=database, **settings)


@contextmanager
def new_database(name: str | None = None) -> Iterator[str]:
    """The URL of an empty database, dropped at the end."""
    name = name or f"test_{os.getpid()}_{next(_numbers)}"
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    try:
        yield url(name)
    finally:
        with connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name}")


def url(database: str, user: str = "root") -> str:
    """The URL of a database."""
    # On a socket there is nothing to encrypt, and the driver would read the system's certificates for each connection.
    options = f"unix_socket={quote(str(server()), safe='')}&ssl_disabled=true"
    return f"mysql+pymysql://{user}@localhost/{database}?{options}"


def name_of(url: str) -> str:
    """The database of a URL."""
    return url.partition("?")[0].rpartition("/")[2]


@contextmanager
def new_account(database: str, *rights: str) -> Iterator[str]:
    """The URL of the database for an account that has only these rights in it."""
    name = f"user_{os.getpid()}_{next(_numbers)}"
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE USER {name}@localhost")
        cursor.execute(f"GRANT {', '.join(rights)} ON {database}.* TO {name}@localhost")
    try:
        yield url(database, name)
    finally:
        with connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP USER {name}@localhost")


def _account(folder: Path) -> list[str]:
    """The server refuses to run as root, who gives the folders to the account that its package made."""
    if os.geteuid() != 0:
        return []
    for place in (folder, *folder.iterdir()):
        shutil.chown(place, "mysql")
    return ["--user=mysql"]


def _create(settings: list[str]) -> None:
    """The tables of accounts: what mariadb-install-db does, without the help texts, in a third of the time."""
    texts = [Path("/usr/share/mysql", name).read_text(encoding="utf-8") for name in _SYSTEM_TABLES]
    statements = "\n".join(("CREATE DATABASE mysql;", "USE mysql;", *texts))
    command = [str(_PROGRAM), *settings, "--bootstrap"]
    made = subprocess.run(command, input=statements, check=False, capture_output=True, encoding="utf-8")
    if made.returncode:
        raise RuntimeError(f"The tables of the MariaDB server could not be made:\n{made.stderr[-2000:]}")


def _wait(socket: Path, running: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline and running.poll() is None:
        if socket.exists():
            # The driver leaves its socket open where nobody listens, so only a server that does is asked.
            pymysql.connect(unix_socket=str(socket), user="root", ssl_disabled=True).close()
            return
        time.sleep(0.02)
    raise RuntimeError("The MariaDB server of the tests did not start.")
