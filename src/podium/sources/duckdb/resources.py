"""The resources of this machine that an embedded DuckDB may use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from podium.errors import InvalidArgument
from podium.exact import positive_integer

__all__ = ["Resources"]

_SIZE = re.compile(r"[1-9][0-9]*(?:\.[0-9]+)? ?(?:[KMGT]i?B)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Resources:
    """Memory, threads and a folder for what does not fit into memory; None is DuckDB's own choice."""

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | Path | None = None

    def __post_init__(self) -> None:
        # Callers may pass anything, whatever the annotations say.
        limit: object = self.memory_limit
        folder: object = self.temp_directory
        if limit is not None and not (isinstance(limit, str) and _SIZE.fullmatch(limit)):
            raise InvalidArgument("memory_limit", limit, allowed="a size with its unit, such as '512MB' or '4GB'")
        if self.threads is not None:
            positive_integer(self.threads, "threads")
        if folder is not None and not (isinstance(folder, str | Path) and _writable(Path(folder))):
            raise InvalidArgument("temp_directory", folder, allowed="a folder that this process may write to")

    def settings(self) -> dict[str, str]:
        """Memory and threads as DuckDB calls them."""
        chosen = {"memory_limit": self.memory_limit, "threads": self.threads}
        return {name: str(value) for name, value in chosen.items() if value is not None}


def _writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
