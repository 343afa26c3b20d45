"""A real MariaDB server in a folder of its own with its usual settings, started for a bench and stopped after it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

__all__ = ["Server", "mariadb", "program"]

_PLACES = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
"""Where Debian puts it is not where every account looks for programs."""
_SECONDS, _PAUSE = 60, 0.05
_DATABASE = "bench"


@dataclass(frozen=True, slots=True)
class Server:
    """A server with one empty database, of which the account root needs no password."""

    socket: Path
    process: int
    database: str = _DATABASE

    @property
    def url(self) -> str:
        """For podium."""
        options = f"unix_socket={quote(str(self.socket), safe='')}&ssl_disabled=true"
        return f"mysql+pymysql://root@localhost/{self.database}?{options}"


def program(name: str) -> str | None:
    """The path of a program of the server; None if it is not there."""
    return shutil.which(name, path=_PLACES)


@contextmanager
def mariadb() -> Iterator[Server]:
    """A server of this bench alone."""
    # Sockets have short names, and the account of the server must reach this folder.
    folder = Path(tempfile.mkdtemp(prefix="podium-bench-"))
    folder.chmod(0o755)
    data, socket = folder / "data", folder / "socket"
    # The server refuses to run as root.
    account = ["--user=mysql"] if os.geteuid() == 0 else []
    if account:
        shutil.chown(folder, "mysql")
    made = ["--no-defaults", f"--datadir={data}", *account]
    rights = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
    install, serve = str(program("mariadb-install-db")), str(program("mariadbd"))
    subprocess.run([install, *made, *rights], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = [serve, *made, "--skip-networking", "--userstat=1", "--local-infile=1", f"--socket={socket}"]
    running = subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(socket, running)
        yield Server(socket, running.pid)
    finally:
        running.terminate()
        running.wait()
        shutil.rmtree(folder)


def _wait(socket: Path, running: subprocess.Popen[bytes]) -> None:
    import pymysql  # noqa: PLC0415 - not everybody has it

    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and running.poll() is None:
        if socket.exists():
            with pymysql.connect(unix_socket=str(socket), user="root") as connection, connection.cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {_DATABASE}")
            return
        time.sleep(_PAUSE)
    raise RuntimeError("The MariaDB server of the bench did not start.")
