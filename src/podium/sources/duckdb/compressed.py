"""Files that are compressed as a whole, by the ending of their name."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import IO, cast

__all__ = ["COMPRESSED", "must_be_unpacked", "open_bytes", "unpacked_name"]

COMPRESSED = (".gz", ".bz2")


def open_bytes(path: str) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    ending = Path(path).suffix.lower()
    if ending == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return bz2.open(path, "rb") if ending == ".bz2" else Path(path).open("rb")


def unpacked_name(path: str) -> str:
    """The name of a file without the ending that says how it is compressed."""
    return path[: -len(Path(path).suffix)] if path.lower().endswith(COMPRESSED) else path


def must_be_unpacked(path: str) -> bool:
    """Whether the engine cannot unpack the file itself."""
    return path.lower().endswith(".bz2")
